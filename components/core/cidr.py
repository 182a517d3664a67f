"""CIDR arithmetic on IPv4 networks: pure, exact, without surprises."""

from ipaddress import IPv4Address, IPv4Network
from itertools import combinations


def network_or_none(text: str) -> IPv4Network | None:
    """The IPv4 network that ``text`` says, or None where it says none (host bits set count as none)."""
    try:
        return IPv4Network(text) if "/" in text else None
    except ValueError:
        return None


def overlapping(networks: dict[str, IPv4Network]) -> list[tuple[str, str]]:
    """The pairs of names whose networks share an address, in the order given."""
    return [(a, b) for a, b in combinations(networks, 2) if networks[a].overlaps(networks[b])]


def nth_address(network: IPv4Network, n: int) -> IPv4Address:
    """The address ``n`` above the network's own: 10 of a service CIDR is by custom the cluster DNS.

    >>> str(nth_address(IPv4Network("172.20.0.0/16"), 10))
    '172.20.0.10'
    """
    if not 0 <= n < network.num_addresses:
        raise ValueError(f"{network} has no address number {n}")
    return network[n]
