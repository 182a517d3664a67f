"""What must hold for an instance group of a self-managed cluster. Pure checks over plain attributes.

Settings and arguments are judged by the same functions. What groups of both flavours share (instance types, sizes,
labels) is judged by the checks of the node groups of EKS.
"""

import re

from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..core.tags import check_tags
from ..ec2.instance_rules import CAPACITY_TYPES, MAXIMUM_ROOT_GIB, check_sizes, check_types
from ..scheduling.kubelet import OWN_LABEL, check_kubelet_labels, check_kubelet_taints
from ..scheduling.labels import check_labels, check_taints
from ..tables.artefacts import NodeKind, check_node_kind
from ..tables.instance_types import architecture
from ..tables.releases import SELF_MANAGED_RELEASES, check_windows
from ..tables.windows import EDITIONS
from .images import IMAGES, LINUX, check_image_id
from .kubelet_rules import check_kubelet
from .rollout import AUTO_SCALING, check_life
from .rule_protocols import InstanceGroupLike, TargetLike
from .spec import GROUP_LABEL, auto_scaling_group_name
from .tag_rules import check_derived_tags

GROUP_NAME = Rule(
    "WK-IG-020",
    "A group name must be a valid label value, and fit into the name of an Auto Scaling group.",
    "https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html",
)
ONE_SYSTEM = Rule(
    "WK-IG-021",
    "A group is either Linux or Windows, with an operating system that winkube supports.",
    "https://kubernetes.io/docs/concepts/windows/intro/",
)
EDITION = Rule(
    "WK-IG-022",
    "The Windows Server edition is core or full.",
    "https://docs.aws.amazon.com/ec2/latest/windows-ami-reference/windows-amis.html",
)
ARCHITECTURE = Rule(
    "WK-IG-023",
    "The operating system needs an image for the CPU architecture of the instance types.",
    "https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html",
)
ROOT_VOLUME = Rule(
    "WK-IG-024",
    "The root volume needs enough space for the system and container images.",
    "https://learn.microsoft.com/virtualization/windowscontainers/",
)
CAPACITY = Rule(
    "WK-IG-025",
    "The capacity type is on_demand or spot; only a spot group can have an on-demand base.",
    f"{AUTO_SCALING}/ec2-auto-scaling-mixed-instances-groups.html",
)
PAGE_FILE = Rule(
    "WK-IG-037",
    "The page file must fit on the root volume beside the system.",
    "https://kubernetes.io/docs/concepts/configuration/windows-resource-management/",
)
GROUP_SUBNETS = Rule("WK-IG-041", "A group needs at least one subnet.", f"{AUTO_SCALING}/asg-in-vpc.html")

LABEL_LIMIT = 63
AUTO_SCALING_NAME_LIMIT = 255

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def check_instance_group(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    """Every mistake of one group, paths relative to it; the target's own are found by ``check_join_target``."""
    found = _check_name(group.name, target.cluster_name)
    found.take(_check_system(group, target))
    found.take(check_types(group))
    found.take(_check_architecture(group))
    if not group.subnet_ids:
        found.add(GROUP_SUBNETS, ("subnet_ids",), "a group needs at least one subnet", "give private subnets, usually "
                  "one per zone", [])  # fmt: skip
    found.take(check_sizes(group))
    found.take(_check_capacity(group))
    found.take(_check_volume(group))
    found.take(_check_labels(group))
    found.take(check_image_id(group.image_id))
    found.take(check_kubelet(group, target))
    found.take(check_life(group))
    found.take(check_tags(group.tags))
    if not found and target.kubernetes_version in SELF_MANAGED_RELEASES:
        found.take(check_derived_tags(group, target))
    return found


def _check_name(name: str, cluster_name: str) -> Mistakes:
    found = Mistakes()
    whole = auto_scaling_group_name(name, cluster_name)
    if not _NAME.fullmatch(name):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-")
        found.add(
            GROUP_NAME,
            ("name",),
            "a group name has letters, digits, hyphens, dots and underscores, and a letter or digit at both ends",
            f'write "{plain or "windows"}"',
            name,
        )
    elif len(name) > LABEL_LIMIT:
        found.add(
            GROUP_NAME,
            ("name",),
            f"a group name is the value of the label {GROUP_LABEL}, which can have at most "
            f"{LABEL_LIMIT} characters; this has {len(name)}",
            f"shorten it by {len(name) - LABEL_LIMIT} characters",
            name,
        )
    elif len(whole) > AUTO_SCALING_NAME_LIMIT:
        found.add(
            GROUP_NAME,
            ("name",),
            f"<name>.<cluster> can have at most {AUTO_SCALING_NAME_LIMIT} characters; this has {len(whole)}",
            f"shorten it by {len(whole) - AUTO_SCALING_NAME_LIMIT} characters",
            name,
        )
    return found


def _check_system(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    found = Mistakes()
    if (group.linux is None) == (group.windows is None):
        found.add(ONE_SYSTEM, ("windows",), "a group is either Linux or Windows",
                  'set exactly one of linux (such as "al2023") and windows (such as "2022")',
                  group.windows)  # fmt: skip
    if group.linux is not None and group.linux not in LINUX:
        why = "; Bottlerocket does not support kubeadm" if group.linux == "bottlerocket" else ""
        found.add(ONE_SYSTEM, ("linux",), f"Linux workers run {one_of(LINUX)}{why}",
                  f'write "{nearest(group.linux.lower(), LINUX) or LINUX[0]}"', group.linux)  # fmt: skip
    if group.windows is not None:
        found.take(check_windows(group.windows, target.kubernetes_version))
        found.take(check_edition(group.edition))
    return found


def check_edition(edition: str | None) -> Mistakes:
    """Whether there are images of this edition (``WK-IG-022``)."""
    found = Mistakes()
    if edition not in EDITIONS:
        found.add(EDITION, ("edition",), f"the Windows Server edition is {one_of(EDITIONS)}",
                  f'write "{nearest(str(edition).lower(), tuple(EDITIONS)) or "core"}"', edition)  # fmt: skip
    return found


def _check_architecture(group: InstanceGroupLike) -> Mistakes:
    found = Mistakes()
    system = "windows" if group.windows is not None else "linux"
    found.take(check_node_kind(NodeKind(os=system, runtime=group.runtime)))
    image = IMAGES.get(group.windows or group.linux or "")
    for index, name in enumerate(group.instance_types):
        processor = architecture(name)
        if image is not None and image.system == "linux" and processor and processor not in image.architectures:
            found.add(ARCHITECTURE, ("instance_types", index), f"{image.name} has images for "
                      f"{one_of(image.architectures)}", "use instance types with one of these", name)  # fmt: skip
    return found


def _check_capacity(group: InstanceGroupLike) -> Mistakes:
    found = Mistakes()
    if group.capacity_type not in CAPACITY_TYPES:
        guess = nearest(group.capacity_type.lower(), tuple(CAPACITY_TYPES)) or "on_demand"
        found.add(CAPACITY, ("capacity_type",), f"the capacity type is {one_of(CAPACITY_TYPES)}", f'write "{guess}"',
                  group.capacity_type)  # fmt: skip
    if group.on_demand_base and group.capacity_type == "on_demand":
        found.add(CAPACITY, ("on_demand_base",), "all nodes of this group are on demand",
                  'remove it, or set capacity_type to "spot"', group.on_demand_base)  # fmt: skip
    if not 0 <= group.on_demand_base <= max(group.max_size, 0):
        found.add(CAPACITY, ("on_demand_base",), f"the on-demand base must be 0 to max_size, {group.max_size}",
                  f"set it to {min(max(group.on_demand_base, 0), group.max_size)}", group.on_demand_base)  # fmt: skip
    return found


def _check_volume(group: InstanceGroupLike) -> Mistakes:
    found = Mistakes()
    # An unknown release is told of elsewhere: its limits are those of its kin.
    kin = "2022" if group.windows is not None else LINUX[0]
    image = IMAGES.get(group.windows or group.linux or "", IMAGES[kin])
    size = group.root_volume_size_gib
    least = image.minimum_gib
    if size is not None and not least <= size <= MAXIMUM_ROOT_GIB:
        why = "; one servercore image needs at least 5 GiB" if image.system == "windows" else ""
        found.add(ROOT_VOLUME, ("root_volume_size_gib",),
                  f"the root volume of a {image.system.title()} node must have {least} to {MAXIMUM_ROOT_GIB} GiB{why}",
                  f"set root_volume_size_gib to {min(max(size, least), MAXIMUM_ROOT_GIB)}", size)  # fmt: skip
    page_file = group.page_file_mib
    most = ((size or image.default_gib) - 40) * 1024
    if page_file is not None and not 1024 <= page_file <= most:
        found.add(PAGE_FILE, ("page_file_mib",),
                  f"the page file must have 1024 to {most} MiB to fit beside the system",
                  f"set page_file_mib to {min(max(page_file, 1024), most)}", page_file)  # fmt: skip
    return found


def _check_labels(group: InstanceGroupLike) -> Mistakes:
    found = check_labels(group.labels, managed=False, eks=False)
    found.take(check_kubelet_labels(group.labels))
    found.take(check_taints(group.taints, managed=False, eks=False))
    found.take(check_kubelet_taints(group.taints))
    if GROUP_LABEL in group.labels:
        found.add(OWN_LABEL, ("labels", GROUP_LABEL), "winkube sets this label to the group's name", "remove it",
                  group.labels[GROUP_LABEL])  # fmt: skip
    return found
