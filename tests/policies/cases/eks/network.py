"""Cases of the rules in ``rules/eks/network.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER, SUBNET, VPC, VPC_MORE_CIDR

from ..base import Case, one, planned, urn


def config(**vpc: Any) -> dict[str, Any]:
    return {"vpcConfig": {"subnetIds": ["a", "b"], **vpc}}


def network(**props: Any) -> dict[str, Any]:
    return {"kubernetesNetworkConfig": props}


def in_vpc(service: Any, block: Any, *more: Any) -> list[Any]:
    return [
        planned(CLUSTER, {**config(), **network(serviceIpv4Cidr=service)}, "main", vpcConfig=urn(SUBNET, "a")),
        planned(SUBNET, {"vpcId": UNKNOWN}, "a", vpcId=urn(VPC, "vpc")),
        planned(VPC, {"cidrBlock": block}, "vpc"),
        *(planned(VPC_MORE_CIDR, {"vpcId": UNKNOWN, "cidrBlock": cidr}, vpcId=urn(VPC, "vpc")) for cidr in more),
    ]


CASES = {
    "cluster-endpoint-restricted": one(
        CLUSTER,
        [config(endpointPublicAccess=False), config(publicAccessCidrs=["203.0.113.0/24"])],
        [config(), config(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/0"]), {}],
        [config(endpointPublicAccess=UNKNOWN), config(publicAccessCidrs=UNKNOWN)],
        "the whole internet can reach the cluster's endpoint",
    ),
    "cluster-endpoint-private": one(
        CLUSTER,
        [config(endpointPrivateAccess=True)],
        [config(), config(endpointPrivateAccess=False)],
        [config(endpointPrivateAccess=UNKNOWN)],
        "over the internet",
    ),
    "cluster-two-zones": one(
        CLUSTER,
        [config(), {"vpcConfig": {"subnetIds": [UNKNOWN, UNKNOWN]}}],
        [{"vpcConfig": {"subnetIds": [UNKNOWN]}}],
        [{"vpcConfig": {"subnetIds": UNKNOWN}}],
        "it needs two",
    ),
    "cluster-service-range": one(
        CLUSTER,
        [{}, network(serviceIpv4Cidr="172.20.0.0/16")],
        [network(serviceIpv4Cidr="10.0.0.0/8"), network(serviceIpv4Cidr="203.0.113.0/24")],
        [network(serviceIpv4Cidr=UNKNOWN)],
        "the service CIDR",
    ),
    "cluster-service-range-apart": Case(
        [in_vpc("172.20.0.0/16", "10.0.0.0/16"), in_vpc("172.20.0.0/16", "10.0.0.0/16", "100.64.0.0/16")],
        [in_vpc("10.0.128.0/20", "10.0.0.0/16"), in_vpc("10.1.0.0/16", "10.0.0.0/16", "10.1.0.0/16")],
        [in_vpc("10.0.0.0/16", UNKNOWN), in_vpc(UNKNOWN, "10.0.0.0/16")],
        "overlap the VPC's",
    ),
}
