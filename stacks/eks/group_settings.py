"""The settings of node groups, which mirror the arguments of the components."""

from collections.abc import Mapping

from pydantic import Field

from ..config.introspection import Model, PolicyDocument
from ..config.shared_sections import ProxySettings, TaintSettings, WarmPoolSettings


class InstanceGroupSettings(Model):
    """A group of nodes: Linux nodes with `linux`, Windows nodes with `windows`."""

    name: str = Field(examples=["system"])
    """The name of the group: letters, digits, hyphens and underscores."""
    count: int = 1
    """The number of groups, 1 to 1000; several are named `<name>-1`, `<name>-2`. Default: 1."""
    linux: str | None = Field(default=None, examples=["al2023"])
    """The Linux distribution: al2023 or bottlerocket. Excludes windows. Default: not a Linux group."""
    windows: str | None = Field(default=None, examples=["2022"])
    """The release of Windows Server, in quotes. Excludes linux. Default: not a Windows group."""
    edition: str | None = None
    """The edition of Windows Server, for Windows groups only. Default: core."""
    instance_types: tuple[str, ...] = ("m6i.large",)
    """EC2 instance types of one architecture; Windows needs x86_64. Default: m6i.large."""
    min_size: int = Field(default_factory=lambda group: 2 if group.get("linux") else 1, examples=[2])
    """The least number of nodes. Default: 2 for Linux, as recommended with Windows nodes, and 1 for Windows."""
    max_size: int = 3
    """The greatest number of nodes. Default: 3."""
    desired_size: int | None = None
    """The initial number of nodes; an autoscaler changes it later. Default: minSize."""
    capacity_type: str = "on_demand"
    """The capacity type, on_demand or spot. Default: on_demand."""
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
    """The ARN of the key of the volumes; its policy must admit Auto Scaling. Default: AWS' own for EBS."""
    management: str = "managed"
    """Who runs the group: "managed" by EKS, or "self_managed" as an Auto Scaling group. Default: managed."""
    image_id: str | None = None
    """The id of your own image. Default: the newest image of EKS."""
    release_version: str | None = None
    """A pinned release of the EKS image, such as 1.36-2026.11.10. Excludes imageId. Default: the newest."""
    kubelet_arguments: Mapping[str, str] = {}
    """Flags of the kubelet, without dashes; with imageId or self_managed only. Default: none."""
    max_pods: int | None = None
    """The limit of pods on a node, with imageId or self_managed only. Default: the kubelet's, 110 on Windows."""
    commands_before: tuple[str, ...] = ()
    """Commands before the bootstrap: PowerShell on Windows, shell on Linux. Default: none."""
    commands_after: tuple[str, ...] = ()
    """Commands after the bootstrap, with imageId or self_managed only. Default: none."""
    proxy: ProxySettings | None = None
    """The proxy through which nodes reach the internet. Default: none."""
    excluded_snat_cidrs: tuple[str, ...] = ()
    """Networks that Windows pods reach with their own address, with imageId or self_managed only. Default: none."""
    cpu_cores: int | None = None
    """The number of active cores, which licences count; with threadsPerCore, for Windows groups only. Default: all."""
    threads_per_core: int | None = None
    """The number of threads of each core, 1 or 2; with cpuCores, for Windows groups only. Default: all."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the nodes. Default: none."""
    max_unavailable_percentage: int | None = None
    """The percentage of nodes that an update replaces at once. Default: maxUnavailable is used."""
    max_unavailable: int | None = Field(
        default_factory=lambda group: 1 if group.get("max_unavailable_percentage") is None else None
    )
    """The number of nodes that an update replaces at once. Default: 1, or null with maxUnavailablePercentage."""
    update_strategy: str = "default"
    """The first step of an update: "default" starts new nodes, "minimal" stops old ones. Default: default."""
    warm_pool: WarmPoolSettings | None = None
    """Instances that are started in advance; not with imageId or self_managed. Default: none."""
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
