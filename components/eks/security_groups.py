"""Security groups with the least that EKS asks for, in place of the cluster's own, which opens everything.

- one for the control plane's interfaces (``EksClusterArgs.security_group_ids``);
- one for Linux and one for Windows nodes (``security_group_ids`` of their groups, with
  ``cluster_security_group=False``);
- one rule for each row of the port matrix, and what the user opens among pods.

Pods have addresses of the VPC and the security group of their node: what they say to each other must be opened too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, named
from ..network.ports import EKS_RULES, PortRule, Role
from .port_rules import PodPort, check_pod_ports, pod_rules

ROLES: Mapping[Role, str] = {
    "eks_control_plane": "control-plane",
    "linux_worker": "linux",
    "windows_worker": "windows",
}
"""The members of the port matrix on EKS, with the word in the name of their group."""


@dataclass(frozen=True, kw_only=True)
class EksSecurityGroupsArgs:
    """The arguments of the security groups of a cluster."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    pod_ports: Sequence[PodPort] = ()
    """Ports that pods may reach on pods of other nodes; only those of CoreDNS by default."""
    egress_cidrs: Sequence[str] = ("0.0.0.0/0",)
    """CIDRs that nodes may reach; all by default, for images and AWS APIs."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the groups."""


def check_security_groups(args: EksSecurityGroupsArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_pod_ports(args.pod_ports, args.egress_cidrs)
    found.take(check_tags(args.tags))
    return found


class EksSecurityGroups(Component):
    """The security groups of control plane, Linux nodes and Windows nodes.

    :raises WinkubeError: ``WK-EKS-084``, ``WK-TAG``.
    """

    control_plane_id: pulumi.Output[str]
    """The group of the control plane's interfaces."""
    linux_id: pulumi.Output[str]
    """The group of Linux nodes."""
    windows_id: pulumi.Output[str]
    """The group of Windows nodes."""

    def __init__(self, name: str, args: EksSecurityGroupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_security_groups(args))
        self._name, self._args = name, args
        self._groups = {role: self._create_group(word) for role, word in ROLES.items()}
        for rule in (*EKS_RULES, *pod_rules(args.pod_ports)):
            self._create_rule(rule)
        self._create_egress()
        self.control_plane_id = self._groups["eks_control_plane"].id
        self.linux_id = self._groups["linux_worker"].id
        self.windows_id = self._groups["windows_worker"].id
        self.register_outputs({
            "controlPlaneId": self.control_plane_id,
            "linuxId": self.linux_id,
            "windowsId": self.windows_id,
        })  # fmt: skip

    def _create_group(self, word: str) -> aws.ec2.SecurityGroup:
        return aws.ec2.SecurityGroup(
            f"{self._name}-{word}",
            description=f"EKS {word}",
            vpc_id=self._args.vpc_id,
            tags=named(self._args.tags, f"{self._name}-{word}"),
            opts=self.child(),
        )

    def _create_rule(self, rule: PortRule) -> None:
        ports = f"{rule.first}" if rule.first == rule.last else f"{rule.first}-{rule.last}"
        name = f"{self._name}-{ROLES[rule.source]}-to-{ROLES[rule.target]}-{rule.protocol}-{ports}"
        aws.vpc.SecurityGroupIngressRule(
            name,
            security_group_id=self._groups[rule.target].id,
            referenced_security_group_id=self._groups[rule.source].id,
            ip_protocol=rule.protocol,
            from_port=rule.first,
            to_port=rule.last,
            description=rule.purpose,
            tags=named(self._args.tags, name),
            opts=self.child(),
        )

    def _create_egress(self) -> None:
        for role, word in ROLES.items():
            for index, cidr in enumerate(self._args.egress_cidrs):
                name = f"{self._name}-{word}-out-{index}"
                aws.vpc.SecurityGroupEgressRule(
                    name,
                    security_group_id=self._groups[role].id,
                    cidr_ipv4=cidr,
                    ip_protocol="-1",
                    description="Answers, images, APIs",
                    tags=named(self._args.tags, name),
                    opts=self.child(),
                )
