"""What a stack file may say of a control plane of one's own: mirrors of the components' arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import ProxySettings

USUAL_KUBERNETES = "1.36"
"""A minor for which everything that nodes download has a digest in the table."""


class IrsaSettings(Model):
    """How the key set of the cluster's ServiceAccount tokens is published, so that IAM can trust them."""

    publish: str = "cloudfront"
    """Where: "cloudfront" before a private bucket, or "s3", a bucket that everybody may read. Default: cloudfront."""
    bucket_name: str | None = None
    """The name of that bucket. Default: made up from the cluster's."""
    audience: str = "sts.amazonaws.com"
    """The audience of the tokens that IAM takes. Default: sts.amazonaws.com."""


class BackupRetentionSettings(Model):
    """Which backups of etcd are kept: the newest, and the last of each hour and day."""

    keep_last: int = 96
    """How many of the newest. Default: 96."""
    keep_hourly: int = 168
    """For how many hours. Default: 168."""
    keep_daily: int = 90
    """For how many days. Default: 90."""


class AuditLogSettings(Model):
    """The audit log that the API server writes on its node."""

    max_age_days: int = 30
    """How long files are kept. Default: 30."""
    max_backups: int = 10
    """How many files are kept. Default: 10."""
    max_size_mib: int = 100
    """The size in MiB at which a file is rotated. Default: 100."""


class PodSecuritySettings(Model):
    """The Pod Security Standard of namespaces that have no label of their own."""

    enforce: str = "baseline"
    """What is refused: "privileged" nothing, "baseline", or "restricted". Default: baseline."""
    audit: str = "restricted"
    """What is noted in the audit log. Default: restricted."""
    warn: str = "restricted"
    """What is answered with a warning. Default: restricted."""
    exempt_namespaces: tuple[str, ...] = ()
    """Namespaces that are left alone, beside kube-system and those of flannel and kube-proxy. Default: none."""


class ExtraArgumentsSettings(Model):
    """Further flags of the control plane, without dashes; they are checked against those of the minor."""

    api_server: Mapping[str, str] = {}
    """Flags of kube-apiserver. Default: none."""
    controller_manager: Mapping[str, str] = {}
    """Flags of kube-controller-manager. Default: none."""
    scheduler: Mapping[str, str] = {}
    """Flags of kube-scheduler. Default: none."""
    etcd: Mapping[str, str] = {}
    """Flags of etcd. Default: none."""


class KubeletSettings(Model):
    """Limits, reservations and further settings of kubelets."""

    max_pods: int | None = None
    """Pods of a node; its part of the pod network must hold them. Default: the kubelet's own, 110."""
    system_reserved: Mapping[str, str] = {}
    """Kept back for the operating system, such as memory: 1Gi. Default: what the platform needs."""
    kube_reserved: Mapping[str, str] = {}
    """Kept back for kubelet and runtime. Default: what the platform needs."""
    eviction_hard: Mapping[str, str] = {}
    """Thresholds at which pods are evicted at once, such as memory.available: 500Mi. Default: those of the platform."""
    image_gc_high_threshold_percent: int = 85
    """The use of the disk, in percent, at which images are removed. Default: 85."""
    image_gc_low_threshold_percent: int = 80
    """The use of the disk, in percent, down to which they are removed. Default: 80."""
    container_log_max_size: str = "10Mi"
    """The size at which the log of a container is rotated. Default: 10Mi."""
    container_log_max_files: int = 5
    """Logs kept of each container, at least 2. Default: 5."""
    pod_pids_limit: int = 4096
    """Processes of one pod, on Linux. Default: 4096."""
    parallel_image_pulls: int = 4
    """Images pulled at the same time; 1 is one after the other. Default: 4."""
    shutdown_grace_period_seconds: int = 60
    """How long pods may take when the node shuts down, in seconds; 0 switches it off. Default: 60."""
    shutdown_grace_period_critical_pods_seconds: int = 20
    """How much of that is for critical pods. Default: 20."""
    configuration: Mapping[str, Any] = {}
    """Further fields of the KubeletConfiguration, in their own spelling. Default: none."""
    arguments: Mapping[str, str] = {}
    """Further flags of the kubelet, without dashes; they are checked against those of the minor. Default: none."""


class KubeadmClusterSettings(Model):
    """The control plane: kubeadm on EC2."""

    name: str = Field(examples=["dev.example.com"])
    """The name of the cluster: the zone's domain or a name below it. The API is api.<name>."""
    kubernetes_version: str = Field(examples=[USUAL_KUBERNETES])
    """The Kubernetes minor, in quotes: without them YAML reads 1.40 as 1.4."""
    incarnation: int = 1
    """The number of the cluster in its bucket. A higher one begins a new cluster beside it. Default: 1."""
    slots: int = 3
    """The number of control-plane nodes: 1, 3 or 5. One survives no failure, three survive one. Default: 3."""
    instance_types: tuple[str, ...] = ("m7i.large",)
    """EC2 instance types of one architecture, Arm included. Default: m7i.large."""
    linux: str = "al2023"
    """The Linux of the nodes: al2023 or ubuntu2404. Default: al2023."""
    image_id: str | None = None
    """The id of an image of your own. Default: the newest one of the Linux."""
    runtime: str = "containerd"
    """The container runtime of the nodes: containerd or cri-o. Default: containerd."""
    root_volume_size_gib: int = 40
    """The size of the root volumes in GiB, 20 at least. Default: 40."""
    etcd_volume_size_gib: int | None = None
    """The size of a volume for etcd alone, in GiB, 10 at least. Default: none, etcd is on the root volume."""
    volume_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the disks; Auto Scaling must be allowed it. Default: AWS' own for EBS."""
    kms_key_arn: str | None = None
    """The ARN of the cluster's key, which encrypts the join token. Default: a key of the cluster's own."""
    pod_cidr: str = "10.244.0.0/16"
    """The network of the pods; it cannot be changed later. Default: 10.244.0.0/16."""
    service_cidr: str = "10.96.0.0/12"
    """The network of the services; it cannot be changed later. Default: 10.96.0.0/12."""
    node_cidr_mask: int = 24
    """The length of each node's part of the pod network. Default: 24, which is 254 addresses."""
    cluster_domain: str = "cluster.local"
    """The domain that the cluster's DNS serves. Default: cluster.local."""
    node_count_limit: int = 100
    """How many nodes there may ever be, control plane included. Default: 100."""
    api_exposure: str = "internal"
    """Who reaches the API: "internal" the VPC, "public" also the networks of apiAllowedCidrs. Default: internal."""
    api_allowed_cidrs: tuple[str, ...] = ()
    """Networks beside the nodes that may reach the API; needed when it is public. Default: none."""
    health_check: str = "readyz"
    """How the load balancer asks: "readyz" the API server's readiness, or "tcp" the port. Default: readyz."""
    anonymous_access: str = "health"
    """What clients without credentials may read: "health", "none", or "all" as kubeadm has it. Default: health."""
    api_server_names: tuple[str, ...] = ()
    """Further names and addresses in the API server's certificate. Default: none."""
    pki: str = "deployment"
    """Who makes the certificate authorities: "deployment" is Pulumi, "node" the first node, which keeps their keys out
    of Pulumi's state and excludes irsa. Default: deployment."""
    encryption_algorithm: str = "ECDSA-P256"
    """The algorithm of the keys; the one of service accounts is RSA for AWS. Default: ECDSA-P256."""
    admin_certificate_hours: int = 24
    """How long the administrator's certificate is valid, in hours; `pulumi up` brings a new one. Default: 24."""
    irsa: IrsaSettings | None = None
    """Whether service accounts can take IAM roles (IRSA), and how their keys are published. Default: no."""
    secrets_encryption: str = "secretbox"
    """How Kubernetes secrets lie in etcd: by "secretbox", or by "kms" with kmsPluginImage. Default: secretbox."""
    kms_plugin_image: str | None = None
    """The image of aws-encryption-provider, by digest, for secretsEncryption kms. Default: none."""
    secrets_kms_key_arn: str | None = None
    """The ARN of the key of Kubernetes secrets, for secretsEncryption kms. Default: the cluster's key."""
    audit: AuditLogSettings | None = AuditLogSettings()
    """The audit log; null switches it off. Default: 10 files of 100 MiB, for 30 days."""
    pod_security: PodSecuritySettings = PodSecuritySettings()
    """The Pod Security Standard of namespaces without labels. Default: baseline is enforced."""
    feature_gates: Mapping[str, bool] = {}
    """Feature gates of all components; they are checked against those of the minor. Default: none."""
    extra_arguments: ExtraArgumentsSettings = ExtraArgumentsSettings()
    """Further flags of the control plane. Default: none."""
    kubelet: KubeletSettings = KubeletSettings()
    """Settings of the kubelets of the control plane. Default: what the platform needs."""
    backup_interval_minutes: int = 15
    """How often each node writes a backup of etcd, in minutes. Default: 15."""
    backup_retention: BackupRetentionSettings = BackupRetentionSettings()
    """Which backups are kept. Default: those of a day, one of each hour for a week, of each day for 90 days."""
    mirror: str | None = None
    """The base address of a mirror: https://host/path is fetched from <mirror>/host/path. Default: upstream."""
    registry_mirrors: Mapping[str, str] = {}
    """Hosts of container registries with the addresses of their mirrors. Default: none."""
    image_repository: str | None = None
    """The registry of the system's container images. Default: registry.k8s.io."""
    artefact_digests: Mapping[str, str] = {}
    """Names of files that nodes fetch, with digests of your own. Default: those of the table."""
    proxy: ProxySettings | None = None
    """The proxy through which nodes reach the internet. Default: none."""
    deletion_protection: bool = False
    """Whether load balancers, key and authorities refuse to be deleted. Default: no; say yes in production."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the control plane's role: documents, statements or lists of them. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the control plane's role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the control plane's role. Default: none."""
    role_path: str = "/"
    """The path of the role, with a slash at both ends. Default: /."""
