"""What the kubelet of a Windows node is told: flags, configuration, credentials. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..scheduling.labels import TaintLike, kubelet_flags
from . import paths

JOIN_TOKEN = "${JOIN_TOKEN}"  # noqa: S105  # a placeholder
INSTANCE_ID = "${INSTANCE_ID}"
PRIVATE_IP = "${PRIVATE_IP}"
PROVIDER_ID = "${PROVIDER_ID}"

CREDENTIAL_PROVIDER = "ecr-credential-provider"
ECR_IMAGES = (
    "*.dkr.ecr.*.amazonaws.com",
    "*.dkr.ecr.*.amazonaws.com.cn",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "*.dkr.ecr.*.on.aws",
    "public.ecr.aws",
)


class KubeletNode(Protocol):
    """What decides a kubelet's flags and configuration."""

    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def labels(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def taints(self) -> Sequence[TaintLike]: ...  # noqa: D102
    @property
    def kubelet_arguments(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def kubelet_configuration(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def cluster_domain(self) -> str: ...  # noqa: D102
    @property
    def dns_service_ip(self) -> str: ...  # noqa: D102
    @property
    def cloud_provider(self) -> str: ...  # noqa: D102


def kubelet_arguments(node: KubeletNode) -> list[str]:
    """The arguments of kubelet.exe, sorted; those of the group win."""
    flags = {
        "bootstrap-kubeconfig": paths.BOOTSTRAP_KUBECONFIG,
        "cert-dir": paths.KUBELET_CERTIFICATES,
        "config": paths.KUBELET_CONFIGURATION,
        "hostname-override": INSTANCE_ID,
        "image-credential-provider-bin-dir": paths.CREDENTIAL_PROVIDERS,
        "image-credential-provider-config": paths.CREDENTIAL_PROVIDER_CONFIGURATION,
        "kubeconfig": paths.KUBECONFIG,
        "node-ip": PRIVATE_IP,
        "root-dir": paths.KUBELET,
        "windows-priorityclass": "ABOVE_NORMAL_PRIORITY_CLASS",
        **({"cloud-provider": "external"} if node.cloud_provider == "external" else {}),
        **kubelet_flags(node.labels, ()),
        **node.kubelet_arguments,
    }
    return [f"--{flag}={value}" for flag, value in sorted(flags.items())]


def kubelet_configuration(node: KubeletNode) -> dict[str, Any]:
    """The KubeletConfiguration of a Windows node; fields of the group win."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": paths.CERTIFICATE_AUTHORITY},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupsPerQOS": False,
        "clusterDNS": [node.dns_service_ip],
        "clusterDomain": node.cluster_domain,
        "containerRuntimeEndpoint": paths.CONTAINERD_PIPE,
        "containerLogMaxFiles": 5,
        "containerLogMaxSize": "10Mi",
        "enableSystemLogHandler": True,
        "enableSystemLogQuery": True,
        "enforceNodeAllocatable": [],
        "evictionHard": {"nodefs.available": "10%", "imagefs.available": "15%"},
        "providerID": PROVIDER_ID,
        "registerWithTaints": [
            {"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in node.taints
        ],
        "resolvConf": "",
        "rotateCertificates": True,
        "serverTLSBootstrap": True,
        "shutdownGracePeriod": "60s",
        "shutdownGracePeriodCriticalPods": "20s",
        "staticPodPath": paths.STATIC_PODS,
        "systemReserved": {"cpu": "500m", "memory": "2Gi", "ephemeral-storage": "1Gi"},
        **node.kubelet_configuration,
    }


def credential_providers() -> dict[str, Any]:
    """Images in ECR are pulled with the node's role, renewed by the kubelet itself."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1",
        "kind": "CredentialProviderConfig",
        "providers": [
            {
                "name": CREDENTIAL_PROVIDER,
                "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
                "matchImages": list(ECR_IMAGES),
                "defaultCacheDuration": "12h0m0s",
            }
        ],
    }


def bootstrap_kubeconfig(node: KubeletNode) -> str:
    """The kubeconfig with which a kubelet asks for its certificate; the token is put in on the node."""
    return f"""\
apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: https://{node.endpoint}
    certificate-authority: {paths.CERTIFICATE_AUTHORITY}
users:
- name: bootstrap
  user:
    token: {JOIN_TOKEN}
contexts:
- name: bootstrap
  context:
    cluster: cluster
    user: bootstrap
current-context: bootstrap
"""
