"""Cases of the rules in ``rules/network/subnets.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ROUTE, ROUTE_TABLE, ROUTE_TABLE_ASSOCIATION, SUBNET

from ..base import Case, group, one, planned, urn
from .common import GATEWAY, OF_VPC, SUBNETS, vpc

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
NODES = group("l", subnetIds=UNKNOWN)
NODES_IN_A = planned(NODES.type, NODES.props, "l", subnetIds=urn(SUBNET, "a"))

CASES = {
    "subnets-without-public-addresses": one(
        SUBNET,
        [{}, {"mapPublicIpOnLaunch": False}],
        [{"mapPublicIpOnLaunch": True}],
        [{"mapPublicIpOnLaunch": UNKNOWN}],
        "gets a public address",
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
}
