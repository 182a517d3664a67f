"""AWS regions: partition, zones, whether an account must switch the region on, and where EKS does not run.

Sources, read on 2026-11-21:

- regions, partitions and DNS suffixes: ``botocore`` 1.44.5, ``data/partitions.json`` (commercial, China,
  GovCloud and the European Sovereign Cloud; the isolated partitions are left out, and so are regions that are
  announced but have no zones yet);
- zone names: ``cfn-lint`` 1.58.0, schemas of 2026-10-20; ``cn-north-1`` after eksctl's tests;
- opt-in: every commercial region launched after 20 March 2019
  (https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-regions.html);
- restricted zones (only some accounts see them): zone lists of accounts old and new;
- zones without EKS control plane: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html names zone
  *ids* (``use1-az3``); which *name* that is differs between accounts, ``us-east-1e`` is the usual one.

``preview/evaluation/regions.json`` is a copy of the table, kept equal by a test: the preview imports nothing from here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType

from ..core.mistakes import Mistakes, Rule, one_of
from ..core.mistakes import Path as Where

REGION_KNOWN = Rule(
    "WK-NET-001",
    "The Region must be one that AWS has.",
    "https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html",
)


@dataclass(frozen=True, slots=True)
class Region:
    """One row of the table."""

    name: str
    partition: str
    """``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``: the second field of every ARN."""
    dns_suffix: str
    """What service host names end with."""
    zones: tuple[str, ...]
    """The zones that an account has as a rule, in order."""
    restricted_zones: tuple[str, ...]
    """Zones that only some, mostly older, accounts have: valid where named, never picked by count."""
    eks_excluded_zones: tuple[str, ...]
    """Zones in which, for most accounts, EKS refuses a control plane's subnets: never picked by count."""
    eks_excluded_zone_ids: tuple[str, ...]
    """The same as zone ids, which are the same in every account."""
    opt_in: bool
    """Whether an account must switch the region on before its first use."""


def _load() -> Mapping[str, Region]:
    table = json.loads((Path(__file__).parent / "regions.json").read_text(encoding="utf-8"))
    return MappingProxyType({
        name: Region(
            name=name,
            partition=row["partition"],
            dns_suffix=table["partitions"][row["partition"]]["dnsSuffix"],
            zones=tuple(row["zones"]),
            restricted_zones=tuple(row.get("restrictedZones", ())),
            eks_excluded_zones=tuple(row.get("eksExcludedZones", ())),
            eks_excluded_zone_ids=tuple(row.get("eksExcludedZoneIds", ())),
            opt_in=row["optIn"],
        )
        for name, row in table["regions"].items()
    })  # fmt: skip


REGIONS = _load()
"""Name of a region to its row."""
PARTITIONS = tuple(sorted({region.partition for region in REGIONS.values()}))
"""The partitions in the table."""


def partition(region: str) -> str:
    """The partition of a region.

    >>> partition("eu-west-1"), partition("cn-north-1")
    ('aws', 'aws-cn')

    :raises KeyError: when the table has no such region (see :func:`check_region`).
    """
    return REGIONS[region].partition


def zones(region: str) -> tuple[str, ...]:
    """The zones that can be picked without being named, in order.

    >>> zones("us-east-1")
    ('us-east-1a', 'us-east-1b', 'us-east-1c', 'us-east-1d', 'us-east-1f')

    :raises KeyError: when the table has no such region.
    """
    row = REGIONS[region]
    return tuple(zone for zone in row.zones if zone not in row.eks_excluded_zones)


@cache
def all_zones(region: str) -> frozenset[str]:
    """Every zone of a region that any account can name."""
    row = REGIONS[region]
    return frozenset((*row.zones, *row.restricted_zones))


def check_region(region: str, path: Where = ("region",)) -> Mistakes:
    """Whether the table knows the region (``WK-NET-001``); suggests the nearest names."""
    found = Mistakes()
    if region not in REGIONS:
        found.add(REGION_KNOWN, path, "is not an AWS Region", _region_remedy(region), region)
    return found


def _region_remedy(wrong: str) -> str:
    if wrong[:-1] in REGIONS:
        return f'write the region "{wrong[:-1]}", without the letter of a zone'
    near = get_close_matches(wrong.lower(), list(REGIONS), n=2, cutoff=0.8)
    family = [name for name in REGIONS if name.split("-")[0] == wrong.lower().split("-")[0]]
    return f"write {one_of(near or family or ['eu-central-1', 'us-east-1'])}"
