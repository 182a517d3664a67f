"""What a stack file may say of groups of nodes: mirrors of the components' arguments."""

from collections.abc import Mapping

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import ProxySettings, TaintSettings, WarmPoolSettings


class InstanceGroupSettings(Model):
    """Nodes of one kind: Linux where `linux` is set, Windows where `windows` is set."""

    name: str = Field(examples=["system"])
    """The name of the group: letters, digits, hyphens and underscores."""
    count: int = 1
    """How many groups the entry stands for, 1 to 1000; several are called `<name>-1`, `<name>-2`. Default: 1."""
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
    volume_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the disks; Auto Scaling must be allowed it. Default: AWS' own for EBS."""
    management: str = "managed"
    """Who runs the group: "managed" by EKS, or "self_managed" as an Auto Scaling group. Default: managed."""
    image_id: str | None = None
    """The id of an image of your own. Default: the newest one of EKS."""
    release_version: str | None = None
    """A pinned release of the image of EKS, such as 1.36-2026.11.10. Excludes imageId. Default: the newest."""
    kubelet_arguments: Mapping[str, str] = {}
    """Flags of the kubelet without dashes, with imageId or self_managed only. Default: none."""
    max_pods: int | None = None
    """The kubelet's limit of pods, with imageId or self_managed only. Default: the kubelet's own, 110 on Windows."""
    commands_before: tuple[str, ...] = ()
    """Commands before the bootstrap: PowerShell on Windows, shell on Linux. Default: none."""
    commands_after: tuple[str, ...] = ()
    """Commands after the bootstrap, with imageId or self_managed only. Default: none."""
    proxy: ProxySettings | None = None
    """The proxy through which nodes reach the internet. Default: none."""
    excluded_snat_cidrs: tuple[str, ...] = ()
    """Networks that Windows pods reach with their own address, with imageId or self_managed only. Default: none."""
    cpu_cores: int | None = None
    """Cores that are active, with threadsPerCore, for Windows groups only: licences count them. Default: all."""
    threads_per_core: int | None = None
    """Threads of each core, 1 or 2, with cpuCores, for Windows groups only. Default: all."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the nodes. Default: none."""
    max_unavailable_percentage: int | None = None
    """Which part of the nodes an update replaces at once. Default: maxUnavailable counts."""
    max_unavailable: int | None = Field(
        default_factory=lambda group: 1 if group.get("max_unavailable_percentage") is None else None
    )
    """How many nodes an update replaces at once. Default: 1, or null with maxUnavailablePercentage."""
    update_strategy: str = "default"
    """What an update does first: "default" starts new nodes, "minimal" stops old ones. Default: default."""
    warm_pool: WarmPoolSettings | None = None
    """Instances made ready before they are needed; not with imageId or self_managed. Default: none."""
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
