"""Endpoints of VPCs that have no way to the internet."""

from collections.abc import Iterator

from ...frameworks import eks_guide, fsbp
from ...inventory import vpcs_of
from ...model import Option, Planned, Settings, Stack, Undecided, Violation, every, stack_rule
from ...resource_types import CLUSTER, INTERNET_GATEWAY, NAT_GATEWAY, ROUTE, ROUTE_TABLE, SUBNET, VPC, VPC_ENDPOINT
from .openings import WORLD


@stack_rule(
    "endpoints-of-isolated-vpc",
    "A VPC without internet access has the endpoints that nodes need",
    types=[VPC],
    severity="high",
    references=[fsbp("EC2.10"), fsbp("EC2.55"), fsbp("EC2.56"), fsbp("EC2.57"), eks_guide("Private clusters")],
    steps="add an aws.ec2.VpcEndpoint for each of these services, or give the subnets a route through a NAT gateway",
    url="https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
    options={
        "isolated": Option(
            ["ec2", "ecr.api", "ecr.dkr", "s3", "sts"],
            "services that need an endpoint in a cluster's VPC without an internet or NAT gateway",
            {"type": "array", "items": {"type": "string"}},
        ),
        "always": Option(
            [],
            "services that need an endpoint in every VPC; to follow EC2.10 and EC2.55 to EC2.57: ec2, ecr.api, "
            "ecr.dkr, ssm",
            {"type": "array", "items": {"type": "string"}},
        ),
    },
)
def endpoints_of_isolated_vpc(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Isolated nodes cannot join or pull images without them. Other VPCs need only what the option `always` lists."""
    with_nodes = {vpc.urn for vpc in vpcs_of(stack, *stack.of(CLUSTER))}

    def check(vpc: Planned) -> Iterator[Violation]:
        isolated = vpc.urn in with_nodes and not _has_way_out(stack, vpc)
        wanted = [*(settings["isolated"] if isolated else ()), *settings["always"]]
        endpoints = [end for end in stack.of(VPC_ENDPOINT) if vpc in stack.sources(end, "vpcId", VPC)]
        names = [endpoint["serviceName"].settled for endpoint in endpoints]
        missing = [
            service for service in dict.fromkeys(wanted) if not any(str(name).endswith(f".{service}") for name in names)
        ]
        if missing and None in names:
            raise Undecided(f"{endpoints[names.index(None)].name}.serviceName")
        if missing:
            what = "the VPC has no internet access and" if isolated else "the VPC has"
            yield Violation(f"{what} no endpoint for {', '.join(missing)}", vpc.urn)

    yield from every(stack.of(VPC), check)


def _has_way_out(stack: Stack, vpc: Planned) -> bool:
    gateways = [gateway for gateway in stack.of(INTERNET_GATEWAY) if vpc in stack.sources(gateway, "vpcId", VPC)]
    nats = [nat for nat in stack.of(NAT_GATEWAY) for subnet in stack.sources(nat, "subnetId", SUBNET)
            if vpc in stack.sources(subnet, "vpcId", VPC)]  # fmt: skip
    tables = {table.urn for table in stack.of(ROUTE_TABLE) if vpc in stack.sources(table, "vpcId", VPC)}
    # A route to a gateway outside the program (transit, peering, a firewall) may lead out as well.
    others = [
        route
        for route in stack.of(ROUTE)
        if any(table.urn in tables for table in stack.sources(route, "routeTableId", ROUTE_TABLE))
        and route["destinationCidrBlock"].raw == WORLD[0]
    ]
    routed = any(table["routes"].items() for table in stack.of(ROUTE_TABLE) if table.urn in tables)
    return bool(gateways or nats or others or routed)
