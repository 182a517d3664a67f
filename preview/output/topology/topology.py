"""Builds the topology of a plan from its resources, as plain data.

- region → VPC → zones → subnets (public, private or intra by their routes);
- in the subnets: control planes, groups of nodes, load balancers, NAT gateways;
- at the VPC: internet gateway and endpoints; in the region: buckets, DNS zones, keys;
- rules, associations, roles and templates are counted with their owner;
- everything else is counted by type.

This works for the plan of any program. Existing subnets and clusters are drawn as such.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...model import Plan, Resource
from ..plan_formats import short_type
from .groups import CLUSTERS, GROUPS, Group, cluster_name, read_group
from .links import Links, owners, part, text, texts
from .model import Item, Region, Topology, Vpc
from .network import (
    INTERNET_GATEWAY,
    SUBNETS,
    VPCS,
    Roles,
    VpcDraft,
    VpcDrafts,
    region_of_zone,
    zone_of,
    zones_and_tiers,
)

MOST_GROUPS = 30
"""Above this number, groups of one kind in the same subnets share a box. The table lists them all."""
MOST_SIBLINGS = 6
"""Above this number, buckets, zones or keys of a region share a box."""
MOST_VPCS = 8
"""The greatest number of VPCs drawn for a region. The others are counted."""
_NAT, _ENDPOINT = "aws:ec2/natGateway:NatGateway", "aws:ec2/vpcEndpoint:VpcEndpoint"
_BALANCERS = (
    "aws:lb/loadBalancer:LoadBalancer",
    "aws:alb/loadBalancer:LoadBalancer",
    "aws:elb/loadBalancer:LoadBalancer",
)
_REGIONAL = {
    "aws:s3/bucket:Bucket": "bucket",
    "aws:s3/bucketV2:BucketV2": "bucket",
    "aws:route53/zone:Zone": "zone",
    "aws:kms/key:Key": "key",
}
_PLURALS = {"bucket": "S3 buckets", "zone": "Route 53 zones", "key": "KMS keys", "balancer": "load balancers"}
_RANKED = (
    *GROUPS, _NAT, _ENDPOINT, *SUBNETS, *CLUSTERS, "aws:route53/zone:Zone", *_BALANCERS, *_REGIONAL,
    INTERNET_GATEWAY, *VPCS,
)  # fmt: skip
"""Types that have a box. A resource with several owners belongs to the first in this order."""
_KUBERNETES = "pulumi:providers:kubernetes"
_Entry = tuple[Item, Resource, str]
"""An item, the resource that names its subnets, and the property that does."""


def build_topology(plan: Plan, region: str = "") -> Topology:
    """The topology of a plan. ``region`` is the region of the default provider, if it is known."""
    return _Builder(plan, region).build()


class _Builder:
    def __init__(self, plan: Plan, region: str) -> None:
        self._plan, self._links = plan, Links(plan)
        self._by_type: dict[str, list[Resource]] = {}
        for resource in plan.resources:
            self._by_type.setdefault(resource.type, []).append(resource)
        ranks = {kind: rank for rank, kind in reversed(list(enumerate(_RANKED)))}
        self._drawn = {r.urn: ranks[r.type] for r in plan.resources if r.type in ranks}
        self._owners = owners(plan, self._links, self._drawn)
        self._objects = self._objects_of_clusters()
        self._folded = Counter(self._owners.values())
        self._home = region or self._sole_region()
        self._groups: dict[str, Group] = {}
        self._names = {cluster_name(cluster) for cluster in self._all(CLUSTERS)}

    def build(self) -> Topology:
        drafts, roles = VpcDrafts(self._links, self._by_type), Roles(self._links, self._by_type)
        loose: dict[str, list[Item]] = {}
        for item, resource, property_ in self._spanning():
            if not drafts.put(item, resource, property_):
                loose.setdefault(self._region_of(resource), []).append(item)
        for resource in self._all(_REGIONAL):
            loose.setdefault(self._region_of(resource), []).append(self._regional(resource))
        vpcs: dict[str, list[Vpc]] = {}
        nats = self._nats()
        for draft in drafts.all():
            vpcs.setdefault(self._region_of_vpc(draft), []).append(self._vpc(draft, roles, nats))
        told = {*self._drawn, *self._owners, *self._objects}
        left = (r for r in self._plan.resources if r.urn not in told and (r.custom or r.remote))
        more = Counter(r.type for r in left if not r.type.startswith("pulumi:providers:"))
        return Topology(
            regions=tuple(
                self._region(name, vpcs.get(name, []), loose.get(name, [])) for name in sorted({*vpcs, *loose})
            ),
            groups=tuple(sorted(self._groups.values(), key=lambda group: (group.cluster, group.name, group.urn))),
            more=dict(sorted(more.items(), key=lambda entry: (short_type(entry[0]), entry[0]))),
            drawn=len(self._drawn),
            folded=len(self._owners) + len(self._objects),
        )

    def _all(self, types: Iterable[str]) -> list[Resource]:
        return [resource for kind in types for resource in self._by_type.get(kind, [])]

    # -- regions -----------------------------------------------------------------------------------------

    def _sole_region(self) -> str:
        named = {found for subnet in self._all(SUBNETS) if (found := region_of_zone(zone_of(subnet)))}
        return next(iter(named)) if len(named) == 1 else ""

    def _stated_region(self, resource: Resource) -> str:
        provider = self._links.provider(resource)
        return text(resource.inputs.get("region")) or (text(provider.inputs.get("region")) if provider else "")

    def _region_of(self, resource: Resource) -> str:
        return self._stated_region(resource) or self._home

    def _region_of_vpc(self, draft: VpcDraft) -> str:
        return (self._stated_region(draft.resource) if draft.resource else "") or draft.region or self._home

    def _region(self, name: str, vpcs: list[Vpc], items: list[Item]) -> Region:
        items = _fold_siblings(self._fold_groups(items))
        return Region(name, tuple(vpcs[:MOST_VPCS]), tuple(items), max(0, len(vpcs) - MOST_VPCS))

    # -- what spans subnets ------------------------------------------------------------------------------

    def _spanning(self) -> list[_Entry]:
        """Clusters, each before its groups, and load balancers before all."""
        entries: list[tuple[tuple[str, int, str], _Entry]] = []
        for resource in self._all(_BALANCERS):
            property_ = "subnets" if "subnets" in resource.inputs else "subnetMappings"
            entries.append((("", 0, resource.urn), (self._balancer(resource), resource, property_)))
        for resource in self._all(CLUSTERS):
            property_ = "vpcConfig.subnetIds" if resource.type.startswith("aws:") else _subnets_of_component(resource)
            item = self._cluster(resource)
            entries.append(((item.cluster, 0, resource.urn), (item, resource, property_)))
        for resource in self._all(GROUPS):
            self._groups[resource.urn] = self._read(resource)
        # A control plane on EC2 is a group itself, so its cluster is not an existing one.
        known = self._names | {group.cluster for group in self._groups.values() if group.kind == "control-plane"}
        several = len(known | {group.cluster for group in self._groups.values()} - {""}) > 1
        for resource in self._all(GROUPS):
            group = self._groups[resource.urn]
            property_ = GROUPS[resource.type]
            rank = 1 if group.kind == "control-plane" else 2
            key = (group.cluster, rank, f"{resource.name} {resource.urn}")
            entries.append((key, (self._group(group, several=several), resource, property_)))
            if group.cluster and group.cluster not in known:
                known.add(group.cluster)
                item = Item("cluster", "Existing control plane", group.cluster, existing=True, cluster=group.cluster)
                entries.append(((group.cluster, 1, ""), (item, resource, property_)))
        return [entry for _, entry in sorted(entries, key=lambda entry: entry[0])]

    def _read(self, resource: Resource) -> Group:
        clusters = self._links.find(resource, "clusterName", CLUSTERS)
        group = read_group(self._links, resource, clusters[0] if clusters else None)
        subnets = self._links.find(resource, GROUPS[resource.type], SUBNETS)
        names = [subnet.name for subnet in subnets] or texts(resource.inputs.get(GROUPS[resource.type]))
        return replace(group, subnets=tuple(names))

    def _balancer(self, resource: Resource) -> Item:
        told = text(resource.inputs.get("loadBalancerType")) or "application"
        kind = "Classic" if resource.type.startswith("aws:elb/") else told.capitalize()
        internal = resource.inputs.get("internal", False)
        details = ("internal" if internal else "internet-facing",) if isinstance(internal, bool) else ()
        return self._item("balancer", f"{kind} load balancer", resource, details=details)

    def _cluster(self, resource: Resource) -> Item:
        version, name = text(resource.inputs.get("version")), cluster_name(resource)
        objects = sum(owner == resource.urn for owner in self._objects.values())
        details = (
            f"Kubernetes {version}" if version else "",
            _endpoint(resource),
            f"{objects} Kubernetes object{'s' if objects != 1 else ''}" if objects else "",
        )
        item = self._item("cluster", "EKS control plane", resource, name, tuple(filter(None, details)))
        return replace(item, existing=resource.read, cluster=name)

    def _group(self, group: Group, *, several: bool) -> Item:
        label = {"control-plane": "Control plane on EC2"}.get(group.kind) or group.system or "Nodes"
        resource = self._plan.by_urn[group.urn]
        cluster = (f"cluster {group.cluster}",) if several and group.cluster else ()
        return replace(self._item(group.kind, label, resource, details=(*group.facts, *cluster)), cluster=group.cluster)

    def _item(self, kind: str, label: str, resource: Resource, title: str = "", details: tuple[str, ...] = ()) -> Item:
        folded = self._folded[resource.urn]
        return Item(kind, label, title or resource.name, details, resource.urn, existing=resource.read, folded=folded)

    def _objects_of_clusters(self) -> dict[str, str]:
        """URN of each Kubernetes object to the URN of the cluster that its provider was made from."""
        clusters = {
            provider.urn: found.urn
            for provider in self._by_type.get(_KUBERNETES, [])
            for found in self._links.made_from(provider)
            if found.type in CLUSTERS
        }
        objects: dict[str, str] = {}
        for resource in self._plan.resources:
            provider = self._links.provider(resource) if resource.type.startswith("kubernetes:") else None
            if provider and provider.urn in clusters:
                objects[resource.urn] = clusters[provider.urn]
        return objects

    # -- VPCs --------------------------------------------------------------------------------------------

    def _vpc(self, draft: VpcDraft, roles: Roles, nats: dict[str, list[Item]]) -> Vpc:
        zones, tiers = zones_and_tiers(draft, roles, nats, self._folded)
        resource = draft.resource
        return Vpc(
            title=draft.title,
            cidr=text(resource.inputs.get("cidrBlock")) if resource else "",
            urn=resource.urn if resource else "",
            zones=zones,
            tiers=tuple(replace(tier, items=tuple(_fold_siblings(self._fold_groups(tier.items)))) for tier in tiers),
            items=tuple(self._at_vpc(resource)) if resource else (),
            existing=resource is None or resource.read,
            folded=self._folded[resource.urn] if resource else 0,
        )

    def _nats(self) -> dict[str, list[Item]]:
        """URN of each subnet to the NAT gateways in it."""
        found: dict[str, list[Item]] = {}
        for resource in self._by_type.get(_NAT, []):
            for subnet in self._links.find(resource, "subnetId", SUBNETS)[:1]:
                found.setdefault(subnet.urn, []).append(self._item("nat", "NAT gateway", resource))
        return found

    def _at_vpc(self, vpc: Resource) -> list[Item]:
        here = [r for r in self._all((INTERNET_GATEWAY, _ENDPOINT)) if vpc in self._links.find(r, "vpcId", VPCS)]
        items = [self._item("internet", "Internet gateway", r) for r in here if r.type == INTERNET_GATEWAY]
        endpoints = [r for r in here if r.type == _ENDPOINT]
        if endpoints:
            services: dict[str, list[str]] = {}
            for endpoint in endpoints:
                kind = text(endpoint.inputs.get("vpcEndpointType")) or "Gateway"
                services.setdefault(kind.lower(), []).append(_service(endpoint))
            details = tuple(f"{kind}: {', '.join(sorted(names))}" for kind, names in sorted(services.items()))
            title = f"{len(endpoints)} endpoint{'s' if len(endpoints) > 1 else ''}"
            folded = sum(self._folded[r.urn] for r in endpoints)
            items.append(Item("endpoints", "VPC endpoints", title, details, folded=folded))
        return items

    def _regional(self, resource: Resource) -> Item:
        kind, inputs = _REGIONAL[resource.type], resource.inputs
        if kind == "zone":
            label = f"Route 53 zone, {'private' if inputs.get('vpcs') is not None else 'public'}"
            return self._item(kind, label, resource, text(inputs.get("name")))
        if kind == "bucket":
            return self._item(kind, "S3 bucket", resource, text(inputs.get("bucket")))
        return self._item(kind, "KMS key", resource, details=tuple(filter(None, (text(inputs.get("description")),))))

    def _fold_groups(self, items: Sequence[Item]) -> list[Item]:
        """Put groups of one kind, cluster and set of zones into one box, if there are too many groups."""
        if len(self._groups) <= MOST_GROUPS:
            return list(items)
        found: dict[tuple[object, ...], list[Item]] = {}
        for item in items:
            alone = item.urn not in self._groups
            key = (item.urn,) if alone else (item.kind, item.label, item.cluster, item.zones)
            found.setdefault(key, []).append(item)
        return [self._together(siblings) if len(siblings) > 1 else siblings[0] for siblings in found.values()]

    def _together(self, items: list[Item]) -> Item:
        groups = [self._groups[item.urn] for item in items]
        low, high = _sum(group.low for group in groups), _sum(group.high for group in groups)
        types = sorted({kind for group in groups for kind in group.instance_types})
        shown = ", ".join(types[:3]) + (" …" if len(types) > 3 else "")
        details = tuple(filter(None, (f"{low}–{high} nodes together", shown)))
        folded = sum(item.folded for item in items)
        return replace(items[0], title=f"{len(items)} groups", details=details, urn="", folded=folded)


def _fold_siblings(items: Iterable[Item]) -> list[Item]:
    """Put buckets, zones, keys or load balancers into one box, if there are too many."""
    kept: list[Item] = []
    siblings: dict[str, list[Item]] = {}
    for item in items:
        (siblings.setdefault(item.kind, []) if item.kind in _PLURALS else kept).append(item)
    for kind, members in siblings.items():
        if len(members) <= MOST_SIBLINGS:
            kept += members
        else:
            names = ", ".join(member.title for member in members[:4])
            zones = tuple(sorted({zone for member in members for zone in member.zones}))
            title, folded = f"{len(members)} {_PLURALS[kind]}", sum(member.folded for member in members)
            kept.append(Item(kind, _PLURALS[kind], title, (f"{names} …",), zones=zones, folded=folded))
    return kept


def _subnets_of_component(cluster: Resource) -> str:
    """The property that names the subnets of a cluster of ``pulumi-eks``."""
    names = ("privateSubnetIds", "subnetIds", "publicSubnetIds")
    return next((name for name in names if name in cluster.inputs), "vpcId")


def _endpoint(cluster: Resource) -> str:
    """The access to the API. It is public by default on EKS."""
    config = cluster.inputs if cluster.type.startswith("eks:") else part(cluster.inputs, "vpcConfig")
    if not isinstance(config, dict) or cluster.read:
        return ""
    public = config.get("endpointPublicAccess", True)
    private = config.get("endpointPrivateAccess", False)
    if not isinstance(public, bool) or not isinstance(private, bool):
        return ""
    return {(True, True): "endpoint public and private", (True, False): "endpoint public",
            (False, True): "endpoint private", (False, False): "no endpoint"}[public, private]  # fmt: skip


def _service(endpoint: Resource) -> str:
    """``ecr.api`` of ``com.amazonaws.eu-central-1.ecr.api``."""
    name = text(endpoint.inputs.get("serviceName"))
    return name.split(".", 3)[3] if name.startswith("com.amazonaws.") and name.count(".") > 2 else name or endpoint.name


def _sum(numbers: Iterable[str]) -> str:
    known = list(numbers)
    return str(sum(map(int, known))) if all(number.isdigit() for number in known) else "?"
