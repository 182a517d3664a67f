"""A VPC for Kubernetes clusters with Windows nodes.

- the VPC with DNS, its default security group closed;
- per zone a private subnet, and on wish a public and an intra one (no way out), with route tables;
- an internet gateway, NAT gateways (none, one, or one per zone);
- gateway and interface endpoints, the latter behind a security group that lets the VPC in on 443;
- flow logs into CloudWatch with a role that may write there and nowhere else;
- reservations of /28 blocks, so that Windows prefix delegation finds unbroken ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import cluster_tag, named
from ..roles.role_rules import check_boundary
from ..tables.regions import REGIONS
from .endpoints import service_name
from .flow_logs import create_flow_logs
from .plan import SubnetPlan, check_network, plan_network

ANYWHERE = "0.0.0.0/0"
BALANCER_TAGS = {"public": {"kubernetes.io/role/elb": "1"}, "private": {"kubernetes.io/role/internal-elb": "1"}}
"""By these tags the load balancer controllers find the subnets of a balancer.

https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
"""


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """The arguments of a network."""

    region: str
    """Region of the network, which is that of the provider. It decides zones and endpoint service names."""
    cidr: str = "10.0.0.0/16"
    """IPv4 CIDR of the VPC, /16 to /22 (/23 without public subnets, /25 with only private subnets)."""
    zones: int | Sequence[str] = 2
    """How many zones (one to three, the first of the region's table), or their names. Names are in the order of the
    address plan: add further ones at the end. Two by default, the least that EKS takes."""
    nat: str = "per_zone"
    """Internet access of private subnets: ``per_zone`` (a NAT gateway per zone), ``single`` (one for all zones, a
    single point of failure) or ``none``. Requires public subnets unless ``none``."""
    public_subnets: bool = True
    """Whether to create subnets for NAT gateways and internet-facing load balancers."""
    intra_subnets: bool = False
    """Whether to create subnets without routes out of the VPC, other than endpoints."""
    gateway_endpoints: Sequence[str] = ("s3",)
    """Services reached by a gateway endpoint: ``s3``, ``dynamodb``."""
    interface_endpoints: Sequence[str] = ()
    """Services reached by an interface endpoint in the private subnets: ``ecr.api``, ``sts``, …"""
    flow_log_retention_days: int | None = 90
    """Retention of the flow logs in days; None turns them off."""
    flow_log_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the flow logs; CloudWatch's own key by default. Its policy must allow CloudWatch Logs."""
    cluster_names: Sequence[str] = ()
    """Clusters whose load balancers use the subnets; each adds the tag ``kubernetes.io/cluster/<name>=shared``."""
    windows_prefix_reservations: int = 0
    """Number of /28 blocks to reserve per private subnet for prefix delegation on Windows nodes; 0 by default."""
    permissions_boundary: str | None = None
    """ARN of the permissions boundary of the flow logs' role."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource that can carry them."""


def check_network_args(args: NetworkArgs) -> Mistakes:
    """What is wrong with the network and with the boundary of its flow logs' role."""
    found = check_network(args)
    region = REGIONS.get(args.region)
    found.take(check_boundary(args.permissions_boundary, partition=region.partition if region else None))
    return found


class Network(Component):
    """A VPC with its subnets, routes, endpoints and flow logs.

    :raises WinkubeError: with every mistake in the arguments (``WK-NET-001`` to ``WK-NET-016``, ``WK-IAM-019``,
        ``WK-TAG``).
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    cidr: str
    """Its IPv4 network."""
    zone_names: tuple[str, ...]
    """Its zones, in the order of the subnets."""
    private_subnet_ids: list[pulumi.Output[str]]
    """Subnets of the nodes, one per zone."""
    public_subnet_ids: list[pulumi.Output[str]]
    """Subnets of NAT gateways and internet-facing load balancers, one per zone, or none."""
    intra_subnet_ids: list[pulumi.Output[str]]
    """Subnets without routes out of the VPC, one per zone, or none."""
    private_route_table_ids: list[pulumi.Output[str]]
    """Route tables of the private subnets, one per zone."""
    nat_public_ips: list[pulumi.Output[str]]
    """Public IP addresses of the private subnets' egress traffic."""
    default_security_group_id: pulumi.Output[str]
    """ID of the VPC's default security group, which allows no traffic."""
    endpoint_security_group_id: pulumi.Output[str] | None
    """Security group of the interface endpoints, if there are any."""
    flow_log_group_name: pulumi.Output[str] | None
    """CloudWatch log group of the flow logs, if they are kept."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_network_args(args))
        self._name, self._args = name, args
        plan = plan_network(args)
        self.cidr, self.zone_names = args.cidr, plan.zones
        self._create_vpc()
        self._subnets = {subnet.cidr: self._create_subnet(subnet) for subnet in plan.subnets}
        self.private_subnet_ids = self._ids(plan.private)
        self.public_subnet_ids = self._ids(plan.public)
        self.intra_subnet_ids = self._ids(plan.intra)
        public_tables = self._create_public_routes(plan.public)
        private_tables = self._create_private_routes(plan.private, plan.public)
        intra_tables = [self._create_table("intra", plan.intra)] if plan.intra else []
        self.private_route_table_ids = [table.id for table in private_tables]
        self._create_gateway_endpoints([*private_tables, *public_tables, *intra_tables])
        self._create_interface_endpoints()
        self.flow_log_group_name = None
        if args.flow_log_retention_days is not None:
            self.flow_log_group_name = create_flow_logs(self, f"{name}-flow-logs", self.vpc_id, args)
        self.register_outputs({
            "vpcId": self.vpc_id,
            "cidr": self.cidr,
            "zoneNames": list(self.zone_names),
            "privateSubnetIds": self.private_subnet_ids,
            "publicSubnetIds": self.public_subnet_ids,
            "intraSubnetIds": self.intra_subnet_ids,
            "natPublicIps": self.nat_public_ips,
            "defaultSecurityGroupId": self.default_security_group_id,
        })  # fmt: skip

    def _create_vpc(self) -> None:
        tags = named(self._args.tags, f"{self._name}-vpc")
        self._vpc = aws.ec2.Vpc(
            f"{self._name}-vpc",
            cidr_block=self._args.cidr,
            # Private DNS of endpoints and private hosted zones need both.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=tags,
            opts=self.child(),
        )
        self.vpc_id = self._vpc.id
        # Adopted and emptied: whatever is started without a group of its own can then reach nothing.
        default = aws.ec2.DefaultSecurityGroup(
            f"{self._name}-default-closed",
            vpc_id=self.vpc_id,
            ingress=[],
            egress=[],
            tags=named(self._args.tags, f"{self._name}-default-closed"),
            opts=self.child(),
        )
        self.default_security_group_id = default.id

    def _create_subnet(self, plan: SubnetPlan) -> aws.ec2.Subnet:
        name = self._zonal(plan.role, plan.zone)
        more = dict(BALANCER_TAGS.get(plan.role, {}))
        if more:
            for cluster in self._args.cluster_names:
                more |= cluster_tag(cluster, owned=False)
        subnet = aws.ec2.Subnet(
            name,
            vpc_id=self.vpc_id,
            availability_zone=plan.zone,
            cidr_block=str(plan.cidr),
            # In public subnets too: only gateways and balancers live there, and they bring their addresses.
            map_public_ip_on_launch=False,
            tags=named(self._args.tags, name, **more),
            opts=self.child(),
        )
        for index, block in enumerate(plan.reservations):
            aws.ec2.SubnetCidrReservation(
                f"{name}-prefixes-{index}",
                subnet_id=subnet.id,
                cidr_block=str(block),
                reservation_type="prefix",
                description="/28 blocks for pods on Windows nodes (prefix delegation)",
                # The new block may overlap the old one, which AWS refuses while both exist.
                opts=self.child(delete_before_replace=True),
            )
        return subnet

    def _create_public_routes(self, public: Sequence[SubnetPlan]) -> list[aws.ec2.RouteTable]:
        if not public:
            return []
        gateway = aws.ec2.InternetGateway(
            f"{self._name}-internet",
            vpc_id=self.vpc_id,
            tags=named(self._args.tags, f"{self._name}-internet"),
            opts=self.child(),
        )
        table = self._create_table("public", public)
        self._internet_route = aws.ec2.Route(
            f"{self._name}-public-internet",
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway.id,
            opts=self.child(),
        )
        return [table]

    def _create_private_routes(
        self, private: Sequence[SubnetPlan], public: Sequence[SubnetPlan]
    ) -> list[aws.ec2.RouteTable]:
        wanted = {"none": 0, "single": 1, "per_zone": len(public)}[self._args.nat]
        gateways = [self._create_nat(subnet) for subnet in public[:wanted]]
        self.nat_public_ips = [address.public_ip for _, address in gateways]
        tables: list[aws.ec2.RouteTable] = []
        for index, subnet in enumerate(private):
            # One table per zone whatever the mode: a change of mode then changes one route, not the tables.
            tables.append(self._create_table(f"private-{self._letter(subnet.zone)}", [subnet]))
            if gateways:
                gateway, _ = gateways[min(index, len(gateways) - 1)]
                aws.ec2.Route(
                    f"{self._zonal('private', subnet.zone)}-nat",
                    route_table_id=tables[-1].id,
                    destination_cidr_block=ANYWHERE,
                    nat_gateway_id=gateway.id,
                    opts=self.child(),
                )
        return tables

    def _create_nat(self, subnet: SubnetPlan) -> tuple[aws.ec2.NatGateway, aws.ec2.Eip]:
        name = self._zonal("nat", subnet.zone)
        address = aws.ec2.Eip(name, domain="vpc", tags=named(self._args.tags, name), opts=self.child())
        gateway = aws.ec2.NatGateway(
            name,
            subnet_id=self._subnets[subnet.cidr].id,
            allocation_id=address.allocation_id,
            tags=named(self._args.tags, name),
            # A gateway that is made before its subnet reaches the internet fails.
            opts=self.child(depends_on=[self._internet_route]),
        )
        return gateway, address

    def _create_table(self, part: str, subnets: Sequence[SubnetPlan]) -> aws.ec2.RouteTable:
        name = f"{self._name}-{part}"
        table = aws.ec2.RouteTable(
            name, vpc_id=self.vpc_id, tags=named(self._args.tags, name), opts=self.child()
        )  # fmt: skip
        for subnet in subnets:
            aws.ec2.RouteTableAssociation(
                self._zonal(subnet.role, subnet.zone),
                route_table_id=table.id,
                subnet_id=self._subnets[subnet.cidr].id,
                opts=self.child(),
            )
        return table

    def _create_gateway_endpoints(self, tables: Sequence[aws.ec2.RouteTable]) -> None:
        for service in self._args.gateway_endpoints:
            name = f"{self._name}-endpoint-{service}"
            aws.ec2.VpcEndpoint(
                name,
                vpc_id=self.vpc_id,
                vpc_endpoint_type="Gateway",
                service_name=service_name(service, self._args.region),
                route_table_ids=[table.id for table in tables],
                tags=named(self._args.tags, name),
                opts=self.child(),
            )

    def _create_interface_endpoints(self) -> None:
        self.endpoint_security_group_id = None
        if not self._args.interface_endpoints:
            return
        name = f"{self._name}-endpoints"
        # Without a rule for egress: endpoints answer, they do not call.
        group = aws.ec2.SecurityGroup(
            name,
            vpc_id=self.vpc_id,
            description="Interface endpoints of AWS services",
            tags=named(self._args.tags, name),
            opts=self.child(),
        )
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-https",
            security_group_id=group.id,
            description="HTTPS from the VPC",
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=self.cidr,
            tags=named(self._args.tags, f"{name}-https"),
            opts=self.child(),
        )
        self.endpoint_security_group_id = group.id
        for service in self._args.interface_endpoints:
            endpoint = f"{self._name}-endpoint-{service.replace('.', '-')}"
            aws.ec2.VpcEndpoint(
                endpoint,
                vpc_id=self.vpc_id,
                vpc_endpoint_type="Interface",
                service_name=service_name(service, self._args.region),
                private_dns_enabled=True,
                subnet_ids=self.private_subnet_ids,
                security_group_ids=[group.id],
                tags=named(self._args.tags, endpoint),
                opts=self.child(),
            )

    def _ids(self, subnets: Sequence[SubnetPlan]) -> list[pulumi.Output[str]]:
        return [self._subnets[subnet.cidr].id for subnet in subnets]

    def _letter(self, zone: str) -> str:
        return zone.removeprefix(self._args.region)

    def _zonal(self, part: str, zone: str) -> str:
        return f"{self._name}-{part}-{self._letter(zone)}"
