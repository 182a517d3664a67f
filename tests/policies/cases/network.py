"""Cases of the rules about networks and load balancers."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    CLASSIC_LOAD_BALANCER,
    CLUSTER,
    DEFAULT_SECURITY_GROUP,
    FLOW_LOG,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    NETWORK_ACL,
    NETWORK_ACL_RULE,
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

from .base import Case, group, one, planned, urn

LOAD_BALANCER, LISTENER = "aws:lb/loadBalancer:LoadBalancer", "aws:alb/listener:Listener"


def tcp(first: Any, last: Any = None, cidr: Any = "0.0.0.0/0") -> dict[str, Any]:
    last = first if last is None else last
    return {"protocol": "tcp", "fromPort": first, "toPort": last, "cidrBlocks": [cidr]}


def vpc(**props: Any) -> Any:
    return planned(VPC, {"cidrBlock": "10.0.0.0/16", **props}, "vpc")


OF_VPC = {"vpcId": urn(VPC, "vpc")}
SUBNETS = [planned(SUBNET, {"vpcId": UNKNOWN}, name, **OF_VPC) for name in ("a", "b")]
EKS = planned(CLUSTER, {"vpcConfig": {"subnetIds": UNKNOWN}}, "main", vpcConfig=[urn(SUBNET, "a"), urn(SUBNET, "b")])
GATEWAY = planned(INTERNET_GATEWAY, {"vpcId": UNKNOWN}, "igw", **OF_VPC)
TABLE = planned(ROUTE_TABLE, {"vpcId": UNKNOWN}, "public", **OF_VPC)
OUT = planned(
    ROUTE,
    {"destinationCidrBlock": "0.0.0.0/0", "gatewayId": UNKNOWN},
    "out",
    gatewayId=GATEWAY.urn,
    routeTableId=TABLE.urn,
)
ASSOCIATION = planned(
    ROUTE_TABLE_ASSOCIATION, {"subnetId": UNKNOWN}, "a", subnetId=urn(SUBNET, "a"), routeTableId=TABLE.urn
)


def endpoint(service: Any) -> Any:
    name = service if service is UNKNOWN else f"com.amazonaws.eu-central-1.{service}"
    return planned(VPC_ENDPOINT, {"vpcId": UNKNOWN, "serviceName": name}, f"to-{service}", **OF_VPC)


NEEDED = [endpoint(name) for name in ("ec2", "ecr.api", "ecr.dkr", "s3", "sts")]
NODES = group("l", subnetIds=UNKNOWN)
NODES_IN_A = planned(NODES.type, NODES.props, "l", subnetIds=urn(SUBNET, "a"))

CASES = {
    "no-world-to-admin-ports": Case(
        [
            [
                planned(
                    SECURITY_GROUP, {"ingress": [tcp(443), tcp(22, cidr="10.0.0.0/8"), tcp(22, cidr="203.0.113.0/24")]}
                )
            ],
            [planned(SECURITY_GROUP_RULE, {**tcp(22), "type": "egress"})],
            [
                planned(
                    SECURITY_GROUP_INGRESS,
                    {"ipProtocol": "icmp", "cidrIpv4": "0.0.0.0/0", "fromPort": -1, "toPort": -1},
                )
            ],
            [planned(SECURITY_GROUP_INGRESS, {"ipProtocol": "-1", "referencedSecurityGroupId": UNKNOWN})],
        ],
        [
            [planned(SECURITY_GROUP, {"ingress": [tcp(22)]})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(3000, 4000)]})],
            [
                planned(
                    SECURITY_GROUP,
                    {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "ipv6CidrBlocks": ["::/0"]}]},
                )
            ],
            [planned(SECURITY_GROUP_RULE, {**tcp(5986), "type": "ingress"})],
            [
                planned(
                    SECURITY_GROUP_INGRESS,
                    {"ipProtocol": "tcp", "cidrIpv4": "0.0.0.0/0", "fromPort": 5985, "toPort": 5985},
                )
            ],
        ],
        [
            [planned(SECURITY_GROUP, {"ingress": UNKNOWN})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(22, cidr=UNKNOWN)]})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(UNKNOWN)]})],
        ],
        "of remote administration",
    ),
    "no-world-to-risky-ports": Case(
        [[planned(SECURITY_GROUP, {"ingress": [tcp(443), tcp(22), tcp(5432, cidr="10.0.0.0/8")]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(5432)]})], [planned(SECURITY_GROUP, {"ingress": [tcp(440, 450)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(5432, cidr=UNKNOWN)]})]],
        "often attacked",
    ),
    "only-public-ports-to-world": Case(
        [[planned(SECURITY_GROUP, {"ingress": [tcp(80), tcp(443), tcp(22), tcp(5432)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(9443)]})], [planned(SECURITY_GROUP, {"ingress": [tcp(80, 82)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(9443, cidr=UNKNOWN)]})]],
        "to the internet",
    ),
    "default-security-group-closed": one(
        DEFAULT_SECURITY_GROUP,
        [{}, {"ingress": [], "egress": []}],
        [{"ingress": [tcp(443)]}, {"egress": [{"protocol": "-1", "fromPort": 0, "toPort": 0}]}],
        [{"ingress": UNKNOWN}],
        "the default security group has",
    ),
    "network-acl-admin-ports": Case(
        [
            [
                planned(
                    NETWORK_ACL,
                    {
                        "ingress": [
                            {
                                "action": "allow",
                                "protocol": "tcp",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 443,
                                "toPort": 443,
                                "ruleNo": 1,
                            },
                            {
                                "action": "deny",
                                "protocol": "-1",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 0,
                                "toPort": 0,
                                "ruleNo": 2,
                            },
                        ]
                    },
                )
            ],
            [
                planned(
                    NETWORK_ACL_RULE,
                    {"egress": True, "ruleAction": "allow", "protocol": "-1", "cidrBlock": "0.0.0.0/0"},
                )
            ],
        ],
        [
            [
                planned(
                    NETWORK_ACL,
                    {
                        "ingress": [
                            {
                                "action": "allow",
                                "protocol": "6",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 0,
                                "toPort": 65535,
                                "ruleNo": 1,
                            }
                        ]
                    },
                )
            ],
            [planned(NETWORK_ACL_RULE, {"ruleAction": "allow", "protocol": "-1", "ipv6CidrBlock": "::/0"})],
        ],
        [[planned(NETWORK_ACL, {"ingress": [{"action": UNKNOWN, "protocol": "tcp", "cidrBlock": "0.0.0.0/0"}]})]],
        "of remote administration",
    ),
    "subnets-without-public-addresses": one(
        SUBNET,
        [{}, {"mapPublicIpOnLaunch": False}],
        [{"mapPublicIpOnLaunch": True}],
        [{"mapPublicIpOnLaunch": UNKNOWN}],
        "gets a public address",
    ),
    "vpc-block-public-access": one(
        VPC_BLOCK_PUBLIC_ACCESS,
        [{"internetGatewayBlockMode": "block-ingress"}],
        [{"internetGatewayBlockMode": "off"}],
        [{"internetGatewayBlockMode": UNKNOWN}],
        "are not restricted",
    ),
    "vpc-flow-logs": Case(
        [[vpc(), planned(FLOW_LOG, {"vpcId": UNKNOWN}, **OF_VPC)]],
        [[vpc()], [vpc(), planned(FLOW_LOG, {"subnetId": UNKNOWN})]],
        [[vpc(), planned(FLOW_LOG, {"vpcId": UNKNOWN})]],
        "the VPC has no flow log",
    ),
    "vpc-dns-for-eks": Case(
        [[vpc(enableDnsHostnames=True), *SUBNETS, EKS], [vpc(enableDnsHostnames=False), *SUBNETS]],
        [[vpc(), *SUBNETS, EKS], [vpc(enableDnsSupport=False), *SUBNETS, EKS]],
        [[vpc(enableDnsHostnames=UNKNOWN), *SUBNETS, EKS]],
        "nodes cannot re",
    ),
    "endpoints-of-isolated-vpc": Case(
        [
            [vpc(), *SUBNETS, EKS, GATEWAY],
            [vpc(), *SUBNETS, EKS, *NEEDED],
            [vpc()],
            [vpc(), *SUBNETS, EKS, planned(NAT_GATEWAY, {}, subnetId=urn(SUBNET, "a"))],
        ],
        [[vpc(), *SUBNETS, EKS], [vpc(), *SUBNETS, EKS, *NEEDED[:-1]]],
        [[vpc(), *SUBNETS, EKS, endpoint(UNKNOWN)]],
        "the VPC has no way to the internet and no endpoint of",
    ),
    "nodes-in-private-subnets": Case(
        [
            [vpc(), *SUBNETS, GATEWAY, TABLE, OUT, NODES_IN_A],
            [vpc(), *SUBNETS, planned(NODES.type, {"subnetIds": ["subnet-1"]}, "l")],
        ],
        [
            [vpc(), *SUBNETS, GATEWAY, TABLE, OUT, ASSOCIATION, NODES_IN_A],
            [planned(SUBNET, {"mapPublicIpOnLaunch": True}, "a"), NODES_IN_A],
        ],
        [[planned(NODES.type, {"subnetIds": UNKNOWN}, "l")]],
        'nodes run in public subnets: "a"',
    ),
    "listeners-use-tls": Case(
        [
            [planned(LISTENER, {"protocol": "HTTPS", "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": [{"type": "redirect"}]})],
            [planned(LISTENER, {"protocol": "TCP", "defaultActions": [{"type": "forward"}]})],
            [planned(CLASSIC_LOAD_BALANCER, {"listeners": [{"lbProtocol": "https", "lbPort": 443}]})],
        ],
        [
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"port": 80, "defaultActions": [{"type": "forward"}]})],
            [planned(CLASSIC_LOAD_BALANCER, {"listeners": [{"lbProtocol": "http", "lbPort": 80}]})],
        ],
        [
            [planned(LISTENER, {"protocol": UNKNOWN, "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": UNKNOWN})],
        ],
        "in plain text",
    ),
    "listeners-tls-policy": one(
        LISTENER,
        [{"protocol": "HTTPS", "sslPolicy": "ELBSecurityPolicy-TLS13-1-2-Res-2021-06"}, {"protocol": "HTTP"}],
        [{"protocol": "HTTPS"}, {"protocol": "TLS", "sslPolicy": "ELBSecurityPolicy-2016-08"}],
        [{"protocol": "HTTPS", "sslPolicy": UNKNOWN}],
        "TLS",
    ),
    "load-balancer-logs": one(
        LOAD_BALANCER,
        [{"accessLogs": {"bucket": UNKNOWN, "enabled": True}}, {"loadBalancerType": "gateway"}],
        [{}, {"accessLogs": {"bucket": "b"}}, {"accessLogs": {"bucket": "b", "enabled": False}}],
        [{"accessLogs": UNKNOWN}],
        "writes no access log",
        {"when": "always"},
    ),
    "load-balancer-deletion-protection": one(
        LOAD_BALANCER,
        [{"enableDeletionProtection": True}],
        [{}],
        [{"enableDeletionProtection": UNKNOWN}],
        "can be deleted in one step",
        stack="prod",
    ),
    "load-balancer-invalid-headers": one(
        LOAD_BALANCER,
        [{"dropInvalidHeaderFields": True}, {"loadBalancerType": "network"}],
        [{}],
        [{"dropInvalidHeaderFields": UNKNOWN}, {"loadBalancerType": UNKNOWN}],
        "are passed on",
    ),
    "load-balancer-desync": one(
        LOAD_BALANCER,
        [{}, {"desyncMitigationMode": "strictest"}],
        [{"desyncMitigationMode": "monitor"}],
        [{"desyncMitigationMode": UNKNOWN}],
        "counted, not stopped",
    ),
    "load-balancer-zones": one(
        LOAD_BALANCER,
        [{"subnets": [UNKNOWN, UNKNOWN]}, {}],
        [{"subnets": [UNKNOWN]}],
        [{"subnets": UNKNOWN}],
        "one zone only",
    ),
}
