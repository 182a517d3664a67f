"""What a cluster needs beside its Windows nodes."""

from collections.abc import Iterator

from ...frameworks import WINDOWS_SUPPORT_PAGE, eks_guide
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Undecided, Value, Violation, every, stack_rule
from ...resource_types import CLUSTER, FARGATE_PROFILE, NODE_GROUP


@stack_rule(
    "windows-needs-linux-nodes",
    "A cluster with Windows nodes has Linux nodes for its system pods",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="add a Linux node group with min_size 2 and no NO_SCHEDULE or NO_EXECUTE taint, or Fargate for CoreDNS",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_needs_linux_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """CoreDNS runs on Linux only; without it, no name resolves."""
    for cluster, capacity, unclear in _linux_capacity(stack):
        if capacity == 0:
            if unclear:
                raise Undecided(unclear)
            message = f'cluster "{cluster.name}" has Windows nodes and no Linux node for CoreDNS'
            yield Violation(message, cluster.urn)


@stack_rule(
    "windows-two-linux-nodes",
    "A cluster with Windows nodes has two Linux nodes",
    types=[CLUSTER],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="set min_size of a Linux group to 2",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_two_linux_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """With one node, DNS fails while it is replaced."""
    for cluster, capacity, unclear in _linux_capacity(stack):
        if capacity == 1:
            if unclear:
                raise Undecided(unclear)
            yield Violation(f'cluster "{cluster.name}" has only one Linux node beside its Windows nodes', cluster.urn)


ENOUGH = 99
"""Capacity that is not counted: Fargate, Auto Mode, self-managed groups."""


def _linux_capacity(stack: Stack) -> Iterator[tuple[Planned, int, str]]:
    """The nodes for system pods of each cluster with Windows nodes, and the first property that hides some."""
    plan = inventory(stack)
    for urn in sorted(plan.windows_clusters):
        cluster = stack.by_urn.get(urn)
        if cluster is None:
            continue
        capacity, unclear = 0, ""
        fargate = any(plan.cluster(profile) == urn for profile in stack.of(FARGATE_PROFILE))
        if fargate or cluster["computeConfig"]["enabled"].settled is True or plan.other_linux_nodes():
            capacity = ENOUGH
        for group in stack.of(NODE_GROUP):
            of_cluster = plan.cluster(group)
            system = plan.system(group)
            if of_cluster == urn and system == "linux" and not _tainted(group):
                sizes = [group["scalingConfig"][name] for name in ("minSize", "desiredSize")]
                unclear = unclear or next((f"{group.name}.{size.path}" for size in sizes if size.unknown), "")
                capacity += max(Value(size.settled, size.path).number or 0 for size in sizes)
            elif system is None or of_cluster is None:
                unclear = unclear or f"what {group.name} is"
        yield cluster, capacity, unclear


def _tainted(group: Planned) -> bool:
    return any(taint["effect"].settled != "PREFER_NO_SCHEDULE" for taint in group["taints"].items())


@stack_rule(
    "windows-needs-ipv4",
    "A cluster with Windows nodes uses IPv4",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='set ip_family to "ipv4"; it cannot be changed later',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_needs_ipv4(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS does not support IPv6 for Windows nodes and services."""
    clusters = [stack.by_urn[urn] for urn in inventory(stack).windows_clusters if urn in stack.by_urn]

    def check(cluster: Planned) -> Iterator[Violation]:
        if cluster["kubernetesNetworkConfig"]["ipFamily"].text == "ipv6":
            yield Violation("Windows nodes cannot join: ipFamily is ipv6", cluster.urn)

    yield from every(clusters, check)
