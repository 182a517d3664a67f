"""Cases of the rules in ``rules/network/endpoints.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import NAT_GATEWAY, SUBNET, VPC_ENDPOINT

from ..base import Case, planned, urn
from .common import EKS, GATEWAY, OF_VPC, SUBNETS, vpc


def endpoint(service: Any) -> Any:
    name = service if service is UNKNOWN else f"com.amazonaws.eu-central-1.{service}"
    return planned(VPC_ENDPOINT, {"vpcId": UNKNOWN, "serviceName": name}, f"to-{service}", **OF_VPC)


NEEDED = [endpoint(name) for name in ("ec2", "ecr.api", "ecr.dkr", "s3", "sts")]

CASES = {
    "endpoints-of-isolated-vpc": Case(
        [
            [vpc(), *SUBNETS, EKS, GATEWAY],
            [vpc(), *SUBNETS, EKS, *NEEDED],
            [vpc()],
            [vpc(), *SUBNETS, EKS, planned(NAT_GATEWAY, {}, subnetId=urn(SUBNET, "a"))],
        ],
        [[vpc(), *SUBNETS, EKS], [vpc(), *SUBNETS, EKS, *NEEDED[:-1]]],
        [[vpc(), *SUBNETS, EKS, endpoint(UNKNOWN)]],
        "the VPC has no internet access and no endpoint for",
    ),
}
