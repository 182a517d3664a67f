"""What an instance group is, derived once: image, disk, labels, taints, and every tag that says them again. Pure.

The kubelet registers with the labels and taints of the spec, the cluster autoscaler reads the same ones from tags of
the Auto Scaling group before there is a node, and RuntimeClasses select by the same build. There is one path for both
systems; rows of the image table make the differences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..core.tags import cluster_tag
from ..kubeadm.config import KubeletSettings
from ..scheduling.autoscaler import autoscaler_discovery_tags, autoscaler_template_tags
from ..scheduling.labels import TaintLike, with_windows_taint
from ..scheduling.runtime_class_manifests import runtime_class_name
from ..tables.instance_types import architecture
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES
from .images import IMAGES, NodeImage

GROUP_LABEL = "node.kubernetes.io/instance-group"
"""The label of a node's group; below a domain in which a kubelet may set labels."""
GROUP_TAG = "winkube.io/instance-group"
"""The tag of a node's group, by which its role is told its own instances; with the cluster's name in front."""
DEFAULT_MAX_PODS = 110
KUBERNETES_ARCHITECTURES: Mapping[str, str] = {"x86_64": "amd64", "arm64": "arm64"}


class GroupLike(Protocol):
    """What decides a group. Exactly one of ``linux`` and ``windows`` is set."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def linux(self) -> str | None: ...  # noqa: D102
    @property
    def windows(self) -> str | None: ...  # noqa: D102
    @property
    def edition(self) -> str | None: ...  # noqa: D102
    @property
    def windows_taint(self) -> bool: ...  # noqa: D102
    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def labels(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def taints(self) -> Sequence[TaintLike]: ...  # noqa: D102
    @property
    def root_volume_size_gib(self) -> int | None: ...  # noqa: D102
    @property
    def kubelet(self) -> KubeletSettings: ...  # noqa: D102
    @property
    def runtime(self) -> str: ...  # noqa: D102
    @property
    def autoscaler_tags(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """An instance group, decided."""

    image: NodeImage
    """Its row of the image table."""
    architecture: str
    """``x86_64`` or ``arm64``."""
    ami_parameter: str
    """The SSM parameter that holds the id of the newest image."""
    root_volume_size_gib: int
    """The size of its root volume."""
    labels: Mapping[str, str]
    """What the kubelet registers with: the group's own labels, and the one of the group."""
    taints: tuple[TaintLike, ...]
    """What the kubelet registers with: the taint of Windows first, unless it is not wanted."""
    max_pods: int
    """The kubelet's limit of pods."""
    build: str | None
    """The build of Windows, as in the node's label."""
    runtime_class: str | None
    """The RuntimeClass by which pods choose nodes like these."""
    autoscaler_tags: Mapping[str, str]
    """Tags of the Auto Scaling group that tell the cluster autoscaler what a node will be."""
    instance_tags: Mapping[str, str]
    """Tags by which the cloud controller manager and the node's role know its instances."""

    @property
    def system(self) -> str:
        """``windows`` or ``linux``."""
        return self.image.system


def auto_scaling_group_name(group: str, cluster_name: str) -> str:
    """The name of a group's Auto Scaling group: known beforehand, because the nodes are told it.

    >>> auto_scaling_group_name("windows", "prod.example.com")
    'windows.prod.example.com'
    """
    return f"{group}.{cluster_name}"


def group_spec(group: GroupLike, cluster_name: str) -> GroupSpec:
    """Decide what a group is. The group has passed ``check_instance_group``."""
    image = IMAGES[group.windows or group.linux or ""]
    processor = architecture(group.instance_types[0]) or "x86_64"
    size = group.root_volume_size_gib or image.default_gib
    release = WINDOWS_RELEASES[group.windows] if group.windows else None
    labels = {**group.labels, GROUP_LABEL: group.name}
    taints = with_windows_taint(group.taints, wanted=bool(group.windows) and group.windows_taint)
    max_pods = group.kubelet.max_pods or DEFAULT_MAX_PODS
    # Without these the autoscaler takes an empty group for Linux, of the architecture of its own table.
    every_node = {"kubernetes.io/os": image.system, "kubernetes.io/arch": KUBERNETES_ARCHITECTURES[processor]}
    build = {BUILD_LABEL: release.build} if release else {}
    resources = {"ephemeral-storage": f"{size}Gi", "pods": str(max_pods)}
    return GroupSpec(
        image=image,
        architecture=processor,
        ami_parameter=image.ami_parameter(processor, group.edition or ""),
        root_volume_size_gib=size,
        labels=dict(sorted(labels.items())),
        taints=taints,
        max_pods=max_pods,
        build=release.build if release else None,
        runtime_class=runtime_class_name(release.release) if release else None,
        autoscaler_tags={
            **autoscaler_discovery_tags(cluster_name),
            **autoscaler_template_tags({**every_node, **build, **labels}, taints, resources),
        }
        if group.autoscaler_tags
        else {},
        instance_tags={**cluster_tag(cluster_name), GROUP_TAG: group_tag(group.name, cluster_name)},
    )


def group_tag(group: str, cluster_name: str) -> str:
    """The value of :data:`GROUP_TAG`: a group's name alone would be that of other clusters' groups too."""
    return f"{cluster_name}/{group}"
