"""Finds VPCs, zones, subnets with their roles, and resources that span subnets.

The role of a subnet follows from its routes: a route to an internet gateway makes it public, one to a NAT gateway (or
another default route) private, none intra. A subnet without a route table has the main route table of its VPC.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...model import UNKNOWN, Resource
from .links import Links, part, text, texts
from .model import ROLES, Item, Subnet, Tier

VPCS = ("aws:ec2/vpc:Vpc", "aws:ec2/defaultVpc:DefaultVpc", "awsx:ec2:Vpc", "awsx:ec2:DefaultVpc")
SUBNETS = ("aws:ec2/subnet:Subnet", "aws:ec2/defaultSubnet:DefaultSubnet")
INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
_TABLE, _DEFAULT_TABLE = "aws:ec2/routeTable:RouteTable", "aws:ec2/defaultRouteTable:DefaultRouteTable"
_ROUTE, _MAIN = "aws:ec2/route:Route", "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation"
_ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
_ELSEWHERE = ("transitGatewayId", "networkInterfaceId", "egressOnlyGatewayId", "coreNetworkArn", "localGatewayId")
_ENDS = ("destinationCidrBlock", "cidrBlock", "destinationIpv6CidrBlock", "ipv6CidrBlock")
_DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")
_ROLE_TAGS = {"kubernetes.io/role/elb": "public", "kubernetes.io/role/internal-elb": "private"}
_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-\d")
_MOST_ROWS = 4
"""The greatest number of boxes for the subnets of one role and zone. Further subnets share the last box."""
_MOST_UNKNOWN_ZONES = 6
_PREFERRED = ("private", "", "intra", "public")
"""The order of preference for resources that span subnets of several roles."""


def region_of_zone(zone: str) -> str:
    """The region of a zone, also of a local zone; ``""`` for other texts.

    >>> region_of_zone("eu-central-1a"), region_of_zone("us-west-2-lax-1a"), region_of_zone("euc1-az1")
    ('eu-central-1', 'us-west-2', '')
    """
    found = _REGION.match(zone)
    return found.group() if found else ""


@dataclass(eq=False)
class VpcDraft:
    """A VPC while the topology is built."""

    resource: Resource | None
    """None for a VPC that the plan only refers to."""
    title: str
    subnets: list[Resource] = field(default_factory=list[Resource])
    spanning: list[tuple[Item, tuple[str, ...]]] = field(default_factory=list[tuple[Item, tuple[str, ...]]])
    """Items that span subnets, with the URNs or ids of these."""
    strangers: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    """Subnets that the plan does not create: their ids, and a name for them."""

    @property
    def region(self) -> str:
        """The region of the zones of the subnets; ``""`` if it is not known."""
        return next(filter(None, (region_of_zone(zone_of(subnet)) for subnet in self.subnets)), "")


def zone_of(subnet: Resource) -> str:
    """The zone of a subnet, ``""`` where it is not known."""
    return text(subnet.inputs.get("availabilityZone")) or text(subnet.inputs.get("availabilityZoneId"))


class VpcDrafts:
    """The VPCs of a plan, those that it only refers to as well."""

    def __init__(self, links: Links, by_type: Mapping[str, list[Resource]]) -> None:
        self._links = links
        self._drafts: dict[str, VpcDraft] = {}
        self._of_subnet: dict[str, VpcDraft] = {}
        for kind in VPCS:
            for vpc in by_type.get(kind, []):
                self._drafts[vpc.urn] = VpcDraft(vpc, vpc.name)
        for kind in SUBNETS:
            for subnet in by_type.get(kind, []):
                draft = self._of_subnet[subnet.urn] = self._draft_of(subnet)
                draft.subnets.append(subnet)

    def _draft_of(self, subnet: Resource) -> VpcDraft:
        vpcs = self._links.find(subnet, "vpcId", VPCS)
        if vpcs:
            return self._drafts[vpcs[0].urn]
        known = text(subnet.inputs.get("vpcId"))
        return self._drafts.setdefault(f"existing {known}", VpcDraft(None, known or "VPC known after the deployment"))

    def all(self) -> list[VpcDraft]:
        """Every VPC, by name."""
        return sorted(
            self._drafts.values(), key=lambda p: (p.resource is None, p.title, p.resource.urn if p.resource else "")
        )

    def put(self, item: Item, resource: Resource, property_: str) -> bool:
        """Put an item where the subnets of a property are; False where the property names none."""
        subnets = [s for s in self._links.find(resource, property_, SUBNETS) if s.urn in self._of_subnet]
        if subnets:
            self._of_subnet[subnets[0].urn].spanning.append((item, tuple(s.urn for s in subnets)))
            return True
        value = part(resource.inputs, *property_.split("."))
        if value is not UNKNOWN and not value:
            return False
        ids = tuple(sorted(set(texts(value))))
        vpcs = [
            found for found in self._links.made_from(resource, property_.split(".")[0]) if found.urn in self._drafts
        ]
        if vpcs:  # a component of another language made the subnets: the plan knows its VPC at most
            draft, called = self._drafts[vpcs[0].urn], "its subnets"
        else:
            draft = self._drafts.setdefault("elsewhere", VpcDraft(None, "Existing network"))
            called = ", ".join(ids) or "subnets known after the deployment"
        draft.strangers[ids] = called
        draft.spanning.append((item, ids))
        return True


class Roles:
    """The role of every subnet of a plan."""

    def __init__(self, links: Links, by_type: Mapping[str, list[Resource]]) -> None:
        self._links = links
        tables = [*by_type.get(_TABLE, []), *by_type.get(_DEFAULT_TABLE, [])]
        self._by_table = {table.urn: self._of_routes(table) for table in tables}
        """URN of a table (of a VPC for its main table) to the role of the subnets that have it."""
        self._main = {vpc.urn: vpc.urn for kind in VPCS for vpc in by_type.get(kind, []) if not vpc.read}
        self._by_table |= {urn: "intra" for urn in self._main if "awsx:" not in urn}
        for table in by_type.get(_DEFAULT_TABLE, []):
            self._main |= {vpc.urn: table.urn for vpc in links.made_from(table, "defaultRouteTableId")}
        for association in by_type.get(_MAIN, []):
            for vpc in links.find(association, "vpcId", VPCS):
                for table in self._tables(association):
                    self._main[vpc.urn] = table.urn
        for route in by_type.get(_ROUTE, []):
            role = self._of_route(route, route.inputs, "gatewayId")
            for table in self._tables(route):
                self._by_table[table.urn] = min(self._by_table[table.urn], role, key=ROLES.index)
        self._table_of = {
            subnet.urn: table.urn
            for association in by_type.get(_ASSOCIATION, [])
            for subnet in links.find(association, "subnetId", SUBNETS)
            for table in self._tables(association)
        }

    def of(self, subnet: Resource, vpc: Resource | None) -> str:
        """The role of a subnet of a VPC."""
        table = self._table_of.get(subnet.urn) or self._main.get(vpc.urn if vpc else "", "")
        tags = subnet.inputs.get("tags")
        tagged = next((role for tag, role in _ROLE_TAGS.items() if isinstance(tags, dict) and tag in tags), "")
        return self._by_table.get(table, tagged)

    def _tables(self, resource: Resource) -> list[Resource]:
        found = self._links.find(resource, "routeTableId", (_TABLE, _DEFAULT_TABLE)) or self._links.find(
            resource, "routeTableId", VPCS
        )
        return [table for table in found if table.urn in self._by_table]

    def _of_routes(self, table: Resource) -> str:
        routes = table.inputs.get("routes")
        roles = [self._of_route(table, route, "routes") for route in routes] if isinstance(routes, list) else []
        return min((role for role in roles if role), default="intra", key=ROLES.index)

    def _of_route(self, resource: Resource, route: Any, origin: str) -> str:
        """The role that one route gives; ``origin`` is the property that tells what the gateway was made from."""
        if not isinstance(route, dict):
            return "intra"
        gateway = route.get("gatewayId")
        if gateway is not None and gateway != "local":
            made_from = {found.type for found in self._links.made_from(resource, origin)}
            virtual = "aws:ec2/vpnGateway:VpnGateway" in made_from and INTERNET_GATEWAY not in made_from
            return "private" if virtual or text(gateway).startswith("vgw-") else "public"
        if route.get("natGatewayId") is not None:
            return "private"
        ends = (
            route.get(name)
            for name in ("destinationCidrBlock", "cidrBlock", "destinationIpv6CidrBlock", "ipv6CidrBlock")
        )
        everywhere = any(end in _DEFAULT_ROUTES for end in ends if isinstance(end, str))
        return "private" if everywhere and any(route.get(name) is not None for name in _ELSEWHERE) else "intra"


def zones_and_tiers(
    draft: VpcDraft, roles: Roles, nats: Mapping[str, list[Item]], folded: Mapping[str, int]
) -> tuple[tuple[str, ...], tuple[Tier, ...]]:
    """The columns and rows of a VPC: names of the zones, and its subnets role by role with what reaches over them."""
    role_of = {subnet.urn: roles.of(subnet, draft.resource) for subnet in draft.subnets}
    zone_names = _zone_names(draft.subnets, role_of)
    zones = tuple(sorted(set(zone_names.values()))) or ("",)
    rows: dict[tuple[str, int], dict[int, list[Resource]]] = {}
    where: dict[str, tuple[tuple[str, int], int]] = {}
    for subnet in sorted(draft.subnets, key=lambda s: (s.name, s.urn)):
        column, role = zones.index(zone_names[subnet.urn]), role_of[subnet.urn]
        before = sum(1 for key in rows if key[0] == role and column in rows[key])
        full = before == _MOST_ROWS
        row = (role, before - 1 if full else before)
        rows.setdefault(row, {}).setdefault(column, []).append(subnet)
        where[subnet.urn] = (row, column)
    spanning: dict[tuple[str, int], list[Item]] = {row: [] for row in rows}
    strange: dict[tuple[str, ...], list[Item]] = {ids: [] for ids in draft.strangers}
    for item, keys in draft.spanning:
        if keys in strange:
            strange[keys].append(replace(item, zones=(0,)))
            continue
        cells = [where[key] for key in keys if key in where]
        columns = tuple(sorted({column for _, column in cells}))
        counts = {row: sum(found == row for found, _ in cells) for row, _ in cells}
        best = min(counts, key=lambda row: (-counts[row], _PREFERRED.index(row[0]), row[1]))
        spanning[best].append(replace(item, zones=columns))
    tiers = [
        Tier(
            row[0],
            tuple(_subnet(rows[row].get(column, []), nats, folded) for column in range(len(zones))),
            tuple(items),
        )
        for row, items in sorted(spanning.items(), key=lambda entry: (ROLES.index(entry[0][0]), entry[0][1]))
    ]
    empty = (None,) * (len(zones) - 1)
    for ids, items in sorted(strange.items()):
        tiers.append(Tier("", (Subnet(draft.strangers[ids], existing=True), *empty), tuple(items)))
    return zones, tuple(tiers)


def _zone_names(subnets: list[Resource], role_of: Mapping[str, str]) -> dict[str, str]:
    """URN of each subnet to the name of its zone; subnets of one role without a known zone are numbered through."""
    unknown: dict[str, list[Resource]] = {}
    for subnet in subnets:
        if not zone_of(subnet):
            unknown.setdefault(role_of[subnet.urn], []).append(subnet)
    names = {subnet.urn: zone_of(subnet) for subnet in subnets}
    for siblings in unknown.values():
        for index, subnet in enumerate(sorted(siblings, key=lambda s: (s.name, s.urn))):
            names[subnet.urn] = f"zone {index % _MOST_UNKNOWN_ZONES + 1}"
    return names


def _subnet(subnets: list[Resource], nats: Mapping[str, list[Item]], folded: Mapping[str, int]) -> Subnet | None:
    if not subnets:
        return None
    items = tuple(item for subnet in subnets for item in nats.get(subnet.urn, []))
    count = sum(folded.get(subnet.urn, 0) for subnet in subnets)
    if len(subnets) > 1:
        return Subnet(f"{len(subnets)} subnets", items=_few(items), folded=count)
    subnet = subnets[0]
    cidr = text(subnet.inputs.get("cidrBlock"))
    return Subnet(subnet.name, cidr, subnet.urn, subnet.read, _few(items), count)


def _few(items: tuple[Item, ...]) -> tuple[Item, ...]:
    if len(items) <= 2:
        return items
    return (Item(items[0].kind, items[0].label, f"{len(items)} NAT gateways", folded=sum(i.folded for i in items)),)
