"""What is wrong with settings whose structure is right.

The components' own checks judge their sections; each is given what its arguments will hold. Only what concerns the
file as a whole is judged here.
"""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from winkube.core.mistakes import Mistake, Mistakes, Path, Rule, nearest, one_of, shown
from winkube.core.tags import check_tags
from winkube.eks.access import ENTRY_NOTHING
from winkube.eks.cluster_rules import PUBLIC_ACCESS, SUBNET_COUNT, check_cluster
from winkube.eks.ipam import IPAM_PREFIX_ONLY, check_ipam_capacity, check_windows_ipam
from winkube.eks.node_group_rules import DUPLICATE_NAME, RELEASE_TOO_NEW, SIZES, check_node_groups
from winkube.network.cidrs import CIDRS_DISJOINT, check_disjoint
from winkube.network.plan import ZONE_COUNT, ZONE_OF_REGION, check_network
from winkube.roles.checks import check_boundary, check_external_policies
from winkube.roles.documents import EKS_CLUSTER_POLICIES, EKS_WINDOWS_POLICIES, NODE_POLICIES
from winkube.roles.validation import check_policy_documents
from winkube.state_bucket.checks import check_state_bucket
from winkube.tables.kubernetes import EKS_KNOWN_MINORS
from winkube.tables.regions import REGIONS
from winkube.zone.names import DELEGATION_IS_PUBLIC, check_zone

from .settings import FLAVOURS, NEWEST_KUBERNETES, ClusterSettings, InstanceGroupSettings, Settings, WindowsIpamSettings
from .shape import Model
from .structure import ANY, SAME

KNOWN_FLAVOUR = Rule("WK-SET-006", "The flavour is one that the program can build.")
WINDOWS_ONLY = Rule("WK-SET-007", "What is said of Windows nodes needs some.")

COMPARED: Mapping[str, tuple[Path, ...]] = {
    CIDRS_DISJOINT.code: (("network", "cidr"), ("cluster", "service_cidr")),
    ZONE_COUNT.code: (("region",),),
    ZONE_OF_REGION.code: (("region",),),
    DELEGATION_IS_PUBLIC.code: (("zone", "visibility"),),
    PUBLIC_ACCESS.code: (("cluster", "endpoint_public_access"),),
    ENTRY_NOTHING.code: (("cluster", "access_entries", SAME, "kubernetes_groups"),),
    IPAM_PREFIX_ONLY.code: (("cluster", "windows_ipam", "prefix_delegation"),),
    RELEASE_TOO_NEW.code: (("cluster", "kubernetes_version"),),
    SIZES.code: (("instance_groups", SAME, "min_size"), ("instance_groups", SAME, "max_size")),
    DUPLICATE_NAME.code: (("instance_groups", ANY, "name"),),
}
"""Rules that hold a value against others: where one of those was replaced by a stand-in, nothing can be said."""


def check_settings(settings: Settings) -> Mistakes:
    """Every mistake that the values have among themselves, with the Python names as paths."""
    found = Mistakes()
    for check in (_check_whole, _check_network, _check_zone, _check_state_bucket, _check_cluster, _check_groups):
        found.extend(check(settings))
    return found


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
    yield from _homed(check_network(_given(network, region=settings.region, cluster_names=(), tags={})), "network")
    if (network.zones if isinstance(network.zones, int) else len(network.zones)) == 1:
        yield Mistake(("network", "zones"), SUBNET_COUNT, "a control plane of EKS has subnets in two zones at least",
                      "set zones to 2 or 3", network.zones)  # fmt: skip
    yield from _homed(check_boundary(network.permissions_boundary, partition=_partition(settings.region)), "network")


def _check_zone(settings: Settings) -> Iterable[Mistake]:
    if settings.zone is not None:
        # The network of the program gives the VPC, once it exists.
        zone = _given(settings.zone, vpc_ids=(), tags={})
        yield from _homed(check_zone(zone, vpcs_follow=True), "zone")


def _check_state_bucket(settings: Settings) -> Iterable[Mistake]:
    if settings.state_bucket is not None:
        yield from _homed(check_state_bucket(_given(settings.state_bucket, tags={})), "state_bucket")


def _check_cluster(settings: Settings) -> Iterable[Mistake]:
    cluster = settings.cluster
    yield from _homed(check_cluster(_given(cluster, cluster_name=cluster.name)), "cluster")
    yield from _homed(check_windows_ipam(_given(cluster.windows_ipam, enabled=True)), "cluster", "windows_ipam")
    windows = any(group.windows is not None for group in settings.instance_groups)
    if not windows:
        for mistake in _windows_only(
            cluster.windows_ipam, WindowsIpamSettings.model_fields, "add a group with windows"
        ):
            yield mistake.under("cluster", "windows_ipam")
    own = (*EKS_CLUSTER_POLICIES, *(EKS_WINDOWS_POLICIES if windows else ()))
    yield from _homed(_check_role(cluster, own, settings.region), "cluster")


def _check_groups(settings: Settings) -> Iterable[Mistake]:
    groups, version = settings.instance_groups, settings.cluster.kubernetes_version
    # What is no minor at all is told once, by the cluster, and not again by each Windows group.
    version = version if version in EKS_KNOWN_MINORS else NEWEST_KUBERNETES
    yield from check_node_groups(groups, version, ("instance_groups",))
    ipam = _given(settings.cluster.windows_ipam, enabled=True)
    for index, group in enumerate(groups):
        found = Mistakes(check_tags(group.tags))
        own = NODE_POLICIES["eks-windows" if group.windows else "eks-linux"]
        found.extend(_check_role(group, own, settings.region))
        if group.windows:
            found.extend(check_ipam_capacity(ipam, group.instance_types))
        elif group.linux:
            found.extend(_windows_only(group, ("edition", "windows_taint"), "set windows instead of linux"))
        yield from _homed(found, "instance_groups", index)


def _windows_only(section: Model, fields: Iterable[str], otherwise: str) -> Iterable[Mistake]:
    """Settings that were given, though nothing here is Windows."""
    for field in fields:
        value = getattr(section, field)
        if value != type(section).model_fields[field].default:
            yield Mistake((field,), WINDOWS_ONLY, "is for Windows nodes, and there are none here",
                          f"remove {field}, or {otherwise}", value)  # fmt: skip


def _check_role(section: ClusterSettings | InstanceGroupSettings, own: Iterable[str], region: str) -> Iterable[Mistake]:
    """The policies of a role."""
    partition = _partition(region)
    yield from check_policy_documents(section.additional_policies, partition=partition)
    yield from check_external_policies(section.external_policies, partition=partition, own_policies=tuple(own))
    yield from check_boundary(section.permissions_boundary, partition=partition)


def _partition(region: str) -> str | None:
    """Where roles of this program live; None as long as the region is wrong."""
    return REGIONS[region].partition if region in REGIONS else None


def _given(section: Model, **elsewhere: Any) -> Any:
    """What a check asks for: the section's values, and those that its component is given from elsewhere."""
    return SimpleNamespace(**dict(section), **elsewhere)


_HOMES: Mapping[str, Callable[[Path], Path]] = {
    "region": lambda section: ("region",),
    "cluster_name": lambda section: (*section, "name"),
}
"""Arguments of components that a file spells otherwise, or elsewhere."""


def _homed(found: Iterable[Mistake], *section: str | int) -> Iterable[Mistake]:
    """The mistakes of a component, at the place in the file that its argument comes from."""
    for mistake in found:
        first, *rest = mistake.path
        home = _HOMES.get(str(first))
        place = home(section) if home else (*section, first)
        yield Mistake((*place, *rest), mistake.rule, mistake.message, mistake.remedy, mistake.got)
