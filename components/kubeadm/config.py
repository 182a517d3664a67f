"""What a self-managed cluster is, as plain data: the one input of all documents of this room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any, Protocol

from ..core.cidr import nth_address
from ..scheduling.labels import TaintLike
from ..tables.releases import SelfManagedRelease, release

HOST_PROCESS_NAMESPACES = ("kube-flannel",)
"""Namespaces of winkube's own HostProcess pods, which only the profile ``privileged`` admits."""


@dataclass(frozen=True, kw_only=True)
class KubeletSettings:
    """Kubelet settings; all have defaults."""

    max_pods: int | None = None
    """Maximum number of pods per node; 110 by default. The node's subnet of the pod CIDR must have enough addresses."""
    system_reserved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Resources reserved for the operating system, such as ``{"memory": "1Gi"}``; the defaults depend on the
    platform."""
    kube_reserved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Resources reserved for kubelet and container runtime; the defaults depend on the platform."""
    eviction_hard: Mapping[str, str] = field(default_factory=dict[str, str])
    """Hard eviction thresholds, such as ``{"memory.available": "500Mi"}``, merged into the defaults."""
    image_gc_high_threshold_percent: int = 85
    """Disk usage in percent at which image garbage collection starts; 85 by default."""
    image_gc_low_threshold_percent: int = 80
    """Disk usage in percent at which image garbage collection stops; 80 by default."""
    container_log_max_size: str = "10Mi"
    """Size at which a container's log is rotated; ``10Mi`` by default."""
    container_log_max_files: int = 5
    """Logs kept per container, at least 2; 5 by default."""
    pod_pids_limit: int = 4096
    """Maximum number of processes of a pod on Linux; 4096 by default."""
    parallel_image_pulls: int = 4
    """Number of images to pull in parallel; 4 by default."""
    shutdown_grace_period_seconds: int = 60
    """Seconds for pods to stop when the node shuts down; 60 by default, 0 turns it off."""
    shutdown_grace_period_critical_pods_seconds: int = 20
    """Seconds of that time reserved for critical pods; 20 by default."""
    configuration: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further KubeletConfiguration fields, in their own spelling; fields that winkube sets are refused."""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further kubelet flags without dashes; checked against the Kubernetes minor."""


@dataclass(frozen=True, kw_only=True)
class ServiceAccountIssuer:
    """An issuer that AWS can read, so that service accounts can be given IAM roles (IRSA)."""

    issuer: str
    """Its address, such as ``https://bucket.s3.eu-west-1.amazonaws.com``."""
    jwks_uri: str
    """Where the key set lies, below the issuer."""


@dataclass(frozen=True, kw_only=True)
class AuditLog:
    """The audit log that the API server writes on its node."""

    max_age_days: int = 30
    """How long files are kept; 30 by default (CIS 1.2.17)."""
    max_backups: int = 10
    """How many files are kept; 10 by default (CIS 1.2.18)."""
    max_size_mib: int = 100
    """Size at which a file is rotated; 100 by default (CIS 1.2.19)."""


@dataclass(frozen=True, kw_only=True)
class KmsPlugin:
    """A KMS v2 plug-in (aws-encryption-provider) that encrypts what the API server stores."""

    image: str
    """Its image; upstream publishes none, so it is an image of yours, by digest."""
    key_arn: str
    """The key's ARN, not an alias; the control plane's role needs kms:Encrypt, kms:Decrypt, kms:DescribeKey on it."""
    region: str
    """The region of the key."""


@dataclass(frozen=True, kw_only=True)
class PodSecurity:
    """The Pod Security Standard of namespaces without labels."""

    enforce: str = "baseline"
    """The level to enforce: ``baseline`` (default), ``restricted`` or ``privileged``."""
    audit: str = "restricted"
    """The level for the audit log; ``restricted`` by default."""
    warn: str = "restricted"
    """The level for warnings; ``restricted`` by default."""
    exempt_namespaces: Sequence[str] = ()
    """Exempt namespaces in addition to ``kube-system`` and those of winkube's HostProcess pods."""


@dataclass(frozen=True, kw_only=True)
class ExtraArguments:
    """Additional control plane flags without dashes; checked against the Kubernetes minor and the arguments."""

    api_server: Mapping[str, str] = field(default_factory=dict[str, str])
    """For kube-apiserver."""
    controller_manager: Mapping[str, str] = field(default_factory=dict[str, str])
    """For kube-controller-manager."""
    scheduler: Mapping[str, str] = field(default_factory=dict[str, str])
    """For kube-scheduler."""
    etcd: Mapping[str, str] = field(default_factory=dict[str, str])
    """For etcd."""


class JoinableCluster(Protocol):
    """What the documents of workers need of a cluster; ``ClusterConfig`` and ``JoinTarget`` have it."""

    @property
    def cluster_name(self) -> str: ...  # noqa: D102
    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def cluster_domain(self) -> str: ...  # noqa: D102
    @property
    def dns_service_ip(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """A self-managed cluster, as far as kubeadm and the control plane need to know it."""

    cluster_name: str
    """The cluster's name: ``--cluster-name`` of the controllers and the context of its kubeconfigs."""
    kubernetes_version: str
    """The minor, such as ``1.36``; the patch comes from the table."""
    endpoint: str
    """The API as ``host:port``, such as ``api.prod.example.com:6443``."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR; ``10.244.0.0/16`` by default."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR; ``10.96.0.0/12`` by default."""
    node_cidr_mask: int = 24
    """Prefix length of each node's subnet of the pod CIDR; 24 (254 addresses) by default."""
    cluster_domain: str = "cluster.local"
    """The domain that the cluster's DNS serves; ``cluster.local`` by default."""
    api_server_names: Sequence[str] = ()
    """Further names and addresses in the API server's certificate; the endpoint's own host is always there."""
    image_repository: str | None = None
    """Registry of the control plane's images; ``registry.k8s.io`` by default."""
    encryption_algorithm: str = "RSA-2048"
    """Of the keys that kubeadm makes: ``RSA-2048`` (default), ``RSA-3072``, ``RSA-4096``, ``ECDSA-P256`` or
    ``ECDSA-P384``. The key of the service accounts is always RSA, as AWS needs it."""
    certificate_validity_days: int = 365
    """How long the control plane's certificates are valid; 365 by default: roll it at least twice a year."""
    service_account_issuer: ServiceAccountIssuer | None = None
    """The issuer of service account tokens that AWS can read; only the cluster's own by default."""
    anonymous_access: str = "health"
    """What clients without credentials may read: ``health`` (default), the three health paths alone, ``none``, or
    ``all`` as kubeadm has it."""
    audit: AuditLog | None = field(default_factory=AuditLog)
    """The audit log; None turns it off."""
    secrets_encryption: str = "secretbox"
    """How Secrets lie in etcd: ``secretbox`` (default), ``kms`` with ``kms`` set, or ``none``."""
    kms: KmsPlugin | None = None
    """The plug-in for ``secrets_encryption`` ``kms``."""
    encrypted_resources: Sequence[str] = ("secrets",)
    """The resources that are encrypted; ``secrets`` by default."""
    pod_security: PodSecurity = field(default_factory=PodSecurity)
    """The Pod Security Standard of namespaces without labels."""
    event_rate_limit: bool = True
    """Whether the API server limits the events that one node or the cluster may send (CIS 1.2.9); true by default."""
    always_pull_images: bool = False
    """Whether every start of a pod asks the registry (CIS 1.2.11); false by default, for it needs the registry up."""
    kubelet_serving_certificates: bool = True
    """Whether kubelets ask the cluster for their serving certificate, and the API server checks it; true by default.
    Somebody has to approve the requests."""
    kube_proxy_mode: str = "iptables"
    """Of Linux nodes: ``iptables`` (default) or ``nftables``."""
    etcd_quota_gib: int = 8
    """Size that etcd's database may reach; 8 by default, the most that etcd recommends."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Feature gates of all components; checked against the Kubernetes minor."""
    extra_arguments: ExtraArguments = field(default_factory=ExtraArguments)
    """Further flags of the control plane."""
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """Of all Linux nodes; a group's own settings come on top."""

    @property
    def release(self) -> SelfManagedRelease:
        """The table's row of the minor."""
        return release(self.kubernetes_version)

    @property
    def dns_service_ip(self) -> str:
        """The address of the cluster's DNS: the tenth of the service CIDR."""
        return str(nth_address(IPv4Network(self.service_cidr), 10))

    @property
    def host(self) -> str:
        """The endpoint without its port."""
        return self.endpoint.rpartition(":")[0]

    @property
    def port(self) -> int:
        """The endpoint's port."""
        return int(self.endpoint.rpartition(":")[2])


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    """What the nodes of one group have in common: labels, taints, kubelet settings, runtime."""

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """With which nodes register."""
    taints: Sequence[TaintLike] | None = None
    """With which nodes register; None: what kubeadm sets, for control planes their own taint."""
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """The group's kubelet settings; over those of the cluster."""
    runtime: str = "containerd"
    """``containerd`` (default) or ``cri-o``."""
    cloud_provider: str = "external"
    """``external`` (default), or ``none`` in a cluster without cloud controller manager."""
    ecr_credentials: bool = False
    """Whether the kubelet asks ``ecr-credential-provider`` for credentials of ECR; the binary must be on the node."""
    ignored_preflight_errors: Sequence[str] = ()
    """Checks of kubeadm that only warn."""
