"""Checks of the sections that every flavour has, once their structure is right.

Each section is checked by the component that it configures, with the values that the component's arguments will
hold. A flavour adds the checks of its own sections and of the file as a whole.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from winkube.core.mistakes import Mistake, Mistakes, Path, Rule, nearest, one_of, shown
from winkube.core.tags import check_tags
from winkube.network.cidrs import CIDRS_DISJOINT
from winkube.network.plan import ZONE_COUNT, ZONE_OF_REGION, check_network
from winkube.roles.role_rules import check_boundary
from winkube.state_bucket.bucket_rules import check_state_bucket
from winkube.zone.names import DELEGATION_IS_PUBLIC, check_zone

from ..config.flavours import FLAVOURS
from ..config.settings import Settings
from .arn_formats import ARN_FORMAT, KEY, check_arn_format
from .setting_paths import given, partition_of, to_setting_paths

KNOWN_FLAVOUR = Rule("WK-SET-006", "The flavour is one that the program can build.")

COMPARED: Mapping[str, tuple[Path, ...]] = {
    CIDRS_DISJOINT.code: (("network", "cidr"), ("cluster", "service_cidr"), ("cluster", "pod_cidr")),
    ZONE_COUNT.code: (("region",),),
    ZONE_OF_REGION.code: (("region",),),
    ARN_FORMAT.code: (("region",),),
    DELEGATION_IS_PUBLIC.code: (("zone", "visibility"),),
}
"""Rules that compare a value with other settings. Nothing is reported where one of those is a placeholder."""

S = TypeVar("S", bound=Settings)


def check_common(settings: Settings) -> Iterable[Mistake]:
    """Every mistake in the sections that all flavours have, with the Python names as paths."""
    for check in (_check_whole, _check_network, _check_zone, _check_state_bucket):
        yield from check(settings)


def collected(settings: S, checks: Iterable[Callable[[S], Iterable[Mistake]]]) -> Mistakes:
    """The mistakes of several checks. A mistake of the cluster that several groups find is reported once."""
    found = Mistakes()
    for check in checks:
        for mistake in check(settings):
            if mistake not in found:
                found.append(mistake)
    return found


def zone_number(settings: Settings) -> int:
    """The number of availability zones of the network."""
    zones = settings.network.zones
    return zones if isinstance(zones, int) else len(zones)


def _check_whole(settings: Settings) -> Iterable[Mistake]:
    if settings.flavour not in FLAVOURS:
        near = nearest(settings.flavour, FLAVOURS) or FLAVOURS[0]
        yield Mistake(("flavour",), KNOWN_FLAVOUR, f"must be {one_of(FLAVOURS)}", f"write {shown(near)}",
                      settings.flavour)  # fmt: skip
    yield from check_tags(settings.tags)


def _check_network(settings: Settings) -> Iterable[Mistake]:
    network = settings.network
    yield from to_setting_paths(
        check_network(given(network, region=settings.region, cluster_names=(), tags={})), "network"
    )
    yield from check_arn_format(KEY, network.flow_log_kms_key_arn, settings.region, ("network", "flow_log_kms_key_arn"))
    yield from to_setting_paths(
        check_boundary(network.permissions_boundary, partition=partition_of(settings.region)), "network"
    )


def _check_zone(settings: Settings) -> Iterable[Mistake]:
    if settings.zone is not None:
        # The VPC of the program is not known yet.
        zone = given(settings.zone, vpc_ids=(), tags={})
        yield from to_setting_paths(check_zone(zone, vpcs_follow=True), "zone")


def _check_state_bucket(settings: Settings) -> Iterable[Mistake]:
    if settings.state_bucket is not None:
        yield from to_setting_paths(check_state_bucket(given(settings.state_bucket, tags={})), "state_bucket")
