"""Settings mirror the arguments of the components: the same names, the same defaults, nothing that goes nowhere."""

import dataclasses
from typing import Any

import pytest
from winkube.eks import access, cluster, node_groups, scheduling, windows_ipam
from winkube.network import network
from winkube.state_bucket import state_bucket
from winkube.zone import zone

from stacks import settings
from stacks.shape import Model

MIRRORS: list[tuple[type[Model], type[Any], set[str]]] = [
    # Section, arguments, and the settings that the flavour turns into something else.
    (settings.NetworkSettings, network.NetworkArgs, set()),
    (settings.ZoneSettings, zone.ClusterZoneArgs, set()),
    (settings.StateBucketSettings, state_bucket.StateBucketArgs, set()),
    (settings.ClusterSettings, cluster.EksClusterArgs, {"name", "windows_ipam"}),
    (settings.AccessEntrySettings, cluster.AccessEntry, set()),
    (settings.AccessPolicySettings, access.AccessPolicy, set()),
    (settings.WindowsIpamSettings, windows_ipam.WindowsIpamArgs, set()),
    (settings.TaintSettings, scheduling.Taint, set()),
    (settings.InstanceGroupSettings, node_groups.EksLinuxNodeGroupArgs, {"windows", "edition", "windows_taint"}),
    (settings.InstanceGroupSettings, node_groups.EksWindowsNodeGroupArgs, {"linux"}),
]
CHOSEN = {"linux", "windows", "edition", "min_size"}
"""Of a group: which system it has decides these, so a setting that is left out is not an argument's default."""


@pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)
def test_every_setting_is_an_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    assert set(section.model_fields) - {field.name for field in dataclasses.fields(arguments)} == turned


@pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)
def test_a_default_is_that_of_the_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    for field in dataclasses.fields(arguments):
        setting = section.model_fields.get(field.name)
        if setting is None or field.name in CHOSEN:
            continue
        if field.default_factory is not dataclasses.MISSING:
            assert setting.default == field.default_factory(), field.name
        elif field.default is dataclasses.MISSING:
            assert setting.is_required(), field.name
        else:
            assert setting.default == field.default, field.name
