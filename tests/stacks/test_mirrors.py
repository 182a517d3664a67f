"""Settings mirror the arguments of the components: the same names, the same defaults, nothing that goes nowhere."""

import dataclasses
from typing import Any

import pytest
from winkube.addons import fluent_bit, gmsa, storage
from winkube.ec2 import warm_pool
from winkube.eks import (
    access,
    addons,
    bootstrap,
    cluster,
    karpenter,
    node_groups,
    port_rules,
    security_groups,
    windows_ipam,
)
from winkube.network import network
from winkube.scheduling import labels
from winkube.state_bucket import state_bucket
from winkube.zone import zone

from stacks.config import settings, shared_sections
from stacks.config.introspection import Model, sections
from stacks.eks import addon_settings, cluster_settings, group_settings
from stacks.eks.group_checks import WINDOWS_FIELDS
from stacks.eks.settings import EksSettings

MIRRORS: list[tuple[type[Model], type[Any], set[str]]] = [
    # Section, arguments, and the settings that the flavour turns into something else.
    (settings.NetworkSettings, network.NetworkArgs, set()),
    (settings.ZoneSettings, zone.ClusterZoneArgs, set()),
    (settings.StateBucketSettings, state_bucket.StateBucketArgs, set()),
    (
        cluster_settings.ClusterSettings,
        cluster.EksClusterArgs,
        {"name", "windows_ipam", "security_groups", "core_dns"},
    ),
    (cluster_settings.AccessEntrySettings, cluster.AccessEntry, set()),
    (cluster_settings.AccessPolicySettings, access.AccessPolicy, set()),
    (cluster_settings.WindowsIpamSettings, windows_ipam.WindowsIpamArgs, set()),
    (cluster_settings.SecurityGroupsSettings, security_groups.EksSecurityGroupsArgs, set()),
    (cluster_settings.PodPortSettings, port_rules.PodPort, set()),
    (shared_sections.TaintSettings, labels.Taint, set()),
    (shared_sections.ProxySettings, bootstrap.Proxy, set()),
    (shared_sections.WarmPoolSettings, warm_pool.WarmPool, set()),
    (group_settings.InstanceGroupSettings, node_groups.EksLinuxNodeGroupArgs, {"windows", "count", *WINDOWS_FIELDS}),
    (group_settings.InstanceGroupSettings, node_groups.EksWindowsNodeGroupArgs, {"linux", "count"}),
    (addon_settings.AddonSettings, addons.AddonChoice, set()),
    (addon_settings.NtfsStorageClassSettings, storage.NtfsStorageClassArgs, set()),
    (addon_settings.SmbStorageClassSettings, storage.SmbStorageClassArgs, set()),
    (addon_settings.KarpenterPoolSettings, karpenter.KarpenterWindowsNodesArgs, set()),
    (addon_settings.WindowsLogsSettings, fluent_bit.FluentBitWindowsArgs, set()),
    (addon_settings.GmsaCredentialSpecSettings, gmsa.GmsaCredentialSpecArgs, set()),
    (addon_settings.GmsaUserSettings, gmsa.GmsaUser, set()),
]
CHOSEN = {"linux", "windows", "edition", "min_size", "max_unavailable"}
"""Of a group: other settings decide these, so a setting that is left out is not an argument's default."""
NOT_SAID: dict[type[Any], set[str]] = {
    # What the flavour decides, or gets from another component.
    network.NetworkArgs: {"region", "cluster_names", "tags"},
    zone.ClusterZoneArgs: {"vpc_ids", "tags"},
    state_bucket.StateBucketArgs: {"tags"},
    cluster.EksClusterArgs: {
        "cluster_name", "region", "subnet_ids", "windows", "self_managed_addons", "role_arn", "tags",
    },
    windows_ipam.WindowsIpamArgs: {"cluster", "enabled", "tags"},
    security_groups.EksSecurityGroupsArgs: {"vpc_id", "tags"},
    node_groups.EksLinuxNodeGroupArgs: {"cluster", "subnet_ids", "cluster_security_group", "cni_policy"},
    node_groups.EksWindowsNodeGroupArgs: {"cluster", "subnet_ids", "cluster_security_group", "prefix_delegation"},
    karpenter.KarpenterWindowsNodesArgs: {
        "cluster", "role_name", "linux_role_names", "subnet_ids", "security_group_ids", "tags",
    },
    fluent_bit.FluentBitWindowsArgs: {"cluster_name", "region", "tags"},
}  # fmt: skip
"""Arguments that a stack file does not say. An argument that is in neither was forgotten."""


def test_every_section_mirrors_something_or_holds_sections() -> None:
    mirrored = {section for section, _, _ in MIRRORS}
    holders = {EksSettings, addon_settings.StorageClassesSettings, addon_settings.KarpenterSettings}
    assert {section for _, section in sections(EksSettings)} == mirrored | holders


@pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)
def test_every_setting_is_an_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    assert set(section.model_fields) - {field.name for field in dataclasses.fields(arguments)} == turned


def plain(default: Any) -> Any:
    """A default as plain data: sections and arguments are of different classes."""
    if isinstance(default, Model):
        return default.model_dump()
    if dataclasses.is_dataclass(default) and not isinstance(default, type):
        return dataclasses.asdict(default)
    return [plain(item) for item in default] if isinstance(default, tuple) else default


@pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)
def test_a_default_is_that_of_the_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    for field in dataclasses.fields(arguments):
        setting = section.model_fields.get(field.name)
        if setting is None or field.name in CHOSEN:
            continue
        default = plain(setting.default)
        if field.default_factory is not dataclasses.MISSING:
            assert default == field.default_factory(), field.name
        elif field.default is dataclasses.MISSING:
            assert setting.is_required(), field.name
        else:
            assert default == plain(field.default), field.name


@pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)
def test_every_argument_is_a_setting_or_decided_by_the_flavour(
    section: type[Model], arguments: type[Any], turned: set[str]
) -> None:
    left = {field.name for field in dataclasses.fields(arguments)} - set(section.model_fields)
    assert left == NOT_SAID.get(arguments, set())
