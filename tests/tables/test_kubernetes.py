"""The table of Kubernetes minors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.tables.kubernetes import EKS_KNOWN_MINORS, EKS_MINORS, at_least, minor_number
from winkube.tables.releases import SELF_MANAGED_MINORS


def test_new_clusters_get_the_minors_in_standard_support():
    """1.34 to 1.36 are offered; 1.31 to 1.33 are only known."""
    assert tuple(EKS_MINORS) == ("1.34", "1.35", "1.36")
    assert set(EKS_KNOWN_MINORS) - set(EKS_MINORS) == {"1.31", "1.32", "1.33"}
    assert SELF_MANAGED_MINORS == ("1.35", "1.36", "1.37")


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
