"""Pods by addresses, and memory held back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.eks.density import address_capacity, prefixes_needed, windows_pods, windows_reservations
from winkube.tables.instance_types import instance_type, instance_type_names


@pytest.mark.parametrize(
    ("name", "single", "prefixes"),
    [("m5.large", 9, 144), ("t3.medium", 5, 80), ("m6i.xlarge", 14, 224), ("m5.4xlarge", 29, 464)],
)
def test_the_published_numbers(name: str, single: int, prefixes: int):
    """The examples of the guide, in both modes."""
    assert address_capacity(name) == single
    assert address_capacity(name, prefix_delegation=True) == prefixes


@given(st.sampled_from(instance_type_names()))
def test_prefixes_hold_sixteen_times_as_many_on_nitro_alone(name: str):
    """A type that is not Nitro keeps to single addresses in prefix mode."""
    facts, single = instance_type(name), address_capacity(name)
    assert facts is not None
    if single is None:
        assert facts.ipv4_per_interface is None
    else:
        assert address_capacity(name, prefix_delegation=True) == single * (16 if facts.nitro else 1)


def test_the_smallest_type_counts():
    """A group of several types promises what the smallest of them holds."""
    assert windows_pods(["m5.4xlarge", "t3.medium", "m5.large"]) == 5


def test_the_kubelet_stops_at_110():
    """More than 110 pods need a limit of one's own."""
    assert windows_pods(["m5.large"], prefix_delegation=True) == 110
    assert windows_pods(["m5.large"], prefix_delegation=True, max_pods=200) == 144


@pytest.mark.parametrize("names", [["g4ad.xlarge"], ["m5.large", "p3.2xlarge"], ["nonsense"]])
def test_no_figure_is_invented(names: list[str]):
    """Without figures for every type there is no number."""
    assert windows_pods(names) is None


@given(st.lists(st.sampled_from(["m5.large", "t3.medium", "r6i.16xlarge", "m5.24xlarge"]), min_size=1))
def test_at_least_two_gibibytes_are_held_back(names: list[str]):
    """Kubelet and system together never keep less than the guide says."""
    flags = windows_reservations(names)
    held = sum(
        int(flags[flag].partition("memory=")[2].partition("Mi")[0]) for flag in ("kube-reserved", "system-reserved")
    )
    assert held >= 2048


def test_large_nodes_hold_back_more():
    """64 GiB of memory and more keep 4 GiB, but only if the smallest type has them."""
    assert windows_reservations(["r6i.16xlarge"])["system-reserved"].startswith("memory=3584Mi")
    assert windows_reservations(["r6i.16xlarge", "m5.large"])["system-reserved"].startswith("memory=1536Mi")


@given(st.lists(st.sampled_from(["m5.large", "t3.medium", "m5.4xlarge"]), min_size=1), st.integers(0, 50))
def test_prefixes_hold_the_pods_of_every_node(names: list[str], nodes: int):
    """Enough prefixes for the largest type, and not one more for each node."""
    needed = prefixes_needed(names, nodes)
    pods = max(windows_pods([name], prefix_delegation=True) or 0 for name in names)
    assert needed is not None
    assert nodes * pods <= needed * 16 < nodes * (pods + 16) or nodes == needed == 0


def test_prefixes_of_a_type_without_figures_are_not_guessed():
    """No number from half of the types."""
    assert prefixes_needed(["m5.large", "g4ad.xlarge"], 2) is None
    assert prefixes_needed(["m5.4xlarge"], 2, max_pods=200) == 26
