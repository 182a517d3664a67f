"""What must hold for a node group on EKS, as pure checks over plain attributes.

The same functions judge settings, component arguments and, in policies, planned resources. They take any object
with the attributes of :class:`NodeGroupLike`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..ec2.instance_rules import CAPACITY_TYPES, MAXIMUM_ROOT_GIB, NODE_GROUPS_PAGE, check_sizes, check_types
from ..scheduling.labels import TaintLike, check_labels, check_taints
from ..tables.instance_types import untested_on_windows
from ..tables.kubernetes import WINDOWS_MINIMUM_PLATFORM, at_least, windows_platform
from ..tables.linux import LINUX_IMAGES
from ..tables.windows import EDITIONS, WINDOWS_AMI_PAGE, WINDOWS_RELEASES, nearest_release, releases_for

WINDOWS_SUPPORT_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"

UNKNOWN_RELEASE = Rule("WK-EKS-010", "Windows nodes run Windows Server 2019, 2022 or 2025.", WINDOWS_AMI_PAGE)
UNKNOWN_EDITION = Rule("WK-EKS-011", "The Windows Server edition is core or full.", WINDOWS_AMI_PAGE)
RELEASE_TOO_NEW = Rule("WK-EKS-012", "A Windows release needs a Kubernetes minor that supports it.", WINDOWS_AMI_PAGE)
UNKNOWN_LINUX = Rule("WK-EKS-013", "Linux nodes run Amazon Linux 2023 or Bottlerocket.", NODE_GROUPS_PAGE)
ROOT_VOLUME = Rule(
    "WK-EKS-020",
    "The root volume has 50 (Windows) or 20 (Linux) to 16384 GiB.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
DUPLICATE_NAME = Rule("WK-EKS-021", "Each group of a cluster needs a unique name.", NODE_GROUPS_PAGE)
GROUP_NAME = Rule(
    "WK-EKS-022",
    "A group name has 1 to 37 letters, digits, hyphens or underscores.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
NO_LINUX = Rule("WK-EKS-023", "A cluster with Windows nodes needs Linux nodes for CoreDNS and other system pods.",
                WINDOWS_SUPPORT_PAGE)  # fmt: skip
CAPACITY_TYPE = Rule(
    "WK-EKS-024",
    "The capacity type is on_demand or spot.",
    "https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
)
UNTESTED_TYPE = Rule(
    "WK-EKS-027",
    "AWS listed C3, C4, D2, I2, M4, M6a and R3 as unsupported for Windows until 2023.",
    "https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_eks-readme.html",
)
OLD_RELEASE = Rule(
    "WK-EKS-028",
    "Windows Server 2019 is no longer in mainstream support.",
    "https://learn.microsoft.com/lifecycle/products/windows-server-2019",
)
ONE_LINUX_NODE = Rule(
    "WK-EKS-029", "A cluster with Windows nodes should have at least two Linux nodes.", WINDOWS_SUPPORT_PAGE
)
WINDOWS_IPV4 = Rule("WK-EKS-030", "Windows nodes and pods support IPv4 only.", WINDOWS_SUPPORT_PAGE)
PLATFORM = Rule("WK-EKS-039", "Windows nodes need an EKS platform version that supports Windows.", WINDOWS_SUPPORT_PAGE)
AUTO_MODE = Rule(
    "WK-EKS-034",
    "EKS Auto Mode does not support Windows nodes.",
    "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html",
)
ONE_SYSTEM = Rule("WK-EKS-031", "A group is either Linux or Windows.", NODE_GROUPS_PAGE)


WINDOWS_MINIMUM_ROOT_GIB = 50
LINUX_MINIMUM_ROOT_GIB = 20
GROUP_NAME_LIMIT = 37  # EKS takes 63; the provider's unique suffix needs 26
_GROUP_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


class NodeGroupLike(Protocol):
    """What the checks need of a group. Exactly one of ``linux`` and ``windows`` is set."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def linux(self) -> str | None: ...  # noqa: D102
    @property
    def windows(self) -> str | None: ...  # noqa: D102
    @property
    def edition(self) -> str | None: ...  # noqa: D102
    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def min_size(self) -> int: ...  # noqa: D102
    @property
    def max_size(self) -> int: ...  # noqa: D102
    @property
    def desired_size(self) -> int | None: ...  # noqa: D102
    @property
    def capacity_type(self) -> str: ...  # noqa: D102
    @property
    def labels(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def taints(self) -> Sequence[TaintLike]: ...  # noqa: D102
    @property
    def root_volume_size_gib(self) -> int | None: ...  # noqa: D102


def check_node_groups(
    groups: Sequence[NodeGroupLike], kubernetes_version: str, path: Path = (), *, fargate: bool = False
) -> Mistakes:
    """Every mistake in the groups of one cluster, each group's own and those between them.

    :param fargate: whether CoreDNS runs on Fargate, so that Windows nodes need no Linux nodes beside them.
    """
    found = Mistakes()
    first: dict[str, int] = {}
    for index, group in enumerate(groups):
        found.take(check_node_group(group, kubernetes_version), *path, index)
        other = first.setdefault(group.name, index)
        if other != index:
            found.add(DUPLICATE_NAME, (*path, index, "name"), f"the group at [{other}] has the same name",
                      "give each group a unique name", group.name)  # fmt: skip
    if any(group.windows for group in groups) and linux_capacity(groups) == 0 and not fargate:
        found.add(NO_LINUX, path, "a cluster with Windows nodes needs Linux nodes for CoreDNS and other system pods",
                  'add a group with linux: "al2023", min_size 2 and no NoSchedule or NoExecute taint',
                  [group.name for group in groups])  # fmt: skip
    return found


def advise_node_groups(groups: Sequence[NodeGroupLike], path: Path = ()) -> Mistakes:
    """What would come up, but is not advised."""
    found = Mistakes()
    for index, group in enumerate(groups):
        found.take(advise_node_group(group), *path, index)
    if any(group.windows for group in groups) and linux_capacity(groups) == 1:
        found.add(ONE_LINUX_NODE, path, "a cluster with Windows nodes should have at least two Linux nodes",
                  "set min_size of a Linux group to 2", 1)  # fmt: skip
    return found


def linux_capacity(groups: Sequence[NodeGroupLike]) -> int:
    """The nodes on which system pods such as CoreDNS can run when the cluster starts."""
    return sum(
        max(group.min_size, group.desired_size or 0)
        for group in groups
        if not group.windows and not any(taint.effect in ("NoSchedule", "NoExecute") for taint in group.taints)
    )


def check_node_group(group: NodeGroupLike, kubernetes_version: str) -> Mistakes:
    """Every mistake in one group, paths relative to it."""
    found = Mistakes()
    if len(group.name) > GROUP_NAME_LIMIT or not _GROUP_NAME.fullmatch(group.name):
        found.add(GROUP_NAME, ("name",), f"a group name has 1 to {GROUP_NAME_LIMIT} letters, digits, hyphens or "
                  "underscores and begins with a letter or digit", "write a name such as \"windows-2022\"",
                  group.name)  # fmt: skip
    found.take(_check_system(group, kubernetes_version))
    found.take(check_types(group))
    found.take(check_sizes(group))
    found.take(_check_volume(group))
    if group.capacity_type not in CAPACITY_TYPES:
        found.add(CAPACITY_TYPE, ("capacity_type",), f"the capacity type is {one_of(CAPACITY_TYPES)}",
                  _guess(group.capacity_type.lower(), tuple(CAPACITY_TYPES)), group.capacity_type)  # fmt: skip
    managed = getattr(group, "management", "managed") == "managed"
    found.take(check_labels(group.labels, managed=managed))
    found.take(check_taints(group.taints, managed=managed))
    return found


def advise_node_group(group: NodeGroupLike) -> Mistakes:
    """What would come up in one group, but is not advised."""
    found = Mistakes()
    release = WINDOWS_RELEASES.get(group.windows or "")
    if release is None:
        return found
    if release.warning:
        found.add(OLD_RELEASE, ("windows",), release.warning, 'set windows to "2022" or "2025"', release.release)
    for index, name in enumerate(group.instance_types):
        if untested_on_windows(name):
            found.add(
                UNTESTED_TYPE,
                ("instance_types", index),
                f"the {name.partition('.')[0]} family was listed by AWS as unsupported for Windows nodes until 2023",
                "use a family such as m6i or m7i, or test it",
                name,
            )
    return found


def check_ip_family(ip_family: str, path: Path = ("ip_family",)) -> Mistakes:
    """Windows nodes join clusters of the family ``ipv4`` only."""
    found = Mistakes()
    if ip_family != "ipv4":
        found.add(WINDOWS_IPV4, path, "Windows nodes and Services support IPv4 only",
                  'use a cluster with ip_family "ipv4"', ip_family)  # fmt: skip
    return found


def check_platform(
    kubernetes_version: str, platform_version: str | None, path: Path = ("platform_version",)
) -> Mistakes:
    """Windows nodes join clusters whose platform version manages addresses for them; later ones do too."""
    found = Mistakes()
    if platform_version is not None and not windows_platform(kubernetes_version, platform_version):
        least = WINDOWS_MINIMUM_PLATFORM.get(kubernetes_version, "eks.1")
        found.add(
            PLATFORM,
            path,
            f"Windows support on Kubernetes {kubernetes_version} needs platform version {least} or later",
            "update the cluster; EKS then gives it the newest platform version",
            platform_version,
        )
    return found


def check_auto_mode(auto_mode: bool, path: Path = ("auto_mode",)) -> Mistakes:
    """Windows node groups join clusters whose nodes are not EKS' own business."""
    found = Mistakes()
    if auto_mode:
        found.add(AUTO_MODE, path, "EKS Auto Mode does not support Windows nodes and has no CNI for them",
                  "use a cluster with node groups and the vpc-cni add-on", auto_mode)  # fmt: skip
    return found


def _check_system(group: NodeGroupLike, kubernetes_version: str) -> Mistakes:
    found = Mistakes()
    if (group.linux is None) == (group.windows is None):
        found.add(ONE_SYSTEM, ("windows",), "a group is either Linux or Windows",
                  'set exactly one of linux (such as "al2023") and windows (such as "2022")',
                  group.windows)  # fmt: skip
    if group.linux is not None and group.linux not in LINUX_IMAGES:
        found.add(UNKNOWN_LINUX, ("linux",), f"Linux nodes run {one_of(LINUX_IMAGES)}",
                  _guess(group.linux.lower(), tuple(LINUX_IMAGES)), group.linux)  # fmt: skip
    if group.windows is not None:
        found.take(check_windows_release(group.windows, group.edition, kubernetes_version))
    return found


def check_windows_release(release: str, edition: str | None, kubernetes_version: str) -> Mistakes:
    """Every mistake in the choice of a Windows image."""
    found = Mistakes()
    row = WINDOWS_RELEASES.get(release)
    if row is None:
        found.add(UNKNOWN_RELEASE, ("windows",), f"Windows nodes run {one_of(WINDOWS_RELEASES)}",
                  f'write "{nearest_release(release)}"', release)  # fmt: skip
    elif not at_least(kubernetes_version, row.eks_minimum_kubernetes):
        older = [known for known in releases_for(kubernetes_version) if not WINDOWS_RELEASES[known].warning]
        found.add(RELEASE_TOO_NEW, ("windows",),
                  f"Windows Server {release} needs Kubernetes {row.eks_minimum_kubernetes} or newer on EKS",
                  f'set cluster.kubernetesVersion to "{row.eks_minimum_kubernetes}"'
                  + (f' or windows to "{older[-1]}"' if older else ""), kubernetes_version)  # fmt: skip
    if edition is not None and edition not in EDITIONS:
        found.add(UNKNOWN_EDITION, ("edition",), f"the Windows Server edition is {one_of(EDITIONS)}",
                  _guess(edition.lower(), tuple(EDITIONS)), edition)  # fmt: skip
    return found


def _guess(wrong: str, allowed: Sequence[str], otherwise: str = "write one of these") -> str:
    guess = nearest(wrong, allowed)
    return f'write "{guess}"' if guess else otherwise


def _check_volume(group: NodeGroupLike) -> Mistakes:
    found = Mistakes()
    system, least = ("Windows", WINDOWS_MINIMUM_ROOT_GIB) if group.windows else ("Linux", LINUX_MINIMUM_ROOT_GIB)
    size = group.root_volume_size_gib
    if size is not None and not least <= size <= MAXIMUM_ROOT_GIB:
        found.add(ROOT_VOLUME, ("root_volume_size_gib",),
                  f"the root volume of a {system} node must have {least} to {MAXIMUM_ROOT_GIB} GiB",
                  f"set root_volume_size_gib to {min(max(size, least), MAXIMUM_ROOT_GIB)}", size)  # fmt: skip
    return found
