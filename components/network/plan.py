"""The plan of a network: which subnet gets which addresses, and what is wrong with the wish. Pure.

The layout is fixed for the largest network of its kind (three zones, three roles), so that nothing that exists moves
when a zone is added or a role is switched on. A network of prefix length ``p`` is cut into four quarters:

- quarter 1, 2, 3 (``p + 2``): the private subnets of the first, second and third zone;
- quarter 4, in eighths (``p + 5``): three public, three intra subnets, and two eighths that stay free.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..core.tags import check_tags
from ..tables.log_retention import RETENTION_DAYS
from ..tables.regions import REGIONS, all_zones, check_region, zones
from .cidrs import VPC_SIZING, check_cidr, check_disjoint
from .endpoints import check_endpoints

__all__ = [
    "NetworkLike",
    "NetworkPlan",
    "SubnetPlan",
    "check_cidr",
    "check_disjoint",
    "check_network",
    "plan_network",
    "reserve",
    "zone_names",
]

PREFIX_MODE = "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-win.html"

CIDR_TOO_LARGE = Rule("WK-NET-004", "A VPC can have at most 65,536 addresses (/16).", VPC_SIZING)
CIDR_TOO_SMALL = Rule(
    "WK-NET-005",
    "Load balancer and node subnets need /27 or larger, and intra subnets /28 or larger.",
    "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/application-load-balancers.html",
)
CIDR_NOT_USABLE = Rule("WK-NET-006", "A VPC must not use a reserved address range.", VPC_SIZING)
ZONE_COUNT = Rule("WK-NET-007", "A network spans one to three Availability Zones.")
ZONE_OF_REGION = Rule(
    "WK-NET-008",
    "Every zone must be an Availability Zone of the network's Region.",
    "https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html",
)
ZONE_TWICE = Rule("WK-NET-009", "Every zone can be named only once.")
NAT_MODE = Rule("WK-NET-010", "The NAT mode is none, single or per_zone.")
NAT_NEEDS_PUBLIC = Rule(
    "WK-NET-011",
    "A NAT gateway needs a public subnet.",
    "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html",
)
# WK-NET-012 is in endpoints.py.
RESERVATION_FITS = Rule(
    "WK-NET-013", "The prefixes reserved for Windows pods must fit into each private subnet.", PREFIX_MODE
)
RETENTION = Rule(
    "WK-NET-014",
    "The retention must be a period that CloudWatch Logs offers.",
    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html",
)
# WK-NET-015 is in cidrs.py.
CLUSTER_NAME_TAG = Rule(
    "WK-NET-016",
    "A cluster tag needs a unique name of letters, digits, hyphens, underscores or dots.",
    "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)

NAT_MODES = ("none", "single", "per_zone")
MAXIMUM_ZONES = 3
LARGEST_VPC = 16
SMALLEST_BALANCED_SUBNET = 27
"""A load balancer asks for a /27 with eight free addresses in each zone."""
SMALLEST_SUBNET = 28
RESERVED_BLOCK = 28
"""Prefix delegation hands out /28 blocks."""
_RESERVED = {
    "0.0.0.0/8": '"this network"',
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "224.0.0.0/3": "multicast and reserved",
}
_CLUSTER_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_.-]{0,99}")


class NetworkLike(Protocol):
    """What a network is judged by: the arguments of the component and the settings both have it."""

    @property
    def region(self) -> str: ...  # noqa: D102
    @property
    def cidr(self) -> str: ...  # noqa: D102
    @property
    def zones(self) -> int | Sequence[str]: ...  # noqa: D102
    @property
    def nat(self) -> str: ...  # noqa: D102
    @property
    def public_subnets(self) -> bool: ...  # noqa: D102
    @property
    def intra_subnets(self) -> bool: ...  # noqa: D102
    @property
    def gateway_endpoints(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def interface_endpoints(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def flow_log_retention_days(self) -> int | None: ...  # noqa: D102
    @property
    def cluster_names(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def windows_prefix_reservations(self) -> int: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """One subnet."""

    role: str
    """``private``, ``public`` or ``intra``."""
    zone: str
    cidr: IPv4Network
    reservations: tuple[IPv4Network, ...] = ()
    """Blocks that only prefix delegation may use."""


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """All subnets of a network."""

    zones: tuple[str, ...]
    private: tuple[SubnetPlan, ...]
    public: tuple[SubnetPlan, ...]
    intra: tuple[SubnetPlan, ...]

    @property
    def subnets(self) -> tuple[SubnetPlan, ...]:
        """Every subnet, by role and zone."""
        return (*self.private, *self.public, *self.intra)


def zone_names(region: str, wanted: int | Sequence[str]) -> tuple[str, ...]:
    """The zones of a network: those named, or the first of the region's table."""
    return zones(region)[:wanted] if isinstance(wanted, int) else tuple(wanted)


def plan_network(network: NetworkLike) -> NetworkPlan:
    """Give every subnet its addresses.

    :raises ValueError: for a network that :func:`check_network` refuses.
    """
    whole = IPv4Network(network.cidr)
    names = zone_names(network.region, network.zones)
    quarters = list(whole.subnets(new_prefix=whole.prefixlen + 2))
    blocks = network.windows_prefix_reservations
    private = [SubnetPlan("private", *pair, reserve(pair[1], blocks)) for pair in zip(names, quarters, strict=False)]
    eighths: list[IPv4Network] = []
    if network.public_subnets or network.intra_subnets:
        eighths = list(quarters[3].subnets(prefixlen_diff=3))
    public = zip(names, eighths[:MAXIMUM_ZONES], strict=False) if network.public_subnets else ()
    intra = zip(names, eighths[MAXIMUM_ZONES : 2 * MAXIMUM_ZONES], strict=False) if network.intra_subnets else ()
    return NetworkPlan(
        zones=names,
        private=tuple(private),
        public=tuple(SubnetPlan("public", *pair) for pair in public),
        intra=tuple(SubnetPlan("intra", *pair) for pair in intra),
    )


def reserve(subnet: IPv4Network, blocks: int) -> tuple[IPv4Network, ...]:
    """Room for ``blocks`` /28 prefixes, in as few aligned pieces as there are bits set in the number.

    The largest piece lies last, below the subnet's very last /28, the others before it: AWS keeps the first four
    addresses and the last one of a subnet, so that the outer blocks could never be handed out.

    >>> [str(piece) for piece in reserve(IPv4Network("10.0.0.0/24"), 5)]
    ['10.0.0.128/26', '10.0.0.112/28']

    :raises ValueError: for more than :func:`largest_reservation`.
    """
    if not 0 <= blocks <= largest_reservation(subnet.prefixlen):
        raise ValueError(f"{blocks} blocks of /{RESERVED_BLOCK} do not fit into {subnet}")
    unit = 1 << (32 - RESERVED_BLOCK)
    limit = int(subnet.broadcast_address) + 1 - unit
    pieces: list[IPv4Network] = []
    for bit in reversed(range(blocks.bit_length())):
        if blocks >> bit & 1:
            size = unit << bit
            limit = (limit - size) // size * size
            pieces.append(IPv4Network((limit, RESERVED_BLOCK - bit)))
    return tuple(pieces)


def largest_reservation(prefix: int) -> int:
    """How many /28 blocks can be reserved in a subnet of this prefix length: less than half of it.

    The other half stays for what takes single addresses: the nodes themselves, load balancers, Linux pods.

    >>> largest_reservation(18), largest_reservation(26), largest_reservation(27)
    (511, 1, 0)
    """
    return (1 << (RESERVED_BLOCK - 1 - prefix)) - 1 if prefix < RESERVED_BLOCK else 0


def smallest_prefix(network: NetworkLike, *, reservations: int = 0) -> int | None:
    """The longest prefix that holds the subnets, and as many reservations; None where not even a /16 does."""
    longest = SMALLEST_BALANCED_SUBNET - 2
    if network.intra_subnets:
        longest = min(longest, SMALLEST_SUBNET - 5)
    if network.public_subnets:
        longest = min(longest, SMALLEST_BALANCED_SUBNET - 5)
    fitting = (prefix for prefix in range(longest, LARGEST_VPC - 1, -1)
               if largest_reservation(prefix + 2) >= reservations)  # fmt: skip
    return next(fitting, None)


def check_network(network: NetworkLike) -> Mistakes:
    """Everything that is wrong with the wish for a network (``WK-NET-001`` to ``WK-NET-016``, ``WK-TAG``)."""
    found = check_region(network.region)
    found.take(_check_size(network))
    found.take(_check_zones(network))
    found.take(_check_nat(network))
    found.take(check_endpoints(network.gateway_endpoints, network.interface_endpoints, network.region))
    found.take(_check_retention(network.flow_log_retention_days))
    found.take(_check_cluster_names(network.cluster_names))
    found.take(check_tags(network.tags))
    return found


def _check_size(network: NetworkLike) -> Mistakes:
    path: Path = ("cidr",)
    found = check_cidr(network.cidr, path)
    whole = network_or_none(network.cidr)
    if whole is None:
        return found
    for reserved, use in _RESERVED.items():
        if whole.overlaps(IPv4Network(reserved)):
            found.add(CIDR_NOT_USABLE, path, f"overlaps {reserved}, which is reserved for {use} addresses",
                      'use a private range such as "10.0.0.0/16"', network.cidr)  # fmt: skip
    bare = smallest_prefix(network)
    if whole.prefixlen < LARGEST_VPC:
        first = next(whole.subnets(new_prefix=LARGEST_VPC))
        found.add(CIDR_TOO_LARGE, path, f"a VPC can be at most /{LARGEST_VPC}", f'write "{first}"', network.cidr)
    elif bare is not None and whole.prefixlen > bare:
        found.add(CIDR_TOO_SMALL, path, f"is too small for {_contents(network)}, which need /{bare} or larger",
                  f'write "{whole.supernet(new_prefix=bare)}"', network.cidr)  # fmt: skip
    else:
        found.take(_check_reservations(network, whole.prefixlen + 2))
    return found


def _check_reservations(network: NetworkLike, subnet_prefix: int) -> Mistakes:
    found = Mistakes()
    blocks, most = network.windows_prefix_reservations, largest_reservation(subnet_prefix)
    if not 0 <= blocks <= most:
        remedy = f"set windows_prefix_reservations to {most} or less"
        if blocks < 0:
            remedy = "set windows_prefix_reservations to 0"
        elif (wanted := smallest_prefix(network, reservations=blocks)) is not None:
            remedy += f", or cidr to a /{wanted} or larger"
        found.add(RESERVATION_FITS, ("windows_prefix_reservations",),
                  f"each private subnet of this network is a /{subnet_prefix}, which holds 0 to {most} reserved "
                  f"/{RESERVED_BLOCK} blocks", remedy, blocks)  # fmt: skip
    return found


def _contents(network: NetworkLike) -> str:
    """The subnets of a network in words: "three private and three public subnets"."""
    roles = ["private", *(["public"] if network.public_subnets else []), *(["intra"] if network.intra_subnets else [])]
    *most, last = [f"{MAXIMUM_ZONES} {role}" for role in roles]
    return f"{', '.join(most)}{' and ' if most else ''}{last} subnets"


def _check_zones(network: NetworkLike) -> Mistakes:
    found = Mistakes()
    wanted, known = network.zones, network.region in REGIONS
    count = wanted if isinstance(wanted, int) else len(wanted)
    pickable = zones(network.region) if known else ()
    most = min(MAXIMUM_ZONES, len(pickable)) if known and isinstance(wanted, int) else MAXIMUM_ZONES
    if not 1 <= count <= most:
        place = f"a network in {network.region}" if most < MAXIMUM_ZONES else "a network"
        found.add(ZONE_COUNT, ("zones",), f"{place} spans 1 to {most} zones", f"set zones between 1 and {most}",
                  wanted)  # fmt: skip
    if isinstance(wanted, int):
        return found
    for index, zone in enumerate(wanted):
        path: Path = ("zones", index)
        if zone in wanted[:index]:
            found.add(ZONE_TWICE, path, "is named twice", "remove one of the two, or name another zone", zone)
        elif known and zone not in all_zones(network.region):
            found.add(ZONE_OF_REGION, path, f"is not an availability zone of {network.region}",
                      f"write {one_of(pickable)}", zone)  # fmt: skip
    return found


def _check_nat(network: NetworkLike) -> Mistakes:
    found = Mistakes()
    if network.nat not in NAT_MODES:
        near = nearest(network.nat.replace("-", "_"), NAT_MODES)
        remedy = f'write "{near}"' if near else f"write {one_of(NAT_MODES)}"
        found.add(NAT_MODE, ("nat",), f"is not {one_of(NAT_MODES)}", remedy, network.nat)
    elif network.nat != "none" and not network.public_subnets:
        found.add(NAT_NEEDS_PUBLIC, ("nat",), "a NAT gateway needs a public subnet, and public_subnets is false",
                  'set public_subnets to true or nat to "none"', network.nat)  # fmt: skip
    return found


def _check_retention(days: int | None) -> Mistakes:
    found = Mistakes()
    if days is not None and days not in RETENTION_DAYS:
        longer = next((allowed for allowed in RETENTION_DAYS if allowed > days), RETENTION_DAYS[-1])
        found.add(RETENTION, ("flow_log_retention_days",),
                  f"CloudWatch Logs keeps events for {one_of(RETENTION_DAYS)} days",
                  f"set flow_log_retention_days to {longer}, or to null for no flow logs", days)  # fmt: skip
    return found


def _check_cluster_names(names: Sequence[str]) -> Mistakes:
    found = Mistakes()
    for index, name in enumerate(names):
        path: Path = ("cluster_names", index)
        if name in names[:index]:
            found.add(CLUSTER_NAME_TAG, path, "is named twice", "remove one of them", name)
        elif not _CLUSTER_NAME.fullmatch(name):
            found.add(CLUSTER_NAME_TAG, path, "a cluster name has at most 100 letters, digits, hyphens, "
                      "underscores and dots", "write the name of the cluster", name)  # fmt: skip
    return found
