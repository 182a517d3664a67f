"""Flow logs of a VPC in CloudWatch: log group, role and the flow log itself."""

from collections.abc import Mapping
from typing import Protocol

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.tags import named
from ..roles.policy_documents import flow_log_writer, rendered, trust
from ..tables.regions import partition


class FlowLogArgs(Protocol):
    """The part of the network's arguments that is about flow logs."""

    @property
    def region(self) -> str: ...  # noqa: D102
    @property
    def flow_log_retention_days(self) -> int | None: ...  # noqa: D102
    @property
    def flow_log_kms_key_arn(self) -> pulumi.Input[str] | None: ...  # noqa: D102
    @property
    def permissions_boundary(self) -> str | None: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


def create_flow_logs(parent: Component, name: str, vpc_id: pulumi.Output[str], args: FlowLogArgs) -> pulumi.Output[str]:
    """Log all traffic of the VPC, accepted and rejected; gives the name of the log group."""
    tags = named(args.tags, name)
    group = aws.cloudwatch.LogGroup(
        name,
        retention_in_days=args.flow_log_retention_days,
        kms_key_id=args.flow_log_kms_key_arn,
        tags=tags,
        opts=parent.child(),
    )
    role = aws.iam.Role(
        name,
        description="Writes the flow logs of a VPC",
        assume_role_policy=rendered(trust("vpc-flow-logs", partition(args.region))),
        permissions_boundary=args.permissions_boundary,
        tags=tags,
        opts=parent.child(),
    )
    policy = aws.iam.RolePolicy(
        name,
        role=role.id,
        policy=group.arn.apply(lambda arn: rendered(flow_log_writer(arn))),
        opts=parent.child(),
    )
    aws.ec2.FlowLog(
        name,
        vpc_id=vpc_id,
        traffic_type="ALL",
        log_destination_type="cloud-watch-logs",
        log_destination=group.arn,
        iam_role_arn=role.arn,
        tags=tags,
        # Without the policy the first records are lost.
        opts=parent.child(depends_on=[policy]),
    )
    return group.name
