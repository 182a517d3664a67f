"""Which machine speaks to which on what port, as data. Pure.

Security groups are rendered from these rows, so a port is written once: who changes :class:`Ports` changes the rule and
the configuration together. Sources: https://kubernetes.io/docs/reference/networking/ports-and-protocols/,
https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html and, for VXLAN on Windows (4789, the only port that
the host network service speaks), https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of

PORT_RANGE = Rule("WK-NET-017", "A port is a number from 1 to 65535, and a range begins with its lower end.")
PORT_TAKEN = Rule(
    "WK-NET-018",
    "Two services on one machine must not listen on the same port.",
    "https://kubernetes.io/docs/reference/networking/ports-and-protocols/",
)
VXLAN_WINDOWS = Rule(
    "WK-NET-019",
    "VXLAN between Linux and Windows nodes uses UDP port 4789.",
    "https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md",
)
POD_NETWORK_KNOWN = Rule("WK-NET-020", "The pod network must be one whose ports winkube knows.")

Protocol = Literal["tcp", "udp", "icmp"]
Role = Literal["api_load_balancer", "control_plane", "linux_worker", "windows_worker", "client", "eks_control_plane"]

CONTROL_PLANE: tuple[Role, ...] = ("control_plane",)
WORKERS: tuple[Role, ...] = ("linux_worker", "windows_worker")
NODES: tuple[Role, ...] = ("control_plane", "linux_worker", "windows_worker")


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The ports of a self-managed cluster, each with the default of its program."""

    api: int = 6443
    """kube-apiserver, on the control plane and as listener of its load balancer."""
    etcd_client: int = 2379
    """etcd, for kube-apiserver."""
    etcd_peer: int = 2380
    """etcd, for its peers."""
    kubelet: int = 10250
    """The kubelet of every node: logs, exec, metrics; Windows nodes too."""
    controller_manager: int = 10257
    """kube-controller-manager, HTTPS; read by the control plane alone."""
    scheduler: int = 10259
    """kube-scheduler, HTTPS; read by the control plane alone."""
    kube_proxy_health: int = 10256
    """kube-proxy's health, asked by load balancers."""
    vxlan: int = 4789
    """UDP port of the pod network's VXLAN; Windows speaks 4789 only."""
    node_port_first: int = 30000
    """First port of Services of type NodePort."""
    node_port_last: int = 32767
    """Last port of Services of type NodePort."""


@dataclass(frozen=True, slots=True)
class PortRule:
    """One row: ``target`` listens, ``source`` may connect."""

    source: Role
    target: Role
    protocol: Protocol
    first: int
    last: int
    purpose: str
    """Ends up as the description of the security group rule."""


@dataclass(frozen=True, slots=True)
class _Row:
    sources: tuple[Role, ...]
    targets: tuple[Role, ...]
    protocol: Protocol
    first: str
    last: str
    purpose: str


_SELF_MANAGED = (
    _Row(("client", *NODES), ("api_load_balancer",), "tcp", "api", "api", "Kubernetes API"),
    # Without client IP preservation the API servers see the balancer, its health checks included. Pods come past it:
    # the endpoints of the Service "kubernetes" are the nodes of the control plane.
    _Row(("api_load_balancer", *NODES), CONTROL_PLANE, "tcp", "api", "api", "Kubernetes API"),
    _Row(CONTROL_PLANE, NODES, "tcp", "kubelet", "kubelet", "kubelet"),
    _Row(CONTROL_PLANE, CONTROL_PLANE, "tcp", "controller_manager", "controller_manager", "kube-controller-manager"),
    _Row(CONTROL_PLANE, CONTROL_PLANE, "tcp", "scheduler", "scheduler", "kube-scheduler"),
)
_STACKED_ETCD = (
    _Row(CONTROL_PLANE, CONTROL_PLANE, "tcp", "etcd_client", "etcd_client", "etcd clients"),
    _Row(CONTROL_PLANE, CONTROL_PLANE, "tcp", "etcd_peer", "etcd_peer", "etcd peers"),
)
_POD_NETWORKS: dict[str, tuple[_Row, ...]] = {
    "flannel-vxlan": (_Row(NODES, NODES, "udp", "vxlan", "vxlan", "pod network, VXLAN"),),
    # Addresses of the VPC itself: what pods may reach is a matter of the nodes' groups, no tunnel is opened.
    "amazon-vpc": (),
}
POD_NETWORKS = tuple(_POD_NETWORKS)
"""Pod networks whose own ports are known: each brings its rows."""


def self_managed_rules(
    ports: Ports | None = None,
    *,
    pod_network: str = "flannel-vxlan",
    stacked_etcd: bool = True,
    load_balancer_node_ports: bool = False,
) -> tuple[PortRule, ...]:
    """The rows of a self-managed cluster.

    :param pod_network: one of :data:`POD_NETWORKS`.
    :param stacked_etcd: etcd on the control-plane nodes; an external one has rules of its own.
    :param load_balancer_node_ports: open the NodePort range and kube-proxy's health port of the workers to clients,
        for load balancers that reach nodes by port.
    :raises KeyError: for another pod network (see :func:`check_ports`).
    """
    rows = [*_SELF_MANAGED, *(_STACKED_ETCD if stacked_etcd else ()), *_POD_NETWORKS[pod_network]]
    if load_balancer_node_ports:
        rows.append(_Row(("client",), WORKERS, "tcp", "node_port_first", "node_port_last", "NodePort services"))
        rows.append(_Row(("client",), WORKERS, "tcp", "kube_proxy_health", "kube_proxy_health", "kube-proxy health"))
    return tuple(_expand(rows, ports or Ports()))


_EKS_NODE: tuple[Role, ...] = ("linux_worker", "windows_worker")
EKS_RULES = (
    *(PortRule(node, "eks_control_plane", "tcp", 443, 443, "Kubernetes API") for node in _EKS_NODE),
    *(PortRule("eks_control_plane", node, "tcp", 10250, 10250, "kubelet") for node in _EKS_NODE),
    *(PortRule("eks_control_plane", node, "tcp", 443, 443, "admission webhooks and aggregated APIs")
      for node in _EKS_NODE),
    # The webhooks of the load balancer controller and of other controllers listen here; they run on Linux.
    PortRule("eks_control_plane", "linux_worker", "tcp", 9443, 9443, "admission webhooks of controllers"),
    *(PortRule(source, target, protocol, 53, 53, "CoreDNS")
      for source in _EKS_NODE for target in _EKS_NODE if target == "linux_worker"
      for protocol in ("tcp", "udp")),
)  # fmt: skip
"""The least that EKS asks for where its own cluster security group, which opens all ports, is not used."""


def check_ports(ports: Ports, *, pod_network: str = "flannel-vxlan", windows: bool = True) -> Mistakes:
    """Ports out of range or taken twice, and a VXLAN port that Windows cannot speak (``WK-NET-017`` to ``-020``)."""
    found = Mistakes()
    values = {field.name: int(getattr(ports, field.name)) for field in fields(ports)}
    for name, port in values.items():
        if not 1 <= port <= 65535:
            found.add(
                PORT_RANGE, (name,), "a port is a number from 1 to 65535", f"set {name} to a number in this range", port
            )
    if ports.node_port_first > ports.node_port_last:
        found.add(PORT_RANGE, ("node_port_first",), f"is above the end of the range, {ports.node_port_last}",
                  "set node_port_first to the lower end of the range", ports.node_port_first)  # fmt: skip
    _check_taken(values, found)
    if pod_network not in POD_NETWORKS:
        near = nearest(pod_network, POD_NETWORKS)
        remedy = f'write "{near}"' if near else f"write {one_of(POD_NETWORKS)}"
        found.add(
            POD_NETWORK_KNOWN, ("pod_network",), "is not a pod network that winkube supports", remedy, pod_network
        )
    if windows and pod_network == "flannel-vxlan" and ports.vxlan != Ports.vxlan:
        found.add(VXLAN_WINDOWS, ("vxlan",), "VXLAN on Windows nodes works only on UDP port 4789",
                  "set vxlan to 4789, or remove the Windows groups", ports.vxlan)  # fmt: skip
    return found


def _check_taken(values: dict[str, int], found: Mistakes) -> None:
    first, last = values["node_port_first"], values["node_port_last"]
    seen: dict[int, str] = {}
    for name, port in values.items():
        if name in ("vxlan", "node_port_first", "node_port_last"):  # UDP, and the range itself
            continue
        path: Path = (name,)
        if port in seen:
            found.add(PORT_TAKEN, path, f"is the port of {seen[port]}", f"set {name} to a free port", port)
        elif first <= port <= last:
            found.add(PORT_TAKEN, path, f"is in the node port range, {first} to {last}",
                      f"set {name} to a port outside the range", port)  # fmt: skip
        seen.setdefault(port, name)


def _expand(rows: Sequence[_Row], ports: Ports) -> Iterable[PortRule]:
    for row in rows:
        first, last = int(getattr(ports, row.first)), int(getattr(ports, row.last))
        for source in row.sources:
            for target in row.targets:
                yield PortRule(source, target, row.protocol, first, last, row.purpose)
