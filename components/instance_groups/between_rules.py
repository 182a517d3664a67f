"""What must hold between the groups of one cluster, and for what their nodes fetch. Pure."""

from collections.abc import Sequence
from typing import Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule
from ..tables.artefacts import DIGEST_UNKNOWN, NodeKind, artefacts_for, check_artefacts, check_node_kind
from ..tables.instance_types import architecture
from ..tables.releases import SELF_MANAGED_RELEASES
from ..windows_boot.windows_node_document import optional_artefacts
from .rule_protocols import InstanceGroupLike, TargetLike

DUPLICATE_NAME = Rule("WK-IG-038", "Each group of a cluster needs a unique name.")
NO_LINUX = Rule(
    "WK-IG-039",
    "A cluster with Windows workers needs Linux workers too.",
    "https://kubernetes.io/docs/concepts/windows/intro/",
)
PODS_FIT = Rule(
    "WK-IG-040",
    "The pod CIDR must have a node subnet for every node that the groups may have.",
    "https://kubernetes.io/docs/concepts/cluster-administration/networking/",
)

CREDENTIAL_PROVIDER = "ecr-credential-provider"
LOG_RUNNER = "kube-log-runner"


class GroupOfCluster(Protocol):
    """What the checks between groups need."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def linux(self) -> str | None: ...  # noqa: D102
    @property
    def windows(self) -> str | None: ...  # noqa: D102
    @property
    def max_size(self) -> int: ...  # noqa: D102


def check_instance_groups(
    groups: Sequence[GroupOfCluster], target: TargetLike, path: Path = (), *, other_nodes: int = 3, linux: bool = True
) -> Mistakes:
    """What must hold between the groups of one cluster (``WK-IG-038`` to ``-040``), paths below ``path``.

    :param other_nodes: nodes of the cluster beside these groups': its control plane.
    :param linux: whether these groups are all that the cluster has, so that Linux workers must be among them.
    """
    found = Mistakes()
    first: dict[str, int] = {}
    for index, group in enumerate(groups):
        other = first.setdefault(group.name, index)
        if other != index:
            found.add(DUPLICATE_NAME, (*path, index, "name"), f"the group at [{other}] has the same name",
                      "give each group a unique name", group.name)  # fmt: skip
    windows = [group.name for group in groups if group.windows is not None]
    if linux and windows and not any(group.linux is not None and group.max_size > 0 for group in groups):
        found.add(NO_LINUX, path, "CoreDNS, controllers and webhooks need Linux nodes outside the control plane",
                  'add a group with linux: "al2023" and min_size 1 or more', windows)  # fmt: skip
    found.take(_check_pod_network(groups, target, other_nodes))
    return found


def _check_pod_network(groups: Sequence[GroupOfCluster], target: TargetLike, other_nodes: int) -> Mistakes:
    found = Mistakes()
    pods = network_or_none(target.pod_cidr)
    if pods is None or not pods.prefixlen < target.node_cidr_mask <= 32:
        return found
    parts = 2 ** (target.node_cidr_mask - pods.prefixlen)
    # A rollout starts new nodes before it takes old ones away.
    nodes = other_nodes + sum(group.max_size + 1 for group in groups)
    if nodes > parts:
        found.add(
            PODS_FIT,
            ("pod_cidr",),
            f"{pods} has {parts} subnets of /{target.node_cidr_mask}, and the cluster may have {nodes} nodes",
            f"write a pod_cidr of /{target.node_cidr_mask - (nodes - 1).bit_length()} "
            "or larger, or a longer node_cidr_mask",
            target.pod_cidr,
        )
    return found


def check_downloads(group: InstanceGroupLike, target: TargetLike) -> Mistakes:
    """Whether every file that the group's nodes fetch has a digest (``WK-ART``), paths relative to the target.

    Digests of files that other groups fetch are not this group's matter: ``check_artefacts`` over all kinds says so.
    """
    found = Mistakes()
    kind = node_kind(group)
    if check_node_kind(kind):
        return found
    wrong = check_artefacts(
        target.kubernetes_version,
        [kind],
        mirror=target.mirror,
        artefact_digests=target.artefact_digests,
        registry_mirrors=target.registry_mirrors,
        optional=optional_programs(group, target),
    )
    found.take(mistake for mistake in wrong if mistake.rule is not DIGEST_UNKNOWN)
    return found


def node_kind(group: InstanceGroupLike) -> NodeKind:
    """What the nodes of a group are, for the table of what they fetch."""
    processor = architecture(group.instance_types[0]) if group.instance_types else None
    system = "windows" if group.windows is not None else "linux"
    return NodeKind(os=system, architecture=processor or "x86_64", runtime=group.runtime)


def known_programs(kind: NodeKind, target: TargetLike) -> tuple[bool, bool]:
    """Whether such nodes can check kube-log-runner, and whether ecr-credential-provider."""
    if target.kubernetes_version not in SELF_MANAGED_RELEASES or check_node_kind(kind):
        return False, False
    rows = artefacts_for(
        target.kubernetes_version,
        os="windows" if kind.os == "windows" else "linux",
        architecture="arm64" if kind.architecture == "arm64" else "x86_64",
        runtime="cri-o" if kind.runtime == "cri-o" else "containerd",
        optional=(LOG_RUNNER, CREDENTIAL_PROVIDER),
        artefact_digests=target.artefact_digests,
    )
    known = {row.name for row in rows if row.digest is not None}
    return LOG_RUNNER in known, CREDENTIAL_PROVIDER in known


def wants_ecr_credentials(group: InstanceGroupLike, target: TargetLike) -> bool:
    """Whether kubelets fetch credentials of ECR: what the group says, or where it can be done."""
    said = group.ecr_credentials
    return known_programs(node_kind(group), target)[1] if said is None else said


def wants_kubelet_log(group: InstanceGroupLike, target: TargetLike) -> bool:
    """Whether the kubelet's log is kept on Windows: what the group says, or where it can be done."""
    said = group.kubelet_log
    return known_programs(node_kind(group), target)[0] if said is None else said


def optional_programs(group: InstanceGroupLike, target: TargetLike) -> tuple[str, ...]:
    """What Windows nodes of the group fetch beside what every node needs."""
    return optional_artefacts(
        kubelet_log=wants_kubelet_log(group, target), ecr_credentials=wants_ecr_credentials(group, target)
    )
