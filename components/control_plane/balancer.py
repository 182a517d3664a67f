"""The load balancers before the API servers.

- an internal one, for nodes and whoever is connected to the VPC;
- a public one, on wish: nodes keep to the internal one, for what leaves by a NAT gateway has no security group;
- their record ``api.<cluster>``, private and public, made before any node asks for it.

Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-target-groups.html.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.names import physical_name
from ..core.tags import check_tags, named
from ..zone.zone import ApiRecord, ApiRecordArgs

NAME_LIMIT = 32
AUTONAME_SUFFIX = 8
"""What Pulumi appends to a name: a hyphen and seven characters."""
HEALTH_CHECKS: Mapping[str, Mapping[str, Any]] = {
    "readyz": {"protocol": "HTTPS", "path": "/readyz", "matcher": "200"},
    "tcp": {"protocol": "TCP"},
}
INTERVAL_SECONDS = 10
DEREGISTRATION_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class ApiBalancerArgs:
    """What one load balancer before the API is made from."""

    cluster_name: str
    """The cluster's name: its record is ``api.<cluster_name>``."""
    domain: str
    """Name of the hosted zones."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Its subnets, one per zone."""
    security_group_id: pulumi.Input[str]
    """Its security group. One that is made without can never get one."""
    zone_ids: Mapping[str, pulumi.Input[str]]
    """The hosted zones for its record."""
    internal: bool = True
    """Whether it has private addresses; yes by default."""
    port: int = 6443
    """The port of the API, on both sides."""
    health_check: str = "readyz"
    """``readyz`` (default) or ``tcp``."""
    deletion_protection: bool = False
    """Whether AWS refuses to delete it."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of all parts."""


def check_balancer(args: ApiBalancerArgs) -> Mistakes:
    """Every mistake in the arguments; the rest is judged where the cluster is."""
    return check_tags(args.tags)


def short_name(name: str) -> str | None:
    """A physical name where Pulumi's own way of naming would exceed the limit of load balancers, else None.

    >>> short_name("prod-api") is None, short_name("production-control-plane-api")
    (True, 'production-control-plan-44926afb')
    """
    return None if len(name) + AUTONAME_SUFFIX <= NAME_LIMIT else physical_name(name, limit=NAME_LIMIT)


class ApiBalancer(Component):
    """A network load balancer before the API servers of a cluster, with its record.

    :raises WinkubeError: ``WK-TAG``, ``WK-DNS``.
    """

    dns_name: pulumi.Output[str]
    """Its own name."""
    arn: pulumi.Output[str]
    """Its ARN."""
    target_group_arn: pulumi.Output[str]
    """ARN of the group in which the nodes register, once the listener is there: until then it has no health."""

    def __init__(self, name: str, args: ApiBalancerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_balancer(args))
        balancer = aws.lb.LoadBalancer(
            f"{name}-nlb",
            name=short_name(f"{name}-nlb"),
            load_balancer_type="network",
            internal=args.internal,
            subnets=list(args.subnet_ids),
            security_groups=[args.security_group_id],
            enable_cross_zone_load_balancing=True,
            enable_deletion_protection=args.deletion_protection,
            tags=named(args.tags, f"{name}-nlb"),
            opts=self.child(),
        )
        group = self._create_group(f"{name}-tg", args)
        listener = aws.lb.Listener(
            f"{name}-listener",
            load_balancer_arn=balancer.arn,
            port=args.port,
            protocol="TCP",
            default_actions=[{"type": "forward", "target_group_arn": group.arn}],
            tags=named(args.tags, f"{name}-listener"),
            opts=self.child(),
        )
        self.record = ApiRecord(
            f"{name}-record",
            ApiRecordArgs(
                cluster_name=args.cluster_name,
                domain=args.domain,
                zone_ids=args.zone_ids,
                balancer_dns_name=balancer.dns_name,
                balancer_zone_id=balancer.zone_id,
            ),
            self.child(),
        )
        self.dns_name, self.arn = balancer.dns_name, balancer.arn
        self.target_group_arn = pulumi.Output.all(group.arn, listener.arn).apply(lambda arns: arns[0])
        self.register_outputs({
            "dnsName": self.dns_name, "arn": self.arn, "targetGroupArn": self.target_group_arn,
        })  # fmt: skip

    def _create_group(self, name: str, args: ApiBalancerArgs) -> aws.lb.TargetGroup:
        return aws.lb.TargetGroup(
            name,
            name=short_name(name),
            vpc_id=args.vpc_id,
            target_type="instance",
            port=args.port,
            protocol="TCP",
            # Preserved, a node whose own API server is picked would speak to itself, which the balancer cannot do.
            preserve_client_ip="false",
            deregistration_delay=DEREGISTRATION_SECONDS,
            connection_termination=True,
            health_check=_health_check(args),
            tags=named(args.tags, name),
            opts=self.child(),
        )


def _health_check(args: ApiBalancerArgs) -> Any:
    return {
        **HEALTH_CHECKS[args.health_check],
        "port": str(args.port),
        "interval": INTERVAL_SECONDS,
        "healthy_threshold": 2,
        "unhealthy_threshold": 2,
    }
