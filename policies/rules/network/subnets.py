"""Subnets, and which of them are public."""

from collections.abc import Iterator

from ...frameworks import BEST_PRACTICES, cis_eks, controls_page, fsbp
from ...model import Planned, Settings, Stack, Undecided, Violation, resource_rule, stack_rule
from ...resource_types import INTERNET_GATEWAY, NODE_GROUP, ROUTE, ROUTE_TABLE, ROUTE_TABLE_ASSOCIATION, SUBNET


@resource_rule(
    "subnets-without-public-addresses",
    "Subnets do not assign public addresses by default",
    types=[SUBNET],
    references=[fsbp("EC2.15"), cis_eks("5.4.3")],
    steps="set map_public_ip_on_launch to false, and request a public address where one is needed",
    url=controls_page("ec2"),
)
def subnets_without_public_addresses(resource: Planned, settings: Settings) -> Iterator[str]:
    """Load balancers and NAT gateways in public subnets do not need this setting."""
    if resource["mapPublicIpOnLaunch"].flag:
        yield "every instance that starts in the subnet gets a public address"


@stack_rule(
    "nodes-in-private-subnets",
    "Nodes run in private subnets",
    types=[NODE_GROUP],
    references=[cis_eks("5.4.3"), fsbp("EC2.9")],
    steps="give the node group the ids of private subnets",
    url=f"{BEST_PRACTICES}/subnets.html",
)
def nodes_in_private_subnets(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A subnet is public if its route table leads to an internet gateway, or if it assigns public addresses."""
    public = _public_subnets(stack)
    for group in stack.of(NODE_GROUP):
        names = sorted(subnet.name for subnet in stack.sources(group, "subnetIds", SUBNET) if subnet.urn in public)
        if names:
            listed = ", ".join(f'"{name}"' for name in names)
            yield Violation(f"nodes run in public subnets: {listed}", group.urn)
    for group in stack.of(NODE_GROUP):
        if group["subnetIds"].unknown and not group.references.get("subnetIds"):
            raise Undecided(f"{group.name}.subnetIds")


def _public_subnets(stack: Stack) -> set[str]:
    tables = {
        table.urn
        for route in stack.of(ROUTE)
        if stack.sources(route, "gatewayId", INTERNET_GATEWAY)
        for table in stack.sources(route, "routeTableId", ROUTE_TABLE)
    }
    tables |= {table.urn for table in stack.of(ROUTE_TABLE) if stack.sources(table, "routes", INTERNET_GATEWAY)}
    found = {subnet.urn for subnet in stack.of(SUBNET) if subnet["mapPublicIpOnLaunch"].settled is True}
    for association in stack.of(ROUTE_TABLE_ASSOCIATION):
        if any(table.urn in tables for table in stack.sources(association, "routeTableId", ROUTE_TABLE)):
            found |= {subnet.urn for subnet in stack.sources(association, "subnetId", SUBNET)}
    return found
