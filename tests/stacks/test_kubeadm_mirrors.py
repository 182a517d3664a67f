"""Settings of the kubeadm flavour mirror the arguments: the same names and defaults, nothing that goes nowhere."""

import dataclasses
from typing import Any

import pytest
from winkube.addons import sample_workloads, self_managed_addons
from winkube.admission import windows_admission
from winkube.control_plane import args as plane
from winkube.ec2 import proxy, warm_pool
from winkube.instance_groups import group_args, rollout
from winkube.kubeadm import config
from winkube.network import network
from winkube.pod_network import flannel, windows_kube_proxy
from winkube.scheduling import labels
from winkube.state_bucket import state_bucket
from winkube.zone import zone

from stacks.config import settings, shared_sections
from stacks.config.introspection import Model, sections
from stacks.kubeadm import cluster_settings, group_settings, object_settings
from stacks.kubeadm.checks import WINDOWS_FIELDS
from stacks.kubeadm.settings import KubeadmSettings

from .test_mirrors import plain

MIRRORS: list[tuple[type[Model], type[Any], set[str]]] = [
    # Section, arguments, and the settings that the flavour turns into something else.
    (settings.NetworkSettings, network.NetworkArgs, set()),
    (settings.ZoneSettings, zone.ClusterZoneArgs, set()),
    (settings.StateBucketSettings, state_bucket.StateBucketArgs, set()),
    (cluster_settings.KubeadmClusterSettings, plane.LinuxControlPlaneArgs, {"name"}),
    (cluster_settings.IrsaSettings, plane.IrsaIssuer, set()),
    (cluster_settings.BackupRetentionSettings, plane.BackupRetention, set()),
    (cluster_settings.AuditLogSettings, config.AuditLog, set()),
    (cluster_settings.PodSecuritySettings, config.PodSecurity, set()),
    (cluster_settings.ExtraArgumentsSettings, config.ExtraArguments, set()),
    (cluster_settings.KubeletSettings, config.KubeletSettings, set()),
    (shared_sections.ProxySettings, proxy.Proxy, set()),
    (shared_sections.TaintSettings, labels.Taint, set()),
    (shared_sections.WarmPoolSettings, warm_pool.WarmPool, set()),
    (group_settings.RolloutSettings, rollout.Rollout, set()),
    (group_settings.KubeadmGroupSettings, group_args.LinuxInstanceGroupArgs, {"windows", "count", *WINDOWS_FIELDS}),
    (group_settings.KubeadmGroupSettings, group_args.WindowsInstanceGroupArgs, {"linux", "runtime", "count"}),
    (object_settings.PodNetworkSettings, flannel.FlannelArgs, set()),
    (object_settings.PodNetworkSettings, windows_kube_proxy.WindowsKubeProxyArgs, set()),
    (object_settings.WindowsAdmissionSettings, windows_admission.WindowsAdmissionArgs, set()),
    (object_settings.SelfManagedAddonSettings, self_managed_addons.SelfManagedAddon, set()),
    (object_settings.SampleWorkloadsSettings, sample_workloads.SampleWorkloadsArgs, set()),
]
CHOSEN = {"linux", "windows", "edition", "runtime"}
"""Of a group: other settings decide these, so a setting that is left out is not an argument's default."""
PODS = {"endpoint", "pod_cidr", "service_cidr", "pod_network", "host_process_image"}
NOT_SAID: dict[type[Any], set[str]] = {
    # What the flavour decides, or gets from another component.
    network.NetworkArgs: {"region", "cluster_names", "tags"},
    zone.ClusterZoneArgs: {"vpc_ids", "tags"},
    state_bucket.StateBucketArgs: {"tags"},
    plane.LinuxControlPlaneArgs: {
        "cluster_name", "region", "vpc_id", "vpc_cidrs", "zones", "subnet_ids", "api_subnet_ids", "public_subnet_ids",
        "domain", "zone_ids", "bucket", "bucket_arn", "bucket_key_arn", "tags",
    },
    group_args.LinuxInstanceGroupArgs: {"target", "subnet_ids", "boot_code"},
    group_args.WindowsInstanceGroupArgs: {"target", "subnet_ids", "boot_code"},
    flannel.FlannelArgs: {*PODS, "windows", "image", "cni_image"},
    windows_kube_proxy.WindowsKubeProxyArgs: {*PODS, "direct_server_return"},
    windows_admission.WindowsAdmissionArgs: {"kubernetes_version", "releases"},
    sample_workloads.SampleWorkloadsArgs: {"releases", "client_image"},
}  # fmt: skip
"""Arguments that a stack file does not say. An argument that is in neither was forgotten."""
every_mirror = pytest.mark.parametrize(("section", "arguments", "turned"), MIRRORS)


def test_every_section_mirrors_something_or_holds_sections() -> None:
    mirrored = {section for section, _, _ in MIRRORS}
    assert {section for _, section in sections(KubeadmSettings)} == mirrored | {KubeadmSettings}


@every_mirror
def test_every_setting_is_an_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    assert set(section.model_fields) - {field.name for field in dataclasses.fields(arguments)} == turned


@every_mirror
def test_a_default_is_that_of_the_argument(section: type[Model], arguments: type[Any], turned: set[str]) -> None:
    for field in dataclasses.fields(arguments):
        setting = section.model_fields.get(field.name)
        if setting is None or field.name in CHOSEN:
            continue
        default = plain(setting.default)
        if field.default_factory is not dataclasses.MISSING:
            assert default == plain(field.default_factory()), field.name
        elif field.default is dataclasses.MISSING:
            assert setting.is_required(), field.name
        else:
            assert default == plain(field.default), field.name


@every_mirror
def test_every_argument_is_a_setting_or_decided_by_the_flavour(
    section: type[Model], arguments: type[Any], turned: set[str]
) -> None:
    left = {field.name for field in dataclasses.fields(arguments)} - set(section.model_fields)
    assert left == NOT_SAID.get(arguments, set())
