"""Names of a cluster's hosted zone: what is a valid one, and what lies in it. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..core.tags import check_tags

DOMAIN_NAMES = "https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html"
PRIVATE_ZONES = "https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/hosted-zones-private.html"

DOMAIN_NAME = Rule("WK-DNS-001", "A domain is a DNS name: labels of letters, digits and hyphens.", DOMAIN_NAMES)
DOMAIN_LENGTH = Rule("WK-DNS-002", "A DNS name has at most 253 characters, and each label at most 63.", DOMAIN_NAMES)
VISIBILITY = Rule("WK-DNS-003", "The visibility of a zone is public, private or both.")
PRIVATE_NEEDS_VPC = Rule("WK-DNS-004", "A private zone needs at least one VPC.", PRIVATE_ZONES)
PUBLIC_WITHOUT_VPC = Rule("WK-DNS-005", "Only a private zone can have VPCs.", PRIVATE_ZONES)
DELEGATION_IS_PUBLIC = Rule(
    "WK-DNS-006",
    "Only a public zone can be delegated from its parent zone.",
    "https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/dns-routing-traffic-for-subdomains.html",
)
NAME_IN_ZONE = Rule("WK-DNS-007", "A cluster's name must be the zone's name or a name below it.")
TOP_LEVEL = Rule("WK-DNS-008", "A public zone must be below a top-level domain.", DOMAIN_NAMES)

VISIBILITIES = ("public", "private", "both")
API_LABEL = "api"
INTERNAL_API_LABEL = "api.internal"
LONGEST_NAME = 253
LONGEST_LABEL = 63
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


class ZoneLike(Protocol):
    """What a zone is judged by, in the arguments and in the settings."""

    @property
    def domain(self) -> str: ...  # noqa: D102
    @property
    def visibility(self) -> str: ...  # noqa: D102
    @property
    def vpc_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def parent_zone_id(self) -> Any: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


def api_name(cluster_name: str) -> str:
    """The name under which a cluster's API is reached.

    >>> api_name("useast1.dev.example.com")
    'api.useast1.dev.example.com'
    """
    return f"{API_LABEL}.{cluster_name}"


def internal_api_name(cluster_name: str) -> str:
    """The name that nodes use for the API, where it differs from the public one.

    >>> internal_api_name("dev.example.com")
    'api.internal.dev.example.com'
    """
    return f"{INTERNAL_API_LABEL}.{cluster_name}"


def check_domain(name: str, path: Path = ("domain",)) -> Mistakes:
    """Whether this is a DNS name in its plain form (``WK-DNS-001``, ``WK-DNS-002``)."""
    found = Mistakes()
    labels = name.split(".")
    wrong = [label for label in labels if not _LABEL.fullmatch(label)]
    if wrong:
        message = f'the label "{wrong[0]}" must have only lower-case letters, digits and inner hyphens'
        if not wrong[0]:
            message = "has an empty label" if name else "is empty"
        found.add(DOMAIN_NAME, path, message, _name_remedy(name), name)
    elif len(name) > LONGEST_NAME or max(map(len, labels)) > LONGEST_LABEL:
        found.add(DOMAIN_LENGTH, path,
                  f"a name can have at most {LONGEST_NAME} characters and a label {LONGEST_LABEL}, and this one has "
                  f"{len(name)} and up to {max(map(len, labels))}", "shorten it", name)  # fmt: skip
    return found


def check_zone(zone: ZoneLike, *, vpcs_follow: bool = False) -> Mistakes:
    """Everything that is wrong with the wish for a zone (``WK-DNS-001`` to ``WK-DNS-008``, ``WK-TAG``).

    :param vpcs_follow: the VPCs are added later, as where settings are checked before the network exists.
    """
    found = check_domain(zone.domain)
    if zone.visibility not in VISIBILITIES:
        near = nearest(zone.visibility, VISIBILITIES)
        remedy = f'write "{near}"' if near else f"write {one_of(VISIBILITIES)}"
        found.add(VISIBILITY, ("visibility",), f"is not {one_of(VISIBILITIES)}", remedy, zone.visibility)
    private = zone.visibility in ("private", "both")
    if private and not zone.vpc_ids and not vpcs_follow:
        found.add(PRIVATE_NEEDS_VPC, ("vpc_ids",), "a private zone needs at least one VPC",
                  'add one, or set visibility to "public"')  # fmt: skip
    if zone.visibility == "public" and zone.vpc_ids:
        found.add(PUBLIC_WITHOUT_VPC, ("vpc_ids",), "a public zone cannot have VPCs",
                  'remove them, or set visibility to "both"')  # fmt: skip
    if zone.visibility == "private" and zone.parent_zone_id is not None:
        found.add(DELEGATION_IS_PUBLIC, ("parent_zone_id",),
                  "a private zone cannot be delegated: it resolves only inside its VPCs",
                  'remove it, or set visibility to "both"')  # fmt: skip
    if not private and zone.domain and "." not in zone.domain:
        found.add(TOP_LEVEL, ("domain",), "a public zone must be below a top-level domain",
                  f'write it as "{zone.domain}.example.com"', zone.domain)  # fmt: skip
    found.take(check_tags(zone.tags))
    return found


def check_cluster_name(cluster_name: str, domain: str, path: Path = ("cluster_name",)) -> Mistakes:
    """Whether the name of a self-managed cluster is a DNS name in its zone, with room for the names of its API
    (``WK-DNS-001``, ``WK-DNS-002``, ``WK-DNS-007``).
    """
    found = check_domain(cluster_name, path)
    if found:
        return found
    if cluster_name != domain and not cluster_name.endswith(f".{domain}"):
        first = cluster_name.partition(".")[0]
        found.add(NAME_IN_ZONE, path, f"is outside the zone {domain}",
                  f'write "{domain}" or "{first}.{domain}"', cluster_name)  # fmt: skip
    elif len(internal_api_name(cluster_name)) > LONGEST_NAME:
        most = LONGEST_NAME - len(INTERNAL_API_LABEL) - 1
        found.add(DOMAIN_LENGTH, path, f"leaves no space for {INTERNAL_API_LABEL} in front",
                  f"shorten it to {most} characters", cluster_name)  # fmt: skip
    return found


def _name_remedy(name: str) -> str:
    plain = name.strip().strip(".").lower().replace("_", "-").replace(" ", "-")
    plain = re.sub(r"^[a-z]+://", "", plain).partition("/")[0]
    if plain and plain != name and not check_domain(plain):
        return f'write "{plain}"'
    return 'write it as "k8s.example.com"'
