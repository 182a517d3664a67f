"""What is wrong with a self-managed cluster before a machine reads it. Pure."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..network.cidrs import check_cidr, check_disjoint
from ..tables.releases import (
    CONTAINERD_MINIMUM_PINNED_PAUSE,
    PAUSE_MINIMUM_SERVER_2025,
    SELF_MANAGED_RELEASES,
    check_minor,
)
from .config import ClusterConfig, KmsPlugin, KubeletSettings, PodSecurity
from .flags import check_extra_args, check_feature_gates, check_kubelet_fields

KUBEADM_PAGE = "https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/"
KUBELET_PAGE = "https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/"
NAMES_PAGE = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names"
PAUSE_PAGE = "https://github.com/kubernetes/kubernetes/pull/138195"

NODE_MASK = Rule(
    "WK-KAD-003",
    "A node's mask must be longer than the mask of the pod CIDR.",
    "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/",
)
NODE_COUNT = Rule("WK-KAD-004", "The pod CIDR must have a subnet for every node.", KUBEADM_PAGE)
PODS_FIT = Rule("WK-KAD-005", "A node's subnet of the pod CIDR needs an address for every pod.", KUBELET_PAGE)
ENDPOINT = Rule("WK-KAD-006", "The endpoint of a cluster is written as host:port, without a scheme.", KUBEADM_PAGE)
PAUSE_VERSION = Rule("WK-KAD-007", "Windows Server 2025 needs pause image 3.10.2 or newer.", PAUSE_PAGE)
PINNED_PAUSE = Rule(
    "WK-KAD-008",
    "containerd 2.3.0 to 2.3.3 cannot start pods if the pause image has a digest.",
    "https://github.com/containerd/containerd/issues/13529",
)
SERVICE_SIZE = Rule(
    "WK-KAD-009",
    "The mask of a service CIDR is 12 to 28.",
    "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
)
CHOICE = Rule("WK-KAD-020", "The value must be one of the allowed values.", KUBEADM_PAGE)
KMS = Rule(
    "WK-KAD-021",
    "KMS encryption needs a plug-in image with a digest, a key ARN and the key's Region.",
    "https://kubernetes.io/docs/tasks/administer-cluster/kms-provider/",
)
ISSUER = Rule(
    "WK-KAD-022",
    "A service account issuer is an https URL without a trailing slash.",
    "https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery",
)
RANGE = Rule("WK-KAD-023", "A number of the control plane or the kubelet must be within its range.", KUBELET_PAGE)
DNS_NAME = Rule("WK-KAD-024", "A DNS name has at most 253 characters, and each label at most 63.", NAMES_PAGE)
QUANTITY = Rule(
    "WK-KAD-025",
    "A reservation is a Kubernetes quantity; a threshold is a quantity or a percentage.",
    "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/",
)
RESOURCE = Rule(
    "WK-KAD-026",
    "The kubelet supports a fixed list of reserved resources and eviction signals.",
    "https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/",
)

ALGORITHMS = ("RSA-2048", "RSA-3072", "RSA-4096", "ECDSA-P256", "ECDSA-P384")
ANONYMOUS = ("health", "none", "all")
ENCRYPTIONS = ("secretbox", "kms", "none")
PROXY_MODES = ("iptables", "nftables")
LEVELS = ("privileged", "baseline", "restricted")

LONGEST_NODE_MASK = 28
"""Fewer than 13 pods to a node are no node; kube-controller-manager itself takes masks up to 16 bits longer."""
MASK_DISTANCE = 16
"""kube-controller-manager: how much longer than the network's a node's mask may be."""
RESERVED_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pid")
SIGNALS: Mapping[str, tuple[str, ...]] = {
    "linux": ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree",
              "containerfs.available", "containerfs.inodesFree", "pid.available"),
    "windows": ("memory.available", "nodefs.available", "imagefs.available", "containerfs.available"),
}  # fmt: skip
TAKEN_ADDRESSES: Mapping[str, int] = {"linux": 3, "windows": 4}
"""Of a node's part: the network, the broadcast, the gateway; on Windows also the source VIP of kube-proxy."""

LONGEST_NAME = 253
LONGEST_LABEL = 63
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kMGTPE]i?|Ki)?")
_PERCENTAGE = re.compile(r"\d+(\.\d+)?%")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:([a-z0-9-]+):\d{12}:key/\S+")


class PodNetwork(Protocol):
    """What the size of a pod network is judged by."""

    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def node_cidr_mask(self) -> int: ...  # noqa: D102


def check_cluster_config(
    cluster: ClusterConfig, *, vpc_cidr: str | None = None, node_count: int | None = None
) -> Mistakes:
    """Everything that is wrong with a cluster's configuration.

    ``vpc_cidr`` is the network of the machines, ``node_count`` the most nodes that its groups may have, control plane
    included; what is not given is not judged.
    """
    found = Mistakes()
    found.take(check_minor(cluster.kubernetes_version))
    found.take(check_endpoint(cluster.endpoint))
    found.take(check_dns_name(cluster.cluster_domain, ("cluster_domain",)))
    for index, name in enumerate(cluster.api_server_names):
        if not _is_address(name):
            found.take(check_dns_name(name.removeprefix("*."), ("api_server_names", index)))
    found.take(check_networks(cluster.pod_cidr, cluster.service_cidr, vpc_cidr))
    found.take(check_pod_network(cluster, node_count=node_count))
    for field, value, allowed in (
        ("encryption_algorithm", cluster.encryption_algorithm, ALGORITHMS),
        ("anonymous_access", cluster.anonymous_access, ANONYMOUS),
        ("secrets_encryption", cluster.secrets_encryption, ENCRYPTIONS),
        ("kube_proxy_mode", cluster.kube_proxy_mode, PROXY_MODES),
    ):
        found.take(_check_choice(value, allowed, (field,)))
    found.take(_check_range(cluster.certificate_validity_days, 1, 3650, ("certificate_validity_days",)))
    found.take(_check_range(cluster.etcd_quota_gib, 1, 8, ("etcd_quota_gib",)))
    if cluster.audit is not None:
        for field in ("max_age_days", "max_backups", "max_size_mib"):
            found.take(_check_range(getattr(cluster.audit, field), 1, 10_000, ("audit", field)))
    found.take(_check_encryption(cluster))
    found.take(_check_issuer(cluster))
    found.take(_check_pod_security(cluster.pod_security), "pod_security")
    found.take(_check_flags(cluster))
    found.take(
        check_kubelet_settings(cluster.kubelet, cluster.kubernetes_version, node_cidr_mask=cluster.node_cidr_mask),
        "kubelet",
    )
    return found


def check_networks(pod_cidr: str, service_cidr: str, vpc_cidr: str | None = None) -> Mistakes:
    """Whether pods, services and machines have networks apart from each other (``WK-NET-002``, ``-003``, ``-015``)."""
    found = Mistakes()
    found.take(check_cidr(pod_cidr, ("pod_cidr",)))
    found.take(check_cidr(service_cidr, ("service_cidr",)))
    service = network_or_none(service_cidr)
    if service is not None and not 12 <= service.prefixlen <= LONGEST_NODE_MASK:
        found.add(SERVICE_SIZE, ("service_cidr",), "the mask of a service CIDR is 12 to 28: the API server supports at "
                  "most 1,048,576 addresses, and cluster DNS uses the tenth",
                  f'write "{service.network_address}/16", for example', service_cidr)  # fmt: skip
    apart = {**({"vpc_cidr": vpc_cidr} if vpc_cidr else {}), "pod_cidr": pod_cidr, "service_cidr": service_cidr}
    found.take(check_disjoint(apart))
    return found


def check_pod_network(network: PodNetwork, *, node_count: int | None = None) -> Mistakes:
    """Whether every node gets its part of the pod network (``WK-KAD-003``, ``-004``)."""
    found = Mistakes()
    pods = network_or_none(network.pod_cidr)
    if pods is None:
        return found
    mask, shortest = network.node_cidr_mask, pods.prefixlen
    longest = min(LONGEST_NODE_MASK, shortest + MASK_DISTANCE)
    if not shortest < mask <= longest:
        remedy = (
            f"set node_cidr_mask to {max(shortest + 1, min(24, longest))}"
            if shortest < longest
            else 'set pod_cidr to a larger network, such as "10.244.0.0/16"'
        )
        found.add(
            NODE_MASK,
            ("node_cidr_mask",),
            f"the mask of a node's subnet of {pods} must be {shortest + 1} to {longest}",
            remedy,
            mask,
        )
        return found
    parts = 1 << (mask - shortest)
    if node_count is not None and node_count > parts:
        needed = mask - (node_count - 1).bit_length()
        wider = f"set pod_cidr to a /{needed} network" if needed > 0 else "take fewer nodes"
        found.add(NODE_COUNT, ("pod_cidr",),
                  f"{pods} has {parts} subnets of /{mask}, and the groups may have {node_count} nodes",
                  f"{wider}, or reduce max_size of the groups", network.pod_cidr)  # fmt: skip
    return found


def node_pods(node_cidr_mask: int, *, windows: bool = False) -> int:
    """How many pods have an address on a node.

    >>> node_pods(24), node_pods(24, windows=True)
    (253, 252)
    """
    return (1 << (32 - node_cidr_mask)) - TAKEN_ADDRESSES["windows" if windows else "linux"]


def check_kubelet_settings(
    settings: KubeletSettings, minor: str, *, windows: bool = False, node_cidr_mask: int | None = None
) -> Mistakes:
    """What is wrong with the kubelet settings of a group, or of a cluster."""
    found = Mistakes()
    system = "windows" if windows else "linux"
    if settings.max_pods is not None:
        found.take(_check_range(settings.max_pods, 1, 1000, ("max_pods",)))
        if node_cidr_mask is not None and settings.max_pods > (room := node_pods(node_cidr_mask, windows=windows)):
            mask = 32 - (settings.max_pods + TAKEN_ADDRESSES[system] - 1).bit_length()
            found.add(PODS_FIT, ("max_pods",), f"a node's /{node_cidr_mask} subnet of the pod CIDR has addresses for "
                      f"{room} pods", f"set max_pods to {room}, or node_cidr_mask of a new cluster to {mask}",
                      settings.max_pods)  # fmt: skip
    for field, low, high in (
        ("image_gc_high_threshold_percent", 1, 100),
        ("image_gc_low_threshold_percent", 0, 99),
        ("container_log_max_files", 2, 100),
        ("pod_pids_limit", 64, 4_194_304),
        ("parallel_image_pulls", 1, 100),
        ("shutdown_grace_period_seconds", 0, 3600),
    ):
        found.take(_check_range(getattr(settings, field), low, high, (field,)))
    if settings.image_gc_low_threshold_percent >= settings.image_gc_high_threshold_percent:
        found.add(RANGE, ("image_gc_low_threshold_percent",), "must be below image_gc_high_threshold_percent, "
                  f"which is {settings.image_gc_high_threshold_percent}", "set it lower than that",
                  settings.image_gc_low_threshold_percent)  # fmt: skip
    critical, whole = settings.shutdown_grace_period_critical_pods_seconds, settings.shutdown_grace_period_seconds
    if whole >= 0 and not 0 <= critical <= whole:
        found.add(RANGE, ("shutdown_grace_period_critical_pods_seconds",),
                  f"must be less than shutdown_grace_period_seconds, which is {whole}", f"set it to {whole // 3}",
                  critical)  # fmt: skip
    if not _QUANTITY.fullmatch(settings.container_log_max_size):
        found.add(
            QUANTITY, ("container_log_max_size",), "must be a quantity", 'write "10Mi"', settings.container_log_max_size
        )
    for field in ("system_reserved", "kube_reserved"):
        found.take(_check_quantities(getattr(settings, field), RESERVED_RESOURCES, (field,)))
    found.take(_check_quantities(settings.eviction_hard, SIGNALS[system], ("eviction_hard",), percentage=True))
    found.take(check_kubelet_fields(minor, settings.configuration, windows=windows))
    found.take(check_extra_args("kubelet", minor, settings.arguments, ("arguments",), windows=windows))
    return found


def check_endpoint(endpoint: str, path: Path = ("endpoint",)) -> Mistakes:
    """Whether an endpoint is ``host:port`` with a valid host (``WK-KAD-006``, ``-024``)."""
    found = Mistakes()
    host, colon, port = endpoint.rpartition(":")
    if "://" in endpoint or not colon or not port.isdigit() or not 0 < int(port) < 65536:
        bare = endpoint.partition("://")[2] or endpoint
        bare = bare.partition("/")[0]
        meant = bare if re.fullmatch(r"[^:]+:\d{1,5}", bare) else f"{bare.partition(':')[0] or 'api.example.com'}:6443"
        found.add(ENDPOINT, path, "must be host:port without a scheme", f'write "{meant}"', endpoint)
    elif not _is_address(host):
        found.take(check_dns_name(host, path))
    return found


def check_dns_name(name: str, path: Path) -> Mistakes:
    """Whether a name consists of DNS labels (``WK-KAD-024``)."""
    found = Mistakes()
    labels = name.split(".")
    if len(name) > LONGEST_NAME:
        found.add(DNS_NAME, path, f"a DNS name can have at most {LONGEST_NAME} characters, and this has {len(name)}",
                  f"shorten it by {len(name) - LONGEST_NAME}", name)  # fmt: skip
    for label in labels:
        if len(label) > LONGEST_LABEL:
            found.add(DNS_NAME, path,
                      f"the label {label[:12]}… has {len(label)} characters, and DNS allows at most {LONGEST_LABEL}",
                      f"shorten it by {len(label) - LONGEST_LABEL}", name)  # fmt: skip
    if not all(_LABEL.fullmatch(label) for label in labels):
        meant = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")
        found.add(DNS_NAME, path, "must have labels of lower-case letters, digits and hyphens, separated by dots",
                  f'write "{meant}"' if meant and meant != name else "write a DNS name", name)  # fmt: skip
    return found


def check_pause_image(
    image: str, *, windows: str | None = None, containerd: str | None = None, path: Path = ("pause_image",)
) -> Mistakes:
    """Whether a pause image runs on a release of Windows Server and with a containerd (``WK-KAD-007``, ``-008``)."""
    found = Mistakes()
    version = _pause_version(image)
    if windows == "2025" and version is not None and version < _numbers(PAUSE_MINIMUM_SERVER_2025):
        found.add(
            PAUSE_VERSION,
            path,
            f"Windows Server 2025 needs a pause image of {PAUSE_MINIMUM_SERVER_2025} or "
            "newer: older ones have no image for it",
            f'write "registry.k8s.io/pause:{PAUSE_MINIMUM_SERVER_2025}"',
            image,
        )
    if (
        containerd is not None
        and "@sha256:" in image
        and (2, 3, 0) <= _numbers(containerd) < _numbers(CONTAINERD_MINIMUM_PINNED_PAUSE)
    ):
        found.add(PINNED_PAUSE, path, f"containerd {containerd} cannot start pods with a pause image pinned by digest",
                  f"write the image without its digest, or use containerd {CONTAINERD_MINIMUM_PINNED_PAUSE} or newer",
                  image)  # fmt: skip
    return found


def _check_flags(cluster: ClusterConfig) -> Mistakes:
    found = Mistakes()
    minor = cluster.kubernetes_version
    if minor not in SELF_MANAGED_RELEASES:
        return found
    for component in ("api_server", "controller_manager", "scheduler", "etcd"):
        flags = getattr(cluster.extra_arguments, component)
        found.take(check_extra_args(component, minor, flags, ("extra_arguments", component)))
    found.take(check_feature_gates(minor, cluster.feature_gates))
    return found


def _check_encryption(cluster: ClusterConfig) -> Mistakes:
    found = Mistakes()
    wanted, plugin = cluster.secrets_encryption == "kms", cluster.kms
    if wanted and plugin is None:
        found.add(KMS, ("kms",), 'secrets_encryption "kms" needs the plug-in', "set kms.image, kms.key_arn and "
                  'kms.region, or secrets_encryption to "secretbox", which needs no image')  # fmt: skip
    elif plugin is not None and not wanted:
        found.add(KMS, ("secrets_encryption",), 'kms is set, but Secrets are not encrypted with it',
                  'set secrets_encryption to "kms", or remove kms', cluster.secrets_encryption)  # fmt: skip
    elif plugin is not None:
        found.take(_check_plugin(plugin), "kms")
    if cluster.secrets_encryption != "none" and not cluster.encrypted_resources:
        found.add(KMS, ("encrypted_resources",), "is empty, so nothing is encrypted", 'write ["secrets"]', [])
    return found


def _check_plugin(plugin: KmsPlugin) -> Mistakes:
    found = Mistakes()
    if not re.search(r"@sha256:[0-9a-f]{64}$", plugin.image):
        found.add(KMS, ("image",), "must be pinned by digest, because all data of the API server passes through it",
                  'write it as "registry.example.com/aws-encryption-provider@sha256:…"', plugin.image)  # fmt: skip
    match = _KEY_ARN.fullmatch(plugin.key_arn)
    if match is None:
        found.add(KMS, ("key_arn",), "must be the ARN of a key, not of an alias",
                  'write "arn:aws:kms:<region>:<account>:key/<id>"', plugin.key_arn)  # fmt: skip
    elif match[1] != plugin.region:
        found.add(KMS, ("region",), f"must be the Region of the key, {match[1]}", f'write "{match[1]}"', plugin.region)
    return found


def _check_issuer(cluster: ClusterConfig) -> Mistakes:
    found = Mistakes()
    issuer = cluster.service_account_issuer
    if issuer is None:
        return found
    for field, value in (("issuer", issuer.issuer), ("jwks_uri", issuer.jwks_uri)):
        if not re.fullmatch(r"https://[a-z0-9.-]+(/[\w./-]*)?", value) or value.endswith("/"):
            host = value.partition("://")[2] or value
            found.add(ISSUER, ("service_account_issuer", field), "must be an https URL without a trailing slash",
                      f'write "https://{host.strip("/")}"', value)  # fmt: skip
    return found


def _check_pod_security(settings: PodSecurity) -> Mistakes:
    found = Mistakes()
    for mode in ("enforce", "audit", "warn"):
        found.take(_check_choice(getattr(settings, mode), LEVELS, (mode,)))
    for index, namespace in enumerate(settings.exempt_namespaces):
        if len(namespace) > LONGEST_LABEL or not _LABEL.fullmatch(namespace):
            found.take(check_dns_name(namespace.replace(".", "_"), ("exempt_namespaces", index)))
    return found


def _check_choice(value: str, allowed: Sequence[str], path: Path) -> Mistakes:
    found = Mistakes()
    if value not in allowed:
        near = nearest(value, allowed)
        found.add(CHOICE, path, f"must be {one_of(allowed)}", f'write "{near or allowed[0]}"', value)
    return found


def _check_range(value: int, low: int, high: int, path: Path) -> Mistakes:
    found = Mistakes()
    if not low <= value <= high:
        found.add(RANGE, path, f"must be {low} to {high}", f"write {min(max(value, low), high)}", value)
    return found


def _check_quantities(
    values: Mapping[str, str], allowed: Sequence[str], path: Path, *, percentage: bool = False
) -> Mistakes:
    found = Mistakes()
    for name, value in values.items():
        where = (*path, name)
        if name not in allowed:
            near = nearest(name, allowed)
            found.add(RESOURCE, where, f"must be {one_of(allowed)}", f'write "{near}"' if near else "remove it", name)
        if not (_QUANTITY.fullmatch(value) or (percentage and _PERCENTAGE.fullmatch(value))):
            words = "a quantity or a percentage" if percentage else "a quantity"
            found.add(QUANTITY, where, f"must be {words}", 'write "500Mi"' + (' or "10%"' if percentage else ""), value)
    return found


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _pause_version(image: str) -> tuple[int, ...] | None:
    match = re.search(r"/pause:(\d+(?:\.\d+)+)", image)
    return _numbers(match[1]) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
