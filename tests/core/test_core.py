"""What every room shares."""

from ipaddress import IPv4Network

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core import cidr, mistakes, names, tags
from winkube.core.errors import WinkubeError, refuse
from winkube.core.mistakes import Mistake, Mistakes, Rule

RULE = Rule("WK-XYZ-001", "Sizes are even.")


def test_a_mistake_is_one_line_with_path_rule_value_remedy_and_code() -> None:
    mistake = Mistake(("groups", 1, "size"), RULE, "sizes are even", "set size to 2", 3)
    assert mistake.text("winkube:") == "winkube:groups[1].size: sizes are even, got 3; set size to 2 [WK-XYZ-001]"
    assert mistake.under("stack").path == ("stack", "groups", 1, "size")


def test_a_mistake_without_a_value_shows_none() -> None:
    """A value of None is shown; that there is no value to show is not."""
    assert Mistake(("a",), RULE, "is missing", "set a").text() == "a: is missing; set a [WK-XYZ-001]"
    assert Mistake(("a",), RULE, "is odd", "", None).text() == "a: is odd, got null [WK-XYZ-001]"


def test_mistakes_of_an_inner_check_are_taken_under_its_place() -> None:
    inner, outer = Mistakes(), Mistakes()
    inner.add(RULE, ("size",), "sizes are even", "set size to 2", 3)
    outer.take(inner, "groups", 0)
    assert [mistake.path for mistake in outer] == [("groups", 0, "size")]


def test_long_values_are_cut() -> None:
    assert mistakes.shown("x" * 200) == '"' + "x" * 76 + "…"


@pytest.mark.parametrize(
    ("wrong", "allowed", "expected"),
    [
        ("NoShedule", ["NoSchedule", "PreferNoSchedule", "NoExecute"], "NoSchedule"),
        ("CORE", ["core", "full"], "core"),
        ("2023", ["2019", "2022", "2025"], "2022"),
        ("bananas", ["core", "full"], None),
    ],
)
def test_the_nearest_word(wrong: str, allowed: list[str], expected: str | None) -> None:
    assert mistakes.nearest(wrong, allowed) == expected


def test_an_error_lists_everything_and_is_printed_without_a_traceback() -> None:
    """It is a RunError for the CLI and an InputPropertiesError for a component provider."""
    found = Mistakes()
    found.add(RULE, ("max_size",), "sizes are even", "set max_size to 2", 3)
    found.add(RULE, ("min_size",), "sizes are even", "set min_size to 0", 1)
    with pytest.raises(WinkubeError) as caught:
        refuse("Group", "g", found)
    assert str(caught.value).splitlines() == [
        'Group "g" cannot be built from these arguments:',
        "  Group(g).max_size: sizes are even, got 3; set max_size to 2 [WK-XYZ-001]",
        "  Group(g).min_size: sizes are even, got 1; set min_size to 0 [WK-XYZ-001]",
    ]
    assert isinstance(caught.value, pulumi.RunError)
    assert [error["property_path"] for error in caught.value.errors or []] == ["maxSize", "minSize"]


def test_no_mistakes_no_error() -> None:
    refuse("Group", "g", Mistakes())


@given(st.lists(st.text("abcdefgh-", min_size=1, max_size=80), min_size=1, max_size=3), st.integers(16, 100))
def test_a_physical_name_never_exceeds_its_limit(parts: list[str], limit: int) -> None:
    name = names.physical_name(*parts, limit=limit)
    assert len(name) <= limit
    if len("-".join(parts)) <= limit:
        assert name == "-".join(parts)


@given(st.text("ab", min_size=40, max_size=60), st.text("ab", min_size=40, max_size=60))
def test_two_long_names_stay_two(first: str, second: str) -> None:
    """A slice would make one of them."""
    shortened = {names.physical_name(name, limit=32) for name in (first, second)}
    assert len(shortened) == len({first, second})


@pytest.mark.parametrize("length", [31, 32, 33])
def test_names_at_the_border_of_a_limit(length: int) -> None:
    name = names.physical_name("x" * length, limit=32)
    assert (name == "x" * length) is (length <= 32)
    assert len(name) <= 32


def test_a_limit_that_leaves_no_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="too short"):
        names.physical_name("x" * 20, limit=8)


@pytest.mark.parametrize("text", ["10.0.0.0", "10.0.0.1/16", "10.0.0.0/33", "fd00::/8", "", "10.0.0.0/"])
def test_what_is_no_network(text: str) -> None:
    assert cidr.network_or_none(text) is None


def test_overlaps_are_named_in_pairs() -> None:
    networks = {"a": IPv4Network("10.0.0.0/16"), "b": IPv4Network("10.0.128.0/17"), "c": IPv4Network("10.1.0.0/16")}
    assert cidr.overlapping(networks) == [("a", "b")]


@given(st.integers(16, 28))
def test_the_nth_address_lies_in_the_network(prefix: int) -> None:
    network = IPv4Network(("172.20.0.0", prefix))
    assert cidr.nth_address(network, 10) in network
    with pytest.raises(ValueError, match="has no address"):
        cidr.nth_address(network, network.num_addresses)


@pytest.mark.parametrize(
    ("given_tags", "code"),
    [({"": "x"}, "WK-TAG-001"), ({"k" * 129: "x"}, "WK-TAG-001"), ({"k": "v" * 257}, "WK-TAG-001"),
     ({"aws:x": "y"}, "WK-TAG-002"), ({"AWS:x": "y"}, "WK-TAG-002")],
)  # fmt: skip
def test_tags_that_aws_refuses(given_tags: dict[str, str], code: str) -> None:
    (found,) = tags.check_tags(given_tags)
    assert found.rule.code == code
    assert found.path == ("tags", next(iter(given_tags)))


def test_tags_that_aws_takes() -> None:
    assert tags.check_tags({"k" * 128: "v" * 256, "team": ""}) == []
