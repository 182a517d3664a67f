"""What a stack file of this program may say: one model per section, mirrors of the components' arguments.

Keys are camelCase in the file and snake_case here. The models hold types and defaults; what a value must be beyond
its type is judged by the checks of the components (:mod:`stacks.checks`). The text below each field is its
description in ``docs/stack.schema.json``. An example also stands in for a value that is missing or of a wrong type, so
it must give no further reason for complaint.
"""

from collections.abc import Mapping

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel
from winkube.tables.kubernetes import EKS_MINORS

from .shape import Model, NumberOrTexts, PolicyDocument

NEWEST_KUBERNETES = list(EKS_MINORS)[-1]


FLAVOURS: Mapping[str, str] = {"eks": "eks"}
"""Each flavour with the module of this package that builds it."""


class NetworkSettings(Model):
    """The VPC: address range, zones, subnets, the way out, endpoints, flow logs."""

    cidr: str = "10.0.0.0/16"
    """The IPv4 range of the VPC, /16 to /28. Default: 10.0.0.0/16."""
    zones: NumberOrTexts = 2
    """How many availability zones (1 to 3, the first ones of the region), or their names. Default: 2."""
    nat: str = "per_zone"
    """NAT gateways: "none", "single" for all zones, or "per_zone". Default: one per zone."""
    public_subnets: bool = True
    """Whether there are subnets with a route to the internet gateway; NAT gateways need them. Default: yes."""
    intra_subnets: bool = False
    """Whether there are subnets without any route out of the VPC. Default: no."""
    gateway_endpoints: tuple[str, ...] = ("s3",)
    """Services reached through a gateway endpoint: "s3", "dynamodb". Default: s3."""
    interface_endpoints: tuple[str, ...] = ()
    """Services reached through an interface endpoint, such as "ecr.api", "sts". Default: none."""
    flow_log_retention_days: int | None = 90
    """Days for which the flow logs are kept; null switches them off. Default: 90."""
    windows_prefix_reservations: int = 0
    """/28 blocks reserved in each private subnet for the address prefixes of Windows nodes. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the role of the flow logs. Default: none."""


class ZoneSettings(Model):
    """The Route 53 zone of the cluster."""

    domain: str = Field(examples=["dev.example.com"])
    """The domain of the zone, such as dev.example.com."""
    visibility: str = "private"
    """"public", "private" (seen from the VPC only) or "both". Default: private."""
    parent_zone_id: str | None = None
    """The id of the zone in which the public zone is delegated. Default: not delegated by this program."""


class StateBucketSettings(Model):
    """The bucket for what clusters keep: private, versioned, encrypted with a key of its own."""

    bucket_name: str | None = None
    """The name of the bucket: 3 to 63 small letters, digits and hyphens. Default: made up by Pulumi."""
    allow_dots: bool = False
    """Whether the name may have dots; clients must then address the bucket by path. Default: no."""
    kms_key_arn: str | None = None
    """The ARN of the key that encrypts the objects. Default: a key of the bucket's own."""
    noncurrent_days: int = 90
    """How long replaced and deleted versions are kept, in days. Default: 90."""
    reader_principals: tuple[str, ...] = ()
    """ARNs of roles and users that may read everything. Default: none."""
    writer_principals: tuple[str, ...] = ()
    """ARNs of roles and users that may read, write and delete everything. Default: none."""
    allowed_principals: tuple[str, ...] = ()
    """ARN patterns of those who may touch objects at all. Default: whoever IAM admits."""
    access_log_bucket: str | None = None
    """The bucket that gets the access logs. Default: no access logs."""
    deletion_protection: bool = True
    """Whether Pulumi refuses to delete bucket and key. Default: yes."""


class AccessPolicySettings(Model):
    """One of EKS' access policies, in the whole cluster or in some namespaces."""

    policy: str = Field(examples=["view"])
    """What the principal may do."""
    namespaces: tuple[str, ...] = ()
    """The namespaces where it holds. Default: the whole cluster."""


class AccessEntrySettings(Model):
    """A person or pipeline that may use the cluster. Entries of nodes are made with their groups."""

    name: str = Field(examples=["platform-team"])
    """The name of the entry: small letters, digits and hyphens."""
    principal_arn: str = Field(examples=["arn:aws:iam::111122223333:role/platform-team"])
    """The ARN of the IAM role or user."""
    policies: tuple[AccessPolicySettings, ...] = ()
    """Access policies of EKS. Default: none; then Kubernetes groups are needed."""
    kubernetes_groups: tuple[str, ...] = ()
    """Kubernetes groups that role bindings of your own name. Default: none."""


class WindowsIpamSettings(Model):
    """How the control plane hands IPv4 addresses to Windows pods."""

    mode: str = "addon"
    """Where it is configured: "addon" (the vpc-cni add-on) or "config_map" (for a self-managed CNI). Default: addon."""
    prefix_delegation: bool = False
    """Whether nodes get /28 prefixes instead of single addresses: more pods on Nitro types. Default: no."""
    warm_ip_target: int | None = None
    """Free addresses kept on each node. Default: left to the add-on or controller."""
    minimum_ip_target: int | None = None
    """The least number of addresses of each node. Default: left to the add-on or controller."""
    warm_prefix_target: int | None = None
    """Free prefixes kept on each node, with prefixDelegation only. Default: left to the add-on or controller."""


class ClusterSettings(Model):
    """The control plane of EKS."""

    name: str = Field(examples=["dev"])
    """The name of the cluster."""
    kubernetes_version: str = Field(examples=[NEWEST_KUBERNETES])
    """The Kubernetes minor, in quotes: without them YAML reads 1.30 as 1.3."""
    service_cidr: str = "172.20.0.0/16"
    """The range of service addresses, /12 to /24, apart from the VPC. Default: 172.20.0.0/16."""
    authentication_mode: str = "API"
    """How principals become users: by access entries, by the ConfigMap aws-auth, or by both. Default: API."""
    endpoint_public_access: bool = False
    """Whether the API can be reached from outside of the VPC. Default: no."""
    public_access_cidrs: tuple[str, ...] = ()
    """The public networks that may reach a public endpoint. Default: none; needed when endpointPublicAccess is true."""
    creator_is_admin: bool = True
    """Whether the identity that the program runs as administers the cluster. Default: yes."""
    access_entries: tuple[AccessEntrySettings, ...] = ()
    """Who else may use the cluster. Default: nobody."""
    control_plane_egress: str = "aws_managed"
    """How the control plane leaves: managed by AWS, or through the VPC, without a way back. Default: aws_managed."""
    log_types: tuple[str, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    """The logs of the control plane that go to CloudWatch. Default: all five."""
    log_retention_days: int = 90
    """How long CloudWatch keeps them, in days. Default: 90."""
    deletion_protection: bool = False
    """Whether cluster, key and log group refuse to be deleted. Default: no; say yes in production."""
    support_type: str = "extended"
    """What follows 14 months of standard support: 12 at six times the price, or an upgrade. Default: extended."""
    control_plane_tier: str = "standard"
    """The size of the control plane: standard, or one of the provisioned tiers. Default: standard."""
    zonal_shift: bool = False
    """Whether traffic may be shifted away from a zone in trouble. Default: no."""
    windows_ipam: WindowsIpamSettings = WindowsIpamSettings()
    """How Windows pods get addresses. Default: by the vpc-cni add-on, single addresses."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the cluster's role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the cluster's role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the cluster's role. Default: none."""


class TaintSettings(Model):
    """What a pod must tolerate to run on the nodes of a group."""

    key: str = Field(examples=["dedicated"])
    """The key of the taint."""
    value: str = ""
    """The value of the taint. Default: empty."""
    effect: str = "NoSchedule"
    """What happens to pods that do not tolerate it. Default: NoSchedule."""


class InstanceGroupSettings(Model):
    """Nodes of one kind: Linux where `linux` is set, Windows where `windows` is set."""

    name: str = Field(examples=["system"])
    """The name of the group: letters, digits, hyphens and underscores."""
    linux: str | None = Field(default=None, examples=["al2023"])
    """The Linux of the nodes: al2023 or bottlerocket. Excludes windows. Default: not a Linux group."""
    windows: str | None = Field(default=None, examples=["2022"])
    """The release of Windows Server of the nodes, in quotes. Excludes linux. Default: not a Windows group."""
    edition: str | None = None
    """The edition of Windows Server, for Windows groups only. Default: core."""
    instance_types: tuple[str, ...] = ("m6i.large",)
    """EC2 instance types of one architecture; Windows needs x86_64. Default: m6i.large."""
    min_size: int = Field(default_factory=lambda group: 2 if group.get("linux") else 1, examples=[2])
    """The least number of nodes. Default: 2 for Linux, as is advised beside Windows nodes, and 1 for Windows."""
    max_size: int = 3
    """The greatest number of nodes. Default: 3."""
    desired_size: int | None = None
    """The number of nodes to start with; afterwards an autoscaler's to decide. Default: minSize."""
    capacity_type: str = "on_demand"
    """The kind of capacity, on_demand or spot. Default: on_demand."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes. Default: none."""
    taints: tuple[TaintSettings, ...] = Field(
        default=(), examples=[[{"key": "dedicated", "effect": "PreferNoSchedule"}]]
    )
    """Taints of the nodes. Default: none."""
    windows_taint: bool = True
    """Whether Windows nodes get the taint os=windows:NoSchedule, for Windows groups only. Default: yes."""
    root_volume_size_gib: int | None = None
    """The size of the root volume in GiB. Default: 80 for Windows, 50 for Linux."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the nodes' role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the nodes' role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the nodes' role. Default: none."""
    tags: Mapping[str, str] = {}
    """Further tags of the group's resources. Default: none."""


def _full_key(name: str) -> str:
    return "aws:region" if name == "region" else f"winkube:{to_camel(name)}"


class Settings(Model):
    """One environment: everything that ``Pulumi.<stack>.yaml`` says of it."""

    model_config = ConfigDict(alias_generator=_full_key)

    flavour: str = Field(examples=["eks"])
    """What runs the control plane: "eks"."""
    region: str = Field(examples=["eu-central-1"])
    """The AWS region, such as eu-central-1."""
    tags: Mapping[str, str] = {}
    """Tags of every AWS resource that can have some. Default: none."""
    network: NetworkSettings = NetworkSettings()
    """The VPC. Default: two zones in 10.0.0.0/16."""
    zone: ZoneSettings | None = None
    """The Route 53 zone of the cluster. Default: no zone."""
    state_bucket: StateBucketSettings | None = None
    """The bucket for what clusters keep. Default: no bucket."""
    cluster: ClusterSettings
    """The control plane of EKS."""
    instance_groups: tuple[InstanceGroupSettings, ...] = Field(examples=[[{"name": "system", "linux": "al2023"}]])
    """The groups of nodes: at least one Linux group, which must come up before Windows nodes can have addresses."""
