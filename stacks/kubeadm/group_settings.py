"""What a stack file may say of instance groups of a cluster of one's own: mirrors of the components' arguments."""

from collections.abc import Mapping

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import TaintSettings, WarmPoolSettings
from .cluster_settings import KubeletSettings


class RolloutSettings(Model):
    """How the nodes of a group are replaced when its image, code or settings change."""

    min_healthy_percentage: int = 90
    """Which part of the nodes stays in service, in percent. Default: 90; a small group has a new node first."""
    canary_percentage: int | None = 10
    """Which part of the nodes is replaced first, in percent; null for none. Default: 10, one node at least."""
    canary_minutes: int = 10
    """How long the rest waits for the first part to prove itself, in minutes. Default: 10."""
    automatic: bool = True
    """Whether a change replaces running nodes; no leaves it to the next ones that start. Default: yes."""


class KubeadmGroupSettings(Model):
    """Nodes of one kind: Linux where `linux` is set, Windows where `windows` is set."""

    name: str = Field(examples=["system"])
    """The name of the group: letters, digits, hyphens and underscores."""
    count: int = 1
    """How many groups the entry stands for, 1 to 1000; several are called `<name>-1`, `<name>-2`. Default: 1."""
    linux: str | None = Field(default=None, examples=["al2023"])
    """The Linux of the nodes: al2023 or ubuntu2404. Excludes windows. Default: not a Linux group."""
    windows: str | None = Field(default=None, examples=["2022"])
    """The release of Windows Server of the nodes, in quotes. Excludes linux. Default: not a Windows group."""
    edition: str | None = None
    """The edition of Windows Server, for Windows groups only. Default: core."""
    runtime: str | None = None
    """The container runtime, for Linux groups only: containerd or cri-o. Default: containerd."""
    instance_types: tuple[str, ...] = ("m6i.large",)
    """EC2 instance types of one architecture; Windows needs x86_64. Default: m6i.large."""
    min_size: int = 1
    """The least number of nodes; 0 lets the cluster autoscaler start the first one. Default: 1."""
    max_size: int = 3
    """The greatest number of nodes. Default: 3."""
    desired_size: int | None = None
    """The number of nodes to start with; afterwards an autoscaler's to decide. Default: minSize."""
    capacity_type: str = "on_demand"
    """The kind of capacity, on_demand or spot. Default: on_demand."""
    on_demand_base: int = 0
    """How many nodes of a spot group are on demand before any are spot. Default: none."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes. Default: none."""
    taints: tuple[TaintSettings, ...] = Field(
        default=(), examples=[[{"key": "dedicated", "effect": "PreferNoSchedule"}]]
    )
    """Taints of the nodes. Default: none."""
    windows_taint: bool = True
    """Whether Windows nodes get the taint os=windows:NoSchedule, for Windows groups only. Default: yes."""
    root_volume_size_gib: int | None = None
    """The size of the root volume in GiB. Default: 100 for Windows, 50 for Linux."""
    volume_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the disks; Auto Scaling must be allowed it. Default: AWS' own for EBS."""
    image_id: str | None = None
    """The id of an image of your own. Default: the newest one of its maker."""
    kubelet: KubeletSettings = KubeletSettings()
    """Limits, reservations and further settings of the kubelet. Default: what the platform needs."""
    ecr_credentials: bool | None = None
    """Whether kubelets fetch credentials of ECR with the nodes' role. Default: where the program's digest is known."""
    kubelet_log: bool | None = None
    """Whether the kubelet's log is kept, for Windows groups only. Default: where the program's digest is known."""
    container_images: tuple[str, ...] = ()
    """Container images that are pulled before a node joins. Default: those of the system alone."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the nodes. Default: none."""
    warm_pool: WarmPoolSettings | None = None
    """Instances made ready before they are needed; not with spot or several types. Default: none."""
    rollout: RolloutSettings = RolloutSettings()
    """How nodes are replaced when the group changes. Default: one first, then the others."""
    max_instance_lifetime_days: int | None = None
    """After how many days a node is replaced by a fresh one, 1 to 365. Default: never."""
    page_file_mib: int | None = None
    """The size of a fixed page file in MiB, for Windows groups only. Default: Windows' own choice."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume beside EBS, for Windows groups only. Default: no."""
    drain_seconds: int = 600
    """How long pods may take to leave before an instance ends, in seconds, for Windows groups only. Default: 600."""
    autoscaler_tags: bool = True
    """Whether the cluster autoscaler finds the group and knows its nodes before there is one. Default: yes."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the nodes' role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the nodes' role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the nodes' role. Default: none."""
    role_path: str = "/"
    """The path of the nodes' role, with a slash at both ends. Default: /."""
    tags: Mapping[str, str] = {}
    """Further tags of the group's resources. Default: none."""
