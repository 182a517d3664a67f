"""What a control plane is made from, and every check of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from ..core.mistakes import Mistakes
from ..ec2.proxy import Proxy
from ..kubeadm.config import AuditLog, ExtraArguments, KubeletSettings, PodSecurity
from ..roles.role import ControlPlaneRoleArgs, check_control_plane_role
from ..roles.validation import PolicySource
from ..tables.regions import REGIONS, partition
from .cluster import endpoint, token_parameter
from .control_plane_rules import check_control_plane, check_own_key


@dataclass(frozen=True, kw_only=True)
class IrsaIssuer:
    """How the key set of the cluster's service account tokens is published, so that IAM can trust them."""

    publish: str = "cloudfront"
    """``cloudfront`` (default): a private bucket behind a distribution, for accounts that block public buckets.
    ``s3``: a bucket whose two objects everybody may read."""
    bucket_name: str | None = None
    """Name of that bucket; made from the component's name by default."""
    audience: str = "sts.amazonaws.com"
    """Audience of the tokens that IAM accepts; ``sts.amazonaws.com`` by default."""


@dataclass(frozen=True, kw_only=True)
class BackupRetention:
    """Which backups of etcd are kept: the newest, and the last of each hour and day."""

    keep_last: int = 96
    """How many of the newest; 96 by default: a day of one every 15 minutes."""
    keep_hourly: int = 168
    """How many hours; 168 by default: a week."""
    keep_daily: int = 90
    """How many days; 90 by default."""


@dataclass(frozen=True, kw_only=True)
class LinuxControlPlaneArgs:
    """The arguments of a control plane on Linux."""

    cluster_name: str
    """The cluster's name: the zone's DNS name or a name below it. The API is ``api.<cluster_name>``. It cannot be
    changed later."""
    region: str
    """The region."""
    kubernetes_version: str
    """The Kubernetes minor, such as ``1.36``; the patch comes from the table."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    vpc_cidrs: Sequence[str]
    """The CIDRs of the VPC; pods and Services must not overlap them."""
    zones: Sequence[str]
    """The zones of the slots, used in turn; at most as many as slots."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """One private subnet per zone, in the order of ``zones``."""
    domain: str
    """Name of the hosted zones."""
    zone_ids: Mapping[str, pulumi.Input[str]]
    """The hosted zones for the API record, by ``private`` and ``public``: ``ClusterZone.zone_ids``."""
    bucket: pulumi.Input[str]
    """Name of the state bucket."""
    bucket_arn: pulumi.Input[str]
    """ARN of the state bucket."""
    bucket_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key that encrypts the state bucket, if it is a customer managed key."""
    incarnation: int = 1
    """The cluster's number in its bucket; 1 by default. A higher number creates a new cluster and abandons the state of
    the old one: never change it on a running cluster."""
    slots: int = 3
    """Number of control-plane nodes: 1, 3 (default) or 5. One tolerates no failure, three tolerate one, five two."""
    instance_types: Sequence[str] = ("m7i.large",)
    """Instance types in order of preference, of one architecture (x86_64 or Arm), with at least 2 vCPUs and 2 GiB."""
    linux: str = "al2023"
    """``al2023`` (default) or ``ubuntu2404``."""
    image_id: pulumi.Input[str] | None = None
    """ID of a custom AMI; the newest AMI of ``linux`` by default."""
    runtime: str = "containerd"
    """``containerd`` (default) or ``cri-o``."""
    root_volume_size_gib: int = 40
    """Size of the root volume in GiB; 40 by default, at least 20."""
    etcd_volume_size_gib: int | None = None
    """Size of a separate etcd volume in GiB, at least 10; by default etcd uses the root volume."""
    volume_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the volumes; the EBS default key by default. The Auto Scaling service role needs access."""
    kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the cluster's KMS key, which encrypts the join token and the certificate authorities; a new key by
    default. It must not be the bucket's key: workers may use this one only for the token."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR; ``10.244.0.0/16`` by default. It cannot be changed later."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR; ``10.96.0.0/12`` by default. It cannot be changed later."""
    node_cidr_mask: int = 24
    """Prefix length of each node's subnet of the pod CIDR; 24 (254 addresses) by default. It cannot be changed
    later."""
    cluster_domain: str = "cluster.local"
    """The domain that the cluster's DNS serves; ``cluster.local`` by default."""
    node_count_limit: int = 100
    """Maximum number of nodes, including the control plane; 100 by default. The pod CIDR must have a subnet for
    each."""
    api_exposure: str = "internal"
    """``internal`` (default): the API can be reached from the VPC and connected networks. ``public``: also from the
    internet, through a second load balancer; nodes use the internal one, so a private and a public zone are
    required."""
    api_allowed_cidrs: Sequence[str] = ()
    """CIDRs that may reach the API in addition to the nodes, such as the VPC or an office; required with ``public``."""
    api_subnet_ids: Sequence[pulumi.Input[str]] = ()
    """Subnets of the internal load balancer, one per zone; the subnets of the slots by default."""
    public_subnet_ids: Sequence[pulumi.Input[str]] = ()
    """Subnets of the public load balancer, one per zone; required with ``public``."""
    health_check: str = "readyz"
    """``readyz`` (default): the load balancer requests ``/readyz``. ``tcp``: it only opens a connection."""
    anonymous_access: str = "health"
    """What clients without credentials may read: ``health`` (default), ``none``, or ``all`` as kubeadm has it.
    ``none`` needs ``health_check`` ``tcp``."""
    api_server_names: Sequence[str] = ()
    """Additional names and addresses in the API server's certificate."""
    pki: str = "deployment"
    """Who creates the certificate authorities. ``deployment`` (default): Pulumi, so its state has their encrypted keys
    too. ``node``: the first node, so only the state bucket has them; excludes ``irsa``, and targets and kubeconfig are
    known when the API is healthy. It cannot be changed later."""
    encryption_algorithm: str = "ECDSA-P256"
    """Algorithm of all keys except the service account key, which is always RSA: ``ECDSA-P256`` (default),
    ``ECDSA-P384``, ``RSA-2048``, ``RSA-3072`` or ``RSA-4096``."""
    admin_certificate_hours: int = 24
    """Validity of the administrator's certificate in ``kubeconfig`` in hours, 1 to 8760; 24 by default. ``pulumi up``
    renews it in its last third; with ``pki`` ``node``, the nodes renew it and ``pulumi up`` reads the newest."""
    irsa: IrsaIssuer | None = None
    """Settings of IRSA: how the service account keys are published; None (default) turns it off."""
    secrets_encryption: str = "secretbox"
    """How Kubernetes Secrets are encrypted in etcd: ``secretbox`` (default), or ``kms`` with ``kms_plugin_image``."""
    kms_plugin_image: str | None = None
    """Image of aws-encryption-provider for ``secrets_encryption`` ``kms``, by digest; upstream publishes none."""
    secrets_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key for Kubernetes Secrets with ``kms``; the cluster's key by default."""
    audit: AuditLog | None = field(default_factory=AuditLog)
    """The audit log; None turns it off."""
    pod_security: PodSecurity = field(default_factory=PodSecurity)
    """The Pod Security Standard of namespaces without labels."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Feature gates of all components; checked against the Kubernetes minor."""
    extra_arguments: ExtraArguments = field(default_factory=ExtraArguments)
    """Additional flags of the control plane; checked against the Kubernetes minor."""
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """Settings of the kubelets of all Linux nodes."""
    backup_interval_minutes: int = 15
    """How often each node writes a backup of etcd, in minutes; 15 by default, 1 to 1440."""
    backup_retention: BackupRetention = field(default_factory=BackupRetention)
    """Which backups are kept."""
    mirror: str | None = None
    """Base URL of a mirror of upstream downloads: ``https://host/path`` becomes ``<mirror>/host/path``. Upstream by
    default."""
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    """Host of a container registry to the address of its mirror; none by default."""
    image_repository: str | None = None
    """Registry of the system's container images; ``registry.k8s.io`` by default."""
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name of a download to its digest, if upstream publishes none or you use another build."""
    proxy: Proxy | None = None
    """The proxy through which nodes reach the internet; none by default."""
    deletion_protection: bool = False
    """Whether load balancers, KMS key and certificate authorities are protected from deletion. Off by default; turn it
    on in production."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the role."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach to the role."""
    permissions_boundary: str | None = None
    """ARN of the role's permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the role."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the instances and disks."""

    @property
    def endpoint(self) -> str:
        """The API as ``host:port``."""
        return endpoint(self.cluster_name)

    @property
    def partition(self) -> str:
        """The partition of the region, as in ARNs."""
        return partition(self.region)

    @property
    def token_parameter(self) -> str:
        """Name of the SSM parameter that holds the join token."""
        return token_parameter(self.cluster_name)


def check_control_plane_args(args: LinuxControlPlaneArgs) -> Mistakes:
    """Every mistake in the arguments, the role's included."""
    found = check_control_plane(args)
    found.take(check_own_key(args.kms_key_arn, args.bucket_key_arn))
    if args.region in REGIONS:
        found.take(check_control_plane_role(role_args(args)))
    return found


def role_args(
    args: LinuxControlPlaneArgs, documents: Mapping[str, pulumi.Input[str]] | None = None
) -> ControlPlaneRoleArgs:
    """The arguments of the role of the nodes."""
    return ControlPlaneRoleArgs(
        policy_documents=documents or {},
        additional_policies=args.additional_policies,
        external_policies=args.external_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.role_path,
        partition=partition(args.region),
        tags=args.tags,
    )
