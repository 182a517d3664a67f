"""What is wrong with settings whose structure is right, and what is merely not advised.

The components' own checks judge their sections; each is given what its arguments will hold. Only what concerns the
file as a whole is judged here and in the modules of the sections.
"""

from collections.abc import Iterable, Mapping

from winkube.addons.node_classes import RELEASE
from winkube.addons.rules import ADDON_TWICE, AUTOSCALER_RELEASE, NEEDS, VERSION_FOR_WINDOWS, WINDOWS_NODES
from winkube.core.mistakes import Mistake, Mistakes, Path, Rule, nearest, one_of, shown
from winkube.core.tags import check_tags
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
from winkube.eks.node_group_rules import DUPLICATE_NAME, RELEASE_TOO_NEW, SIZES
from winkube.eks.private_cluster import PRIVATE_ENDPOINTS, check_private_endpoints, private_endpoints
from winkube.network.cidrs import CIDRS_DISJOINT, check_disjoint
from winkube.network.plan import ZONE_COUNT, ZONE_OF_REGION, check_network
from winkube.roles.checks import check_boundary
from winkube.state_bucket.checks import check_state_bucket
from winkube.zone.names import DELEGATION_IS_PUBLIC, check_zone

from .addon_checks import LOGS_TWICE, NEEDS_ADDON, NEEDS_LINUX, NEEDS_OIDC, UNIQUE_NAME, check_addon_settings
from .cluster_checks import CORE_DNS, check_cluster_settings
from .forms import FORM, KEY, check_form
from .group_checks import advise_groups, check_group_settings
from .places import given, homed, partition_of
from .settings import FLAVOURS, Settings
from .structure import ANY, SAME

KNOWN_FLAVOUR = Rule("WK-SET-006", "The flavour is one that the program can build.")

_GROUP = ("instance_groups", SAME)
COMPARED: Mapping[str, tuple[Path, ...]] = {
    CIDRS_DISJOINT.code: (("network", "cidr"), ("cluster", "service_cidr")),
    ZONE_COUNT.code: (("region",),),
    ZONE_OF_REGION.code: (("region",),),
    FORM.code: (("region",),),
    PRIVATE_ENDPOINTS.code: (("network", "nat"), ("addons", ANY, "name"), ("instance_groups", ANY, "management"),
                             ("instance_groups", ANY, "image_id")),
    DELEGATION_IS_PUBLIC.code: (("zone", "visibility"),),
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
"""Rules that hold a value against others: where one of those was replaced by a stand-in, nothing can be said."""


def check_settings(settings: Settings) -> Mistakes:
    """Every mistake that the values have among themselves, with the Python names as paths."""
    found = Mistakes()
    for check in (_check_whole, _check_network, _check_zone, _check_state_bucket, check_cluster_settings,
                  check_group_settings, check_addon_settings):  # fmt: skip
        for mistake in check(settings):
            # What several groups find wrong with the cluster is one mistake.
            if mistake not in found:
                found.append(mistake)
    return found


def advise_settings(settings: Settings) -> Mistakes:
    """What would come up, but is not advised, as far as no component says it itself."""
    return Mistakes(advise_groups(settings))


def _check_whole(settings: Settings) -> Iterable[Mistake]:
    found = Mistakes()
    if settings.flavour not in FLAVOURS:
        near = nearest(settings.flavour, tuple(FLAVOURS)) or next(iter(FLAVOURS))
        found.add(KNOWN_FLAVOUR, ("flavour",), f"must be {one_of(FLAVOURS)}", f"write {shown(near)}", settings.flavour)
    found.extend(check_tags(settings.tags))
    found.extend(
        check_disjoint({"network.cidr": settings.network.cidr, "cluster.service_cidr": settings.cluster.service_cidr})
    )
    return found


def _check_network(settings: Settings) -> Iterable[Mistake]:
    network = settings.network
    yield from homed(check_network(given(network, region=settings.region, cluster_names=(), tags={})), "network")
    if (network.zones if isinstance(network.zones, int) else len(network.zones)) == 1:
        yield Mistake(("network", "zones"), SUBNET_COUNT, "a control plane of EKS has subnets in two zones at least",
                      "set zones to 2 or 3", network.zones)  # fmt: skip
    yield from check_form(KEY, network.flow_log_kms_key_arn, settings.region, ("network", "flow_log_kms_key_arn"))
    if network.nat == "none":
        endpoints = private_endpoints(
            managed=any(group.management == "managed" and group.image_id is None for group in settings.instance_groups),
            autoscaler="cluster-autoscaler" in settings.addon_names,
            load_balancers="aws-load-balancer-controller" in settings.addon_names,
        )
        given_endpoints = network.interface_endpoints, network.gateway_endpoints
        yield from homed(check_private_endpoints(*given_endpoints, endpoints), "network")
    yield from homed(check_boundary(network.permissions_boundary, partition=partition_of(settings.region)), "network")


def _check_zone(settings: Settings) -> Iterable[Mistake]:
    if settings.zone is not None:
        # The network of the program gives the VPC, once it exists.
        zone = given(settings.zone, vpc_ids=(), tags={})
        yield from homed(check_zone(zone, vpcs_follow=True), "zone")


def _check_state_bucket(settings: Settings) -> Iterable[Mistake]:
    if settings.state_bucket is not None:
        yield from homed(check_state_bucket(given(settings.state_bucket, tags={})), "state_bucket")
