"""Names of zones, clusters and their API."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import Mistake
from winkube.zone.names import (
    LONGEST_NAME,
    api_name,
    check_cluster_name,
    check_domain,
    check_zone,
    internal_api_name,
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A zone as the settings describe it."""

    domain: str = "dev.example.com"
    visibility: str = "public"
    vpc_ids: tuple[str, ...] = ()
    parent_zone_id: str | None = None
    tags: dict[str, str] = field(default_factory=dict[str, str])


def only(found: list[Mistake], code: str) -> Mistake:
    (mistake,) = found
    assert mistake.rule.code == code
    return mistake


@pytest.mark.parametrize("name", ["example.com", "k8s", "1.example.com", "a-b.xn--bcher-kva.example", "a" * 63 + ".de"])
def test_dns_names_are_accepted(name: str):
    assert not check_domain(name)


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("Dev.Example.com", 'the label "Dev"', 'write "dev.example.com"'),
        ("dev.example.com.", "has an empty label", 'write "dev.example.com"'),
        ("dev..example.com", "has an empty label", '"k8s.example.com"'),
        ("", "is empty", '"k8s.example.com"'),
        ("dev_1.example.com", 'the label "dev_1"', 'write "dev-1.example.com"'),
        ("-dev.example.com", 'the label "-dev"', '"k8s.example.com"'),
        ("https://dev.example.com/", 'the label "https://dev"', 'write "dev.example.com"'),
        ("bücher.example", 'the label "bücher"', '"k8s.example.com"'),
    ],
)
def test_what_is_no_dns_name_is_refused(name: str, message: str, remedy: str):
    """WK-DNS-001."""
    mistake = only(check_domain(name), "WK-DNS-001")
    assert (mistake.path, mistake.got) == (("domain",), name)
    assert message in mistake.message
    assert remedy in mistake.remedy


@pytest.mark.parametrize("name", ["a" * 64 + ".com", ".".join(["abcdefg"] * 32)])
def test_a_name_that_is_too_long_is_refused_with_its_lengths(name: str):
    """WK-DNS-002."""
    mistake = only(check_domain(name), "WK-DNS-002")
    assert "at most 253 characters and a label 63" in mistake.message
    assert str(len(name)) in mistake.message


@given(st.from_regex(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){0,4}[a-z]{2,20}", fullmatch=True).filter(
    lambda name: len(name) <= LONGEST_NAME))  # fmt: skip
def test_every_name_of_short_labels_is_accepted(name: str):
    assert not check_domain(name)


def test_an_unknown_visibility_is_refused():
    """WK-DNS-003."""
    mistake = only(check_zone(Shape(visibility="privat")), "WK-DNS-003")
    assert (mistake.path, mistake.got, mistake.remedy) == (("visibility",), "privat", 'write "private"')


@pytest.mark.parametrize("visibility", ["private", "both"])
def test_a_private_zone_needs_a_vpc(visibility: str):
    """WK-DNS-004, unless the VPC is made later."""
    shape = Shape(visibility=visibility)
    mistake = only(check_zone(shape), "WK-DNS-004")
    assert mistake.path == ("vpc_ids",)
    assert 'visibility to "public"' in mistake.remedy
    assert not check_zone(shape, vpcs_follow=True)
    assert not check_zone(replace(shape, vpc_ids=("vpc-1",)))


def test_a_public_zone_belongs_to_no_vpc():
    """WK-DNS-005."""
    mistake = only(check_zone(Shape(vpc_ids=("vpc-1",))), "WK-DNS-005")
    assert mistake.path == ("vpc_ids",)
    assert 'visibility to "both"' in mistake.remedy


def test_a_private_zone_cannot_be_delegated():
    """WK-DNS-006: nobody outside of the VPCs would get an answer."""
    shape = Shape(visibility="private", vpc_ids=("vpc-1",), parent_zone_id="Z1")
    mistake = only(check_zone(shape), "WK-DNS-006")
    assert mistake.path == ("parent_zone_id",)
    assert 'visibility to "both"' in mistake.remedy
    assert not check_zone(replace(shape, visibility="both"))


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("useast1.prod.example.com", "outside the zone dev.example.com", '"useast1.dev.example.com"'),
        ("xdev.example.com", "outside the zone dev.example.com", '"xdev.dev.example.com"'),
        ("dev", "outside the zone dev.example.com", 'write "dev.example.com" or "dev.dev.example.com"'),
    ],
)
def test_a_cluster_lies_in_its_zone(name: str, message: str, remedy: str):
    """WK-DNS-007: a name that only ends alike is another domain."""
    mistake = only(check_cluster_name(name, "dev.example.com"), "WK-DNS-007")
    assert (mistake.path, mistake.got) == (("cluster_name",), name)
    assert message in mistake.message
    assert remedy in mistake.remedy


def test_a_cluster_may_be_the_zone_or_below_it():
    assert not check_cluster_name("dev.example.com", "dev.example.com")
    assert not check_cluster_name("useast1.dev.example.com", "dev.example.com")


def test_a_cluster_name_is_a_dns_name_and_leaves_room_for_its_api():
    """WK-DNS-001 and WK-DNS-002."""
    assert only(check_cluster_name("Dev_1", "dev.example.com"), "WK-DNS-001").path == ("cluster_name",)
    domain = ".".join(["a" * 60] * 4)
    mistake = only(check_cluster_name(domain, domain), "WK-DNS-002")
    assert "240 characters" in mistake.remedy
    assert not check_domain(internal_api_name(domain[-240:].lstrip(".")))


def test_a_public_zone_is_no_top_level_domain():
    """WK-DNS-008; a private one may have a single label."""
    mistake = only(check_zone(Shape(domain="internal")), "WK-DNS-008")
    assert (mistake.path, mistake.got) == (("domain",), "internal")
    assert not check_zone(Shape(domain="internal", visibility="private", vpc_ids=("vpc-1",)))


def test_all_mistakes_come_at_once():
    shape = Shape(domain="A", visibility="private", parent_zone_id="Z", tags={"aws:x": "y"})
    assert [mistake.rule.code for mistake in check_zone(shape)] == [
        "WK-DNS-001",
        "WK-DNS-004",
        "WK-DNS-006",
        "WK-TAG-002",
    ]


def test_the_names_of_an_api():
    assert api_name("useast1.dev.example.com") == "api.useast1.dev.example.com"
    assert internal_api_name("dev.example.com") == "api.internal.dev.example.com"
