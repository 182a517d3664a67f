"""Checks of CIDRs that every room shares: how one is written, and that several lie apart. Pure."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from ..core.cidr import network_or_none, overlapping
from ..core.mistakes import Mistakes, Path, Rule

VPC_SIZING = "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"

CIDR_IPV4 = Rule("WK-NET-002", "A CIDR is an IPv4 network: four numbers, a slash and a prefix length.", VPC_SIZING)
CIDR_CANONICAL = Rule("WK-NET-003", "A CIDR must begin with the first address of its block.", VPC_SIZING)
CIDRS_DISJOINT = Rule(
    "WK-NET-015",
    "The networks of the VPC, the pods and the Services must not overlap.",
    "https://kubernetes.io/docs/concepts/cluster-administration/networking/",
)

_FREE_POOLS = ("172.20.0.0/14", "10.96.0.0/11", "100.64.0.0/10", "10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12")
"""Where a replacement for an overlapping network is looked for, what is usual for Kubernetes first."""


def check_cidr(text: str, path: Path) -> Mistakes:
    """Whether ``text`` is an IPv4 network written canonically (``WK-NET-002``, ``WK-NET-003``)."""
    found = Mistakes()
    if network_or_none(text) is not None:
        return found
    try:
        if "/" not in text:
            raise ValueError(text)
        meant = IPv4Network(text, strict=False)
    except ValueError:
        family = "is an IPv6 network; winkube's networks are IPv4" if ":" in text else "is not an IPv4 network"
        found.add(CIDR_IPV4, path, family, 'write it as "10.0.0.0/16"', text)
    else:
        message = f"has bits set behind its /{meant.prefixlen} prefix"
        found.add(CIDR_CANONICAL, path, message, f'write "{meant}"', text)
    return found


def check_disjoint(networks: Mapping[str, str]) -> Mistakes:
    """Whether networks, named by their path, share no address, each pair once (``WK-NET-015``).

    What is not a network is left to the check of its own field.

    >>> check_disjoint({"network.cidr": "172.20.0.0/16", "cluster.service_cidr": "172.20.0.0/16"})[0].remedy
    'set cluster.service_cidr to "172.21.0.0/16", for example'
    """
    found = Mistakes()
    known = {name: network for name, text in networks.items() if (network := network_or_none(text)) is not None}
    for first, second in overlapping(known):
        remedy = f"set {second} to a network that does not overlap {known[first]}"
        if (
            free := _free_network(known[second].prefixlen, [known[name] for name in known if name != second])
        ) is not None:
            remedy = f'set {second} to "{free}", for example'
        message = f"overlaps {first} ({known[first]})"
        found.add(CIDRS_DISJOINT, tuple(second.split(".")), message, remedy, networks[second])
    return found


def _free_network(prefix: int, taken: Sequence[IPv4Network]) -> IPv4Network | None:
    """The first usual network of this size that touches none of those taken."""
    for pool in map(IPv4Network, _FREE_POOLS):
        if prefix < pool.prefixlen:
            continue
        # Step over what is taken instead of trying block after block: a /28 has many.
        size, start = 1 << (32 - prefix), int(pool.network_address)
        while start + size - 1 <= int(pool.broadcast_address):
            candidate = IPv4Network((start, prefix))
            blocking = [network for network in taken if network.overlaps(candidate)]
            if not blocking:
                return candidate
            following = max(int(network.broadcast_address) for network in blocking) + 1
            start = -(-following // size) * size
    return None
