"""The security groups of a self-managed cluster: one per member of the port matrix, one rule per row.

The groups of Linux and Windows workers are made here too, so that every rule names two groups and none an address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, cluster_tag, named
from ..network.cidrs import check_cidr
from ..network.ports import NODES, PortRule, Role, self_managed_rules

GROUPS: Mapping[Role, str] = {
    "api_load_balancer": "api",
    "control_plane": "control-plane",
    "linux_worker": "linux",
    "windows_worker": "windows",
}
"""The members of the port matrix, with the word in the name of their group."""


@dataclass(frozen=True, kw_only=True)
class ClusterSecurityGroupsArgs:
    """What the security groups of a self-managed cluster are made from."""

    cluster_name: str
    """The cluster's name."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    api_allowed_cidrs: Sequence[str] = ()
    """Networks that may reach the API beside the nodes."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of groups and rules."""


def check_cluster_security_groups(args: ClusterSecurityGroupsArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_tags(args.tags)
    for index, cidr in enumerate(args.api_allowed_cidrs):
        found.take(check_cidr(cidr, ("api_allowed_cidrs", index)))
    return found


class ClusterSecurityGroups(Component):
    """The security groups of load balancer, control plane, Linux and Windows workers.

    :raises WinkubeError: ``WK-NET-002``, ``WK-NET-003``, ``WK-TAG``.
    """

    api_load_balancer_id: pulumi.Output[str]
    """The group of the load balancers before the API."""
    control_plane_id: pulumi.Output[str]
    """The group of the control plane's nodes."""
    linux_id: pulumi.Output[str]
    """The group of Linux workers."""
    windows_id: pulumi.Output[str]
    """The group of Windows workers."""
    rules: Sequence[pulumi.Resource]
    """All rules, in and out: a node starts when they are there."""

    def __init__(self, name: str, args: ClusterSecurityGroupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_cluster_security_groups(args))
        self._name, self._args = name, args
        self._groups = {role: self._create_group(role, word) for role, word in GROUPS.items()}
        rules = [self._create_rule(rule) for row in self_managed_rules() for rule in self._sources(row)]
        self.rules = [*rules, *self._create_egress()]
        self.api_load_balancer_id = self._groups["api_load_balancer"].id
        self.control_plane_id = self._groups["control_plane"].id
        self.linux_id = self._groups["linux_worker"].id
        self.windows_id = self._groups["windows_worker"].id
        self.register_outputs({
            "apiLoadBalancerId": self.api_load_balancer_id,
            "controlPlaneId": self.control_plane_id,
            "linuxId": self.linux_id,
            "windowsId": self.windows_id,
        })  # fmt: skip

    def _create_group(self, role: Role, word: str) -> aws.ec2.SecurityGroup:
        # The cloud controller looks for the one group of an instance that has the cluster's tag, and writes rules into
        # it; the balancer's is none of its business.
        owned = cluster_tag(self._args.cluster_name) if role in NODES else {}
        return aws.ec2.SecurityGroup(
            f"{self._name}-{word}",
            description=f"Kubernetes {word}",
            vpc_id=self._args.vpc_id,
            tags=named(self._args.tags, f"{self._name}-{word}", **owned),
            opts=self.child(),
        )

    def _sources(self, row: PortRule) -> list[tuple[PortRule, str | None]]:
        """A row once per network that its source means; None where the source is a group."""
        return [(row, cidr) for cidr in self._args.api_allowed_cidrs] if row.source == "client" else [(row, None)]

    def _create_rule(self, rule: tuple[PortRule, str | None]) -> aws.vpc.SecurityGroupIngressRule:
        row, cidr = rule
        ports = f"{row.first}" if row.first == row.last else f"{row.first}-{row.last}"
        source = GROUPS[row.source] if cidr is None else f"client-{cidr.replace('/', '-')}"
        name = f"{self._name}-{source}-to-{GROUPS[row.target]}-{row.protocol}-{ports}"
        return aws.vpc.SecurityGroupIngressRule(
            name,
            security_group_id=self._groups[row.target].id,
            referenced_security_group_id=self._groups[row.source].id if cidr is None else None,
            cidr_ipv4=cidr,
            ip_protocol=row.protocol,
            from_port=row.first,
            to_port=row.last,
            description=row.purpose,
            tags=named(self._args.tags, name),
            opts=self.child(),
        )

    def _create_egress(self) -> list[pulumi.Resource]:
        everything: list[pulumi.Resource] = [
            self._create_way_out(role, f"{self._name}-{GROUPS[role]}-out", "Answers, images, APIs",
                                 cidr_ipv4="0.0.0.0/0", ip_protocol="-1")
            for role in NODES
        ]  # fmt: skip
        port = _api_port()
        balancer = self._create_way_out(
            "api_load_balancer", f"{self._name}-api-to-control-plane", "Kubernetes API and its health",
            referenced_security_group_id=self._groups["control_plane"].id,
            ip_protocol="tcp", from_port=port, to_port=port,
        )  # fmt: skip
        return [*everything, balancer]

    def _create_way_out(self, role: Role, name: str, description: str, **to: Any) -> aws.vpc.SecurityGroupEgressRule:
        return aws.vpc.SecurityGroupEgressRule(
            name,
            security_group_id=self._groups[role].id,
            description=description,
            tags=named(self._args.tags, name),
            opts=self.child(),
            **to,
        )


def _api_port() -> int:
    return next(row.first for row in self_managed_rules() if row.target == "api_load_balancer")
