"""A VPC that is open at every end."""

import pulumi_aws as aws

WORLD = "0.0.0.0/0"


def build() -> tuple[aws.ec2.Vpc, list[aws.ec2.Subnet]]:
    """A VPC without flow log and host names, public subnets, open groups and a plain load balancer."""
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags={"team": "shop"})
    subnets = [
        aws.ec2.Subnet(f"public-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{number}.0/24", map_public_ip_on_launch=True)
        for number, zone in enumerate("ab")
    ]
    gateway = aws.ec2.InternetGateway("gateway", vpc_id=vpc.id)
    table = aws.ec2.RouteTable("public", vpc_id=vpc.id)
    aws.ec2.Route("out", route_table_id=table.id, destination_cidr_block=WORLD, gateway_id=gateway.id)
    for zone, subnet in zip("ab", subnets, strict=True):
        aws.ec2.RouteTableAssociation(f"public-{zone}", route_table_id=table.id, subnet_id=subnet.id)
    aws.ec2.DefaultSecurityGroup(
        "default", vpc_id=vpc.id, ingress=[{"protocol": "-1", "self": True, "from_port": 0, "to_port": 0}]
    )
    _open_ports(vpc)
    _balance(subnets)
    aws.ec2.VpcBlockPublicAccessOptions("region", internet_gateway_block_mode="off")
    return vpc, subnets


def _open_ports(vpc: aws.ec2.Vpc) -> None:
    rdp = {"protocol": "tcp", "from_port": 3389, "to_port": 3389, "cidr_blocks": [WORLD]}
    group = aws.ec2.SecurityGroup("desktop", vpc_id=vpc.id, ingress=[rdp])
    aws.vpc.SecurityGroupIngressRule(
        "database", security_group_id=group.id, ip_protocol="tcp", from_port=5432, to_port=5432, cidr_ipv4=WORLD
    )
    aws.ec2.SecurityGroupRule(
        "metrics",
        security_group_id=group.id,
        type="ingress",
        protocol="tcp",
        from_port=9182,
        to_port=9182,
        ipv6_cidr_blocks=["::/0"],
    )
    anything = {"rule_no": 100, "action": "allow", "protocol": "-1", "cidr_block": WORLD, "from_port": 0, "to_port": 0}
    aws.ec2.NetworkAcl("all", vpc_id=vpc.id, ingress=[anything])


def _balance(subnets: list[aws.ec2.Subnet]) -> None:
    balancer = aws.lb.LoadBalancer("web", subnets=[subnets[0].id], desync_mitigation_mode="monitor")
    target = {"type": "forward", "target_group_arn": "arn:aws:elasticloadbalancing:x:1:targetgroup/web/1"}
    aws.lb.Listener("plain", load_balancer_arn=balancer.arn, port=80, protocol="HTTP", default_actions=[target])
    aws.lb.Listener(
        "old",
        load_balancer_arn=balancer.arn,
        port=443,
        protocol="HTTPS",
        ssl_policy="ELBSecurityPolicy-2016-08",
        certificate_arn="arn:aws:acm:x:1:certificate/1",
        default_actions=[target],
    )
