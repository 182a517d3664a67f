"""What node groups and Windows IPAM need to know of an EKS cluster, whoever made it."""

from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi

from ..core.cidr import nth_address
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from .cluster_rules import AUTHENTICATION_MODES, check_service_cidr, check_version

TARGET_CNI = Rule(
    "WK-EKS-056",
    "The vpc-cni of a cluster is an add-on or self-managed.",
    "https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
)
TARGET_MODE = Rule(
    "WK-EKS-057",
    "The authentication mode must be one that EKS offers.",
    "https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html",
)
VPC_CNI_OWNERS = ("addon", "self_managed")


@dataclass(frozen=True, kw_only=True)
class EksTarget:
    """A cluster that node groups can join: ``EksCluster.target``, or the description of an existing cluster."""

    name: pulumi.Input[str]
    """The cluster's name."""
    kubernetes_version: str
    """Its Kubernetes minor, such as ``1.36``; images and Windows releases are checked against it."""
    endpoint: pulumi.Input[str] | None = None
    """Its API endpoint. Required for groups that run the bootstrap script themselves."""
    certificate_authority: pulumi.Input[str] | None = None
    """Its CA in base64, as EKS returns it. Required for groups that run the bootstrap script themselves."""
    service_cidr: str = "172.20.0.0/16"
    """Its service CIDR. Without it, the bootstrap script may guess a wrong one."""
    authentication_mode: str = "API"
    """``API`` (default), ``API_AND_CONFIG_MAP`` or ``CONFIG_MAP``."""
    ip_family: str = "ipv4"
    """Its IP family. Windows nodes can join only ``ipv4``."""
    vpc_cni: str = "addon"
    """Who installs the CNI: ``addon`` (default) or ``self_managed``. Decides how Windows IPAM is configured."""
    security_group_id: pulumi.Input[str] | None = None
    """ID of its cluster security group. Required for self-managed groups."""
    platform_version: str | None = None
    """Its platform version, such as ``eks.9``, if it is an old cluster: Windows needs a minimum platform version."""
    auto_mode: bool = False
    """Whether it uses EKS Auto Mode, which does not support Windows nodes."""
    partition: str = "aws"
    """The partition of its Region."""

    @property
    def dns_cluster_ip(self) -> str:
        """The address of the cluster's DNS: the tenth of the service CIDR."""
        return str(nth_address(IPv4Network(self.service_cidr), 10))


def check_target(target: EksTarget) -> Mistakes:
    """Every mistake in the description of a cluster, paths relative to it."""
    found = check_version(target.kubernetes_version, existing=True)
    found.take(check_service_cidr(target.service_cidr))
    if target.authentication_mode not in AUTHENTICATION_MODES:
        guess = nearest(target.authentication_mode, AUTHENTICATION_MODES)
        found.add(TARGET_MODE, ("authentication_mode",), f"the authentication mode is {one_of(AUTHENTICATION_MODES)}",
                  f'write "{guess}"' if guess else "write one of these", target.authentication_mode)  # fmt: skip
    if target.vpc_cni not in VPC_CNI_OWNERS:
        found.add(TARGET_CNI, ("vpc_cni",), f"vpc-cni is {one_of(VPC_CNI_OWNERS)}",
                  f'write "{nearest(target.vpc_cni, VPC_CNI_OWNERS) or "addon"}"', target.vpc_cni)  # fmt: skip
    return found
