"""VPCs: public access, flow logs, names."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, eks_guide, fsbp
from ...inventory import vpcs_of
from ...model import Planned, Settings, Stack, Undecided, Violation, every, resource_rule, stack_rule
from ...resource_types import CLUSTER, FLOW_LOG, VPC, VPC_BLOCK_PUBLIC_ACCESS


@resource_rule(
    "vpc-block-public-access",
    "VPC Block Public Access is not switched off",
    types=[VPC_BLOCK_PUBLIC_ACCESS],
    references=[fsbp("EC2.172")],
    steps='set internet_gateway_block_mode to "block-bidirectional" or "block-ingress"',
    url=controls_page("ec2"),
)
def vpc_block_public_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """The setting applies to the whole region."""
    if resource["internetGatewayBlockMode"].text == "off":
        yield "internet gateways are unrestricted in the whole region"


@stack_rule(
    "vpc-flow-logs",
    "Every VPC has a flow log",
    types=[VPC],
    references=[fsbp("EC2.6"), cis_aws("3.7")],
    steps="add an aws.ec2.FlowLog with the VPC's id",
    url="https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs.html",
)
def vpc_flow_logs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without one, nobody can reconstruct who connected to whom."""
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
    "The VPC of a cluster has DNS support and DNS hostnames",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="set enable_dns_support and enable_dns_hostnames to true",
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)
def vpc_dns_for_eks(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Nodes find the API server by a private DNS name; without both settings they never join."""

    def check(vpc: Planned) -> Iterator[Violation]:
        if vpc["enableDnsSupport"].flag is False:
            yield Violation("nodes cannot resolve the cluster's endpoint: enableDnsSupport is false", vpc.urn)
        elif not vpc["enableDnsHostnames"].flag:
            state = "is not set" if vpc["enableDnsHostnames"].raw is None else "is false"
            yield Violation(f"nodes cannot register: enableDnsHostnames {state}", vpc.urn)

    yield from every(vpcs_of(stack, *stack.of(CLUSTER)), check)
