"""What instance groups are made from, and every check of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from ..core.mistakes import Mistakes
from ..ec2.warm_pool import WarmPool
from ..kubeadm.config import KubeletSettings
from ..roles.role import NodeRoleArgs, check_node_role
from ..roles.validation import PolicySource
from ..scheduling.labels import Taint
from .between_rules import check_downloads
from .boot_code import BootCode
from .group_rules import check_instance_group
from .join_target import JoinTarget, check_join_target
from .rollout import Rollout
from .target_rules import check_target_security


@dataclass(frozen=True, kw_only=True)
class _InstanceGroupArgs:
    """Arguments that Linux and Windows groups share."""

    name: str
    """The group's name, at most 63 characters; a label of its nodes and part of the Auto Scaling group's name."""
    target: JoinTarget
    """The cluster that the nodes join."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Private subnets of the nodes."""
    instance_types: Sequence[str] = ("m6i.large",)
    """Instance types of one architecture, in order of preference."""
    min_size: int = 1
    """Minimum number of nodes; 1 by default. With 0, the cluster autoscaler starts the first one."""
    max_size: int = 3
    """Maximum number of nodes; 3 by default."""
    desired_size: int | None = None
    """Initial number of nodes; ``min_size`` by default. Later the autoscaler decides."""
    capacity_type: str = "on_demand"
    """``on_demand`` (default) or ``spot``."""
    on_demand_base: int = 0
    """Number of on-demand nodes in a spot group; 0 by default."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels with which nodes register."""
    taints: Sequence[Taint] = ()
    """Taints with which nodes register."""
    root_volume_size_gib: int | None = None
    """The size of the root volume in GiB; 100 for Windows and 50 for Linux by default."""
    volume_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the volumes; the EBS default key by default. The Auto Scaling service role needs access."""
    image_id: pulumi.Input[str] | None = None
    """ID of a custom AMI, such as that of ``WindowsNodeImage``; the newest vendor AMI by default."""
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """Kubelet settings, such as limits and reservations; the defaults depend on the operating system."""
    ecr_credentials: bool | None = None
    """Whether kubelets get ECR credentials with the node's role; by default if the digest of the credential provider is
    known. Upstream publishes none for Windows: set ``artefact_digests`` of the target."""
    container_images: Sequence[str] = ()
    """Container images to pull before a node joins, in addition to system images; none by default."""
    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Additional security groups of the nodes."""
    warm_pool: WarmPool | None = None
    """A warm pool; none by default. Excludes ``spot`` and more than one instance type."""
    rollout: Rollout = field(default_factory=Rollout)
    """How nodes are replaced when the group changes; by default a canary first, then the others."""
    max_instance_lifetime_days: int | None = None
    """Maximum lifetime of a node in days, 1 to 365; unlimited by default."""
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
    boot_code: BootCode | None = None
    """Boot code that groups share; by default each group uploads its own."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the instances and disks."""


@dataclass(frozen=True, kw_only=True)
class LinuxInstanceGroupArgs(_InstanceGroupArgs):
    """The arguments of a group of Linux workers."""

    linux: str = "al2023"
    """``al2023`` (default) or ``ubuntu2404``."""
    runtime: str = "containerd"
    """``containerd`` (default) or ``cri-o``."""

    @property
    def windows(self) -> None:
        """No Windows here."""

    @property
    def edition(self) -> None:
        """Linux has no editions."""

    @property
    def windows_taint(self) -> bool:
        """Linux nodes have no taint of their own."""
        return False

    @property
    def kubelet_log(self) -> None:
        """The journal keeps what a kubelet on Linux says."""

    @property
    def page_file_mib(self) -> None:
        """The page file is of Windows."""

    @property
    def bitlocker(self) -> bool:
        """BitLocker is of Windows."""
        return False

    @property
    def drain_seconds(self) -> int:
        """Linux nodes leave by the kubelet's graceful shutdown."""
        return 0


@dataclass(frozen=True, kw_only=True)
class WindowsInstanceGroupArgs(_InstanceGroupArgs):
    """The arguments of a group of Windows workers."""

    windows: str = "2022"
    """``2022`` (default) or ``2025``."""
    edition: str = "core"
    """``core`` (default, smaller) or ``full``."""
    windows_taint: bool = True
    """Whether nodes have the taint ``os=windows:NoSchedule``, which keeps Linux pods off. On by default."""
    kubelet_log: bool | None = None
    """Whether ``kube-log-runner`` keeps the kubelet's log; by default if the digest of that program is known. Upstream
    publishes none: set ``artefact_digests`` of the target. Without it, the log is lost."""
    page_file_mib: int | None = None
    """Size of a fixed page file in MiB; chosen by Windows by default."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume in addition to EBS; requires an image with NitroTPM. Off by
    default."""
    drain_seconds: int = 600
    """Seconds to drain a node before its instance ends; 600 by default. Spot instances have at most two minutes."""

    @property
    def linux(self) -> None:
        """No Linux here."""

    @property
    def runtime(self) -> str:
        """Windows nodes run containerd."""
        return "containerd"


InstanceGroupArgs = LinuxInstanceGroupArgs | WindowsInstanceGroupArgs


def check_instance_group_args(args: InstanceGroupArgs) -> Mistakes:
    """Every mistake in the arguments of a group, its target's and its role's included."""
    found = Mistakes()
    found.take(check_join_target(args.target), "target")
    found.take(check_target_security(args.target, "windows" if args.windows else "linux"), "target")
    found.take(check_instance_group(args, args.target))
    found.take(check_downloads(args, args.target), "target")
    found.take(check_node_role(role_args(args)))
    return found


def role_args(args: InstanceGroupArgs) -> NodeRoleArgs:
    """The arguments of the group's node role."""
    return NodeRoleArgs(
        kind="self-managed",
        additional_policies=args.additional_policies,
        external_policies=args.external_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.role_path,
        partition=args.target.partition,
        instance_profile=True,
        tags=args.tags,
    )
