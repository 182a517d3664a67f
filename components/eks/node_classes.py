"""What must hold for the Windows node classes of Karpenter. Pure."""

from collections.abc import Mapping

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..core.tags import check_tags
from ..tables.kubernetes import at_least
from ..tables.windows import WINDOWS_RELEASES

NODE_CLASSES_PAGE = "https://karpenter.sh/docs/concepts/nodeclasses/"
RELEASE = Rule(
    "WK-ADD-040",
    "The cluster's Kubernetes minor must support the Windows release that Karpenter starts.",
    NODE_CLASSES_PAGE,
)
OWN_ROLE = Rule(
    "WK-ADD-041",
    "Windows nodes started by Karpenter need a node role that no Linux node uses.",
    "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
)
ENTRY_MODE = Rule(
    "WK-ADD-042",
    "The access entry of Windows nodes needs an authentication mode that includes the API.",
    "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
)
RESERVED_TAGS = Rule("WK-ADD-044", "Tags that Karpenter writes itself cannot be set.", NODE_CLASSES_PAGE)
SELECTORS = Rule("WK-ADD-045", "A node class must select subnets and security groups.", NODE_CLASSES_PAGE)
CAPACITY = Rule(
    "WK-ADD-046", "The capacity type is on-demand or spot.", "https://karpenter.sh/docs/concepts/nodepools/"
)
POOL_NAME = Rule(
    "WK-ADD-047", "The names of a node class and its node pool must be valid Kubernetes names.", NODE_CLASSES_PAGE
)
WINDOWS_VOLUME = Rule("WK-ADD-048", "The root volume of a Windows node needs at least 50 GiB.", NODE_CLASSES_PAGE)

CAPACITY_TYPES = ("on-demand", "spot")
RESERVED_TAG_PREFIXES = ("eks:eks-cluster-name", "kubernetes.io/cluster", "karpenter.sh/nodepool",
                         "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass")  # fmt: skip


def check_release(windows: str, kubernetes_version: str, found: Mistakes) -> None:
    """Note a release that Karpenter does not know, or that the cluster's minor does not run (``WK-ADD-040``)."""
    release = WINDOWS_RELEASES.get(windows)
    if release is None:
        guess = nearest(windows, tuple(WINDOWS_RELEASES))
        found.add(RELEASE, ("windows",), f"the Windows Server release is {one_of(WINDOWS_RELEASES)}",
                  f'write "{guess}"' if guess else "write one of these", windows)  # fmt: skip
    elif kubernetes_version and not at_least(kubernetes_version, release.eks_minimum_kubernetes):
        found.add(RELEASE, ("windows",),
                  f"Windows Server {windows} needs Kubernetes {release.eks_minimum_kubernetes} or newer on EKS, the "
                  f"cluster runs {kubernetes_version}", 'set windows to "2022"', windows)  # fmt: skip


def check_node_tags(tags: Mapping[str, str], path: Path = ("tags",)) -> Mistakes:
    """Whether these can be tags of Karpenter's instances (``WK-ADD-044``, ``WK-TAG``)."""
    found = check_tags(tags, path)
    for key in tags:
        reserved = next((prefix for prefix in RESERVED_TAG_PREFIXES if key.startswith(prefix)), None)
        if reserved is not None:
            found.add(RESERVED_TAGS, (*path, key), f"Karpenter writes tags that begin with {reserved} itself",
                      "remove the tag", tags[key])  # fmt: skip
    return found


def user_data(service_cidr: str) -> str:
    """What runs before Karpenter's call of the bootstrap script, which it makes without ``-ServiceCIDR``.

    The script would guess 172.20.0.0/16 or 10.100.0.0/16; it reads this variable first.

    >>> user_data("10.100.0.0/16")
    '[Environment]::SetEnvironmentVariable("SERVICE_IPV4_CIDR", "10.100.0.0/16", "Machine")'
    """
    return f'[Environment]::SetEnvironmentVariable("SERVICE_IPV4_CIDR", "{service_cidr}", "Machine")'
