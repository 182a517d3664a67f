"""What node groups of an EKS cluster are made from, and every check of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from ..core.mistakes import Mistakes
from ..ec2.proxy import Proxy
from ..ec2.warm_pool import WarmPool
from ..roles.role import NodeRoleArgs, check_node_role
from ..roles.validation import PolicySource
from ..scheduling.labels import Taint
from .group_options import check_group_options
from .node_group_rules import check_auto_mode, check_ip_family, check_node_group, check_platform
from .target import EksTarget, check_target


@dataclass(frozen=True, kw_only=True)
class _NodeGroupArgs:
    """Arguments that Linux and Windows groups share."""

    name: str
    """The group's name, at most 37 characters. EKS appends a unique suffix, so that a group can be replaced."""
    cluster: EksTarget
    """The cluster that the nodes join."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Private subnets of the nodes."""
    instance_types: Sequence[str] = ("m6i.large",)
    """Instance types of one architecture, in order of preference."""
    min_size: int = 1
    """Minimum number of nodes; 1 by default."""
    max_size: int = 3
    """Maximum number of nodes; 3 by default."""
    desired_size: int | None = None
    """Initial number of nodes; ``min_size`` by default. Later the autoscaler decides."""
    capacity_type: str = "on_demand"
    """``on_demand`` (default) or ``spot``."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the nodes."""
    taints: Sequence[Taint] = ()
    """Taints of the nodes."""
    root_volume_size_gib: int | None = None
    """The size of the root volume in GiB; 80 for Windows and 50 for Linux by default."""
    volume_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the volumes; the EBS default key by default. The Auto Scaling service role needs access."""
    management: str = "managed"
    """``managed`` (default) by EKS, or ``self_managed`` as an Auto Scaling group."""
    image_id: pulumi.Input[str] | None = None
    """ID of a custom AMI; the newest EKS AMI by default. Its nodes run the bootstrap script themselves."""
    release_version: str | None = None
    """A pinned release of the EKS image, such as ``1.36-2026.11.10``; the newest by default. Excludes ``image_id``."""
    kubelet_arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kubelet flags without dashes. Only with ``image_id`` or ``self_managed``."""
    max_pods: int | None = None
    """Maximum number of pods per node; 110 on Windows by default. Only with ``image_id`` or ``self_managed``."""
    commands_before: Sequence[str] = ()
    """Commands before the bootstrap: PowerShell on Windows, shell on Linux."""
    commands_after: Sequence[str] = ()
    """Commands after the bootstrap. Only with ``image_id`` or ``self_managed``."""
    proxy: Proxy | None = None
    """The proxy through which nodes reach the internet; none by default. Excludes ``bottlerocket``."""
    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of the nodes beside the cluster's own."""
    cluster_security_group: bool = True
    """Whether the nodes are in the cluster's own security group, which opens everything among its members. False needs
    ``security_group_ids`` that open what EKS asks for, such as those of ``EksSecurityGroups``."""
    max_unavailable: int | None = 1
    """How many nodes an update replaces at once; 1 by default. None with ``max_unavailable_percentage``."""
    max_unavailable_percentage: int | None = None
    """Which part of the nodes an update replaces at once. Excludes ``max_unavailable``."""
    update_strategy: str = "default"
    """``default`` starts new nodes first; ``minimal`` stops old ones first, where capacity is short."""
    warm_pool: WarmPool | None = None
    """Instances made ready before they are needed; none by default. Excludes ``image_id`` and ``self_managed``."""
    autoscaler_tags: bool = True
    """Whether to tag the Auto Scaling group for the cluster autoscaler. On by default."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the node role: documents, single statements or lists of statements."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach to the node role."""
    permissions_boundary: str | None = None
    """ARN of the node role's permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the node role."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the instances and disks."""


@dataclass(frozen=True, kw_only=True)
class EksLinuxNodeGroupArgs(_NodeGroupArgs):
    """A group of Linux nodes."""

    linux: str = "al2023"
    """``al2023`` (default) or ``bottlerocket``."""
    min_size: int = 2
    """The least number of nodes; 2 by default, as beside Windows nodes is advised."""
    cni_policy: bool = True
    """Whether the node role carries the CNI's policy; False when ``aws-node`` has a role of its own."""

    @property
    def windows(self) -> None:
        """No Windows here."""

    @property
    def edition(self) -> None:
        """Linux has no editions."""

    @property
    def prefix_delegation(self) -> bool:
        """Linux nodes manage their addresses themselves."""
        return False

    @property
    def excluded_snat_cidrs(self) -> Sequence[str]:
        """Linux nodes are told by the CNI."""
        return ()

    @property
    def cpu_cores(self) -> int | None:
        """Cores are counted for Windows licences."""
        return None

    @property
    def threads_per_core(self) -> int | None:
        """Threads are counted for Windows licences."""
        return None


@dataclass(frozen=True, kw_only=True)
class EksWindowsNodeGroupArgs(_NodeGroupArgs):
    """A group of Windows nodes."""

    windows: str = "2022"
    """``2022`` (default), ``2025`` (Kubernetes 1.35 or newer) or ``2019`` (with a warning)."""
    edition: str = "core"
    """``core`` (default, smaller) or ``full``."""
    windows_taint: bool = True
    """Whether nodes have the taint ``os=windows:NoSchedule``, which keeps Linux pods off. On by default."""
    prefix_delegation: bool = False
    """Whether the cluster's Windows IPAM hands out prefixes: decides how many pods the autoscaler counts on."""
    excluded_snat_cidrs: Sequence[str] = ()
    """Networks that pods reach with their own address. Only with ``image_id`` or ``self_managed``."""
    cpu_cores: int | None = None
    """Cores that are active, with ``threads_per_core``; all by default. Licences count active vCPUs."""
    threads_per_core: int | None = None
    """1 or 2 threads per core, with ``cpu_cores``."""

    @property
    def linux(self) -> None:
        """No Linux here."""

    @property
    def cni_policy(self) -> bool:
        """Addresses of Windows pods are managed from the control plane."""
        return False


NodeGroupArgs = EksLinuxNodeGroupArgs | EksWindowsNodeGroupArgs


def check_node_group_args(args: NodeGroupArgs) -> Mistakes:
    """Every mistake in the arguments of a group, its role's included."""
    found = check_node_group(args, args.cluster.kubernetes_version)
    found.take(check_target(args.cluster), "cluster")
    if args.windows:
        found.take(check_ip_family(args.cluster.ip_family), "cluster")
        found.take(check_auto_mode(args.cluster.auto_mode), "cluster")
        found.take(check_platform(args.cluster.kubernetes_version, args.cluster.platform_version), "cluster")
    found.take(check_group_options(args, args.cluster))
    found.take(check_node_role(role_args(args, "eks-windows" if args.windows else "eks-linux")))
    return found


def role_args(args: NodeGroupArgs, kind: str) -> NodeRoleArgs:
    """The arguments of the group's node role."""
    return NodeRoleArgs(
        kind=kind,
        additional_policies=args.additional_policies,
        external_policies=args.external_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.role_path,
        partition=args.cluster.partition,
        cni_policy=args.cni_policy,
        instance_profile=args.management == "self_managed",
        tags=args.tags,
    )
