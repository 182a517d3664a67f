"""Checks of the settings of an EKS environment, once their structure is right; and advice."""

from collections.abc import Iterable, Mapping

from winkube.addons.addon_rules import ADDON_TWICE, AUTOSCALER_RELEASE, NEEDS, VERSION_FOR_WINDOWS, WINDOWS_NODES
from winkube.core.mistakes import Mistake, Mistakes, Path
from winkube.ec2.instance_rules import SIZES
from winkube.eks.access import ENTRY_NOTHING
from winkube.eks.cluster_rules import PUBLIC_ACCESS, SUBNET_COUNT
from winkube.eks.group_options import (
    CPU_OPTIONS,
    ENTRY_OF_NODES,
    MAX_PODS,
    OWN_BOOTSTRAP,
    OWN_IMAGE,
    RELEASE_VERSION,
    UPDATES,
    WARM_POOL,
)
from winkube.eks.ipam import IPAM_MODE, IPAM_PREFIX_ONLY
from winkube.eks.node_classes import RELEASE
from winkube.eks.node_group_rules import DUPLICATE_NAME, RELEASE_TOO_NEW
from winkube.eks.private_cluster import PRIVATE_ENDPOINTS, check_private_endpoints, private_endpoints
from winkube.network.cidrs import check_disjoint

from ..common.setting_paths import to_setting_paths
from ..common.shared_checks import COMPARED as COMMON
from ..common.shared_checks import check_common, collected, zone_number
from ..config.structure import ANY, SAME
from .addon_checks import LOGS_TWICE, NEEDS_ADDON, NEEDS_LINUX, NEEDS_OIDC, UNIQUE_NAME, check_addon_settings
from .cluster_checks import CORE_DNS, check_cluster_settings
from .group_checks import WINDOWS_FIELDS, advise_groups, check_group_settings
from .settings import EksSettings

__all__ = ["COMPARED", "LINUX_FIELDS", "WINDOWS_FIELDS", "advise_settings", "check_settings"]
LINUX_FIELDS: tuple[str, ...] = ()
"""Settings of Linux groups only."""

_GROUP = ("instance_groups", SAME)
COMPARED: Mapping[str, tuple[Path, ...]] = {
    **COMMON,
    PRIVATE_ENDPOINTS.code: (("network", "nat"), ("addons", ANY, "name"), ("instance_groups", ANY, "management"),
                             ("instance_groups", ANY, "image_id")),
    PUBLIC_ACCESS.code: (("cluster", "endpoint_public_access"),),
    ENTRY_NOTHING.code: (("cluster", "access_entries", SAME, "kubernetes_groups"),),
    CORE_DNS.code: (("cluster", "windows_ipam", "mode"), ("cluster", "security_groups")),
    IPAM_MODE.code: (("cluster", "windows_ipam", "mode"),),
    IPAM_PREFIX_ONLY.code: (("cluster", "windows_ipam", "prefix_delegation"),),
    RELEASE_TOO_NEW.code: (("cluster", "kubernetes_version"),),
    RELEASE_VERSION.code: (("cluster", "kubernetes_version"),),
    ENTRY_OF_NODES.code: (("instance_groups", ANY, "management"), ("instance_groups", ANY, "image_id")),
    SIZES.code: ((*_GROUP, "min_size"), (*_GROUP, "max_size")),
    OWN_IMAGE.code: ((*_GROUP, "image_id"), (*_GROUP, "management")),
    OWN_BOOTSTRAP.code: ((*_GROUP, "image_id"), (*_GROUP, "management")),
    WARM_POOL.code: ((*_GROUP, "image_id"), (*_GROUP, "management"), (*_GROUP, "max_size"),
                     (*_GROUP, "warm_pool", "max_prepared"), (*_GROUP, "linux")),
    MAX_PODS.code: ((*_GROUP, "instance_types"), ("cluster", "windows_ipam", "prefix_delegation")),
    CPU_OPTIONS.code: ((*_GROUP, "instance_types"), (*_GROUP, "cpu_cores"), (*_GROUP, "threads_per_core")),
    UPDATES.code: ((*_GROUP, "max_unavailable_percentage"),),
    DUPLICATE_NAME.code: (("instance_groups", ANY, "name"),),
    ADDON_TWICE.code: (("addons", ANY, "name"),),
    NEEDS.code: (("addons", ANY, "name"),),
    NEEDS_ADDON.code: (("addons", ANY, "name"),),
    NEEDS_LINUX.code: (("instance_groups", ANY, "linux"), ("cluster", "core_dns")),
    NEEDS_OIDC.code: (("addons", ANY, "name"), ("addons", ANY, "identity"), ("addons", ANY, "role_arn")),
    LOGS_TWICE.code: (("addons", ANY, "name"),),
    UNIQUE_NAME.code: (("storage_classes", ANY, ANY, "class_name"),),
    WINDOWS_NODES.code: (("instance_groups", ANY, "windows"),),
    VERSION_FOR_WINDOWS.code: (("instance_groups", ANY, "windows"),),
    AUTOSCALER_RELEASE.code: (("cluster", "kubernetes_version"),),
    RELEASE.code: (("cluster", "kubernetes_version"),),
}  # fmt: skip
"""Rules that compare a value with other settings. Nothing is reported where one of those is a placeholder."""


def check_settings(settings: EksSettings) -> Mistakes:
    """Every mistake in the values, with the Python names as paths."""
    checks = (check_common, _check_network, check_cluster_settings, check_group_settings, check_addon_settings)
    return collected(settings, checks)


def advise_settings(settings: EksSettings) -> Mistakes:
    """Advice on settings that work, as far as no component gives it."""
    return Mistakes(advise_groups(settings))


def _check_network(settings: EksSettings) -> Iterable[Mistake]:
    network = settings.network
    yield from check_disjoint({"network.cidr": network.cidr, "cluster.service_cidr": settings.cluster.service_cidr})
    if zone_number(settings) == 1:
        yield Mistake(("network", "zones"), SUBNET_COUNT, "an EKS control plane needs subnets in at least two zones",
                      "set zones to 2 or 3", network.zones)  # fmt: skip
    if network.nat == "none":
        endpoints = private_endpoints(
            managed=any(group.management == "managed" and group.image_id is None for group in settings.instance_groups),
            autoscaler="cluster-autoscaler" in settings.addon_names,
            load_balancers="aws-load-balancer-controller" in settings.addon_names,
        )
        given_endpoints = network.interface_endpoints, network.gateway_endpoints
        yield from to_setting_paths(check_private_endpoints(*given_endpoints, endpoints), "network")
