"""The settings of a self-managed control plane, which mirror the arguments of the components."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import ProxySettings

USUAL_KUBERNETES = "1.36"
"""A minor for which all downloads of nodes have a digest in the table."""


class IrsaSettings(Model):
    """How the keys of ServiceAccount tokens are published, so that IAM can trust the tokens."""

    publish: str = "cloudfront"
    """Where: "cloudfront" with a private bucket, or "s3", a bucket that is public to read. Default: cloudfront."""
    bucket_name: str | None = None
    """The name of the bucket. Default: derived from the cluster name."""
    audience: str = "sts.amazonaws.com"
    """The audience of the tokens that IAM accepts. Default: sts.amazonaws.com."""


class BackupRetentionSettings(Model):
    """Which backups of etcd are kept: the newest, and the last of each hour and day."""

    keep_last: int = 96
    """The number of newest backups to keep. Default: 96."""
    keep_hourly: int = 168
    """The number of hours for which one is kept. Default: 168."""
    keep_daily: int = 90
    """The number of days for which one is kept. Default: 90."""


class AuditLogSettings(Model):
    """The audit log of the API server, a file on its node."""

    max_age_days: int = 30
    """The number of days for which files are kept. Default: 30."""
    max_backups: int = 10
    """The number of files to keep. Default: 10."""
    max_size_mib: int = 100
    """The size in MiB at which a file is rotated. Default: 100."""


class PodSecuritySettings(Model):
    """The Pod Security Standard of namespaces without labels for it."""

    enforce: str = "baseline"
    """The enforced level: "privileged", "baseline" or "restricted". Default: baseline."""
    audit: str = "restricted"
    """The level for the audit log. Default: restricted."""
    warn: str = "restricted"
    """The level for warnings. Default: restricted."""
    exempt_namespaces: tuple[str, ...] = ()
    """Exempt namespaces besides kube-system and those of flannel and kube-proxy. Default: none."""


class ExtraArgumentsSettings(Model):
    """Further flags of the control plane, without dashes, which must exist in the Kubernetes minor."""

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
    """The greatest number of pods on a node, which must fit into its pod CIDR. Default: the kubelet's, 110."""
    system_reserved: Mapping[str, str] = {}
    """Resources reserved for the operating system, such as memory: 1Gi. Default: those of the platform."""
    kube_reserved: Mapping[str, str] = {}
    """Resources reserved for kubelet and runtime. Default: those of the platform."""
    eviction_hard: Mapping[str, str] = {}
    """Thresholds at which pods are evicted at once, such as memory.available: 500Mi. Default: those of the platform."""
    image_gc_high_threshold_percent: int = 85
    """The disk usage, in percent, at which images are removed. Default: 85."""
    image_gc_low_threshold_percent: int = 80
    """The disk usage, in percent, at which the removal stops. Default: 80."""
    container_log_max_size: str = "10Mi"
    """The size at which the log of a container is rotated. Default: 10Mi."""
    container_log_max_files: int = 5
    """The number of log files for each container, at least 2. Default: 5."""
    pod_pids_limit: int = 4096
    """The greatest number of processes in a pod, on Linux. Default: 4096."""
    parallel_image_pulls: int = 4
    """The number of images that are pulled in parallel. Default: 4."""
    shutdown_grace_period_seconds: int = 60
    """The time for pods to end when the node shuts down, in seconds; 0 switches it off. Default: 60."""
    shutdown_grace_period_critical_pods_seconds: int = 20
    """The part of that time for critical pods, in seconds. Default: 20."""
    configuration: Mapping[str, Any] = {}
    """Further fields of the KubeletConfiguration, in its spelling. Default: none."""
    arguments: Mapping[str, str] = {}
    """Further flags of the kubelet, without dashes, which must exist in the Kubernetes minor. Default: none."""


class KubeadmClusterSettings(Model):
    """The control plane: kubeadm on EC2."""

    name: str = Field(examples=["dev.example.com"])
    """The name of the cluster: the domain of the zone, or a name below it. The API is api.<name>."""
    kubernetes_version: str = Field(examples=[USUAL_KUBERNETES])
    """The Kubernetes minor, in quotes: without quotes YAML reads 1.40 as 1.4."""
    incarnation: int = 1
    """The number of the cluster in its bucket. A higher number starts a new cluster there. Default: 1."""
    slots: int = 3
    """The number of control-plane nodes: 1, 3 or 5. One tolerates no failure, three tolerate one. Default: 3."""
    instance_types: tuple[str, ...] = ("m7i.large",)
    """EC2 instance types of one architecture, Arm included. Default: m7i.large."""
    linux: str = "al2023"
    """The Linux distribution: al2023 or ubuntu2404. Default: al2023."""
    image_id: str | None = None
    """The id of your own image. Default: the newest image of the distribution."""
    runtime: str = "containerd"
    """The container runtime of the nodes: containerd or cri-o. Default: containerd."""
    root_volume_size_gib: int = 40
    """The size of the root volumes in GiB, at least 20. Default: 40."""
    etcd_volume_size_gib: int | None = None
    """The size of a separate volume for etcd in GiB, at least 10. Default: none; etcd is on the root volume."""
    volume_kms_key_arn: str | None = None
    """The ARN of the key of the volumes; its policy must admit Auto Scaling. Default: AWS' own for EBS."""
    kms_key_arn: str | None = None
    """The ARN of the key that encrypts the join token. Default: a new key for the cluster."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR, which cannot be changed later. Default: 10.244.0.0/16."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR, which cannot be changed later. Default: 10.96.0.0/12."""
    node_cidr_mask: int = 24
    """The prefix length of the pod CIDR of each node. Default: 24, which is 254 addresses."""
    cluster_domain: str = "cluster.local"
    """The DNS domain of the cluster. Default: cluster.local."""
    node_count_limit: int = 100
    """The greatest number of nodes, control plane included. Default: 100."""
    api_exposure: str = "internal"
    """Who can reach the API: "internal", the VPC; "public", also apiAllowedCidrs. Default: internal."""
    api_allowed_cidrs: tuple[str, ...] = ()
    """Networks besides the nodes that may reach the API; required with public. Default: none."""
    health_check: str = "readyz"
    """The health check of the load balancer: "readyz" of the API server, or "tcp". Default: readyz."""
    anonymous_access: str = "health"
    """What anonymous clients may read: "health", "none", or "all" as in kubeadm. Default: health."""
    api_server_names: tuple[str, ...] = ()
    """Further names and addresses in the certificate of the API server. Default: none."""
    pki: str = "deployment"
    """Who creates the certificate authorities: "deployment", which is Pulumi, or "node", the first node. "node" keeps
    their keys out of the Pulumi state and excludes irsa. Default: deployment."""
    encryption_algorithm: str = "ECDSA-P256"
    """The algorithm of the keys, except the service account key, which is RSA for AWS. Default: ECDSA-P256."""
    admin_certificate_hours: int = 24
    """The validity of the administrator certificate in hours; `pulumi up` renews it. Default: 24."""
    irsa: IrsaSettings | None = None
    """Whether service accounts can assume IAM roles (IRSA), and how the keys are published. Default: no."""
    secrets_encryption: str = "secretbox"
    """The encryption of Kubernetes secrets in etcd: "secretbox", or "kms" with kmsPluginImage. Default: secretbox."""
    kms_plugin_image: str | None = None
    """The image of aws-encryption-provider, by digest, for secretsEncryption kms. Default: none."""
    secrets_kms_key_arn: str | None = None
    """The ARN of the key of Kubernetes secrets, for secretsEncryption kms. Default: the key of the cluster."""
    audit: AuditLogSettings | None = AuditLogSettings()
    """The audit log; null switches it off. Default: 10 files of 100 MiB, for 30 days."""
    pod_security: PodSecuritySettings = PodSecuritySettings()
    """The Pod Security Standard of namespaces without labels. Default: baseline is enforced."""
    feature_gates: Mapping[str, bool] = {}
    """Feature gates of all components, which must exist in the Kubernetes minor. Default: none."""
    extra_arguments: ExtraArgumentsSettings = ExtraArgumentsSettings()
    """Further flags of the control plane. Default: none."""
    kubelet: KubeletSettings = KubeletSettings()
    """Settings of the kubelets of the control plane. Default: those of the platform."""
    backup_interval_minutes: int = 15
    """The interval in minutes at which each node writes a backup of etcd. Default: 15."""
    backup_retention: BackupRetentionSettings = BackupRetentionSettings()
    """The backups to keep. Default: all of a day, hourly ones for a week, daily ones for 90 days."""
    mirror: str | None = None
    """The base address of a mirror: https://host/path is fetched from <mirror>/host/path. Default: upstream."""
    registry_mirrors: Mapping[str, str] = {}
    """Hosts of container registries with the addresses of their mirrors. Default: none."""
    image_repository: str | None = None
    """The registry of system images. Default: registry.k8s.io."""
    artefact_digests: Mapping[str, str] = {}
    """Files that nodes download, with your own SHA-256 digests. Default: those of the table."""
    proxy: ProxySettings | None = None
    """The proxy through which nodes reach the internet. Default: none."""
    deletion_protection: bool = False
    """Whether load balancers, key and PKI are protected from deletion. Default: no; set true in production."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the control-plane role: documents, statements or lists of them. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the control-plane role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the permissions boundary of the control-plane role. Default: none."""
    role_path: str = "/"
    """The path of the role, with a slash at both ends. Default: /."""
