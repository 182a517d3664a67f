"""VPCs: security groups, network ACLs, subnets, flow logs, endpoints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..frameworks import BEST_PRACTICES, cis_aws, cis_eks, controls_page, eks_guide, fsbp
from ..inventory import vpcs_of
from ..model import Option, Planned, Settings, Stack, Undecided, Value, Violation, every, resource_rule, stack_rule
from ..resource_types import (
    CLUSTER,
    DEFAULT_SECURITY_GROUP,
    FLOW_LOG,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    NETWORK_ACL,
    NETWORK_ACL_RULE,
    NODE_GROUP,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS,
    SECURITY_GROUP_RULE,
    SUBNET,
    VPC,
    VPC_BLOCK_PUBLIC_ACCESS,
    VPC_ENDPOINT,
)

PORTS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65535}, "uniqueItems": True}
ADMIN_PORTS = Option([22, 3389, 5985, 5986], "ports of remote administration: SSH, RDP, WinRM", PORTS)
RISKY_PORTS = Option(
    [20, 21, 23, 25, 110, 135, 143, 445, 1433, 1434, 2379, 2380, 3000, 3306, 4333, 5000, 5432, 5500, 5601, 8080, 8088,
     8888, 9200, 9300, 10250],
    "ports of services that are often attacked: those of EC2.19, etcd and the kubelet", PORTS,
)  # fmt: skip
PUBLIC_PORTS = Option([80, 443], "ports that may be open to everybody", PORTS)
WORLD = ("0.0.0.0/0", "::/0")
INGRESS_TYPES = (SECURITY_GROUP, SECURITY_GROUP_RULE, SECURITY_GROUP_INGRESS)


@dataclass(frozen=True, slots=True)
class Opening:
    """Ports that are open to the whole internet."""

    first: int
    last: int
    place: str

    def has(self, ports: Sequence[int]) -> list[int]:
        """Those of the ports that are open."""
        return [port for port in ports if self.first <= port <= self.last]

    def __str__(self) -> str:
        place = f"{self.place} opens " if self.place else "opens "
        if (self.first, self.last) == (0, 65535):
            return f"{place}all ports to the internet"
        ports = f"port {self.first}" if self.first == self.last else f"ports {self.first} to {self.last}"
        return f"{place}{ports} to the internet"


def _openings(resource: Planned) -> Iterator[Opening]:
    """What a security group, or a rule of one, opens to everybody."""
    if resource.type == SECURITY_GROUP:
        yield from every(resource["ingress"].items(), lambda rule: _opening(rule, "cidrBlocks", "ipv6CidrBlocks"))
    elif resource.type == SECURITY_GROUP_RULE:
        if resource["type"].text == "ingress":
            yield from _opening(Value(resource.props, ""), "cidrBlocks", "ipv6CidrBlocks")
    else:
        yield from _opening(Value(resource.props, ""), "cidrIpv4", "cidrIpv6")


def _opening(rule: Value, *sources: str) -> Iterator[Opening]:
    blocks = [block for name in sources for block in (rule[name].items() or [rule[name]])]
    if not any(block.raw in WORLD for block in blocks):
        unknown = next((block for block in blocks if block.unknown), None)
        if unknown is not None:
            raise Undecided(unknown.path)
        return
    protocol = rule["protocol"] if rule["protocol"].given else rule["ipProtocol"]
    name = str(protocol.known()).lower()
    if name in ("icmp", "icmpv6", "1", "58"):
        return
    if name in ("-1", "all"):
        yield Opening(0, 65535, rule.path)
        return
    first, last = rule["fromPort"].number, rule["toPort"].number
    if first is not None:
        yield Opening(max(first, 0), 65535 if first < 0 else first if last is None else last, rule.path)


@resource_rule(
    "no-world-to-admin-ports",
    "Ports of remote administration are not open to the internet",
    types=INGRESS_TYPES,
    severity="critical",
    level="mandatory",
    references=[fsbp("EC2.13"), fsbp("EC2.14"), fsbp("EC2.53"), fsbp("EC2.54"), cis_aws("5.2"), cis_aws("5.3")],
    steps="name the networks that administer, or use Systems Manager sessions and open no port at all",
    url=controls_page("ec2"),
    options={"ports": ADMIN_PORTS},
)
def no_world_to_admin_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """SSH, RDP and WinRM are guessed at within minutes."""
    for opening in _openings(resource):
        found = opening.has(settings["ports"])
        if found:
            yield f"{opening}{_among(opening, found, 'remote administration')}"


def _among(opening: Opening, found: Sequence[int], what: str) -> str:
    if opening.first == opening.last:
        return f": a port of {what}"
    return f", ports of {what} among them: {', '.join(map(str, found))}"


@resource_rule(
    "no-world-to-risky-ports",
    "Ports of services that are often attacked are not open to the internet",
    types=INGRESS_TYPES,
    severity="high",
    references=[fsbp("EC2.19")],
    steps="name the networks that need the service, or put it behind a load balancer",
    url=controls_page("ec2"),
    options={"ports": RISKY_PORTS, "adminPorts": ADMIN_PORTS},
)
def no_world_to_risky_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Each opening is reported once, by the sharpest rule."""
    for opening in _openings(resource):
        found = opening.has(settings["ports"])
        if found and not opening.has(settings["adminPorts"]):
            yield f"{opening}{_among(opening, found, 'a service that is often attacked')}"


@resource_rule(
    "only-public-ports-to-world",
    "Only the ports of public services are open to the internet",
    types=INGRESS_TYPES,
    severity="medium",
    references=[fsbp("EC2.18")],
    steps="name the networks that need the port, or list it in the rule's configuration if it is public on purpose",
    url=controls_page("ec2"),
    options={"ports": PUBLIC_PORTS, "riskyPorts": RISKY_PORTS, "adminPorts": ADMIN_PORTS},
)
def only_public_ports_to_world(resource: Planned, settings: Settings) -> Iterator[str]:
    """What is neither public by agreement nor reported by the two rules above."""
    public = set(settings["ports"])
    for opening in _openings(resource):
        if opening.has(settings["adminPorts"]) or opening.has(settings["riskyPorts"]):
            continue
        if not set(range(opening.first, opening.last + 1)) <= public:
            yield str(opening)


@resource_rule(
    "default-security-group-closed",
    "The default security group of a VPC lets nothing through",
    types=[DEFAULT_SECURITY_GROUP],
    severity="high",
    references=[fsbp("EC2.2"), cis_aws("5.4")],
    steps="set ingress and egress to empty lists: what names no security group of its own gets this one",
    url=controls_page("ec2"),
)
def default_security_group_closed(resource: Planned, settings: Settings) -> Iterator[str]:
    """Nobody chooses this group; it is what one gets by forgetting."""
    for name in ("ingress", "egress"):
        rules = resource[name]
        rules.known()
        if rules.items():
            yield f"the default security group has {name} rules"


@resource_rule(
    "network-acl-admin-ports",
    "Network ACLs do not open ports of remote administration to the internet",
    types=[NETWORK_ACL, NETWORK_ACL_RULE],
    references=[fsbp("EC2.21"), cis_aws("5.1")],
    steps="allow these ports from the networks that administer only",
    url=controls_page("ec2"),
    options={"ports": ADMIN_PORTS},
)
def network_acl_admin_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Rules that allow everything count as well: the ACL then filters nothing."""

    def check(rule: Value) -> Iterator[str]:
        action = rule["action"] if rule["action"].given else rule["ruleAction"]
        sources = (rule["cidrBlock"].raw, rule["ipv6CidrBlock"].raw)
        if str(action.known()).lower() != "allow" or not any(source in WORLD for source in sources):
            return
        first, last = rule["fromPort"].number or 0, rule["toPort"].number or 0
        if str(rule["protocol"].known()) in ("-1", "all") or (first, last) == (0, 0):
            first, last = 0, 65535
        elif str(rule["protocol"].raw).lower() not in ("tcp", "6"):
            return
        found = Opening(first, last, rule.path).has(settings["ports"])
        if found:
            opening = Opening(first, last, rule.path)
            yield f"{opening}{_among(opening, found, 'remote administration')}"

    if resource.type == NETWORK_ACL:
        yield from every(resource["ingress"].items(), check)
    elif resource["egress"].flag is not True:
        yield from check(Value(resource.props, ""))


@resource_rule(
    "subnets-without-public-addresses",
    "Subnets hand out no public addresses by themselves",
    types=[SUBNET],
    references=[fsbp("EC2.15"), cis_eks("5.4.3")],
    steps="set map_public_ip_on_launch to false and ask for a public address where one is needed",
    url=controls_page("ec2"),
)
def subnets_without_public_addresses(resource: Planned, settings: Settings) -> Iterator[str]:
    """Load balancers and NAT gateways in public subnets do not need it."""
    if resource["mapPublicIpOnLaunch"].flag:
        yield "everything that starts in the subnet gets a public address"


@resource_rule(
    "vpc-block-public-access",
    "Block Public Access of VPCs is not switched off",
    types=[VPC_BLOCK_PUBLIC_ACCESS],
    references=[fsbp("EC2.172")],
    steps='set internet_gateway_block_mode to "block-bidirectional" or "block-ingress"',
    url=controls_page("ec2"),
)
def vpc_block_public_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """A switch of the whole region."""
    if resource["internetGatewayBlockMode"].text == "off":
        yield "internet gateways of the whole region are not restricted"


@stack_rule(
    "vpc-flow-logs",
    "Every VPC has a flow log",
    types=[VPC],
    references=[fsbp("EC2.6"), cis_aws("3.7")],
    steps="make an aws.ec2.FlowLog with the VPC's id",
    url="https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs.html",
)
def vpc_flow_logs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without it nobody can tell afterwards who spoke to whom."""
    logged: set[str] = set()
    unclear = ""
    for log in stack.of(FLOW_LOG):
        sources = stack.sources(log, "vpcId", VPC)
        logged |= {source.urn for source in sources}
        if not sources and log["vpcId"].unknown:
            unclear = f"{log.name}.vpcId"
    missing = [vpc for vpc in stack.of(VPC) if vpc.urn not in logged]
    if unclear and missing:
        raise Undecided(unclear)
    for vpc in missing:
        yield Violation("the VPC has no flow log", vpc.urn)


@stack_rule(
    "vpc-dns-for-eks",
    "The VPC of a cluster resolves names and gives instances names",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="set enable_dns_support and enable_dns_hostnames to true",
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)
def vpc_dns_for_eks(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Nodes find the API server by a private name; without these they never join."""

    def check(vpc: Planned) -> Iterator[Violation]:
        if vpc["enableDnsSupport"].flag is False:
            yield Violation("nodes cannot resolve the cluster's endpoint: enableDnsSupport is false", vpc.urn)
        elif not vpc["enableDnsHostnames"].flag:
            state = "is not set" if vpc["enableDnsHostnames"].raw is None else "is false"
            yield Violation(f"nodes cannot register: enableDnsHostnames {state}", vpc.urn)

    yield from every(vpcs_of(stack, *stack.of(CLUSTER)), check)


@stack_rule(
    "endpoints-of-isolated-vpc",
    "A VPC without a way to the internet has the endpoints that nodes need",
    types=[VPC],
    severity="high",
    references=[fsbp("EC2.10"), fsbp("EC2.55"), fsbp("EC2.56"), fsbp("EC2.57"), eks_guide("Private clusters")],
    steps="make an aws.ec2.VpcEndpoint for each of these services, or give the subnets a route through a NAT gateway",
    url="https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
    options={
        "isolated": Option(
            ["ec2", "ecr.api", "ecr.dkr", "s3", "sts"],
            "services that nodes of a cluster reach by endpoint where the VPC has neither internet nor NAT gateway",
            {"type": "array", "items": {"type": "string"}},
        ),
        "always": Option(
            [],
            "services that every VPC has endpoints of; for the letter of EC2.10 and EC2.55 to EC2.57: ec2, ecr.api, "
            "ecr.dkr, ssm",
            {"type": "array", "items": {"type": "string"}},
        ),
    },
)
def endpoints_of_isolated_vpc(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Isolated nodes neither join nor pull an image; other VPCs are asked only if the configuration says so."""
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
            what = "the VPC has no way to the internet and" if isolated else "the VPC has"
            yield Violation(f"{what} no endpoint of {', '.join(missing)}", vpc.urn)

    yield from every(stack.of(VPC), check)


def _has_way_out(stack: Stack, vpc: Planned) -> bool:
    gateways = [gateway for gateway in stack.of(INTERNET_GATEWAY) if vpc in stack.sources(gateway, "vpcId", VPC)]
    nats = [nat for nat in stack.of(NAT_GATEWAY) for subnet in stack.sources(nat, "subnetId", SUBNET)
            if vpc in stack.sources(subnet, "vpcId", VPC)]  # fmt: skip
    tables = {table.urn for table in stack.of(ROUTE_TABLE) if vpc in stack.sources(table, "vpcId", VPC)}
    # A route to a gateway of somebody else's (transit, peering, a firewall) may lead out as well.
    others = [
        route
        for route in stack.of(ROUTE)
        if any(table.urn in tables for table in stack.sources(route, "routeTableId", ROUTE_TABLE))
        and route["destinationCidrBlock"].raw == WORLD[0]
    ]
    routed = any(table["routes"].items() for table in stack.of(ROUTE_TABLE) if table.urn in tables)
    return bool(gateways or nats or others or routed)


@stack_rule(
    "nodes-in-private-subnets",
    "Nodes run in subnets without a route from the internet",
    types=[NODE_GROUP],
    references=[cis_eks("5.4.3"), fsbp("EC2.9")],
    steps="give the node group the ids of private subnets",
    url=f"{BEST_PRACTICES}/subnets.html",
)
def nodes_in_private_subnets(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A subnet is public if its route table leads to an internet gateway, or if it hands out public addresses."""
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


RULES = (
    no_world_to_admin_ports,
    no_world_to_risky_ports,
    only_public_ports_to_world,
    default_security_group_closed,
    network_acl_admin_ports,
    subnets_without_public_addresses,
    vpc_block_public_access,
    vpc_flow_logs,
    vpc_dns_for_eks,
    endpoints_of_isolated_vpc,
    nodes_in_private_subnets,
)
