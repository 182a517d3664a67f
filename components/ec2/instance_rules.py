"""What must hold for the instances of a group on either flavour: their types, and how many there are. Pure."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.mistakes import Mistakes, Rule, nearest
from ..tables.instance_types import InstanceType, instance_type, instance_type_names, sizes_of
from ..tables.windows import WINDOWS_AMI_PAGE

NODE_GROUPS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html"
UNKNOWN_TYPE = Rule(
    "WK-EKS-014",
    "An instance type must be one that EC2 offers.",
    "https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html",
)
MIXED_ARCHITECTURE = Rule(
    "WK-EKS-015", "All instance types of a group must share one CPU architecture.", NODE_GROUPS_PAGE
)
WINDOWS_ON_ARM = Rule(
    "WK-EKS-016", "Windows nodes need x86_64 instance types; there is no Windows image for Arm.", WINDOWS_AMI_PAGE
)
WINDOWS_ACCELERATOR = Rule(
    "WK-EKS-017",
    "Windows node images have no accelerator drivers: GPUs need a custom image, other accelerators do not work.",
    "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-windows-optimized-ami.html",
)
WINDOWS_MEMORY = Rule(
    "WK-EKS-018",
    "A Windows node needs more memory than the 2 GiB that it reserves for itself.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/windows-oom.html",
)
SIZES = Rule(
    "WK-EKS-019",
    "The sizes of a group must satisfy 0 ≤ min ≤ desired ≤ max, with max at least 1.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html",
)
TYPE_COUNT = Rule(
    "WK-EKS-026",
    "A managed node group lists 1 to 20 different instance types.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
CAPACITY_TYPES: Mapping[str, str] = {"on_demand": "ON_DEMAND", "spot": "SPOT"}
"""Words for the kind of capacity, with those of the EKS API."""
MAXIMUM_ROOT_GIB = 16384  # gp3
MINIMUM_WINDOWS_MIB = 4096
TYPE_LIMIT = 20


class TypesLike(Protocol):
    """What the checks of instance types need."""

    @property
    def windows(self) -> str | None: ...  # noqa: D102
    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102


def check_types(group: TypesLike) -> Mistakes:
    """Every mistake in the instance types of a group."""
    found = Mistakes()
    names = list(group.instance_types)
    if not 1 <= len(names) <= TYPE_LIMIT or len(set(names)) < len(names):
        found.add(TYPE_COUNT, ("instance_types",), f"a group lists 1 to {TYPE_LIMIT} different instance types",
                  'write a list such as ["m6i.large"]', names)  # fmt: skip
    known: dict[int, InstanceType] = {}
    for index, name in enumerate(names):
        facts = instance_type(name)
        if facts is None:
            found.add(UNKNOWN_TYPE, ("instance_types", index), _unknown_type(name), _type_remedy(name), name)
        else:
            known[index] = facts
    architectures = {facts.architecture for facts in known.values()}
    if len(architectures) > 1:
        found.add(MIXED_ARCHITECTURE, ("instance_types",),
                  "all instance types of a group must share one architecture, these are "
                  + " and ".join(sorted(architectures)), "use one group per architecture",
                  {facts.name: facts.architecture for facts in known.values()})  # fmt: skip
    if group.windows is not None:
        for index, facts in known.items():
            found.take(_check_windows_type(facts, bool(getattr(group, "image_id", None))), "instance_types", index)
    return found


def _check_windows_type(facts: InstanceType, own_image: bool) -> Mistakes:
    found = Mistakes()
    if facts.architecture != "x86_64":
        found.add(WINDOWS_ON_ARM, (), f"Windows nodes need x86_64, and {facts.family} is {facts.architecture}",
                  f'use an x86_64 type such as "{_intel_sibling(facts)}"', facts.name)  # fmt: skip
    elif facts.accelerator == "gpu" and not own_image:
        found.add(WINDOWS_ACCELERATOR, (), "Windows node images have no GPU driver",
                  "set image_id to an image with the driver, or use a type without a GPU", facts.name)  # fmt: skip
    elif facts.accelerator not in (None, "gpu"):
        found.add(WINDOWS_ACCELERATOR, (), f"Windows nodes cannot use the accelerators of {facts.family}",
                  'use a type without an accelerator, such as "m6i.large"', facts.name)  # fmt: skip
    if facts.memory_mib is not None and facts.memory_mib < MINIMUM_WINDOWS_MIB:
        found.add(WINDOWS_MEMORY, (), f"a Windows node needs at least {MINIMUM_WINDOWS_MIB} MiB of memory, of which it "
                  f"reserves 2048 MiB; {facts.name} has {facts.memory_mib}", f'use "{_larger(facts)}"',
                  facts.name)  # fmt: skip
    return found


def _unknown_type(name: str) -> str:
    family = name.partition(".")[0]
    sizes = sizes_of(family)
    return f"{family} comes in the sizes {', '.join(sizes)}" if sizes else "EC2 has no instance type of this name"


def _type_remedy(name: str) -> str:
    guess = nearest(name, instance_type_names())
    return f'write "{guess}"' if guess else 'write a name such as "m6i.large"'


def _intel_sibling(facts: InstanceType) -> str:
    # m7g.large -> m7i.large, m6g.large -> m6i.large: the same size of the x86 family of that generation.
    for letter in ("i", "a", ""):
        name = f"{facts.family.partition('g')[0]}{letter}.{facts.size}"
        sibling = instance_type(name)
        if sibling is not None and sibling.architecture == "x86_64":
            return name
    return "m6i.large"


def _larger(facts: InstanceType) -> str:
    for size in sizes_of(facts.family):
        sibling = instance_type(f"{facts.family}.{size}")
        if sibling is not None and (sibling.memory_mib or 0) >= MINIMUM_WINDOWS_MIB:
            return sibling.name
    return "m6i.large"


class SizesLike(Protocol):
    """What the check of sizes needs."""

    @property
    def min_size(self) -> int: ...  # noqa: D102
    @property
    def max_size(self) -> int: ...  # noqa: D102
    @property
    def desired_size(self) -> int | None: ...  # noqa: D102


def check_sizes(group: SizesLike) -> Mistakes:
    """Whether the sizes of a group are in order."""
    found = Mistakes()
    low, high = group.min_size, group.max_size
    desired = low if group.desired_size is None else group.desired_size
    if low < 0:
        found.add(SIZES, ("min_size",), "min_size must be 0 or more", "set min_size to 0 or more", low)
    if high < 1:
        found.add(SIZES, ("max_size",), "max_size must be 1 or more", f"set max_size to {max(low, 1)} or more", high)
    elif low > high:
        found.add(SIZES, ("min_size",), f"min_size must not exceed max_size, which is {high}",
                  f"set min_size to {high} or less, or max_size to {low} or more", low)  # fmt: skip
    elif not low <= desired <= high:
        found.add(SIZES, ("desired_size",), f"desired_size must be between min_size and max_size, {low} to {high}",
                  f"set desired_size to {min(max(desired, low), high)}", desired)  # fmt: skip
    return found
