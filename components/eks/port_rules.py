"""Ports among pods, for clusters whose security groups open nothing by themselves. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..network.ports import PortRule, Protocol, Role

POD_PORTS = Rule(
    "WK-EKS-084",
    "Pod ports use tcp or udp, from 1 to 65535, and IPv4 networks.",
    "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
)

PROTOCOLS = ("tcp", "udp")
_WORKERS: tuple[Role, ...] = ("linux_worker", "windows_worker")


@dataclass(frozen=True, kw_only=True)
class PodPort:
    """A port range that pods may reach on pods of other nodes."""

    first: int
    """The first port."""
    last: int | None = None
    """The last port; the first one by default."""
    protocol: str = "tcp"
    """``tcp`` (default) or ``udp``."""
    purpose: str = "Pods"
    """The purpose, used as the description of the rule."""


def pod_rules(ports: Sequence[PodPort]) -> tuple[PortRule, ...]:
    """The rules among Linux and Windows nodes for these ports."""
    return tuple(
        PortRule(source, target, cast("Protocol", port.protocol), port.first, port.last or port.first, port.purpose)
        for port in ports
        for source in _WORKERS
        for target in _WORKERS
    )


def check_pod_ports(ports: Sequence[PodPort], egress_cidrs: Sequence[str]) -> Mistakes:
    """Every mistake in ports and networks."""
    found = Mistakes()
    for index, port in enumerate(ports):
        last = port.first if port.last is None else port.last
        if not 1 <= port.first <= last <= 65535:
            found.add(
                POD_PORTS,
                ("pod_ports", index),
                "a port range must be within 1 to 65535 and begin with the lower port",
                "set first and last to such ports",
                [port.first, last],
            )
        if port.protocol not in PROTOCOLS:
            found.add(POD_PORTS, ("pod_ports", index, "protocol"), f"the protocol is {one_of(PROTOCOLS)}",
                      f'write "{nearest(port.protocol.lower(), PROTOCOLS) or "tcp"}"', port.protocol)  # fmt: skip
    for index, cidr in enumerate(egress_cidrs):
        if network_or_none(cidr) is None:
            found.add(POD_PORTS, ("egress_cidrs", index), "is not an IPv4 network without host bits",
                      'write a network such as "10.0.0.0/8"', cidr)  # fmt: skip
    return found
