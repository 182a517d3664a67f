"""The endpoint, the subnets and the service addresses of a cluster."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from winkube.core.cidr import network_or_none
from winkube.eks.cluster_rules import check_service_cidr

from ...frameworks import cis_eks, eks_guide, fsbp
from ...inventory import vpcs_of
from ...model import Option, Planned, Settings, Stack, Value, Violation, every, resource_rule, stack_rule, texts
from ...resource_types import CLUSTER, VPC, VPC_MORE_CIDR

ENDPOINT_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"


@resource_rule(
    "cluster-endpoint-restricted",
    "The cluster's endpoint is not open to the internet",
    types=[CLUSTER],
    severity="high",
    references=[fsbp("EKS.1"), cis_eks("5.4.1"), cis_eks("5.4.2")],
    steps="set endpoint_public_access to false, or list your networks in public_access_cidrs",
    url=ENDPOINT_PAGE,
    options={
        "public": Option(
            "restricted", "`restricted` accepts a public endpoint that is limited to listed networks, `never` does not",
            {"type": "string", "enum": ["restricted", "never"]},
        ),
    },
)  # fmt: skip
def cluster_endpoint_restricted(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, EKS opens the endpoint to everyone."""
    config = resource["vpcConfig"]
    if config["endpointPublicAccess"].flag is False:
        return
    if settings["public"] == "never":
        yield "the cluster's endpoint is public"
        return
    cidrs = texts(config["publicAccessCidrs"])
    if not cidrs or any(cidr in ("0.0.0.0/0", "::/0") for cidr in cidrs):
        how = "publicAccessCidrs is not set" if not cidrs else "publicAccessCidrs allows every address"
        yield f"the whole internet can reach the cluster's endpoint: {how}"


@resource_rule(
    "cluster-endpoint-private",
    "Nodes reach the cluster's endpoint inside the VPC",
    types=[CLUSTER],
    references=[cis_eks("5.4.2")],
    steps="set endpoint_private_access to true",
    url=ENDPOINT_PAGE,
)
def cluster_endpoint_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without a private endpoint, the nodes' traffic leaves the VPC."""
    if not resource["vpcConfig"]["endpointPrivateAccess"].flag:
        yield "endpointPrivateAccess is not true, so nodes reach the control plane over the internet"


@resource_rule(
    "cluster-two-zones",
    "The control plane has subnets in two zones",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="list a subnet in each of two or three zones",
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)
def cluster_two_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses a cluster with one subnet."""
    subnets = resource["vpcConfig"]["subnetIds"]
    subnets.known()
    if len(subnets.items()) == 1 and not resource["outpostConfig"].given:
        yield "EKS refuses a cluster with one subnet: it needs two, in two zones"


@resource_rule(
    "cluster-service-range",
    "EKS accepts the service address range",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps='set service_ipv4_cidr to a network such as "172.20.0.0/16"',
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html",
)
def cluster_service_range(resource: Planned, settings: Settings) -> Iterator[str]:
    """The range is private, with a prefix of /12 to /24."""
    cidr = resource["kubernetesNetworkConfig"]["serviceIpv4Cidr"].text
    for mistake in check_service_cidr(cidr) if cidr else ():
        yield f"{mistake.message}, got {cidr}"


@stack_rule(
    "cluster-service-range-apart",
    "Service addresses do not overlap the VPC",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="choose another service_ipv4_cidr; it cannot be changed later",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html",
)
def cluster_service_range_apart(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Nodes treat an address in both ranges as a service, so the machine behind it cannot be reached."""

    def check(cluster: Planned) -> Iterator[Violation]:
        service = network_or_none(cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"].text or "")
        if service is None:
            return
        vpcs = vpcs_of(stack, cluster)
        blocks = [vpc["cidrBlock"] for vpc in vpcs]
        blocks += [more["cidrBlock"] for more in stack.of(VPC_MORE_CIDR)
                   if any(vpc in vpcs for vpc in stack.sources(more, "vpcId", VPC))]  # fmt: skip
        yield from every(blocks, lambda block: _overlap(block, service, cluster))

    yield from every(stack.of(CLUSTER), check)


def _overlap(block: Value, service: IPv4Network, cluster: Planned) -> Iterator[Violation]:
    network = network_or_none(block.text or "")
    if network is not None and network.overlaps(service):
        yield Violation(f"service addresses {service} overlap the VPC's {network}", cluster.urn)
