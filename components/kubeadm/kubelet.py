"""KubeletConfiguration and kubelet flags of Linux and Windows nodes. Pure.

Sources: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/; for Windows
``kubernetes/kubernetes:cmd/kubelet/app/options/osflags_windows.go``, the page "Resource management for Windows nodes",
and what the Windows Machine Config Operator sets (``pkg/services/services.go``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..scheduling.labels import TaintLike
from ..tables.kubernetes import at_least
from . import paths
from .config import ClusterConfig, JoinableCluster, KubeletSettings, NodeConfig
from .rendering import Document

KUBELET_API = "kubelet.config.k8s.io/v1beta1"

TLS_MINIMUM = "VersionTLS12"
TLS_CIPHERS = (
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
)
"""What CIS 1.2.29 and 4.2.12 accept of TLS 1.2; those of TLS 1.3 cannot be chosen."""

LINUX_SYSTEM_RESERVED: Mapping[str, str] = {"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "1Gi"}
LINUX_KUBE_RESERVED: Mapping[str, str] = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "1Gi"}
LINUX_EVICTION: Mapping[str, str] = {
    "memory.available": "200Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%",
}  # fmt: skip
WINDOWS_SYSTEM_RESERVED: Mapping[str, str] = {"cpu": "500m", "memory": "2Gi", "ephemeral-storage": "1Gi"}
"""Windows has no out-of-memory killer: an overfull node pages until it is not ready. 2 GiB is the least advised."""
WINDOWS_EVICTION: Mapping[str, str] = {
    "memory.available": "500Mi", "nodefs.available": "10%", "imagefs.available": "15%",
}  # fmt: skip
WINDOWS_PRIORITY = "ABOVE_NORMAL_PRIORITY_CLASS"
"""Keeps the kubelet answering while pods use all of the CPU (Kubernetes, "Resource management for Windows nodes")."""

ECR_PROVIDER = "ecr-credential-provider"


def seconds(number: int) -> str:
    """A duration as kubelets and kubeadm write it back.

    >>> seconds(60), seconds(3725)
    ('1m0s', '1h2m5s')
    """
    hours, rest = divmod(number, 3600)
    minutes, left = divmod(rest, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{left}s"


def linux_kubelet_configuration(cluster: ClusterConfig, settings: KubeletSettings | None = None) -> Document:
    """The KubeletConfiguration that ``kubeadm init`` uploads for all Linux nodes.

    kubeadm adds the paths of its own (``staticPodPath``, ``clientCAFile``) and takes the resolver from the host.
    """
    return {
        "apiVersion": KUBELET_API,
        "kind": "KubeletConfiguration",
        "cgroupDriver": "systemd",
        "clusterDNS": [cluster.dns_service_ip],
        "clusterDomain": cluster.cluster_domain,
        "serverTLSBootstrap": cluster.kubelet_serving_certificates,
        "seccompDefault": True,
        "protectKernelDefaults": True,
        **_hardening(),
        **_settings(settings or cluster.kubelet, LINUX_SYSTEM_RESERVED, LINUX_KUBE_RESERVED, LINUX_EVICTION),
        "podPidsLimit": (settings or cluster.kubelet).pod_pids_limit,
        **({"featureGates": dict(sorted(cluster.feature_gates.items()))} if cluster.feature_gates else {}),
        **(settings or cluster.kubelet).configuration,
    }


def kubelet_patch(settings: KubeletSettings) -> Document | None:
    """What a Linux group changes of the cluster's KubeletConfiguration, as a merge patch; None where nothing.

    ``kubeadm join`` takes the configuration from the cluster; a file at :data:`paths.KUBELET_PATCH` is laid over it.
    """
    ours, usual = _linux_part(settings), _linux_part(KubeletSettings())
    changed = {key: value for key, value in ours.items() if usual.get(key) != value}
    return changed or None


def _linux_part(settings: KubeletSettings) -> dict[str, Any]:
    return {
        **_settings(settings, LINUX_SYSTEM_RESERVED, LINUX_KUBE_RESERVED, LINUX_EVICTION),
        "podPidsLimit": settings.pod_pids_limit,
        **settings.configuration,
    }


def linux_kubelet_arguments(node: NodeConfig) -> dict[str, str]:
    """Flags of a Linux kubelet, sorted: what only the node knows, and what no configuration field says."""
    flags = {
        "node-ip": paths.PRIVATE_IP,
        "provider-id": paths.PROVIDER_ID,
        **_common_flags(node),
    }
    if node.ecr_credentials:
        flags["image-credential-provider-bin-dir"] = paths.CREDENTIAL_PROVIDERS
        flags["image-credential-provider-config"] = paths.CREDENTIAL_PROVIDER_CONFIG
    return dict(sorted((flags | dict(node.kubelet.arguments)).items()))


def windows_kubelet_configuration(
    cluster: JoinableCluster,
    settings: KubeletSettings | None = None,
    taints: Sequence[TaintLike] = (),
    *,
    feature_gates: Mapping[str, bool] | None = None,
    serving_certificates: bool = True,
) -> Document:
    """The complete KubeletConfiguration of a Windows node: nothing of it comes from the cluster's ConfigMap.

    Linux paths would be wrong there, and ``kubeadm.exe`` mends three of them only. ``${PROVIDER_ID}`` is filled in on
    the node.
    """
    settings = settings or KubeletSettings()
    return {
        "apiVersion": KUBELET_API,
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True, "cacheTTL": "2m0s"},
            "x509": {"clientCAFile": paths.WINDOWS_CLUSTER_CA},
        },
        "authorization": {"mode": "Webhook"},
        "clusterDNS": [cluster.dns_service_ip],
        "clusterDomain": cluster.cluster_domain,
        "containerRuntimeEndpoint": paths.WINDOWS_SOCKET,
        "providerID": paths.PROVIDER_ID,
        # There are no cgroups: with the defaults the kubelet warns at every start.
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": ["none"],
        # An empty text, not an absent field: the default is a path of Linux.
        "resolvConf": "",
        "serverTLSBootstrap": serving_certificates,
        **_hardening(),
        # Windows images are up to 10 GB; two minutes are too short for a start that unpacks one.
        "runtimeRequestTimeout": seconds(600),
        **_settings(settings, WINDOWS_SYSTEM_RESERVED, {}, WINDOWS_EVICTION),
        **_log_query(cluster.kubernetes_version),
        **({"registerWithTaints": [taint_document(taint) for taint in taints]} if taints else {}),
        **({"featureGates": dict(sorted(feature_gates.items()))} if feature_gates else {}),
        **settings.configuration,
    }


def windows_kubelet_arguments(node: NodeConfig, config: str = paths.WINDOWS_KUBELET_CONFIG) -> dict[str, str]:
    """Flags of ``kubelet.exe`` as a native service, sorted; paths are those of the boot code's document."""
    flags = {
        "bootstrap-kubeconfig": paths.WINDOWS_BOOTSTRAP_KUBECONFIG,
        "cert-dir": paths.WINDOWS_CERTIFICATES,
        "config": config,
        "hostname-override": paths.INSTANCE_ID,
        "kubeconfig": paths.WINDOWS_KUBECONFIG,
        "node-ip": paths.PRIVATE_IP,
        "root-dir": paths.WINDOWS_KUBELET,
        # Graceful shutdown works only where the kubelet itself is the service (image-builder #1752).
        "windows-service": "true",
        "windows-priorityclass": WINDOWS_PRIORITY,
        **_common_flags(node),
    }
    if node.ecr_credentials:
        flags["image-credential-provider-bin-dir"] = paths.WINDOWS_CREDENTIAL_PROVIDERS
        flags["image-credential-provider-config"] = paths.WINDOWS_CREDENTIAL_PROVIDER_CONFIG
    return dict(sorted((flags | dict(node.kubelet.arguments)).items()))


def credential_provider_config(partition_suffixes: Sequence[str] = ("amazonaws.com", "amazonaws.com.cn")) -> Document:
    """The CredentialProviderConfig that makes kubelets ask for credentials of ECR, on Linux and Windows alike."""
    hosts = [f"*.dkr.ecr.*.{suffix}" for suffix in partition_suffixes]
    hosts += [f"*.dkr.ecr-fips.*.{suffix}" for suffix in partition_suffixes]
    return {
        "apiVersion": "kubelet.config.k8s.io/v1",
        "kind": "CredentialProviderConfig",
        "providers": [
            {
                "name": ECR_PROVIDER,
                "matchImages": hosts,
                # Tokens of ECR are valid for twelve hours.
                "defaultCacheDuration": "12h0m0s",
                "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
            }
        ],
    }


def taint_document(taint: TaintLike) -> dict[str, str]:
    """A taint as documents write it; an empty value is left out."""
    return {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect}


def _common_flags(node: NodeConfig) -> dict[str, str]:
    flags: dict[str, str] = {}
    if node.cloud_provider != "none":
        flags["cloud-provider"] = node.cloud_provider
    if node.labels:
        flags["node-labels"] = ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()))
    return flags


def _hardening() -> dict[str, Any]:
    return {
        "rotateCertificates": True,
        "readOnlyPort": 0,
        "tlsMinVersion": TLS_MINIMUM,
        "tlsCipherSuites": list(TLS_CIPHERS),
        "streamingConnectionIdleTimeout": "4h0m0s",
        # Written out: 0 meant the default until 1.36 and no limit since 1.37.
        "eventRecordQPS": 50,
    }


def _settings(
    settings: KubeletSettings, system: Mapping[str, str], kube: Mapping[str, str], eviction: Mapping[str, str]
) -> dict[str, Any]:
    kube_reserved = {**kube, **settings.kube_reserved}
    fields: dict[str, Any] = {
        "systemReserved": {**system, **settings.system_reserved},
        **({"kubeReserved": kube_reserved} if kube_reserved else {}),
        # All of them: as soon as one threshold is written, the kubelet's own are gone.
        "evictionHard": {**eviction, **settings.eviction_hard},
        "imageGCHighThresholdPercent": settings.image_gc_high_threshold_percent,
        "imageGCLowThresholdPercent": settings.image_gc_low_threshold_percent,
        "containerLogMaxSize": settings.container_log_max_size,
        "containerLogMaxFiles": settings.container_log_max_files,
        "serializeImagePulls": settings.parallel_image_pulls == 1,
        "maxParallelImagePulls": settings.parallel_image_pulls,
        "shutdownGracePeriod": seconds(settings.shutdown_grace_period_seconds),
        "shutdownGracePeriodCriticalPods": seconds(settings.shutdown_grace_period_critical_pods_seconds),
    }
    if settings.max_pods is not None:
        fields["maxPods"] = settings.max_pods
    return fields


def _log_query(minor: str) -> dict[str, bool]:
    # The gate NodeLogQuery is on since 1.36; before, a kubelet with the second field and without it does not start.
    return {"enableSystemLogHandler": True, **({"enableSystemLogQuery": True} if at_least(minor, "1.36") else {})}
