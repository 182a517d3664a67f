"""Values of Windows IPAM."""

import json
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.eks.ipam import (
    addon_configuration,
    addon_values,
    advise_reservations,
    check_ipam_capacity,
    check_windows_ipam,
    config_map_data,
)


@dataclass(frozen=True)
class Ipam:
    """A configuration as settings would give it."""

    mode: str = "addon"
    enabled: bool = True
    prefix_delegation: bool = False
    warm_ip_target: int | None = None
    minimum_ip_target: int | None = None
    warm_prefix_target: int | None = None


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def test_keys_and_types_of_the_addon():
    """Switches are text and targets integers, as the add-on's schema has them."""
    values = addon_values(Ipam(prefix_delegation=True, warm_ip_target=2, minimum_ip_target=0))
    assert values == {
        "enableWindowsIpam": "true",
        "enableWindowsPrefixDelegation": "true",
        "warmWindowsIPTarget": 2,
        "minimumWindowsIPTarget": 0,
    }
    assert addon_values(Ipam(prefix_delegation=True, warm_prefix_target=1))["warmWindowsPrefixTarget"] == 1


def test_keys_of_the_config_map():
    """Everything is text there, under the keys that the controller prefers."""
    assert config_map_data(Ipam(mode="config_map", prefix_delegation=True, warm_prefix_target=1)) == {
        "enable-windows-ipam": "true",
        "enable-windows-prefix-delegation": "true",
        "warm-prefix-target": "1",
    }


def test_turning_it_off_says_so():
    """Off is written out, not left out: a ConfigMap that is already there must change."""
    assert config_map_data(Ipam(enabled=False))["enable-windows-ipam"] == "false"
    assert addon_values(Ipam(enabled=False))["enableWindowsIpam"] == "false"


def test_other_values_of_the_addon_stay():
    """The configuration merges with what else the add-on is told, and does not move from run to run."""
    text = addon_configuration(Ipam(), {"env": {"WARM_ENI_TARGET": "1"}})
    assert json.loads(text) == {
        "env": {"WARM_ENI_TARGET": "1"}, "enableWindowsIpam": "true", "enableWindowsPrefixDelegation": "false",
    }  # fmt: skip
    assert text == addon_configuration(Ipam(), {"env": {"WARM_ENI_TARGET": "1"}})


@given(
    st.builds(
        Ipam, enabled=st.booleans(), prefix_delegation=st.booleans(), warm_ip_target=st.none() | st.integers(0, 50)
    )
)
def test_both_ways_say_the_same(ipam: Ipam):
    """Add-on values and ConfigMap have as many keys and the same values."""
    addon = [str(value) for value in addon_values(ipam).values()]
    assert addon == list(config_map_data(ipam).values())


def test_the_mode_is_one_of_two():
    """WK-EKS-050."""
    mistake = only(check_windows_ipam(Ipam(mode="configmap")))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == ("WK-EKS-050", ("mode",), 'write "config_map"')


def test_targets_are_not_negative():
    """WK-EKS-051 at the target."""
    mistake = only(check_windows_ipam(Ipam(warm_ip_target=-1)))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-051", ("warm_ip_target",), -1)


def test_targets_that_are_all_zero_do_nothing():
    """WK-EKS-051: the controller would fall back to its defaults."""
    assert only(check_windows_ipam(Ipam(warm_ip_target=0, minimum_ip_target=0))).rule.code == "WK-EKS-051"


@pytest.mark.parametrize(
    ("ipam", "said"),
    [
        (Ipam(warm_prefix_target=1), "need prefix delegation"),
        (Ipam(prefix_delegation=True, warm_prefix_target=1, warm_ip_target=3), "ignores it"),
    ],
)
def test_warm_prefixes(ipam: Ipam, said: str):
    """WK-EKS-052 outside prefix delegation and beside the targets that win against it."""
    mistake = only(check_windows_ipam(ipam))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-052", ("warm_prefix_target",))
    assert said in mistake.message


def test_prefixes_need_nitro():
    """WK-EKS-053 at the type."""
    mistake = only(check_ipam_capacity(Ipam(prefix_delegation=True), ["m6i.large", "m4.large"]))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-053", ("instance_types", 1), "m4.large")
    assert not check_ipam_capacity(Ipam(), ["m4.large"])


def test_what_is_off_has_no_targets():
    """WK-EKS-054 for each thing that has no effect."""
    found = check_windows_ipam(Ipam(enabled=False, prefix_delegation=True, warm_ip_target=2))
    assert [(mistake.rule.code, mistake.path) for mistake in found] == [
        ("WK-EKS-054", ("prefix_delegation",)),
        ("WK-EKS-054", ("warm_ip_target",)),
    ]


def test_targets_fit_the_node():
    """WK-EKS-055 with the number of addresses that the type holds."""
    mistake = only(check_ipam_capacity(replace(Ipam(), warm_ip_target=10), ["m5.large"]))
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-055", "set warm_ip_target to 9 or less")
    assert not check_ipam_capacity(replace(Ipam(), prefix_delegation=True, warm_ip_target=10), ["m5.large"])


def test_reservations_suffice_for_the_greatest_size():
    """WK-EKS-058 is advice: it gives the number of blocks, and says nothing without prefix delegation."""
    groups = [
        SimpleNamespace(windows="2022", instance_types=["m5.large"], max_size=3),
        SimpleNamespace(windows=None, instance_types=["m5.large"], max_size=9),
    ]
    ipam = Ipam(prefix_delegation=True)
    mistake = only(advise_reservations(ipam, groups, 20))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-058", ("windows_prefix_reservations",), 20)
    assert mistake.remedy == "reserve 21 blocks across all subnets"
    assert not advise_reservations(ipam, groups, 21)
    assert not advise_reservations(Ipam(), groups, 0)
