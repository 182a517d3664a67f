"""Cases of the rules in ``rules/network/vpcs.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import FLOW_LOG, VPC_BLOCK_PUBLIC_ACCESS

from ..base import Case, one, planned
from .common import EKS, OF_VPC, SUBNETS, vpc

CASES = {
    "vpc-block-public-access": one(
        VPC_BLOCK_PUBLIC_ACCESS,
        [{"internetGatewayBlockMode": "block-ingress"}],
        [{"internetGatewayBlockMode": "off"}],
        [{"internetGatewayBlockMode": UNKNOWN}],
        "are unrestricted",
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
}
