"""IAM policy documents as plain data: statements, trust, and the managed policies of each kind of role. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Statement = dict[str, Any]
Document = dict[str, Any]

VERSION = "2012-10-17"

NODE_POLICIES: Mapping[str, tuple[str, ...]] = {
    # The CNI's own policy is for the aws-node DaemonSet, which runs on Linux nodes.
    "eks-linux": (
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKS_CNI_Policy",
        "AmazonSSMManagedInstanceCore",
    ),
    # Addresses of Windows pods are managed from the control plane: no CNI policy.
    "eks-windows": (
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    ),
    # AmazonSSMManagedInstanceCore would let a node read every parameter of the account: session_manager() does not.
    "self-managed": ("AmazonEC2ContainerRegistryPullOnly",),
    "image-builder": (
        "EC2InstanceProfileForImageBuilder",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    ),
}
"""Kind of node role to the names of the AWS managed policies that it needs.

https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""
CONTROL_PLANE_POLICIES = ("AmazonEC2ContainerRegistryPullOnly",)
"""What the nodes of a self-managed control plane need of AWS managed policies; the rest names the cluster's own."""
CNI_POLICY = "AmazonEKS_CNI_Policy"
EKS_CLUSTER_POLICIES = ("AmazonEKSClusterPolicy",)
EKS_WINDOWS_POLICIES = ("AmazonEKSVPCResourceController",)
"""What an EKS cluster role needs beside them so that Windows pods get addresses.

https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
"""


def allow(
    actions: str | Sequence[str],
    resources: str | Sequence[str],
    *,
    sid: str = "",
    conditions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Statement:
    """A statement that allows ``actions`` on ``resources``.

    >>> allow("ec2:DescribeTags", "*")
    {'Effect': 'Allow', 'Action': ['ec2:DescribeTags'], 'Resource': ['*']}
    """
    statement: Statement = {"Sid": sid} if sid else {}
    statement |= {"Effect": "Allow", "Action": _listed(actions), "Resource": _listed(resources)}
    if conditions:
        statement["Condition"] = {operator: dict(keys) for operator, keys in conditions.items()}
    return statement


def document(*statements: Statement) -> Document:
    """A policy document of these statements."""
    return {"Version": VERSION, "Statement": list(statements)}


def rendered(policy: Mapping[str, Any]) -> str:
    """The text of a document: as short as JSON can be, for IAM counts characters."""
    return json.dumps(policy, separators=(",", ":"))


def trust(service: str, partition: str = "aws") -> Document:
    """Lets an AWS service assume a role.

    >>> trust("ec2", "aws-cn")["Statement"][0]["Principal"]
    {'Service': ['ec2.amazonaws.com.cn']}
    """
    # EC2 is the one of our services whose principal carries the suffix of the China regions.
    suffix = "amazonaws.com.cn" if partition == "aws-cn" and service == "ec2" else "amazonaws.com"
    return document({
        "Effect": "Allow",
        "Principal": {"Service": [f"{service}.{suffix}"]},
        "Action": ["sts:AssumeRole"],
    })  # fmt: skip


def account_key(key_arn: str) -> Statement:
    """Lets the account of a KMS key administer it, and give it to others through IAM.

    Without this statement nobody could change the key's policy again.
    https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
    """
    _, partition, _, _, account, _ = key_arn.split(":", 5)
    root = {"AWS": [f"arn:{partition}:iam::{account}:root"]}
    return allow("kms:*", "*", sid="Account") | {"Principal": root}


def managed_policy_arn(name: str, partition: str = "aws") -> str:
    """The ARN of an AWS managed policy.

    >>> managed_policy_arn("AmazonEKSClusterPolicy", "aws-us-gov")
    'arn:aws-us-gov:iam::aws:policy/AmazonEKSClusterPolicy'
    """
    return f"arn:{partition}:iam::aws:policy/{name}"


def session_manager() -> Document:
    """The least that Session Manager asks of a node.

    https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html
    """
    return document(
        allow(
            [
                "ssm:UpdateInstanceInformation",
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            "*",
            sid="SessionManager",
        )
    )


def self_managed_node(region: str = "") -> Document:
    """What the kubelet and the bootstrap of a self-managed node ask: who am I, and what are my tags.

    :param region: only in this region; ``""`` for any.
    """
    conditions = {"StringEquals": {"aws:RequestedRegion": region}} if region else None
    actions = ["ec2:DescribeInstances", "ec2:DescribeRegions", "ec2:DescribeTags"]
    return document(allow(actions, "*", sid="DescribeSelf", conditions=conditions))


def flow_log_writer(log_group_arn: str) -> Document:
    """Lets VPC flow logs write into one log group.

    https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
    """
    return document(
        allow(
            ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [log_group_arn, f"{log_group_arn}:*"],
            sid="WriteFlowLogs",
        ),
        # Describing log groups cannot be limited to one of them.
        allow("logs:DescribeLogGroups", "*", sid="FindLogGroup"),
    )


def _listed(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
