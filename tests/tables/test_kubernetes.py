"""The table of Kubernetes minors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.tables.kubernetes import (
    EKS_KNOWN_MINORS,
    EKS_MINORS,
    EKS_STATE_OF,
    at_least,
    minor_number,
    newest,
    oldest,
)
from winkube.tables.releases import SELF_MANAGED_MINORS


def test_new_clusters_get_the_minors_in_standard_support():
    """Minors whose standard support has ended are only known, and they are the oldest ones."""
    known = list(EKS_KNOWN_MINORS)
    assert known == sorted(known, key=minor_number)
    assert list(EKS_MINORS) == known[-len(EKS_MINORS) :]
    for minor, row in EKS_KNOWN_MINORS.items():
        assert (minor in EKS_MINORS) == (row.standard_support_until >= EKS_STATE_OF)
        assert row.extended_support_until >= EKS_STATE_OF


@pytest.mark.parametrize("minors", [tuple(EKS_KNOWN_MINORS), SELF_MANAGED_MINORS])
def test_no_minor_is_left_out(minors: tuple[str, ...]):
    numbers = [minor_number(minor) for minor in minors]
    assert numbers == [(1, number) for number in range(numbers[0][1], numbers[-1][1] + 1)]
    assert (oldest(minors), newest(minors)) == (minors[0], minors[-1])


@pytest.mark.parametrize("minor", EKS_KNOWN_MINORS)
def test_extended_support_is_a_year_longer(minor: str):
    """Standard support ends within 14 to 15 months of the release and extended support one year later."""
    row = EKS_KNOWN_MINORS[minor]
    months = (
        (row.standard_support_until.year - row.since.year) * 12 + row.standard_support_until.month - row.since.month
    )
    assert months == 14
    assert row.extended_support_until.year == row.standard_support_until.year + 1


@given(st.integers(0, 300), st.integers(0, 300))
def test_minors_compare_as_numbers(one: int, other: int):
    """1.9 is older than 1.10."""
    assert at_least(f"1.{one}", f"1.{other}") is (one >= other)


@pytest.mark.parametrize("text", ["", "1", "v1.36", "1.x", "latest"])
def test_a_text_that_is_no_minor_is_never_new_enough(text: str):
    """No exception from a comparison: another rule reports the text."""
    assert at_least(text, "1.0") is False


def test_numbers_of_a_minor():
    """A minor is a pair of numbers."""
    assert minor_number("1.36") == (1, 36)
