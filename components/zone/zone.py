"""The hosted zone of a cluster, and the records in it.

- a public zone, a private one, or both under the same name (inside the VPCs the private one answers);
- delegation: the NS record in the parent zone;
- :class:`ApiRecord`: the alias of a cluster's API.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes, Rule
from ..core.tags import named
from .names import api_name, check_cluster_name, check_domain, check_zone

RECORD_NEEDS_ZONE = Rule("WK-DNS-009", "An API record needs at least one zone.")

DELEGATION_TTL_SECONDS = 300
"""Long enough for resolvers, short enough that a mistake heals within minutes."""


@dataclass(frozen=True, kw_only=True)
class ClusterZoneArgs:
    """The arguments of a zone."""

    domain: str
    """Name of the zone, such as ``dev.example.com``, in lower case and without a trailing dot."""
    visibility: str = "private"
    """``private`` (resolves only inside its VPCs), ``public``, or ``both``."""
    vpc_ids: Sequence[pulumi.Input[str]] = ()
    """VPCs of the private zone; at least one unless the zone is only public."""
    parent_zone_id: pulumi.Input[str] | None = None
    """ID of the public parent zone, to delegate this zone there. With None, the owner of the domain adds the four
    ``name_servers``. Excludes ``private``."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the zones."""


class ClusterZone(Component):
    """A Route 53 zone for clusters.

    :raises WinkubeError: with every mistake in the arguments (``WK-DNS-001`` to ``WK-DNS-008``, ``WK-TAG``).
    """

    domain: str
    """Name of the zone."""
    public_zone_id: pulumi.Output[str] | None
    """ID of the public zone, if there is one."""
    private_zone_id: pulumi.Output[str] | None
    """ID of the private zone, if there is one."""
    name_servers: pulumi.Output[Sequence[str]] | None
    """The four name servers of the public zone, for the delegation; ``dig NS <domain>`` must show them."""

    def __init__(self, name: str, args: ClusterZoneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_zone(args))
        self.domain = args.domain
        self.public_zone_id = self.private_zone_id = self.name_servers = None
        if args.visibility in ("public", "both"):
            self._create_public(f"{name}-public", args)
        if args.visibility in ("private", "both"):
            self._create_private(f"{name}-private", args)
        self.register_outputs({
            "domain": self.domain,
            "publicZoneId": self.public_zone_id,
            "privateZoneId": self.private_zone_id,
            "nameServers": self.name_servers,
        })  # fmt: skip

    @property
    def zone_ids(self) -> dict[str, pulumi.Output[str]]:
        """Visibility to id of the zones that there are."""
        both = {"public": self.public_zone_id, "private": self.private_zone_id}
        return {visibility: zone for visibility, zone in both.items() if zone is not None}

    def _create_public(self, name: str, args: ClusterZoneArgs) -> None:
        zone = aws.route53.Zone(
            name,
            name=args.domain,
            comment="Names of Kubernetes clusters",
            tags=named(args.tags, name),
            opts=self.child(),
        )
        self.public_zone_id, self.name_servers = zone.zone_id, zone.name_servers
        if args.parent_zone_id is not None:
            aws.route53.Record(
                f"{name}-delegation",
                zone_id=args.parent_zone_id,
                name=args.domain,
                type="NS",
                ttl=DELEGATION_TTL_SECONDS,
                records=zone.name_servers,
                opts=self.child(),
            )

    def _create_private(self, name: str, args: ClusterZoneArgs) -> None:
        zone = aws.route53.Zone(
            name,
            name=args.domain,
            comment="Names of Kubernetes clusters, inside their VPCs",
            vpcs=[aws.route53.ZoneVpcArgs(vpc_id=vpc_id) for vpc_id in args.vpc_ids],
            tags=named(args.tags, name),
            opts=self.child(),
        )
        self.private_zone_id = zone.zone_id


@dataclass(frozen=True, kw_only=True)
class ApiRecordArgs:
    """The arguments of the API record."""

    cluster_name: str
    """Name of the cluster: the zone's name or a name below it. The record is ``api.<cluster_name>``."""
    domain: str
    """Name of the zones."""
    zone_ids: Mapping[str, pulumi.Input[str]]
    """The zones for the record, by key, as in ``ClusterZone.zone_ids``; the key becomes part of the resource name."""
    balancer_dns_name: pulumi.Input[str]
    """DNS name of the API load balancer."""
    balancer_zone_id: pulumi.Input[str]
    """Hosted zone ID of that load balancer."""


def check_api_record(args: ApiRecordArgs) -> Mistakes:
    """Everything that is wrong with a record (``WK-DNS-001``, ``WK-DNS-002``, ``WK-DNS-007``, ``WK-DNS-009``)."""
    found = check_domain(args.domain)
    found.take(check_cluster_name(args.cluster_name, args.domain))
    if not args.zone_ids:
        found.add(RECORD_NEEDS_ZONE, ("zone_ids",), "the record needs a zone", "set zone_ids to those of a ClusterZone")
    return found


class ApiRecord(Component):
    """The alias record ``api.<cluster>`` for the API load balancer, in each zone of the cluster.

    :raises WinkubeError: with every mistake in the arguments (``WK-DNS``).
    """

    fqdn: str
    """The DNS name of the API."""

    def __init__(self, name: str, args: ApiRecordArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_api_record(args))
        self.fqdn = api_name(args.cluster_name)
        for visibility, zone_id in args.zone_ids.items():
            aws.route53.Record(
                f"{name}-{visibility}",
                zone_id=zone_id,
                name=self.fqdn,
                type="A",
                aliases=[
                    aws.route53.RecordAliasArgs(
                        name=args.balancer_dns_name,
                        zone_id=args.balancer_zone_id,
                        # The name must resolve before the first API server answers: resolvers remember its absence.
                        evaluate_target_health=False,
                    )
                ],
                opts=self.child(),
            )
        self.register_outputs({"fqdn": self.fqdn})
