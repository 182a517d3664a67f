"""Rules of node groups."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.eks.node_group_rules import (
    advise_node_group,
    advise_node_groups,
    check_ip_family,
    check_node_group,
    check_node_groups,
)
from winkube.scheduling.labels import Taint


@dataclass(frozen=True)
class Group:
    """A group as settings would give it."""

    name: str = "windows"
    linux: str | None = None
    windows: str | None = "2022"
    edition: str = "core"
    instance_types: tuple[str, ...] = ("m6i.large",)
    min_size: int = 1
    max_size: int = 3
    desired_size: int | None = None
    capacity_type: str = "on_demand"
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    root_volume_size_gib: int = 80


WINDOWS = Group()
LINUX = Group(name="system", linux="al2023", windows=None, min_size=2)


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def test_a_good_pair_of_groups_passes():
    """Two Linux nodes and a Windows group need nothing."""
    assert not check_node_groups([LINUX, WINDOWS], "1.36")
    assert not advise_node_groups([LINUX, WINDOWS])


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("2016", "2019"), ("2021", "2022"), ("2026", "2025"), ("ltsc2022", "2022"), ("1809", "2019"), ("x", "2022")],
)
def test_an_unknown_release_lists_those_that_exist(wrong: str, right: str):
    """WK-EKS-010 with the next release."""
    mistake = only(check_node_group(replace(WINDOWS, windows=wrong), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-010", ("windows",), wrong)
    assert '"2019", "2022" or "2025"' in mistake.message
    assert mistake.remedy == f'write "{right}"'


def test_an_unknown_edition_names_the_nearest():
    """WK-EKS-011 for a word that is no edition."""
    mistake = only(check_node_group(replace(WINDOWS, edition="Core"), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == ("WK-EKS-011", ("edition",), 'write "core"')


def test_a_release_too_new_says_both_ways_out():
    """WK-EKS-012 with the version that would do and the release that would do."""
    found = check_node_groups([LINUX, replace(WINDOWS, windows="2025")], "1.34", ("instance_groups",))
    assert only(found).text("winkube:") == (
        "winkube:instance_groups[1].windows: Windows Server 2025 needs Kubernetes 1.35 or newer on EKS, "
        'got "1.34"; set cluster.kubernetesVersion to "1.35" or windows to "2022" [WK-EKS-012]'
    )


def test_an_unknown_linux_names_the_nearest():
    """WK-EKS-013; Amazon Linux 2 is gone."""
    mistake = only(check_node_group(replace(LINUX, linux="al2"), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-013", ("linux",), "al2")
    assert mistake.remedy == 'write "al2023"'


def test_an_unknown_size_lists_the_family_s():
    """WK-EKS-014 with the sizes that the family has."""
    mistake = only(check_node_group(replace(WINDOWS, instance_types=("m6i.medium",)), "1.36"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-014", ("instance_types", 0))
    assert "m6i comes in the sizes large, xlarge" in mistake.message


def test_an_unknown_family_gets_a_suggestion():
    """WK-EKS-014 for a name that EC2 never had."""
    mistake = only(check_node_group(replace(LINUX, instance_types=("m6ii.large",)), "1.36"))
    assert mistake.rule.code == "WK-EKS-014"
    assert "m6i" in mistake.remedy


def test_architectures_do_not_mix():
    """WK-EKS-015 shows each type with its architecture."""
    mistake = only(check_node_group(replace(LINUX, instance_types=("m6i.large", "m6g.large")), "1.36"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-015", ("instance_types",))
    assert "arm64 and x86_64" in mistake.message
    assert mistake.got == {"m6i.large": "x86_64", "m6g.large": "arm64"}


@pytest.mark.parametrize(
    ("arm", "sibling"), [("m7g.large", "m7i.large"), ("m6g.xlarge", "m6i.xlarge"), ("t4g.large", "m6i.large")]
)
def test_windows_does_not_run_on_arm(arm: str, sibling: str):
    """WK-EKS-016 names Windows, the type and its x86 sibling."""
    mistake = only(check_node_group(replace(WINDOWS, instance_types=(arm,)), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-016", ("instance_types", 0), arm)
    assert "Windows" in mistake.message
    assert sibling in mistake.remedy
    assert not check_node_group(replace(LINUX, instance_types=(arm,)), "1.36")


@pytest.mark.parametrize("name", ["g4dn.xlarge", "inf2.xlarge", "trn1.2xlarge", "p4d.24xlarge"])
def test_windows_images_have_no_accelerator_driver(name: str):
    """WK-EKS-017 for GPUs and for what Windows can never use."""
    mistake = only(check_node_group(replace(WINDOWS, instance_types=(name,)), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-017", ("instance_types", 0), name)


def test_windows_needs_more_than_it_reserves():
    """WK-EKS-018 with the memory the type has and the next larger one."""
    mistake = only(check_node_group(replace(WINDOWS, instance_types=("t3.small",)), "1.36"))
    assert mistake.rule.code == "WK-EKS-018"
    assert "t3.small has 2048" in mistake.message
    assert mistake.remedy == 'use "t3.medium"'


@pytest.mark.parametrize(
    ("sizes", "field_name", "remedy"),
    [
        ((-1, 3, None), "min_size", "set min_size to 0 or more"),
        ((0, 0, None), "max_size", "set max_size to 1 or more"),
        ((4, 3, None), "min_size", "set min_size to 3 or less, or max_size to 4 or more"),
        ((1, 3, 5), "desired_size", "set desired_size to 3"),
        ((1, 3, 0), "desired_size", "set desired_size to 1"),
    ],
)
def test_sizes_are_in_order(sizes: tuple[int, int, int | None], field_name: str, remedy: str):
    """WK-EKS-019 at the size that is wrong; 0 counts as given."""
    low, high, desired = sizes
    group = replace(LINUX, min_size=low, max_size=high, desired_size=desired)
    mistake = next(m for m in check_node_group(group, "1.36") if m.rule.code == "WK-EKS-019")
    assert mistake.path == (field_name,)
    assert mistake.remedy == remedy


@given(st.integers(-2, 6), st.integers(-2, 6), st.none() | st.integers(-2, 6))
def test_sizes_pass_exactly_when_they_are_in_order(low: int, high: int, desired: int | None):
    """0 ≤ min ≤ desired ≤ max and 1 ≤ max, nothing else."""
    group = replace(LINUX, min_size=low, max_size=high, desired_size=desired)
    right = 0 <= low <= (low if desired is None else desired) <= high and high >= 1
    assert (not check_node_group(group, "1.36")) is right


@pytest.mark.parametrize(("group", "size", "least"), [(WINDOWS, 49, 50), (LINUX, 19, 20), (WINDOWS, 20000, 16384)])
def test_the_root_volume_holds_the_image(group: Group, size: int, least: int):
    """WK-EKS-020 with the limit for the system."""
    mistake = only(check_node_group(replace(group, root_volume_size_gib=size), "1.36"))
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-020", size)
    assert mistake.remedy == f"set root_volume_size_gib to {least}"


def test_names_are_not_given_twice():
    """WK-EKS-021 at the second of the two."""
    mistake = only(check_node_groups([LINUX, WINDOWS, WINDOWS], "1.36", ("instance_groups",)))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-021", ("instance_groups", 2, "name"))
    assert mistake.got == "windows"


@pytest.mark.parametrize("name", ["", "-a", "a b", "x" * 38, "é"])
def test_names_fit_into_eks(name: str):
    """WK-EKS-022 for a name that EKS would refuse, or that leaves no room for the suffix."""
    mistake = only(check_node_group(replace(WINDOWS, name=name), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-022", ("name",), name)


@pytest.mark.parametrize(
    "linux",
    [
        [],
        [replace(LINUX, min_size=0)],
        [replace(LINUX, taints=(Taint(key="dedicated", effect="NoSchedule"),))],
    ],
)
def test_windows_needs_linux_beside_it(linux: list[Group]):
    """WK-EKS-023 without Linux nodes, with none at the start, or with a taint that keeps CoreDNS off."""
    mistake = only(check_node_groups([*linux, WINDOWS], "1.36", ("instance_groups",)))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-023", ("instance_groups",))
    assert "min_size 2" in mistake.remedy


def test_linux_alone_needs_nothing():
    """A cluster without Windows may start at zero."""
    assert not check_node_groups([replace(LINUX, min_size=0)], "1.36")


def test_one_linux_node_is_little():
    """WK-EKS-029 is advice, not a refusal."""
    groups = [replace(LINUX, min_size=1), WINDOWS]
    assert not check_node_groups(groups, "1.36")
    assert only(advise_node_groups(groups)).rule.code == "WK-EKS-029"


@pytest.mark.parametrize(("wrong", "remedy"), [("SPOT", 'write "spot"'), ("on-demand", 'write "on_demand"')])
def test_capacity_is_one_of_two(wrong: str, remedy: str):
    """WK-EKS-024 with the nearest word."""
    mistake = only(check_node_group(replace(LINUX, capacity_type=wrong), "1.36"))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == ("WK-EKS-024", ("capacity_type",), remedy)


@pytest.mark.parametrize("names", [(), ("m6i.large", "m6i.large")])
def test_types_are_named_once(names: tuple[str, ...]):
    """WK-EKS-026 for no type and for one twice."""
    mistake = only(check_node_group(replace(LINUX, instance_types=names), "1.36"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-026", ("instance_types",))


def test_old_families_are_advised_against():
    """WK-EKS-027 is advice: AWS no longer documents the list."""
    group = replace(WINDOWS, instance_types=("m6i.large", "m6a.large"))
    assert not check_node_group(group, "1.36")
    mistake = only(advise_node_group(group))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-027", ("instance_types", 1), "m6a.large")
    assert not advise_node_group(replace(LINUX, instance_types=("m6a.large",)))


def test_server_2019_is_advised_against():
    """WK-EKS-028 is advice, with the date in it."""
    group = replace(WINDOWS, windows="2019")
    assert not check_node_group(group, "1.36")
    mistake = only(advise_node_group(group))
    assert mistake.rule.code == "WK-EKS-028"
    assert "9 January 2024" in mistake.message


def test_windows_is_ipv4():
    """WK-EKS-030 for a cluster of IPv6."""
    mistake = only(check_ip_family("ipv6", ("cluster", "ip_family")))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-030", ("cluster", "ip_family"), "ipv6")
    assert not check_ip_family("ipv4")


@pytest.mark.parametrize(("linux", "windows"), [(None, None), ("al2023", "2022")])
def test_a_group_has_one_system(linux: str | None, windows: str | None):
    """WK-EKS-031 for none and for both."""
    mistake = only(check_node_group(replace(WINDOWS, linux=linux, windows=windows), "1.36"))
    assert mistake.rule.code == "WK-EKS-031"


def test_all_mistakes_of_all_groups_come_at_once():
    """One report for everything."""
    found = check_node_groups(
        [replace(WINDOWS, windows="2023", capacity_type="x", min_size=9), replace(WINDOWS, edition="big")], "1.36"
    )
    assert {mistake.rule.code for mistake in found} == {
        "WK-EKS-010", "WK-EKS-011", "WK-EKS-019", "WK-EKS-021", "WK-EKS-023", "WK-EKS-024",
    }  # fmt: skip


def test_fargate_can_stand_in_for_linux_nodes():
    """With CoreDNS on Fargate a cluster may have Windows nodes alone."""
    assert not check_node_groups([WINDOWS], "1.36", fargate=True)
