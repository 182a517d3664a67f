"""The queue in which the termination handler hears that nodes are about to end.

- an encrypted queue that keeps a message for five minutes: an older one is about a node that is gone;
- rules of EventBridge for the end, interruption, rebalancing, state and maintenance of instances, with the right to
  write into it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, named
from ..roles.policy_documents import rendered
from .self_managed_table import LIFECYCLE_EVENTS, queue_policy


@dataclass(frozen=True, kw_only=True)
class InterruptionQueueArgs:
    """The queue of one cluster."""

    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the queue and the rules."""


def check_interruption_queue(args: InterruptionQueueArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-TAG``)."""
    return check_tags(args.tags)


class InterruptionQueue(Component):
    """A queue for interruption events of EC2 instances.

    :raises WinkubeError: ``WK-TAG``.
    """

    queue_arn: pulumi.Output[str]
    """ARN of the queue, for the role of its reader."""
    queue_url: pulumi.Output[str]
    """URL of the queue, for its reader."""

    def __init__(self, name: str, args: InterruptionQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_interruption_queue(args))
        queue = aws.sqs.Queue(
            f"{name}-queue",
            message_retention_seconds=300,
            sqs_managed_sse_enabled=True,
            tags=named(args.tags, f"{name}-queue"),
            opts=self.child(),
        )
        rules = [self._create_rule(name, event, pattern, queue, args) for event, pattern in LIFECYCLE_EVENTS.items()]
        text = pulumi.Output.all(queue.arn, *(rule.arn for rule in rules)).apply(
            lambda arns: rendered(queue_policy(str(arns[0]), [str(arn) for arn in arns[1:]]))
        )
        aws.sqs.QueuePolicy(f"{name}-policy", queue_url=queue.url, policy=text, opts=self.child())
        self.queue_arn, self.queue_url = queue.arn, queue.url
        self.register_outputs({"queueArn": self.queue_arn, "queueUrl": self.queue_url})

    def _create_rule(
        self, name: str, event: str, pattern: Mapping[str, object], queue: aws.sqs.Queue, args: InterruptionQueueArgs
    ) -> aws.cloudwatch.EventRule:
        rule = aws.cloudwatch.EventRule(
            f"{name}-{event}",
            description="Instances that are about to end",
            event_pattern=json.dumps(pattern, separators=(",", ":")),
            tags=named(args.tags, f"{name}-{event}"),
            opts=self.child(),
        )
        aws.cloudwatch.EventTarget(f"{name}-{event}-target", rule=rule.name, arn=queue.arn, opts=self.child())
        return rule
