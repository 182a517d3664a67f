"""A security group for the workers of one group, and its rules in the groups of a cluster that others made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, cluster_tag, named
from .group_security import Opening, openings
from .join_target import JoinTarget, check_join_target
from .target_rules import check_target_security


@dataclass(frozen=True, kw_only=True)
class WorkerSecurityGroupArgs:
    """The arguments of the security group of an instance group."""

    group: str
    """The instance group's name."""
    system: str
    """``linux`` or ``windows``."""
    target: JoinTarget
    """The cluster; the rules use its security groups as sources."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of group and rules."""


def check_worker_security(args: WorkerSecurityGroupArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = Mistakes()
    found.take(check_join_target(args.target), "target")
    found.take(check_target_security(args.target, args.system), "target")
    found.take(check_tags(args.tags))
    return found


class WorkerSecurityGroup(Component):
    """The security group of an instance group: kubelet from the control plane, VXLAN between nodes, all egress.

    :raises WinkubeError: ``WK-IG-001`` to ``-010``, ``WK-TAG``.
    """

    security_group_id: pulumi.Output[str]
    """Id of the group."""

    def __init__(self, name: str, args: WorkerSecurityGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_worker_security(args))
        self._name, self._args = name, args
        target = args.target
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            description=f"Instance group {args.group}",
            vpc_id=target.vpc_id,
            # The cloud controller writes the rules of load balancers into the one group with this tag.
            tags=named(args.tags, name, **cluster_tag(target.cluster_name)),
            opts=self.child(),
        )
        self.security_group_id = group.id
        peers: dict[str, Sequence[pulumi.Input[str]]] = {
            "own": [group.id],
            "control_plane": target.control_plane_security_group_ids,
            "node": target.node_security_group_ids,
            "api": target.api_security_group_ids,
        }
        for opening in openings(args.system, target.pod_network, int(target.endpoint.rpartition(":")[2])):
            for first, source in enumerate(peers[opening.source]):
                for second, destination in enumerate(peers[opening.target]):
                    words = (_word(opening.source, first), _word(opening.target, second))
                    self._create_rule(opening, words, source, destination)
        self._create_egress()
        self.register_outputs({"securityGroupId": self.security_group_id})

    def _create_rule(
        self, opening: Opening, words: tuple[str, str], source: pulumi.Input[str], target: pulumi.Input[str]
    ) -> None:
        name = f"{self._name}-{words[0]}-to-{words[1]}-{opening.protocol}-{opening.first}"
        aws.vpc.SecurityGroupIngressRule(
            name,
            security_group_id=target,
            referenced_security_group_id=source,
            ip_protocol=opening.protocol,
            from_port=opening.first,
            to_port=opening.last,
            description=opening.purpose,
            tags=named(self._args.tags, name),
            opts=self.child(),
        )

    def _create_egress(self) -> None:
        name = f"{self._name}-out"
        aws.vpc.SecurityGroupEgressRule(
            name,
            security_group_id=self.security_group_id,
            cidr_ipv4="0.0.0.0/0",
            ip_protocol="-1",
            description="Answers, images, APIs",
            tags=named(self._args.tags, name),
            opts=self.child(),
        )


def _word(peer: str, index: int) -> str:
    return peer if peer == "own" else f"{peer.replace('_', '-')}-{index}"
