"""What a node group becomes, as plain data: image, disks, labels, taints, role, autoscaler tags.

One path for every group; rows of the image tables make the differences.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..ec2.launch_template import Volume
from ..scheduling.autoscaler import autoscaler_template_tags
from ..scheduling.labels import TaintLike, with_windows_taint
from ..tables.instance_types import architecture
from ..tables.linux import LINUX_IMAGES
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_ROOT_DEVICE
from .density import POD_ADDRESS_RESOURCE, address_capacity
from .node_group_rules import NodeGroupLike

DEFAULT_EDITION = "core"
WINDOWS_ROOT_GIB = 80
LINUX_ROOT_GIB = 50


@dataclass(frozen=True, slots=True)
class NodeGroupPlan:
    """A node group, decided."""

    system: str
    """``linux`` or ``windows``."""
    image: str
    """``al2023``, ``bottlerocket``, or the Windows release."""
    edition: str
    """``core`` or ``full``; empty for Linux."""
    role_kind: str
    """The kind of node role."""
    access_entry_type: str
    """What EKS calls nodes of this system."""
    ami_type: str
    """What a managed node group calls the image."""
    ami_parameter: str
    """The SSM parameter that holds the id of the newest image."""
    volumes: tuple[Volume, ...]
    """The disks, the root first."""
    taints: tuple[TaintLike, ...]
    """The group's own taints, after the default one of Windows."""
    autoscaler_tags: Mapping[str, str]
    """Tags that tell the autoscaler what it would guess wrongly of a group without nodes."""


def plan_node_group(group: NodeGroupLike, kubernetes_version: str) -> NodeGroupPlan:
    """Decide what a group becomes. The group has passed ``check_node_group``."""
    return _plan_windows(group, kubernetes_version) if group.windows else _plan_linux(group, kubernetes_version)


def _plan_windows(group: NodeGroupLike, kubernetes_version: str) -> NodeGroupPlan:
    release = WINDOWS_RELEASES[group.windows or ""]
    edition = group.edition or DEFAULT_EDITION
    taints = effective_taints(group)
    capacity = _smallest_capacity(group)
    return NodeGroupPlan(
        system="windows",
        image=release.release,
        edition=edition,
        role_kind="eks-windows",
        access_entry_type="EC2_WINDOWS",
        ami_type=release.ami_type(edition),
        ami_parameter=release.ami_parameter(edition, kubernetes_version),
        volumes=(Volume(WINDOWS_ROOT_DEVICE, group.root_volume_size_gib or WINDOWS_ROOT_GIB),),
        taints=taints,
        autoscaler_tags=autoscaler_template_tags(
            {"kubernetes.io/os": "windows", BUILD_LABEL: release.build, **group.labels},
            taints,
            {} if capacity is None else {POD_ADDRESS_RESOURCE: str(capacity)},
        ),
    )


def _plan_linux(group: NodeGroupLike, kubernetes_version: str) -> NodeGroupPlan:
    image = LINUX_IMAGES[group.linux or ""]
    processor = architecture(group.instance_types[0]) or "x86_64"
    data = Volume(image.root_device, group.root_volume_size_gib or LINUX_ROOT_GIB)
    return NodeGroupPlan(
        system="linux",
        image=image.name,
        edition="",
        role_kind="eks-linux",
        access_entry_type="EC2_LINUX",
        ami_type=image.ami_type(processor),
        ami_parameter=image.ami_parameter(processor, kubernetes_version),
        volumes=(Volume(image.system_device, None), data) if image.system_device else (data,),
        taints=effective_taints(group),
        # A Linux node is what the autoscaler guesses anyway: only what the group adds is said.
        autoscaler_tags=autoscaler_template_tags(group.labels, group.taints),
    )


def effective_taints(group: NodeGroupLike) -> tuple[TaintLike, ...]:
    """The taints of a group's nodes: a Windows group also has ``os=windows:NoSchedule``, unless it says otherwise."""
    return with_windows_taint(group.taints, wanted=bool(group.windows) and getattr(group, "windows_taint", True))


def _smallest_capacity(group: NodeGroupLike) -> int | None:
    prefixes = bool(getattr(group, "prefix_delegation", False))
    capacities = [address_capacity(name, prefix_delegation=prefixes) for name in group.instance_types]
    return None if None in capacities else min(capacity for capacity in capacities if capacity is not None)
