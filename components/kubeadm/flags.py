"""Which flags, feature gates and kubelet fields a minor has, and what is wrong with those that a user adds. Pure.

The tables of what there is come from the programs themselves (``tables/refresh_kubernetes_flags.py``). What was taken
away, and what winkube writes from a setting, stands here with its reason.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Any

from .. import tables
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of

FLAGS_PAGE = "https://kubernetes.io/docs/reference/command-line-tools-reference/"
GATES_PAGE = "https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/"
FIELDS_PAGE = "https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/"

FLAG_REMOVED = Rule("WK-KAD-010", "A flag that the Kubernetes minor has removed stops the program.", FLAGS_PAGE)
FLAG_UNKNOWN = Rule("WK-KAD-011", "A flag must exist in the program of the Kubernetes minor.", FLAGS_PAGE)
FLAG_OWNED = Rule("WK-KAD-012", "Flags that winkube or kubeadm writes cannot be set directly.", FLAGS_PAGE)
FLAG_SYNTAX = Rule("WK-KAD-013", "A flag is written without dashes and needs a value.", FLAGS_PAGE)
GATE_UNKNOWN = Rule("WK-KAD-014", "A feature gate must exist in the Kubernetes minor.", GATES_PAGE)
GATE_LOCKED = Rule("WK-KAD-015", "A locked feature gate cannot be changed.", GATES_PAGE)
FIELD_UNKNOWN = Rule(
    "WK-KAD-016", "A kubelet field must exist in the KubeletConfiguration of the Kubernetes minor.", FIELDS_PAGE
)
FIELD_OWNED = Rule("WK-KAD-017", "Kubelet fields that winkube writes cannot be set directly.", FIELDS_PAGE)
FIELD_KIND = Rule("WK-KAD-018", "A kubelet field needs a value of its type.", FIELDS_PAGE)
FIELD_LINUX = Rule(
    "WK-KAD-019",
    "Some kubelet fields and flags exist only on Linux.",
    "https://kubernetes.io/docs/concepts/windows/intro/#kubelet-compatibility",
)

PROGRAMS: Mapping[str, str] = {
    "api_server": "kube-apiserver",
    "controller_manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
    "etcd": "etcd",
    "kubelet": "kubelet",
    "kube_proxy": "kube-proxy",
}
"""The fields of the arguments, with the programs that they are for."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A flag that was taken away."""

    since: str
    """The minor that has it no more."""
    why: str
    instead: str
    """What to do, as an order."""
    source: str


_CHANGELOG = "https://github.com/kubernetes/kubernetes/blob/master/CHANGELOG/CHANGELOG-"


def _removed(since: str, why: str, instead: str, pull: int | None = None) -> Removal:
    return Removal(since, why, instead, f"{_CHANGELOG}{since}.md" + (f" (#{pull})" if pull else ""))


_CLOUD = "cloud providers are external programs since 1.31"
_INSECURE = "the insecure port was removed"
_CADVISOR = "it was for cAdvisor, which the kubelet no longer needs"
_RUNTIME_NETWORK = "the container runtime sets up the network since dockershim was removed"
_ETCD_3_6 = "https://etcd.io/blog/2025/announcing-etcd-3.6/"
REMOVED: Mapping[str, Mapping[str, Removal]] = {
    "api_server": {
        "cloud-provider": _removed("1.33", _CLOUD, "remove it; winkube configures kubelets and controllers", 130162),
        "cloud-config": _removed("1.33", _CLOUD, "remove it; configure the cloud controller manager", 130162),
        "insecure-port": _removed("1.24", _INSECURE, "remove it"),
        "insecure-bind-address": _removed("1.24", _INSECURE, "remove it"),
        "kubelet-https": _removed("1.22", "the API server always uses TLS for kubelets", "remove it"),
        "basic-auth-file": _removed("1.19", "password files are no longer supported", "use certificates or OIDC"),
    },
    "controller_manager": {
        "port": _removed("1.24", _INSECURE, "remove it"),
        "address": _removed("1.24", _INSECURE, "write bind-address"),
        "enable-taint-manager": _removed("1.27", "the taint manager is always on", "remove it"),
        "pod-eviction-timeout": _removed(
            "1.27",
            "tolerations of pods decide how long they stay",
            "set default-not-ready-toleration-seconds of the API server",
        ),
    },
    "scheduler": {
        "port": _removed("1.24", _INSECURE, "remove it"),
        "address": _removed("1.24", _INSECURE, "write bind-address"),
        "policy-config-file": _removed(
            "1.23", "scheduling profiles replaced policies", "write a configuration by config"
        ),
    },
    "kubelet": {
        "pod-infra-container-image": _removed(
            "1.35",
            "only the container runtime uses the pause image",
            "remove it; winkube sets the image in containerd",
            133779,
        ),
        "cloud-config": _removed("1.34", _CLOUD, "remove it; configure the cloud controller manager"),
        "containerd": _removed("1.37", _CADVISOR, "remove it"),
        "containerd-namespace": _removed("1.37", _CADVISOR, "remove it"),
        "container-runtime": _removed("1.27", "only CRI runtimes are supported", "remove it"),
        "network-plugin": _removed("1.24", _RUNTIME_NETWORK, "remove it"),
        "cni-bin-dir": _removed("1.24", _RUNTIME_NETWORK, "remove it; winkube sets it in containerd"),
        "cni-conf-dir": _removed("1.24", _RUNTIME_NETWORK, "remove it; winkube sets it in containerd"),
    },
    "etcd": {
        "enable-v2": Removal("1.34", "etcd 3.6 has no API v2", "remove it", _ETCD_3_6),
        "proxy": Removal("1.34", "etcd 3.6 removed the API v2 proxy", "remove it", _ETCD_3_6),
    },
}
"""Argument to flag to what became of it."""

OWNED: Mapping[str, Mapping[str, str]] = {
    "api_server": {
        "admission-control-config-file": "pod_security and event_rate_limit",
        "anonymous-auth": "anonymous_access",
        "api-audiences": "service_account_issuer",
        "audit-log-maxage": "audit.max_age_days",
        "audit-log-maxbackup": "audit.max_backups",
        "audit-log-maxsize": "audit.max_size_mib",
        "audit-log-path": "audit",
        "audit-policy-file": "audit",
        "authentication-config": "anonymous_access",
        "encryption-provider-config": "secrets_encryption",
        "feature-gates": "feature_gates",
        "kubelet-certificate-authority": "kubelet_serving_certificates",
        "service-account-issuer": "service_account_issuer.issuer",
        "service-account-jwks-uri": "service_account_issuer.jwks_uri",
        "service-cluster-ip-range": "service_cidr",
    },
    "controller_manager": {
        "cluster-cidr": "pod_cidr",
        "cluster-name": "cluster_name",
        "feature-gates": "feature_gates",
        "node-cidr-mask-size": "node_cidr_mask",
        "service-cluster-ip-range": "service_cidr",
    },
    "scheduler": {"feature-gates": "feature_gates"},
    "etcd": {"quota-backend-bytes": "etcd_quota_gib"},
    "kubelet": {
        "cloud-provider": "cloud_provider",
        "feature-gates": "feature_gates",
        "max-pods": "max_pods",
        "node-labels": "labels",
        "register-with-taints": "taints",
        "system-reserved": "system_reserved",
        "kube-reserved": "kube_reserved",
        "eviction-hard": "eviction_hard",
        "image-gc-high-threshold": "image_gc_high_threshold_percent",
        "image-gc-low-threshold": "image_gc_low_threshold_percent",
        "container-log-max-size": "container_log_max_size",
        "container-log-max-files": "container_log_max_files",
        "pod-max-pids": "pod_pids_limit",
        "image-credential-provider-bin-dir": "ecr_credentials",
        "image-credential-provider-config": "ecr_credentials",
    },
    "kube_proxy": {"cluster-cidr": "pod_cidr", "proxy-mode": "kube_proxy_mode"},
}
"""Argument to flag to the setting that writes it."""

KUBEADM_OWNED: Mapping[str, tuple[str, ...]] = {
    "api_server": (
        "advertise-address", "client-ca-file", "enable-bootstrap-token-auth", "etcd-cafile", "etcd-certfile",
        "etcd-keyfile", "etcd-servers", "kubelet-client-certificate", "kubelet-client-key", "proxy-client-cert-file",
        "proxy-client-key-file", "requestheader-client-ca-file", "secure-port", "service-account-key-file",
        "service-account-signing-key-file", "tls-cert-file", "tls-private-key-file",
    ),
    "controller_manager": (
        "authentication-kubeconfig", "authorization-kubeconfig", "client-ca-file", "cluster-signing-cert-file",
        "cluster-signing-key-file", "kubeconfig", "requestheader-client-ca-file", "root-ca-file",
        "service-account-private-key-file",
    ),
    "scheduler": ("authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig"),
    "etcd": (
        "advertise-client-urls", "cert-file", "client-cert-auth", "data-dir", "initial-advertise-peer-urls",
        "initial-cluster", "initial-cluster-state", "key-file", "listen-client-urls", "listen-peer-urls", "name",
        "peer-cert-file", "peer-client-cert-auth", "peer-key-file", "peer-trusted-ca-file", "trusted-ca-file",
    ),
    "kubelet": (
        "bootstrap-kubeconfig", "cert-dir", "config", "hostname-override", "kubeconfig", "node-ip", "provider-id",
        "root-dir", "windows-service", "container-runtime-endpoint",
    ),
    "kube_proxy": ("config", "hostname-override", "kubeconfig"),
}  # fmt: skip
"""Argument to flags that hold a node and its cluster together: with another value they would part."""

FIELDS_OWNED: Mapping[str, str] = {
    "clusterDNS": "service_cidr", "clusterDomain": "cluster_domain", "containerLogMaxFiles": "container_log_max_files",
    "containerLogMaxSize": "container_log_max_size", "evictionHard": "eviction_hard", "featureGates": "feature_gates",
    "imageGCHighThresholdPercent": "image_gc_high_threshold_percent",
    "imageGCLowThresholdPercent": "image_gc_low_threshold_percent", "kubeReserved": "kube_reserved",
    "maxParallelImagePulls": "parallel_image_pulls", "maxPods": "max_pods", "podPidsLimit": "pod_pids_limit",
    "registerWithTaints": "taints", "serializeImagePulls": "parallel_image_pulls",
    "serverTLSBootstrap": "kubelet_serving_certificates",
    "shutdownGracePeriod": "shutdown_grace_period_seconds",
    "shutdownGracePeriodCriticalPods": "shutdown_grace_period_critical_pods_seconds",
    "systemReserved": "system_reserved",
}  # fmt: skip
"""Fields of the KubeletConfiguration, with the setting that writes them."""
FIELDS_FIXED = ("authentication", "authorization", "containerRuntimeEndpoint", "providerID", "staticPodPath")
"""Fields that hold a node and its cluster together."""

CGROUPS = "winkube tells every container runtime to use the systemd driver, and the kubelet must use the same one"

FIELDS_OF_LINUX = (
    "cgroupDriver", "cgroupRoot", "cgroupsPerQOS", "cpuCFSQuota", "cpuCFSQuotaPeriod", "enforceNodeAllocatable",
    "failCgroupV1", "failSwapOn", "iptablesDropBit", "iptablesMasqueradeBit", "kernelMemcgNotification",
    "kubeReservedCgroup", "kubeletCgroups", "makeIPTablesUtilChains", "memorySwap", "memoryThrottlingFactor",
    "oomScoreAdj", "podPidsLimit", "protectKernelDefaults", "qosReserved", "resolvConf", "seccompDefault",
    "singleProcessOOMKill", "systemCgroups", "systemReservedCgroup", "userNamespaces",
)  # fmt: skip
"""Fields that a Windows kubelet ignores with a warning, or does not start with."""
FLAGS_OF_WINDOWS = ("windows-priorityclass", "windows-service")
FLAGS_OF_LINUX = (
    "cgroup-driver", "cgroup-root", "cgroups-per-qos", "cpu-cfs-quota", "cpu-cfs-quota-period",
    "enforce-node-allocatable", "kernel-memcg-notification", "kube-reserved-cgroup", "kubelet-cgroups",
    "make-iptables-util-chains", "oom-score-adj", "protect-kernel-defaults", "qos-reserved", "runtime-cgroups",
    "seccomp-default", "system-cgroups", "system-reserved-cgroup",
)  # fmt: skip

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_KINDS: Mapping[str, tuple[str, Any]] = {
    "boolean": ("true or false", bool),
    "integer": ("a whole number", int),
    "list": ("a list", (list, tuple)),
    "number": ("a number", (int, float)),
    "object": ("an object", Mapping),
    "text": ("a text", str),
}


@cache
def _table() -> Mapping[str, Any]:
    """What the programs of each minor have."""
    return json.loads(File(tables.__path__[0], "kubernetes_flags.json").read_text(encoding="utf-8"))


def known_flags(component: str, minor: str) -> tuple[str, ...]:
    """The flags of a program; none where the table has no such program."""
    flags: list[str] = _table()[minor]["flags"].get(PROGRAMS[component], [])
    return (*flags, *(FLAGS_OF_WINDOWS if component == "kubelet" and flags else ()))


def known_gates(minor: str) -> Mapping[str, tuple[str, bool, bool]]:
    """Feature gate to stage, default and whether it is locked."""
    return _table()[minor]["gates"]


def known_fields(minor: str) -> Mapping[str, str]:
    """Field of the KubeletConfiguration to the kind of its value."""
    return _table()[minor]["kubelet_fields"]


def check_extra_args(
    component: str, minor: str, args: Mapping[str, str], path: Path | None = None, *, windows: bool = False
) -> Mistakes:
    """Flags that a program of this minor does not have, or that are somebody else's (``WK-KAD-010`` to ``-013``).

    ``component`` is a key of :data:`PROGRAMS`; of a minor that the table does not know nothing is said.
    """
    found = Mistakes()
    base: Path = (component,) if path is None else path
    if minor not in _table():
        return found
    for flag, value in args.items():
        where = (*base, flag)
        if not _NAME.fullmatch(flag):
            name = re.sub(r"[^a-z0-9-]", "-", flag.lstrip("-").partition("=")[0].lower())
            found.add(FLAG_SYNTAX, where, "a flag is written without leading dashes, in lower case",
                      f'write "{name}"' if _NAME.fullmatch(name) else "write the flag's name", flag)  # fmt: skip
        else:
            found.take(_check_flag(component, minor, flag, value, windows), *where)
    return found


def _check_flag(component: str, minor: str, flag: str, value: str, windows: bool) -> Mistakes:
    found = Mistakes()
    program, known = PROGRAMS[component], known_flags(component, minor)
    removal = REMOVED.get(component, {}).get(flag)
    if (setting := OWNED.get(component, {}).get(flag)) is not None:
        found.add(FLAG_OWNED, (), f"winkube sets --{flag} from {setting}", f"set {setting}, and remove the flag", value)
    elif flag in KUBEADM_OWNED.get(component, ()):
        found.add(FLAG_OWNED, (), f"--{flag} connects the node to its cluster, so winkube sets it for each node",
                  "remove it", value)  # fmt: skip
    elif removal is not None and flag not in known:
        found.add(FLAG_REMOVED, (), f"Kubernetes {removal.since} removed --{flag} of {program}: {removal.why}",
                  removal.instead, value)  # fmt: skip
    elif known and flag not in known:
        near = nearest(flag, known)
        others = [other for other in _table() if flag in known_flags(component, other)]
        also = f"; {one_of(others)} has it" if others else ""
        found.add(FLAG_UNKNOWN, (), f"{program} {minor} has no flag --{flag}{also}",
                  f'write "{near}"' if near else "remove it", flag)  # fmt: skip
    elif component == "kubelet" and flag in (FLAGS_OF_LINUX if windows else FLAGS_OF_WINDOWS):
        system, other = ("Windows", "Linux") if windows else ("Linux", "Windows")
        found.add(FIELD_LINUX, (), f"--{flag} exists only on {other}, and these nodes run {system}", "remove it",
                  value)  # fmt: skip
    elif component == "kubelet" and flag == "cgroup-driver":
        found.add(FLAG_OWNED, (), CGROUPS, "remove it", value)
    return found


def check_feature_gates(minor: str, gates: Mapping[str, bool], path: Path = ("feature_gates",)) -> Mistakes:
    """Feature gates that the minor does not know, or that are locked (``WK-KAD-014``, ``-015``)."""
    found = Mistakes()
    if minor not in _table():
        return found
    known = known_gates(minor)
    for gate, on in gates.items():
        where = (*path, gate)
        if gate not in known:
            others = [other for other in _table() if gate in known_gates(other)]
            near = nearest(gate, tuple(known))
            also = f"; {one_of(others)} has it" if others else ""
            remedy = f'write "{near}"' if near and not others else "remove it"
            found.add(GATE_UNKNOWN, where, f"Kubernetes {minor} has no such feature gate{also}: a program with an "
                      "unknown gate does not start", remedy, gate)  # fmt: skip
            continue
        stage, default, locked = known[gate]
        if locked and on is not default:
            words = {"GA": "is stable", "Deprecated": "is deprecated"}.get(stage, "is decided")
            found.add(GATE_LOCKED, where, f"the feature {words} in Kubernetes {minor} and its gate is locked to "
                      f"{str(default).lower()}", "remove it", on)  # fmt: skip
    return found


def check_kubelet_fields(
    minor: str, fields: Mapping[str, Any], path: Path = ("configuration",), *, windows: bool = False
) -> Mistakes:
    """Fields that the kubelet of this minor does not know, or that a setting writes (``WK-KAD-016`` to ``-019``)."""
    found = Mistakes()
    if minor not in _table():
        return found
    known = known_fields(minor)
    for name, value in fields.items():
        where = (*path, name)
        if name not in known:
            others = [other for other in _table() if name in known_fields(other)]
            near = nearest(name, tuple(known))
            also = f"; {one_of(others)} has it" if others else ""
            found.add(FIELD_UNKNOWN, where, f"the KubeletConfiguration of Kubernetes {minor} has no such field{also}",
                      f'write "{near}"' if near and not others else "remove it", name)  # fmt: skip
        elif windows and name in FIELDS_OF_LINUX:
            found.add(FIELD_LINUX, where, "exists only on Linux, and these nodes run Windows", "remove it", value)
        elif name in FIELDS_OWNED:
            found.add(FIELD_OWNED, where, f"is set by winkube from {FIELDS_OWNED[name]}",
                      f"set {FIELDS_OWNED[name]}, and remove the field", value)  # fmt: skip
        elif name in FIELDS_FIXED:
            found.add(
                FIELD_OWNED,
                where,
                "connects the node to its cluster, so winkube sets it for each node",
                "remove it",
                value,
            )
        elif name == "cgroupDriver":
            found.add(FIELD_OWNED, where, CGROUPS, "remove it", value)
        elif (kind := _KINDS.get(known[name])) and not _is(value, kind[1]):
            found.add(FIELD_KIND, where, f"must be {kind[0]}", f"write {kind[0]}", value)
    return found


def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
