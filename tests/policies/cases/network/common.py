"""What several of these cases are made of."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER, INTERNET_GATEWAY, SUBNET, VPC

from ..base import planned, urn


def vpc(**props: Any) -> Any:
    return planned(VPC, {"cidrBlock": "10.0.0.0/16", **props}, "vpc")


OF_VPC = {"vpcId": urn(VPC, "vpc")}
SUBNETS = [planned(SUBNET, {"vpcId": UNKNOWN}, name, **OF_VPC) for name in ("a", "b")]
EKS = planned(CLUSTER, {"vpcConfig": {"subnetIds": UNKNOWN}}, "main", vpcConfig=[urn(SUBNET, "a"), urn(SUBNET, "b")])
GATEWAY = planned(INTERNET_GATEWAY, {"vpcId": UNKNOWN}, "igw", **OF_VPC)
