"""A real kubelet.exe joins a real API server with exactly what a Windows node gets; see ``nodes.REDIRECTED``.

The test does what other parts of the cluster would do: it binds the roles of kubeadm, plays the cloud controller
manager, and puts the newest certificate where its link would be.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from winkube.scheduling.labels import Taint
from winkube.scheduling.runtime_class_manifests import runtime_class_manifest, runtime_class_name
from winkube.windows_boot import paths

from tests.binaries import MINORS, version
from tests.binaries.wine import RELEASES, Wine
from tests.cluster.bed import Cluster
from tests.cluster.client import ApiError, Client
from tests.cluster.pki import renewable
from tests.windows_boot.conftest import node

from .nodes import TOKEN_ID, TOKEN_SECRET, ZONE, DescribedNode, Facts, node_ip, ready
from .test_reading import complaints

pytestmark = pytest.mark.proof

GROUP = "system:bootstrappers:kubeadm:default-node-token"
SIGNING = "system:certificates.k8s.io:certificatesigningrequests"
BINDINGS = {
    "kubeadm:kubelet-bootstrap": ("system:node-bootstrapper", GROUP),
    "kubeadm:node-autoapprove-bootstrap": (f"{SIGNING}:nodeclient", GROUP),
    "kubeadm:node-autoapprove-certificate-rotation": (f"{SIGNING}:selfnodeclient", "system:nodes"),
}
"""What ``kubeadm init`` binds, so that a token brings a certificate."""
RBAC = "rbac.authorization.k8s.io"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
GIB = 2**30


def allow_joining(client: Client) -> None:
    """The join token that the control plane keeps fresh, and the roles that kubeadm binds."""
    for name, (role, group) in BINDINGS.items():
        client.apply({
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group}],
        })  # fmt: skip
    client.apply({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"bootstrap-token-{TOKEN_ID}", "namespace": "kube-system"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": TOKEN_ID,
            "token-secret": TOKEN_SECRET,
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": GROUP,
        },
    })  # fmt: skip


def join(cluster: Cluster, server: Wine, release: str, folder: Path) -> DescribedNode:
    """A node of a release that comes by TLS bootstrap."""
    server.play(release)
    for left in (r"C:\etc\kubernetes", paths.KUBELET, r"C:\var\log\pods"):
        shutil.rmtree(server.path(left), ignore_errors=True)
    spec = node(
        kubernetes_version=cluster.minor,
        windows=release,
        endpoint=f"127.0.0.1:{cluster.port}",
        certificate_authority=(cluster.pki / "ca.crt").read_text(),
        labels={"example.com/team": "web", "node.kubernetes.io/lifecycle": "spot"},
        taints=(Taint(key="os", value="windows"), Taint(key="team", value="web", effect="PreferNoSchedule")),
        proxy=None,
    )
    facts = Facts(f"i-0{release}{cluster.minor.replace('.', '')}", node_ip())
    running = DescribedNode(server, spec, facts, folder)
    running.join(cluster.client)
    return running


@pytest.fixture(scope="module", params=MINORS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A control plane of each minor that nodes may join."""
    with Cluster(request.param, nodes=False) as running:
        allow_joining(running.client)
        yield running


@pytest.fixture(scope="module", params=["2022", "2025"])
def joined(
    request: pytest.FixtureRequest, cluster: Cluster, server: Wine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DescribedNode]:
    """A node of each release."""
    running = join(cluster, server, request.param, tmp_path_factory.mktemp("node"))
    yield running
    running.stop()


def own_node(client: Client, running: DescribedNode) -> dict[str, Any]:
    return client.get("v1", "Node", running.facts.instance_id)


def heartbeat(client: Client, name: str) -> str:
    """When a kubelet last renewed its lease: at its start, then every ten seconds. A status may stay for minutes."""
    leases = client.list("coordination.k8s.io/v1", "Lease", "kube-node-lease", fieldSelector=f"metadata.name={name}")
    return max((str(one["spec"]["renewTime"]) for one in leases), default="")


def bytes_of(quantity: str) -> int:
    found = re.fullmatch(r"(\d+)(Ki)?", quantity)
    assert found, quantity
    return int(found[1]) * (1024 if found[2] else 1)


def test_the_node_is_what_the_group_says(cluster: Cluster, joined: DescribedNode) -> None:
    """Ready, with labels, taints, provider id, pods, build and versions of the group's spec; named by its instance."""
    found = own_node(cluster.client, joined)
    build, revision = RELEASES[joined.node.windows]
    labels = found["metadata"]["labels"]
    assert (
        labels.items()
        >= {
            **joined.node.labels,
            "kubernetes.io/os": "windows",
            "kubernetes.io/hostname": joined.facts.instance_id,
            "node.kubernetes.io/windows-build": f"10.0.{build}",
        }.items()
    )
    taints = {(one["key"], one.get("value", ""), one["effect"]) for one in found["spec"]["taints"]}
    assert taints >= {(one.key, one.value, one.effect) for one in joined.node.taints}
    assert (UNINITIALIZED, "true", "NoSchedule") in taints
    assert found["spec"]["providerID"] == f"aws:///{ZONE}/{joined.facts.instance_id}"
    info = found["status"]["nodeInfo"]
    assert info["kubeletVersion"] == version("kubelet", minor=cluster.minor, os="windows")
    assert info["osImage"] == f"Windows Server {joined.node.windows} Datacenter"
    assert info["kernelVersion"] == f"10.0.{build}.{revision}"
    addresses = {one["type"]: one["address"] for one in found["status"]["addresses"]}
    assert addresses["InternalIP"] == joined.facts.private_ip


def test_what_pods_may_use_is_what_the_reservations_leave(cluster: Cluster, joined: DescribedNode) -> None:
    """Allocatable memory is the machine's less 2 GiB for Windows and the eviction threshold; pods are the group's."""
    status = own_node(cluster.client, joined)["status"]
    memory = {kind: bytes_of(status[kind]["memory"]) for kind in ("capacity", "allocatable")}
    assert memory["capacity"] - memory["allocatable"] == 2 * GIB + 500 * 2**20
    assert status["allocatable"]["pods"] == "50"
    cpu = {kind: status[kind]["cpu"] for kind in ("capacity", "allocatable")}
    assert int(cpu["capacity"]) * 1000 - int(cpu["allocatable"].removesuffix("m")) == 500


def test_the_kubelet_came_up_without_a_complaint(joined: DescribedNode) -> None:
    """In the log of a whole start no flag, field or gate is complained of."""
    assert complaints(joined.log) == []


def test_it_asked_for_its_own_certificates(cluster: Cluster, joined: DescribedNode) -> None:
    """The token asked for a client certificate, which was approved; the node itself asks for that of its server."""
    requests = cluster.client.list("certificates.k8s.io/v1", "CertificateSigningRequest")
    by_token = [one for one in requests if one["spec"]["username"] == f"system:bootstrap:{TOKEN_ID}"]
    assert by_token
    name = f"system:node:{joined.facts.instance_id}"
    serving = cluster.client.wait("request for a serving certificate", lambda: [
        one for one in cluster.client.list("certificates.k8s.io/v1", "CertificateSigningRequest")
        if one["spec"]["signerName"] == "kubernetes.io/kubelet-serving" and one["spec"]["username"] == name
    ])  # fmt: skip
    assert serving


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example.com/app:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], "automountServiceAccountToken": False, **spec},
    }


def initialize(client: Client, running: DescribedNode) -> None:
    """What the cloud controller manager does when it has found the instance: it takes its taint away."""
    found = own_node(client, running)
    taints = [one for one in found["spec"]["taints"] if one["key"] != UNINITIALIZED]
    path = client.path("v1", "Node", running.facts.instance_id)
    client.request("PATCH", path, {"spec": {"taints": taints}}, content="merge-patch+json")


def test_windows_pods_come_and_linux_pods_do_not(cluster: Cluster, joined: DescribedNode) -> None:
    """A pod of the group's RuntimeClass is bound and reaches the runtime with its handler; a plain pod never is."""
    client, release = cluster.client, joined.node.windows
    initialize(client, joined)
    client.apply(runtime_class_manifest(release))
    windows, linux = pod(f"w{release}", runtimeClassName=runtime_class_name(release)), pod(f"l{release}")
    client.create(windows)
    client.create(linux)
    bound = client.wait("bound pod", lambda: _bound(client, f"w{release}"), 60)
    assert bound == joined.facts.instance_id
    said = f"sandbox default/w{release} handler=runhcs-wcow-process"
    client.wait("sandbox", lambda: said in joined.runtime_log.read_text(), 90)
    reason = client.wait("verdict of the scheduler", lambda: _conditions(client, f"l{release}"))[0]["message"]
    assert "untolerated taint" in reason
    assert not _bound(client, f"l{release}")
    client.delete(windows)
    client.delete(linux)


def _bound(client: Client, name: str) -> str | None:
    return client.get("v1", "Pod", name)["spec"].get("nodeName")


def _conditions(client: Client, name: str) -> list[dict[str, str]] | None:
    return client.get("v1", "Pod", name)["status"].get("conditions")


def as_node(cluster: Cluster, running: DescribedNode, folder: Path) -> Client:
    """A client with the certificate that the kubelet was given."""
    pem = running.current_certificate().read_text()
    (folder / "node.crt").write_text(pem)
    (folder / "node.key").write_text(pem)
    (folder / "ca.crt").write_text((cluster.pki / "ca.crt").read_text())
    return Client(cluster.server, folder, "node")


def test_a_node_can_drain_itself_and_no_other(cluster: Cluster, joined: DescribedNode, tmp_path: Path) -> None:
    """The kubelet's own certificate cordons its node and evicts its pods, as the boot code does; others' it may not."""
    client, own = cluster.client, as_node(cluster, joined, tmp_path)
    name, other = joined.facts.instance_id, f"other-{joined.node.windows}"
    client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": other}})
    client.create(pod(f"mine-{name}", nodeName=name, tolerations=[{"operator": "Exists"}]))
    client.create(pod(f"theirs-{name}", nodeName=other, tolerations=[{"operator": "Exists"}]))
    merge = {"spec": {"unschedulable": True}}
    own.request("PATCH", f"/api/v1/nodes/{name}", merge, content="strategic-merge-patch+json")
    assert own_node(client, joined)["spec"]["unschedulable"] is True
    mine = own.request("GET", "/api/v1/pods", fieldSelector=f"spec.nodeName={name}")["items"]
    assert f"mine-{name}" in {one["metadata"]["name"] for one in mine}
    evict(own, f"mine-{name}")
    with pytest.raises(ApiError, match="403"):
        own.request("PATCH", f"/api/v1/nodes/{other}", merge, content="strategic-merge-patch+json")
    with pytest.raises(ApiError, match="403"):
        evict(own, f"theirs-{name}")
    gone = {"spec": {"unschedulable": None}}
    client.request("PATCH", f"/api/v1/nodes/{name}", gone, content="merge-patch+json")
    for left in (pod(f"mine-{name}"), pod(f"theirs-{name}")):
        client.delete(left)
    client.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": other}})


def evict(client: Client, name: str) -> None:
    """As ``Send-Eviction`` does."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    client.request("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", body)


def test_it_comes_back_with_its_certificate(cluster: Cluster, joined: DescribedNode) -> None:
    """After a restart, the bootstrap kubeconfig taken away, the node is Ready again by its own certificate alone."""
    joined.stop_kubelet()
    joined.server.path(paths.BOOTSTRAP_KUBECONFIG).unlink(missing_ok=True)
    before = len(joined.certificates())
    last = heartbeat(cluster.client, joined.facts.instance_id)
    joined.start()
    name = joined.facts.instance_id
    cluster.client.wait("heartbeat", lambda: heartbeat(cluster.client, name) > last and ready(cluster.client, name), 60)
    assert len(joined.certificates()) == before
    assert "kubelet-client-current.pem" in joined.log


def test_it_comes_back_with_a_rotated_certificate(cluster: Cluster, joined: DescribedNode) -> None:
    """A certificate near its end is replaced by one that the node asks for as itself; with that it comes back."""
    client, name = cluster.client, joined.facts.instance_id
    user = f"system:node:{name}"
    joined.stop_kubelet()
    joined.server.path(paths.BOOTSTRAP_KUBECONFIG).unlink(missing_ok=True)
    joined.current_certificate().write_bytes(renewable(cluster.pki, user, "system:nodes"))
    before = joined.certificates()
    joined.start()
    client.wait("rotated certificate", lambda: len(joined.certificates()) > len(before), 90)
    joined.stop_kubelet()
    joined.put_link()
    requests = client.list("certificates.k8s.io/v1", "CertificateSigningRequest")
    assert user in {one["spec"]["username"] for one in requests if one["spec"]["signerName"].endswith("client-kubelet")}
    last = heartbeat(client, name)
    joined.start()
    client.wait("heartbeat", lambda: heartbeat(client, name) > last and ready(client, name), 90)
