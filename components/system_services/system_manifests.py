"""The programs on the control plane that a cluster on EC2 needs, as plain manifests. Pure.

- the cloud controller manager: takes new nodes in (addresses, zone, provider's id), takes gone ones out, and makes
  load balancers for Services; the rights are what its controllers call when they share one account;
- the approver of kubelet serving certificates, which nothing in Kubernetes approves.

Sources: cloud-provider-aws 1.36.1 ``cmd``, ``pkg/providers/v1/aws.go``; k8s.io/cloud-provider 0.36 ``controllers``;
postfinance/kubelet-csr-approver ``internal/cmd``, ``internal/controller``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..kubernetes import manifests
from ..kubernetes.manifests import Manifest

NAMESPACE = "kube-system"

CLOUD_CONTROLLER = "cloud-controller-manager"
CLOUD_CONTROLLER_PORT = 10258
CLOUD_CONTROLLER_RIGHTS: manifests.Rules = (
    ("", "nodes", "get list watch update patch delete"),
    ("", "nodes/status", "patch"),
    ("", "services", "get list watch"),
    ("", "services/status", "patch"),
    ("", "events", "create patch"),
)
"""What the controllers of nodes, their end and load balancers call; routes are flannel's matter here."""
LEASE_RIGHTS = ("coordination.k8s.io", "leases", "create")

CSR_APPROVER = "kubelet-csr-approver"
CSR_APPROVER_IMAGE = "ghcr.io/postfinance/kubelet-csr-approver:v1.2.14"
CSR_APPROVER_RIGHTS: manifests.Rules = (
    ("certificates.k8s.io", "certificatesigningrequests", "get list watch"),
    ("certificates.k8s.io", "certificatesigningrequests/approval", "update"),
    ("certificates.k8s.io", "signers:kubernetes.io/kubelet-serving", "approve"),
)

RESOURCE_NAME = r"^i-[0-9a-f]{8,17}(\.[a-z0-9.-]+)?$"
IP_NAME = r"^ip(-[0-9]{1,3}){4}\.([a-z0-9-]+\.compute|ec2)\.internal$"
NAME_PATTERNS: Mapping[str, str] = {"resource-name": RESOURCE_NAME, "ip-name": IP_NAME}
"""What EC2 calls an instance, by ``hostname_type`` of its launch template: this name stands in the certificate."""


def control_plane_pod(account: str) -> Manifest:
    """What pods on the control plane share that have to run before there is a pod network."""
    return {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {manifests.OS_LABEL: "linux", manifests.CONTROL_PLANE_LABEL: ""},
        "tolerations": [
            {"key": manifests.CONTROL_PLANE_LABEL, "operator": "Exists", "effect": "NoSchedule"},
            {"key": "node.cloudprovider.kubernetes.io/uninitialized", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists"},
        ],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [manifests.token_volume()],
    }


def _locked_down() -> Manifest:
    return {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def _election(name: str) -> dict[str, Manifest]:
    """The right to hold one lease: to make any, but to see and change only its own."""
    rows = [LEASE_RIGHTS, ("coordination.k8s.io", f"leases:{name}", "get update patch")]
    return {
        "lease-role": manifests.role(f"{name}:lease", rows, NAMESPACE, app=name),
        "lease-binding": manifests.binding(f"{name}:lease", name, NAMESPACE, role_name=f"{name}:lease",
                                           role_kind="Role", namespace=NAMESPACE),
    }  # fmt: skip


def cloud_config_text(settings: Mapping[str, str]) -> str:
    """The cloud configuration: one section ``[Global]``.

    >>> print(cloud_config_text({"NLBSecurityGroupMode": "Managed"}), end="")
    [Global]
    NLBSecurityGroupMode = Managed
    """
    return "\n".join(["[Global]", *(f"{key} = {value}" for key, value in sorted(settings.items()))]) + "\n"


def cloud_controller_arguments(cluster_name: Any, pod_cidr: str, configured: bool) -> list[Any]:
    """The command line. Node networks are given out by kube-controller-manager, and flannel carries them."""
    arguments: list[Any] = [
        "--cloud-provider=aws",
        cluster_name,
        f"--cluster-cidr={pod_cidr}",
        "--allocate-node-cidrs=false",
        "--configure-cloud-routes=false",
        "--leader-elect=true",
        f"--leader-elect-resource-name={CLOUD_CONTROLLER}",
        "--use-service-account-credentials=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={CLOUD_CONTROLLER_PORT}",
        "--v=2",
    ]
    return [*arguments, "--cloud-config=/etc/cloud/cloud.conf"] if configured else arguments


def cloud_controller_manifests(
    *, endpoint: str, cluster_name: Any, image: str, pod_cidr: str, cloud_config: Mapping[str, str]
) -> dict[str, Manifest]:
    """Every object of the cloud controller manager by part; ``cluster_name`` is the argument ``--cluster-name=…``."""
    text = cloud_config_text(cloud_config)
    pod = control_plane_pod(CLOUD_CONTROLLER)
    mounts = [manifests.token_mount()]
    objects = {
        "account": manifests.service_account(CLOUD_CONTROLLER, NAMESPACE),
        "role": manifests.role(f"winkube:{CLOUD_CONTROLLER}", CLOUD_CONTROLLER_RIGHTS, app=CLOUD_CONTROLLER),
        "binding": manifests.binding(f"winkube:{CLOUD_CONTROLLER}", CLOUD_CONTROLLER, NAMESPACE,
                                 role_name=f"winkube:{CLOUD_CONTROLLER}"),
        # Who may ask it for its health and figures is decided by the API server.
        "authentication": manifests.binding(f"{CLOUD_CONTROLLER}:authentication", CLOUD_CONTROLLER, NAMESPACE,
                                        role_name="extension-apiserver-authentication-reader", role_kind="Role",
                                        namespace=NAMESPACE),
        **_election(CLOUD_CONTROLLER),
    }  # fmt: skip
    if cloud_config:
        objects["configuration"] = manifests.config_map(CLOUD_CONTROLLER, NAMESPACE, {"cloud.conf": text})
        pod["volumes"] = [*pod["volumes"], manifests.config_volume("configuration", CLOUD_CONTROLLER)]
        mounts.append({"name": "configuration", "mountPath": "/etc/cloud", "readOnly": True})
    health = {"path": "/healthz", "port": CLOUD_CONTROLLER_PORT, "host": "127.0.0.1", "scheme": "HTTPS"}
    pod["containers"] = [
        {
            "name": CLOUD_CONTROLLER,
            "image": image,
            "args": cloud_controller_arguments(cluster_name, pod_cidr, bool(cloud_config)),
            "env": manifests.api_server(endpoint),
            "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "livenessProbe": {"httpGet": health, "initialDelaySeconds": 20, "periodSeconds": 20, "timeoutSeconds": 5},
            "securityContext": _locked_down(),
            "volumeMounts": mounts,
        }
    ]
    objects["controller"] = manifests.daemon_set(
        CLOUD_CONTROLLER, NAMESPACE, pod, app=CLOUD_CONTROLLER, digest=manifests.digest_of(text)
    )
    return objects


def csr_approver_environment(
    hostname_type: str, node_cidrs: Sequence[str], validity_days: int, resolve_names: bool
) -> dict[str, str]:
    """What the approver is told. The name in a certificate must begin with the node's name where EC2's own does."""
    by_resource = hostname_type == "resource-name"
    return {
        "PROVIDER_REGEX": NAME_PATTERNS[hostname_type],
        "PROVIDER_IP_PREFIXES": ",".join(node_cidrs),
        "MAX_EXPIRATION_SEC": str(validity_days * 24 * 3600),
        "BYPASS_HOSTNAME_CHECK": str(not by_resource).lower(),
        "BYPASS_DNS_RESOLUTION": str(not resolve_names).lower(),
        "ALLOWED_DNS_NAMES": "1",
        "LEADER_ELECTION": "true",
    }


def csr_approver_manifests(*, endpoint: str, image: str, environment: Mapping[str, Any]) -> dict[str, Manifest]:
    """Every object of the approver by part."""
    pod = control_plane_pod(CSR_APPROVER)
    pod["containers"] = [
        {
            "name": CSR_APPROVER,
            "image": image,
            # In the node's network: on its own address, so that two programs there do not meet on a port.
            "args": ["-metrics-bind-address=127.0.0.1:18080", "-health-probe-bind-address=127.0.0.1:18081"],
            "env": [*(manifests.value(key, text) for key, text in environment.items()),
                    *manifests.api_server(endpoint)],
            "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 18081, "host": "127.0.0.1"},
                              "initialDelaySeconds": 10, "periodSeconds": 20},
            "securityContext": _locked_down(),
            "volumeMounts": [manifests.token_mount()],
        }
    ]  # fmt: skip
    marks = manifests.labels(CSR_APPROVER)
    return {
        "account": manifests.service_account(CSR_APPROVER, NAMESPACE),
        "role": manifests.role(f"winkube:{CSR_APPROVER}", CSR_APPROVER_RIGHTS, app=CSR_APPROVER),
        "binding": manifests.binding(
            f"winkube:{CSR_APPROVER}", CSR_APPROVER, NAMESPACE, role_name=f"winkube:{CSR_APPROVER}"
        ),
        # Its events are about cluster-wide objects, which Kubernetes keeps in the namespace default.
        "events-role": manifests.role(f"{CSR_APPROVER}:events", [("", "events", "create patch")], "default",
                                  app=CSR_APPROVER),
        "events-binding": manifests.binding(f"{CSR_APPROVER}:events", CSR_APPROVER, NAMESPACE, namespace="default",
                                        role_name=f"{CSR_APPROVER}:events", role_kind="Role"),
        **_election(CSR_APPROVER),
        "approver": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": manifests.metadata(CSR_APPROVER, NAMESPACE),
            "spec": {
                "replicas": 1,
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": {"app.kubernetes.io/name": CSR_APPROVER}},
                "template": {"metadata": {"labels": marks}, "spec": pod},
            },
        },
    }  # fmt: skip
