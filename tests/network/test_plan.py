"""The address plan of a network, and what is refused before there is one."""

from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import Mistake
from winkube.network.plan import (
    check_disjoint,
    check_network,
    largest_reservation,
    plan_network,
    reserve,
    smallest_prefix,
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A network as the settings describe it: anything with these fields will do."""

    region: str = "eu-central-1"
    cidr: str = "10.0.0.0/16"
    zones: int | tuple[str, ...] = 2
    nat: str = "per_zone"
    public_subnets: bool = True
    intra_subnets: bool = False
    gateway_endpoints: tuple[str, ...] = ("s3",)
    interface_endpoints: tuple[str, ...] = ()
    flow_log_retention_days: int | None = 90
    cluster_names: tuple[str, ...] = ()
    windows_prefix_reservations: int = 0
    tags: dict[str, str] = field(default_factory=dict[str, str])


def only(shape: Shape, code: str) -> Mistake:
    """The one mistake of a network, which must be of this rule."""
    (mistake,) = check_network(shape)
    assert mistake.rule.code == code
    return mistake


@st.composite
def networks(draw: st.DrawFn) -> Shape:
    """Networks that are accepted, of every size, place and shape."""
    public, intra = draw(st.booleans()), draw(st.booleans())
    shape = Shape(public_subnets=public, intra_subnets=intra, nat="none")
    prefix = draw(st.integers(16, smallest_prefix(shape)))
    base = draw(st.integers(0, (1 << (prefix - 8)) - 1)) << (32 - prefix)
    blocks = draw(st.integers(0, largest_reservation(prefix + 2)))
    network = IPv4Network(((10 << 24) + base, prefix))
    return replace(shape, cidr=str(network), zones=draw(st.integers(1, 3)), windows_prefix_reservations=blocks)


@given(networks())
def test_every_network_that_is_accepted_can_be_planned(shape: Shape):
    """No overlap, all inside, one subnet per zone and role, each large enough for what lives there."""
    assert not check_network(shape)
    plan = plan_network(shape)
    whole = IPv4Network(shape.cidr)
    assert all(subnet.cidr.subnet_of(whole) for subnet in plan.subnets)
    assert not any(a.cidr.overlaps(b.cidr) for a, b in combinations(plan.subnets, 2))
    assert [subnet.zone for subnet in plan.private] == list(plan.zones)
    assert len(plan.public) == (shape.zones if shape.public_subnets else 0)
    assert len(plan.intra) == (shape.zones if shape.intra_subnets else 0)
    assert all(subnet.cidr.prefixlen <= 27 for subnet in (*plan.private, *plan.public))
    assert all(subnet.cidr.prefixlen <= 28 for subnet in plan.intra)


@given(networks())
def test_nothing_moves_when_a_zone_or_a_role_is_added(shape: Shape):
    """Every subnet of the smaller network is, address for address, in the larger one."""
    smaller = {(subnet.role, subnet.zone, subnet.cidr) for subnet in plan_network(replace(shape, zones=1)).subnets}
    grown = plan_network(replace(shape, zones=3, cidr=shape.cidr))
    assert smaller <= {(subnet.role, subnet.zone, subnet.cidr) for subnet in grown.subnets}
    if IPv4Network(shape.cidr).prefixlen <= 22:
        everything = plan_network(replace(shape, zones=3, public_subnets=True, intra_subnets=True))
        assert smaller <= {(subnet.role, subnet.zone, subnet.cidr) for subnet in everything.subnets}


@given(networks())
def test_reservations_are_usable_blocks_of_the_subnet(shape: Shape):
    """As many /28 as asked for, inside, that does not overlap each other, and without the addresses that AWS keeps."""
    for subnet in plan_network(shape).private:
        pieces = subnet.reservations
        assert sum(1 << (28 - piece.prefixlen) for piece in pieces) == shape.windows_prefix_reservations
        assert all(piece.subnet_of(subnet.cidr) for piece in pieces)
        assert not any(a.overlaps(b) for a, b in combinations(pieces, 2))
        first, last = subnet.cidr.network_address, subnet.cidr.broadcast_address
        assert not any(first in piece or last in piece for piece in pieces)


@given(st.integers(16, 27), st.integers(0, 5000))
def test_a_reservation_fits_exactly_up_to_the_computed_limit(prefix: int, blocks: int):
    """``largest_reservation`` and ``reserve`` agree on every size."""
    subnet = IPv4Network(("10.0.0.0", prefix))
    if blocks <= largest_reservation(prefix):
        assert sum(1 << (28 - piece.prefixlen) for piece in reserve(subnet, blocks)) == blocks
    else:
        with pytest.raises(ValueError, match="do not fit"):
            reserve(subnet, blocks)


def test_the_plan_of_the_default_network():
    """Written out once, because users' subnets lie where this says: it must never change."""
    plan = plan_network(Shape(zones=3, intra_subnets=True))
    assert [str(subnet.cidr) for subnet in plan.subnets] == [
        "10.0.0.0/18",
        "10.0.64.0/18",
        "10.0.128.0/18",
        "10.0.192.0/21",
        "10.0.200.0/21",
        "10.0.208.0/21",
        "10.0.216.0/21",
        "10.0.224.0/21",
        "10.0.232.0/21",
    ]


@pytest.mark.parametrize(
    ("cidr", "code", "message", "remedy"),
    [
        ("10.0.0.1/16", "WK-NET-003", "bits set behind its /16 prefix", 'write "10.0.0.0/16"'),
        ("fd00::/56", "WK-NET-002", "IPv6", '"10.0.0.0/16"'),
        ("10.0.0.0", "WK-NET-002", "is not an IPv4 network", '"10.0.0.0/16"'),
        ("10.0.0.0/33", "WK-NET-002", "is not an IPv4 network", '"10.0.0.0/16"'),
        ("10.0.0.300/16", "WK-NET-002", "is not an IPv4 network", '"10.0.0.0/16"'),
        ("10.0.0.0/8", "WK-NET-004", "at most /16", 'write "10.0.0.0/16"'),
        ("10.0.5.0/24", "WK-NET-005", "need /22 or larger", 'write "10.0.4.0/22"'),
        ("169.254.0.0/16", "WK-NET-006", "link-local", '"10.0.0.0/16"'),
        ("240.0.0.0/16", "WK-NET-006", "reserved", '"10.0.0.0/16"'),
        ("127.1.0.0/16", "WK-NET-006", "loopback", '"10.0.0.0/16"'),
    ],
)
def test_a_wrong_cidr_is_refused(cidr: str, code: str, message: str, remedy: str):
    mistake = only(Shape(cidr=cidr), code)
    assert (mistake.path, mistake.got) == (("cidr",), cidr)
    assert message in mistake.message
    assert remedy in mistake.remedy


@pytest.mark.parametrize(
    ("public", "intra", "smallest"), [(True, False, 22), (True, True, 22), (False, True, 23), (False, False, 25)]
)
def test_the_smallest_network_is_computed_from_its_subnets(public: bool, intra: bool, smallest: int):
    """WK-NET-005 names exactly the limit: the network of that size is accepted, the next smaller one is not."""
    shape = Shape(public_subnets=public, intra_subnets=intra, nat="none")
    assert not check_network(replace(shape, cidr=f"10.0.0.0/{smallest}"))
    mistake = only(replace(shape, cidr=f"10.0.0.0/{smallest + 1}"), "WK-NET-005")
    assert f"need /{smallest} or larger" in mistake.message


def test_an_unknown_region_is_refused_once():
    """WK-NET-001: the zones cannot be judged then, so nothing is said of them."""
    mistake = only(Shape(region="eu-central-9", zones=("x",), nat="none"), "WK-NET-001")
    assert mistake.path == ("region",)
    assert '"eu-central-1"' in mistake.remedy


@pytest.mark.parametrize("zones", [0, 4, -1, (), tuple(f"us-west-2{letter}" for letter in "abcd")])
def test_the_zone_count_is_one_to_three(zones: int | tuple[str, ...]):
    """WK-NET-007."""
    mistake = only(Shape(region="us-west-2", zones=zones), "WK-NET-007")
    assert mistake.path == ("zones",)
    assert "1 to 3" in mistake.message
    assert "between 1 and 3" in mistake.remedy


def test_the_zone_count_is_what_the_region_has():
    """us-west-1 gives an account two zones: three of them cannot be picked."""
    mistake = only(Shape(region="us-west-1", zones=3), "WK-NET-007")
    assert "a network in us-west-1 spans 1 to 2 zones" in mistake.message


def test_zones_are_of_the_region_and_named_once():
    """WK-NET-008 and WK-NET-009, both at once, each at its place."""
    found = check_network(Shape(zones=("eu-central-1a", "eu-central-1a", "eu-west-1a")))
    assert [(mistake.rule.code, mistake.path) for mistake in found] == [
        ("WK-NET-009", ("zones", 1)),
        ("WK-NET-008", ("zones", 2)),
    ]
    assert "eu-central-1" in found[1].message
    assert '"eu-central-1b"' in found[1].remedy


def test_a_restricted_zone_may_be_named():
    """Old accounts have ap-northeast-1b: it is never picked, but accepted."""
    assert not check_network(Shape(region="ap-northeast-1", zones=("ap-northeast-1b", "ap-northeast-1c")))


@pytest.mark.parametrize(("nat", "remedy"), [("per-zone", 'write "per_zone"'), ("Single", '"single"'), ("x", '"none"')])
def test_an_unknown_nat_mode_is_refused(nat: str, remedy: str):
    """WK-NET-010."""
    mistake = only(Shape(nat=nat), "WK-NET-010")
    assert (mistake.path, mistake.got) == (("nat",), nat)
    assert remedy in mistake.remedy


def test_nat_needs_public_subnets():
    """WK-NET-011."""
    mistake = only(Shape(public_subnets=False, nat="single"), "WK-NET-011")
    assert mistake.path == ("nat",)
    assert "public_subnets to true" in mistake.remedy
    assert 'nat to "none"' in mistake.remedy


@pytest.mark.parametrize("blocks", [-1, 512, 10_000])
def test_reservations_that_do_not_fit_are_refused_with_the_limit(blocks: int):
    """WK-NET-013: a /16 has private subnets of /18, half of one holds 511 reserved blocks."""
    mistake = only(Shape(windows_prefix_reservations=blocks), "WK-NET-013")
    assert mistake.path == ("windows_prefix_reservations",)
    assert mistake.got == blocks
    assert "/18, which holds 0 to 511" in mistake.message


def test_reservations_name_the_network_that_would_hold_them():
    """WK-NET-013: both ways out, fewer blocks or a larger network."""
    mistake = only(Shape(cidr="10.0.0.0/22", windows_prefix_reservations=40), "WK-NET-013")
    assert mistake.remedy == "set windows_prefix_reservations to 7 or less, or cidr to a /19 or larger"
    assert not check_network(Shape(cidr="10.0.0.0/19", windows_prefix_reservations=40))


@pytest.mark.parametrize(("days", "remedy"), [(100, "120"), (0, "1,"), (9999, "3653")])
def test_the_retention_is_one_of_cloudwatch(days: int, remedy: str):
    """WK-NET-014 suggests the next longer period."""
    mistake = only(Shape(flow_log_retention_days=days), "WK-NET-014")
    assert (mistake.path, mistake.got) == (("flow_log_retention_days",), days)
    assert remedy in mistake.remedy
    assert not check_network(Shape(flow_log_retention_days=None))


@pytest.mark.parametrize("name", ["", "a b", "kubernetes/x", "x" * 101])
def test_cluster_names_can_be_tagged(name: str):
    """WK-NET-016."""
    mistake = only(Shape(cluster_names=("dev", name)), "WK-NET-016")
    assert (mistake.path, mistake.got) == (("cluster_names", 1), name)
    assert only(Shape(cluster_names=("dev", "dev")), "WK-NET-016").message == "is named twice"


def test_all_mistakes_come_at_once():
    """One evaluation shows everything that is wrong."""
    shape = Shape(
        region="eu-centrl-1",
        cidr="10.0.0.1/16",
        zones=7,
        nat="sometimes",
        gateway_endpoints=("s4",),
        flow_log_retention_days=2,
        cluster_names=("a b",),
        tags={"aws:x": "y"},
    )
    assert [mistake.rule.code for mistake in check_network(shape)] == [
        "WK-NET-001",
        "WK-NET-003",
        "WK-NET-007",
        "WK-NET-010",
        "WK-NET-012",
        "WK-NET-014",
        "WK-NET-016",
        "WK-TAG-002",
    ]


def test_overlapping_networks_are_named_in_pairs_with_a_free_one():
    """WK-NET-015: path of the second, words of the first, and a network that is free of all others."""
    found = check_disjoint({
        "network.cidr": "10.0.0.0/16",
        "cluster.service_cidr": "10.0.128.0/20",
        "cluster.pod_cidr": "10.0.0.0/8",
    })  # fmt: skip
    assert [(mistake.rule.code, mistake.path) for mistake in found] == [
        ("WK-NET-015", ("cluster", "service_cidr")),
        ("WK-NET-015", ("cluster", "pod_cidr")),
        ("WK-NET-015", ("cluster", "pod_cidr")),
    ]
    assert found[0].message == "overlaps network.cidr (10.0.0.0/16)"
    assert found[0].remedy == 'set cluster.service_cidr to "172.20.0.0/20", for example'
    assert "that does not overlap" in found[1].remedy, "no /8 is free"


def test_what_is_no_network_is_left_to_its_own_check():
    assert not check_disjoint({"a": "10.0.0.0/16", "b": "nonsense", "c": "10.0.0.1/16", "d": "172.20.0.0/16"})


prefixes = st.integers(8, 28)
anywhere = st.builds(lambda value, prefix: IPv4Network((value >> (32 - prefix) << (32 - prefix), prefix)),
                     st.integers(0, 2**32 - 1), prefixes)  # fmt: skip


@given(st.lists(anywhere, min_size=2, max_size=4))
def test_a_suggested_network_is_really_free(cidrs: list[IPv4Network]):
    """Whatever overlaps, the remedy names a network of the same size that touches none of the others."""
    named = {f"n{index}": str(cidr) for index, cidr in enumerate(cidrs)}
    found = check_disjoint(named)
    assert bool(found) == any(a.overlaps(b) for a, b in combinations(cidrs, 2))
    for mistake in found:
        if "that does not overlap" in mistake.remedy:
            continue
        free = IPv4Network(mistake.remedy.split('"')[1])
        (name,) = mistake.path
        assert free.prefixlen == IPv4Network(named[str(name)]).prefixlen
        assert not any(free.overlaps(IPv4Network(cidr)) for other, cidr in named.items() if other != name)
