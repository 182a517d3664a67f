"""Kubernetes minors of clusters and nodes."""

from collections.abc import Iterator

from winkube.tables.kubernetes import EKS_KNOWN_MINORS, EKS_MINORS, at_least, minor_number

from ...eks_resources import minor_of
from ...frameworks import eks_guide, fsbp
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...resource_types import CLUSTER, NODE_GROUP

VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
SKEW = 3


@resource_rule(
    "cluster-version-exists",
    "The cluster runs a Kubernetes minor that EKS still offers",
    types=[CLUSTER, NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[fsbp("EKS.2")],
    steps=f"set version to {' or '.join(EKS_MINORS)}",
    url=VERSIONS_PAGE,
)
def cluster_version_exists(resource: Planned, settings: Settings) -> Iterator[str]:
    """A minor that is newer than the library's table is not judged."""
    minor = minor_of(resource["version"])
    oldest = next(iter(EKS_KNOWN_MINORS))
    if minor and not at_least(minor, oldest):
        yield f"EKS no longer runs Kubernetes {minor}: its oldest minor is {oldest}"


@resource_rule(
    "cluster-version-supported",
    "The cluster runs a Kubernetes minor in standard support",
    types=[CLUSTER],
    references=[fsbp("EKS.2")],
    steps=f"set version to {' or '.join(EKS_MINORS)}",
    url=VERSIONS_PAGE,
)
def cluster_version_supported(resource: Planned, settings: Settings) -> Iterator[str]:
    """Extended support costs six times as much."""
    minor = minor_of(resource["version"])
    if minor and minor in EKS_KNOWN_MINORS and minor not in EKS_MINORS:
        ended = EKS_KNOWN_MINORS[minor].standard_support_until
        yield f"standard support of Kubernetes {minor} ended on {ended}: the control plane costs six times as much"


@stack_rule(
    "node-version-skew",
    "Nodes are not newer than their cluster, and not too old for it",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Update a managed node group"), fsbp("EKS.2")],
    steps="leave version out of the node group, or set it to the cluster's",
    url="https://kubernetes.io/releases/version-skew-policy/",
)
def node_version_skew(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS refuses newer nodes. Kubelets may be up to three minors older, on Windows too."""

    def check(group: Planned) -> Iterator[Violation]:
        cluster = stack.by_urn.get(inventory(stack).cluster(group) or "")
        if cluster is None or not group["version"].given or not cluster["version"].given:
            return
        nodes, control = minor_of(group["version"]), minor_of(cluster["version"])
        if nodes is None or control is None:
            return
        if not at_least(control, nodes):
            yield Violation(f"nodes run Kubernetes {nodes}, which is newer than their cluster's {control}", group.urn)
        elif minor_number(control)[1] - minor_number(nodes)[1] > SKEW:
            message = f"nodes run Kubernetes {nodes}, more than {SKEW} minors older than their cluster's {control}"
            yield Violation(message, group.urn)

    yield from every(stack.of(NODE_GROUP), check)
