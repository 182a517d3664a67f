"""Checks of the node groups, each by itself and all together; and advice."""

from collections.abc import Iterable, Mapping
from typing import Any

from winkube.core.mistakes import Mistake, Mistakes, Path
from winkube.core.tags import check_tags
from winkube.eks.access import API_MODES
from winkube.eks.cluster_rules import AUTHENTICATION_MODES, check_service_cidr
from winkube.eks.group_options import check_group_options
from winkube.eks.ipam import advise_reservations, check_ipam_capacity
from winkube.eks.node_group_rules import ONE_LINUX_NODE, advise_node_groups, check_node_groups
from winkube.eks.target import EksTarget
from winkube.roles.policy_documents import CNI_POLICY, NODE_POLICIES
from winkube.tables.kubernetes import EKS_KNOWN_MINORS

from ..common.arn_formats import KEY, SECURITY_GROUP, ArnFormat, check_arn_formats
from ..common.setting_paths import check_role, given, to_setting_paths, windows_only
from .cluster_settings import NEWEST_KUBERNETES, ClusterSettings
from .group_settings import InstanceGroupSettings
from .settings import EksSettings

WINDOWS_FIELDS = ("edition", "windows_taint", "excluded_snat_cidrs", "cpu_cores", "threads_per_core")
"""Settings of Windows groups only."""


def check_group_settings(settings: EksSettings) -> Iterable[Mistake]:
    """Every mistake in the groups."""
    groups, target = settings.instance_groups, target_of(settings.cluster)
    on_fargate = settings.cluster.core_dns == "fargate"
    yield from check_node_groups(groups, target.kubernetes_version, ("instance_groups",), fargate=on_fargate)
    for index, group in enumerate(groups):
        found = Mistakes(check_tags(group.tags))
        found.extend(check_role(group, own_policies(group, settings.cluster), settings.region))
        found.extend(check_arn_formats(_arn_formats(group), settings.region))
        found.extend(check_group_options(_options(group, settings.cluster), target))
        if group.windows:
            ipam = given(settings.cluster.windows_ipam, enabled=True)
            found.extend(check_ipam_capacity(ipam, group.instance_types))
        elif group.linux:
            found.extend(windows_only(group, WINDOWS_FIELDS, "set windows instead of linux"))
        yield from to_setting_paths(found, "instance_groups", index)


def advise_groups(settings: EksSettings) -> Iterable[Mistake]:
    """Advice on all groups together. Advice on a single group comes from its component."""
    groups, network = settings.instance_groups, settings.network
    if settings.cluster.core_dns == "nodes":
        advice = advise_node_groups(groups, ("instance_groups",))
        yield from (mistake for mistake in advice if mistake.rule is ONE_LINUX_NODE)
    zones = network.zones if isinstance(network.zones, int) else len(network.zones)
    ipam = given(settings.cluster.windows_ipam, enabled=True)
    yield from to_setting_paths(
        advise_reservations(ipam, groups, network.windows_prefix_reservations * zones), "network"
    )


def target_of(cluster: ClusterSettings) -> EksTarget:
    """The cluster as groups see it. Its wrong values are replaced, so that they are reported for the cluster only."""
    version, mode, services = cluster.kubernetes_version, cluster.authentication_mode, cluster.service_cidr
    return EksTarget(
        name=cluster.name,
        kubernetes_version=version if version in EKS_KNOWN_MINORS else NEWEST_KUBERNETES,
        endpoint="",
        certificate_authority="",
        security_group_id="",
        service_cidr=ClusterSettings.model_fields["service_cidr"].default if check_service_cidr(services) else services,
        authentication_mode=mode if mode in AUTHENTICATION_MODES else API_MODES[0],
    )


def own_policies(group: InstanceGroupSettings, cluster: ClusterSettings) -> tuple[str, ...]:
    """Names of the AWS managed policies that the role of a group always has."""
    policies = NODE_POLICIES["eks-windows" if group.windows else "eks-linux"]
    own_role = cluster.windows_ipam.service_account_role_arn is not None
    return tuple(policy for policy in policies if policy != CNI_POLICY or not own_role)


def _options(group: InstanceGroupSettings, cluster: ClusterSettings) -> Any:
    # A Linux group has no such options, so they are reported only as such, and not checked.
    unset = {} if group.windows else {field: type(group).model_fields[field].default for field in WINDOWS_FIELDS}
    prefixes = bool(group.windows) and cluster.windows_ipam.prefix_delegation
    return given(group, **unset, prefix_delegation=prefixes, cluster_security_group=True)


def _arn_formats(group: InstanceGroupSettings) -> Mapping[Path, tuple[ArnFormat, str | None]]:
    groups: dict[Path, tuple[ArnFormat, str | None]] = {
        ("security_group_ids", index): (SECURITY_GROUP, text) for index, text in enumerate(group.security_group_ids)
    }
    return {("volume_kms_key_arn",): (KEY, group.volume_kms_key_arn), **groups}
