"""The security group that an instance group makes for itself, as rows of the port matrix. Pure.

Used where a cluster's own groups for workers are not given: clusters of other tools. Its rows open the kubelet to the
control plane and VXLAN among all nodes; the groups of the other nodes get the row for VXLAN too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..network.ports import PortRule, Ports, Role, self_managed_rules
from .target_rules import CALICO

WORKER_ROLES: dict[str, Role] = {"linux": "linux_worker", "windows": "windows_worker"}
Peer = Literal["own", "control_plane", "node", "api"]


@dataclass(frozen=True, slots=True)
class Opening:
    """One rule: members of ``source`` may reach ``target``. ``own`` is the group's own security group."""

    source: Peer
    target: Peer
    protocol: str
    first: int
    last: int
    purpose: str


def openings(system: str, pod_network: str, api_port: int) -> Sequence[Opening]:
    """The rules of the group of its own, each once.

    >>> [f"{o.source} -> {o.target} {o.protocol} {o.first}" for o in openings("windows", "flannel-vxlan", 443)]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['control_plane -> own tcp 10250', 'node -> own udp 4789', 'own -> own udp 4789',
     'own -> node udp 4789', 'own -> api tcp 443']
    """
    role = WORKER_ROLES[system]
    # Calico's VXLAN speaks on the same port as flannel's.
    rows = self_managed_rules(Ports(), pod_network="flannel-vxlan" if pod_network == CALICO else pod_network)
    into = [_opening(_peer(row, role), "own", row) for row in rows if row.target == role]
    out = [_opening("own", "node", row) for row in rows if row.source == role and row.target == "control_plane"
           and row.protocol == "udp"]  # fmt: skip
    api = Opening("own", "api", "tcp", api_port, api_port, "Kubernetes API")
    return list(dict.fromkeys([*sorted(into, key=lambda one: one.source), *out, api]))


def _peer(row: PortRule, role: Role) -> Peer:
    if row.source == role:
        return "own"
    # Other nodes are in the groups that the target names as those of nodes; the kubelet is the control plane's alone.
    return "control_plane" if row.protocol == "tcp" else "node"


def _opening(source: Peer, target: Peer, row: PortRule) -> Opening:
    return Opening(source, target, row.protocol, row.first, row.last, row.purpose)
