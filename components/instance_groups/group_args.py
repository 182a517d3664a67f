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
    """What Linux and Windows groups have in common."""

    name: str
    """The group's name, at most 63 characters: a label of its nodes, and the first part of its Auto Scaling group's."""
    target: JoinTarget
    """The cluster that the nodes join."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """The subnets of the nodes; private ones."""
    instance_types: Sequence[str] = ("m6i.large",)
    """Instance types of one architecture, the preferred one first."""
    min_size: int = 1
    """The least number of nodes; 1 by default. 0 lets the cluster autoscaler start the first one."""
    max_size: int = 3
    """The greatest number of nodes; 3 by default."""
    desired_size: int | None = None
    """The number of nodes at the start; ``min_size`` by default. Later the autoscaler's word counts."""
    capacity_type: str = "on_demand"
    """``on_demand`` (default) or ``spot``."""
    on_demand_base: int = 0
    """How many nodes of a spot group are on demand before any are spot; none by default."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels with which nodes register."""
    taints: Sequence[Taint] = ()
    """Taints with which nodes register."""
    root_volume_size_gib: int | None = None
    """The size of the root volume in GiB; 100 for Windows and 50 for Linux by default."""
    volume_kms_key_arn: pulumi.Input[str] | None = None
    """The key that encrypts the disks; AWS' own for EBS by default. Auto Scaling's service role must be allowed it."""
    image_id: pulumi.Input[str] | None = None
    """An image of one's own, such as that of ``WindowsNodeImage``; the newest one of its maker by default."""
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    """Limits, reservations and further settings of the kubelet; what the system needs by default."""
    ecr_credentials: bool | None = None
    """Whether kubelets fetch credentials of ECR with the node's role; by default where the digest of the program that
    does it is known. Upstream publishes none for Windows: ``artefact_digests`` of the target says it."""
    container_images: Sequence[str] = ()
    """Container images that are pulled before a node joins; those of the system alone by default."""
    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Further security groups of the nodes."""
    warm_pool: WarmPool | None = None
    """Instances made ready before they are needed; none by default. Excludes ``spot`` and more than one type."""
    rollout: Rollout = field(default_factory=Rollout)
    """How nodes are replaced when the group changes: one first, then the others, by default."""
    max_instance_lifetime_days: int | None = None
    """After how many days a node is replaced by a fresh one, 1 to 365; never by default."""
    autoscaler_tags: bool = True
    """Whether to tag the Auto Scaling group for the cluster autoscaler. On by default."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the node role: documents, single statements or lists of statements."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach to the node role."""
    permissions_boundary: str | None = None
    """ARN of the policy that bounds the node role; none by default."""
    role_path: str = "/"
    """Path of the node role."""
    boot_code: BootCode | None = None
    """The boot code in the bucket, if groups share it; a group uploads what it needs by default."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the instances and disks."""


@dataclass(frozen=True, kw_only=True)
class LinuxInstanceGroupArgs(_InstanceGroupArgs):
    """A group of Linux workers."""

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
    """A group of Windows workers."""

    windows: str = "2022"
    """``2022`` (default) or ``2025``."""
    edition: str = "core"
    """``core`` (default, the smaller one) or ``full``."""
    windows_taint: bool = True
    """Whether nodes have the taint ``os=windows:NoSchedule``, which keeps off pods that were not made for Windows."""
    kubelet_log: bool | None = None
    """Whether the kubelet's log is kept by ``kube-log-runner``; by default where the digest of that program is known.
    Upstream publishes none: ``artefact_digests`` of the target says it. Without it the log is lost."""
    page_file_mib: int | None = None
    """Size of a fixed page file in MiB; Windows' own choice by default."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume beside EBS; needs an image with NitroTPM. Off by default."""
    drain_seconds: int = 600
    """How long pods may take to leave before an instance ends; 600 by default. Spot gives two minutes at most."""

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
