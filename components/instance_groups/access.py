"""What the role of an instance group may do beside the role of every node. Pure.

Each statement names one thing: the group's own documents, the one parameter of the token, the group's own hooks, the
tag in which a node says how far it came. Whoever takes over a node gets no more than a worker has.
"""

from typing import Protocol
from urllib.parse import urlsplit

from ..roles.policy_documents import Document, Statement, allow, document
from ..state_bucket.layout import ClusterLayout, key_access
from .spec import GROUP_TAG, auto_scaling_group_name, group_tag

STATUS_TAG = "winkube:boot"
"""The tag in which a node says how far its start came."""


class ClusterLike(Protocol):
    """What the statements need of a cluster."""

    @property
    def cluster_name(self) -> str: ...  # noqa: D102
    @property
    def region(self) -> str: ...  # noqa: D102
    @property
    def partition(self) -> str: ...  # noqa: D102
    @property
    def token_parameter(self) -> str: ...  # noqa: D102
    @property
    def incarnation(self) -> int: ...  # noqa: D102
    @property
    def mirror(self) -> str | None: ...  # noqa: D102


def node_access(
    cluster: ClusterLike, group: str, *, bucket_arn: str, bucket_key_arn: str | None, token_key_arn: str | None
) -> Document:
    """What a node of a group does with AWS: fetch its code and document, join, report, leave."""
    statements = [
        *_bucket(cluster, group, bucket_arn, bucket_key_arn),
        *_token(cluster, token_key_arn),
        *_hooks(cluster, group),
        _report(cluster, group),
        *mirror_access(cluster),
    ]
    return document(*statements)


def _bucket(cluster: ClusterLike, group: str, bucket_arn: str, key_arn: str | None) -> list[Statement]:
    layout = ClusterLayout(cluster.cluster_name)
    # Code and documents lie under their digests: older ones are for nodes that started with them.
    read = [f"{bucket_arn}/{layout.boot_prefix}*", f"{bucket_arn}/{layout.node_documents_prefix(group)}*"]
    statements = [
        allow("s3:GetObject", read, sid="BootFiles"),
        # Instances, and so never the slots of the control plane.
        allow("s3:PutObject", f"{bucket_arn}/{status_prefix(layout, cluster.incarnation)}i-*.json", sid="Status"),
    ]
    if key_arn is not None:
        statements.append({"Sid": "BucketKey", **key_access(key_arn, bucket_arn, "write")})
    return statements


def status_prefix(layout: ClusterLayout, incarnation: int) -> str:
    """Where nodes write how far they are.

    >>> status_prefix(ClusterLayout("dev"), 1)
    'clusterconfigs/dev/bootstrap/1/status/'
    """
    return layout.status("x", incarnation).removesuffix("x.json")


def _token(cluster: ClusterLike, key_arn: str | None) -> list[Statement]:
    arn = f"arn:{cluster.partition}:ssm:{cluster.region}:*:parameter{cluster.token_parameter}"
    statements = [allow("ssm:GetParameter", arn, sid="JoinToken")]
    if key_arn is not None:
        condition = {"StringLike": {"kms:EncryptionContext:PARAMETER_ARN": arn}}
        statements.append(allow("kms:Decrypt", key_arn, sid="JoinTokenKey", conditions=condition))
    return statements


def _hooks(cluster: ClusterLike, group: str) -> list[Statement]:
    name = auto_scaling_group_name(group, cluster.cluster_name)
    own = f"arn:{cluster.partition}:autoscaling:{cluster.region}:*:autoScalingGroup:*:autoScalingGroupName/{name}"
    describe = ["autoscaling:DescribeAutoScalingInstances", "autoscaling:DescribeLifecycleHooks"]
    return [
        allow(
            ["autoscaling:CompleteLifecycleAction", "autoscaling:RecordLifecycleActionHeartbeat"], own, sid="OwnHooks"
        ),
        # Describing cannot be limited to one group.
        allow(describe, "*", sid="FindHooks", conditions={"StringEquals": {"aws:RequestedRegion": cluster.region}}),
    ]


def _report(cluster: ClusterLike, group: str) -> Statement:
    return allow(
        "ec2:CreateTags",
        f"arn:{cluster.partition}:ec2:{cluster.region}:*:instance/*",
        sid="ReportState",
        conditions={
            "StringEquals": {f"aws:ResourceTag/{GROUP_TAG}": group_tag(group, cluster.cluster_name)},
            "ForAllValues:StringEquals": {"aws:TagKeys": [STATUS_TAG]},
        },
    )


def mirror_access(cluster: ClusterLike) -> list[Statement]:
    """Reads a mirror that is a bucket."""
    mirror = urlsplit(cluster.mirror or "")
    if mirror.scheme != "s3":
        return []
    path = f"{mirror.netloc}{mirror.path.rstrip('/')}"
    return [allow("s3:GetObject", f"arn:{cluster.partition}:s3:::{path}/*", sid="Mirror")]
