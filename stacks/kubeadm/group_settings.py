"""The settings of self-managed instance groups, which mirror the arguments of the components."""

from collections.abc import Mapping

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import TaintSettings, WarmPoolSettings
from .cluster_settings import KubeletSettings


class RolloutSettings(Model):
    """How the nodes of a group are replaced when its image, code or settings change."""

    min_healthy_percentage: int = 90
    """The percentage of nodes that stay in service. Default: 90; a small group starts a new node first."""
    canary_percentage: int | None = 10
    """The percentage of nodes that are replaced first; null for none. Default: 10, at least one node."""
    canary_minutes: int = 10
    """The number of minutes to wait after the first part. Default: 10."""
    automatic: bool = True
    """Whether a change replaces running nodes; otherwise it reaches new nodes only. Default: yes."""


class KubeadmGroupSettings(Model):
    """A group of nodes: Linux nodes with `linux`, Windows nodes with `windows`."""

    name: str = Field(examples=["system"])
    """The name of the group: letters, digits, hyphens and underscores."""
    count: int = 1
    """The number of groups, 1 to 1000; several are named `<name>-1`, `<name>-2`. Default: 1."""
    linux: str | None = Field(default=None, examples=["al2023"])
    """The Linux distribution: al2023 or ubuntu2404. Excludes windows. Default: not a Linux group."""
    windows: str | None = Field(default=None, examples=["2022"])
    """The release of Windows Server, in quotes. Excludes linux. Default: not a Windows group."""
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
    """The initial number of nodes; an autoscaler changes it later. Default: minSize."""
    capacity_type: str = "on_demand"
    """The capacity type, on_demand or spot. Default: on_demand."""
    on_demand_base: int = 0
    """The number of on-demand nodes in a spot group; all others are spot. Default: 0."""
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
    """The ARN of the key of the volumes; its policy must admit Auto Scaling. Default: AWS' own for EBS."""
    image_id: str | None = None
    """The id of your own image. Default: the newest public image."""
    kubelet: KubeletSettings = KubeletSettings()
    """Limits, reservations and further settings of the kubelet. Default: what the platform needs."""
    ecr_credentials: bool | None = None
    """Whether kubelets fetch ECR credentials with the node role. Default: if the program has a digest."""
    kubelet_log: bool | None = None
    """Whether to keep the kubelet log, for Windows groups only. Default: if the program has a digest."""
    container_images: tuple[str, ...] = ()
    """Container images that are pulled before a node joins. Default: system images only."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the nodes. Default: none."""
    warm_pool: WarmPoolSettings | None = None
    """Instances that are started in advance; not with spot or several types. Default: none."""
    rollout: RolloutSettings = RolloutSettings()
    """How nodes are replaced when the group changes. Default: first one node or 10 percent, then the others."""
    max_instance_lifetime_days: int | None = None
    """The number of days after which a node is replaced, 1 to 365. Default: never."""
    page_file_mib: int | None = None
    """The size of a fixed page file in MiB, for Windows groups only. Default: managed by Windows."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume in addition to EBS, for Windows groups only. Default: no."""
    drain_seconds: int = 600
    """The time for draining before an instance ends, in seconds, for Windows groups only. Default: 600."""
    autoscaler_tags: bool = True
    """Whether to tag the group for the cluster autoscaler, so that it can scale from zero. Default: yes."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the node role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the node role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the permissions boundary of the node role. Default: none."""
    role_path: str = "/"
    """The path of the node role, with a slash at both ends. Default: /."""
    tags: Mapping[str, str] = {}
    """Further tags of the resources of the group. Default: none."""
