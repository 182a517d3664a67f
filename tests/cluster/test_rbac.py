"""The rights of our programs: the calls that their sources make are let through, and no others, by impersonation."""

from collections.abc import Iterator
from typing import Any

import pytest
from winkube.pod_network.flannel import FlannelArgs
from winkube.pod_network.flannel_manifests import flannel_manifests
from winkube.pod_network.kube_proxy_manifests import kube_proxy_manifests
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxyArgs
from winkube.system_services.system_manifests import (
    cloud_controller_manifests,
    csr_approver_environment,
    csr_approver_manifests,
)

from .bed import Cluster
from .client import ApiError, Client, Manifest

pytestmark = pytest.mark.proof

API = "api.example.com:6443"
NODES = ("", "nodes")
Call = tuple[str, str, str, str, str]
"""Verb, API group, resource (with subresource), name, namespace."""

FLANNEL = "system:serviceaccount:kube-flannel:flannel"
PROXY = "system:serviceaccount:kube-proxy-windows:kube-proxy-windows"
CLOUD = "system:serviceaccount:kube-system:cloud-controller-manager"
APPROVER = "system:serviceaccount:kube-system:kubelet-csr-approver"
LEASES = "coordination.k8s.io"
CERTIFICATES = "certificates.k8s.io"

ALLOWED: dict[str, tuple[Call, ...]] = {
    FLANNEL: (
        ("get", "", "nodes", "n1", ""), ("list", "", "nodes", "", ""), ("watch", "", "nodes", "", ""),
        ("patch", "", "nodes/status", "n1", ""),
    ),
    PROXY: (
        ("list", "", "services", "", ""), ("watch", "", "services", "", ""),
        ("list", "discovery.k8s.io", "endpointslices", "", ""), ("watch", "discovery.k8s.io", "endpointslices", "", ""),
        ("get", "", "nodes", "n1", ""), ("list", "", "nodes", "", ""), ("watch", "", "nodes", "", ""),
        ("create", "events.k8s.io", "events", "", "default"),
        ("list", "networking.k8s.io", "servicecidrs", "", ""),
    ),
    CLOUD: (
        *((verb, "", "nodes", "n1", "") for verb in ("get", "list", "watch", "update", "patch", "delete")),
        ("patch", "", "nodes/status", "n1", ""),
        ("list", "", "services", "", ""), ("watch", "", "services", "", ""),
        ("patch", "", "services/status", "web", "default"), ("create", "", "events", "", "default"),
        ("create", LEASES, "leases", "", "kube-system"),
        ("get", LEASES, "leases", "cloud-controller-manager", "kube-system"),
        ("update", LEASES, "leases", "cloud-controller-manager", "kube-system"),
        ("get", "", "configmaps", "extension-apiserver-authentication", "kube-system"),
    ),
    APPROVER: (
        *((verb, CERTIFICATES, "certificatesigningrequests", "", "") for verb in ("list", "watch")),
        ("get", CERTIFICATES, "certificatesigningrequests", "c", ""),
        ("update", CERTIFICATES, "certificatesigningrequests/approval", "c", ""),
        ("approve", CERTIFICATES, "signers", "kubernetes.io/kubelet-serving", ""),
        ("create", LEASES, "leases", "", "kube-system"),
        ("update", LEASES, "leases", "kubelet-csr-approver", "kube-system"),
        ("create", "", "events", "", "default"),
    ),
}  # fmt: skip
REFUSED_TO_ALL: tuple[Call, ...] = (
    ("get", "", "secrets", "s", "kube-system"), ("list", "", "secrets", "", ""), ("create", "", "pods", "", "default"),
    ("get", "", "pods", "p", "kube-flannel"), ("list", "", "pods", "", ""), ("create", "", "pods/exec", "p", "default"),
    ("create", "", "serviceaccounts/token", "default", "kube-system"),
    ("bind", "rbac.authorization.k8s.io", "clusterroles", "cluster-admin", ""),
    ("escalate", "rbac.authorization.k8s.io", "clusterroles", "cluster-admin", ""),
    ("impersonate", "", "users", "admin", ""), ("create", "", "nodes", "", ""),
    ("get", "", "nodes/proxy", "n1", ""), ("update", "apps", "daemonsets", "flannel-windows", "kube-flannel"),
    ("approve", CERTIFICATES, "signers", "kubernetes.io/kube-apiserver-client", ""),
    ("approve", CERTIFICATES, "signers", "kubernetes.io/kube-apiserver-client-kubelet", ""),
    ("update", LEASES, "leases", "kube-controller-manager", "kube-system"),
    ("patch", "admissionregistration.k8s.io", "validatingadmissionpolicies", "x", ""),
)  # fmt: skip
REFUSED: dict[str, tuple[Call, ...]] = {
    FLANNEL: (("patch", "", "nodes", "n1", ""), ("update", "", "nodes", "n1", ""), ("delete", "", "nodes", "n1", ""),
              ("list", "", "services", "", ""), ("get", "", "configmaps", "kube-flannel-cfg", "kube-flannel")),
    PROXY: (("patch", "", "nodes/status", "n1", ""), ("delete", "", "nodes", "n1", ""),
            ("update", "", "services", "web", "default")),
    CLOUD: (("delete", "", "services", "web", "default"), ("update", "", "services", "web", "default"),
            ("create", "", "serviceaccounts", "", "kube-system"), ("list", "", "persistentvolumes", "", "")),
    APPROVER: (("create", CERTIFICATES, "certificatesigningrequests", "", ""),
               ("delete", CERTIFICATES, "certificatesigningrequests", "c", ""), ("list", "", "nodes", "", ""),
               ("sign", CERTIFICATES, "signers", "kubernetes.io/kubelet-serving", "")),
}  # fmt: skip


def manifests() -> list[Manifest]:
    """Every object of the four components."""
    cloud = cloud_controller_manifests(
        endpoint=API,
        cluster_name="--cluster-name=c",
        image="cloud:v1",
        pod_cidr="10.244.0.0/16",
        cloud_config={"NLBSecurityGroupMode": "Managed"},
    )
    approver = csr_approver_manifests(
        endpoint=API,
        image="approver:v1",
        environment=csr_approver_environment("resource-name", ["10.0.0.0/16"], 366, False),
    )
    return [*flannel_manifests(FlannelArgs(endpoint=API)).values(),
            *kube_proxy_manifests(WindowsKubeProxyArgs(endpoint=API)).values(), *cloud.values(),
            *approver.values()]  # fmt: skip


def take_away(client: Client, made: list[Manifest]) -> None:
    """Delete all but the namespaces, last made first: those stay, see the fixture ``namespace``."""
    for manifest in reversed(made):
        if manifest["kind"] != "Namespace":
            client.delete(manifest)


@pytest.fixture(scope="module")
def system(cluster: Cluster) -> Iterator[Client]:
    """The cluster with all of them."""
    made = manifests()
    for manifest in made:
        cluster.client.apply(manifest)
    cluster.client.wait("rights", lambda: allowed(cluster.client, FLANNEL, ALLOWED[FLANNEL][0]))
    yield cluster.client
    take_away(cluster.client, made)


def allowed(client: Client, account: str, call: Call) -> bool:
    """What the API server says of a call, asked by the account itself."""
    verb, group, resource, name, namespace = call
    what, _, part = resource.partition("/")
    attributes: dict[str, Any] = {"verb": verb, "group": group, "resource": what, "subresource": part, "name": name,
                                  "namespace": namespace}  # fmt: skip
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {},
              "spec": {"resourceAttributes": {key: text for key, text in attributes.items() if text}}}  # fmt: skip
    return client.as_user(account).create(review)["status"]["allowed"]


@pytest.mark.parametrize(("account", "call"), [(who, it) for who, calls in ALLOWED.items() for it in calls], ids=str)
def test_the_calls_of_its_source_are_let_through(system: Client, account: str, call: Call) -> None:
    """Each call that the program makes."""
    system.wait(f"right to {call}", lambda: allowed(system, account, call))


@pytest.mark.parametrize(
    ("account", "call"),
    [(who, it) for who, calls in REFUSED.items() for it in (*REFUSED_TO_ALL, *calls) if it not in ALLOWED[who]],
    ids=str,
)
def test_other_calls_are_refused(system: Client, account: str, call: Call) -> None:
    """Secrets, pods, tokens, rights, and the neighbours' objects."""
    assert not allowed(system, account, call)


def test_flannel_writes_its_lease_on_a_node_and_nothing_else(system: Client) -> None:
    """The very calls: an annotation by the status of the node goes, a label does not."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lease-node"}}
    system.create(node)
    try:
        flannel = system.as_user(FLANNEL)
        lease = {"metadata": {"annotations": {"flannel.alpha.coreos.com/backend-type": "vxlan"}}}
        path = flannel.path("v1", "Node", "lease-node")
        answer = flannel.request("PATCH", f"{path}/status", lease, content="strategic-merge-patch+json")
        assert answer["metadata"]["annotations"]["flannel.alpha.coreos.com/backend-type"] == "vxlan"
        with pytest.raises(ApiError, match="forbidden") as refusal:
            flannel.request("PATCH", path, {"metadata": {"labels": {"x": "y"}}}, content="merge-patch+json")
        assert refusal.value.status == 403
    finally:
        system.delete(node)


def test_a_second_apply_changes_nothing(system: Client) -> None:
    """Nothing that we write is written differently by the API server."""
    made = manifests()
    first = [system.apply(it)["metadata"] for it in made]
    second = [system.apply(it)["metadata"] for it in made]
    assert [it.get("generation") for it in second] == [it.get("generation") for it in first]
    assert [it["uid"] for it in second] == [it["uid"] for it in first]
