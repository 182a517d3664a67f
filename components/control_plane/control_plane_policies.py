"""The IAM documents of a self-managed control plane, as plain data. Pure.

Whatever changes something is bound to the cluster: by the tag ``kubernetes.io/cluster/<name>`` where AWS reads tags, by
the key prefix in the state bucket, by the ARN elsewhere. Sources: kubernetes/cloud-provider-aws,
``docs/prerequisites.md`` (what the cloud controller manager asks for); kops 1.36, ``pkg/model/iam`` (how it is bound).
"""

from collections.abc import Mapping

from ..core.tags import cluster_tag
from ..roles.policy_documents import Document, Statement, allow, document
from ..state_bucket.layout import ClusterLayout, key_access, prefix_access

SLOT_TAG = "winkube.io/slot"
"""Tag of the Auto Scaling group and instance of a slot: what is a control plane's, and which."""
BUCKET_TAG = "winkube.io/bucket"
"""Tag with the name of the state bucket on the group of a slot."""
INCARNATION_TAG = "winkube.io/incarnation"
"""Tag with the cluster's number in that bucket."""
CLUSTER_NAME_TAG = "winkube.io/cluster"
"""Tag with the cluster's name on the same, by which commands find them."""

_DESCRIBE = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLifecycleHooks",
    "autoscaling:DescribeTags",
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTopology",
    "ec2:DescribeRegions",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVolumes",
    "ec2:DescribeVpcs",
    "elasticloadbalancing:DescribeListeners",
    "elasticloadbalancing:DescribeLoadBalancerAttributes",
    "elasticloadbalancing:DescribeLoadBalancerPolicies",
    "elasticloadbalancing:DescribeLoadBalancers",
    "elasticloadbalancing:DescribeTags",
    "elasticloadbalancing:DescribeTargetGroupAttributes",
    "elasticloadbalancing:DescribeTargetGroups",
    "elasticloadbalancing:DescribeTargetHealth",
)
_BALANCER_CHANGES = (
    "ApplySecurityGroupsToLoadBalancer",
    "AttachLoadBalancerToSubnets",
    "ConfigureHealthCheck",
    "CreateListener",
    "CreateLoadBalancerListeners",
    "CreateLoadBalancerPolicy",
    "DeleteListener",
    "DeleteLoadBalancer",
    "DeleteLoadBalancerListeners",
    "DeleteTargetGroup",
    "DeregisterInstancesFromLoadBalancer",
    "DeregisterTargets",
    "DetachLoadBalancerFromSubnets",
    "ModifyListener",
    "ModifyLoadBalancerAttributes",
    "ModifyTargetGroup",
    "ModifyTargetGroupAttributes",
    "RegisterInstancesWithLoadBalancer",
    "RegisterTargets",
    "SetLoadBalancerPoliciesForBackendServer",
    "SetLoadBalancerPoliciesOfListener",
)
_BALANCER_MAKES = ("CreateLoadBalancer", "CreateTargetGroup")


def cloud_controller(cluster_name: str, region: str, partition: str = "aws") -> Document:
    """What the cloud controller manager does: look at everything, make and change load balancers of this cluster.

    Routes are left out (the pod network is an overlay), volumes too (their driver has a role of its own).
    """
    ((tag, owned),) = cluster_tag(cluster_name).items()
    mine, made_mine = {f"aws:ResourceTag/{tag}": owned}, {f"aws:RequestTag/{tag}": owned}
    balancing = f"arn:{partition}:elasticloadbalancing:{region}:*"
    balancers = [f"{balancing}:{kind}/*" for kind in ("loadbalancer", "targetgroup", "listener")]
    groups = f"arn:{partition}:ec2:{region}:*:security-group/*"
    makes = [f"elasticloadbalancing:{action}" for action in _BALANCER_MAKES]
    changes = [f"elasticloadbalancing:{action}" for action in _BALANCER_CHANGES]
    service = "elasticloadbalancing.amazonaws.com"
    return document(
        allow(_DESCRIBE, "*", sid="Describe", conditions={"StringEquals": {"aws:RequestedRegion": region}}),
        allow(changes, balancers, sid="ChangeOwnBalancers", conditions={"StringEquals": mine}),
        allow(makes, balancers[:2], sid="MakeBalancers", conditions={"StringEquals": made_mine}),
        allow("elasticloadbalancing:AddTags", balancers, sid="TagNewBalancers", conditions={
            "StringEquals": {**made_mine, "elasticloadbalancing:CreateAction": list(_BALANCER_MAKES)},
        }),
        allow(["ec2:AuthorizeSecurityGroupIngress", "ec2:DeleteSecurityGroup", "ec2:RevokeSecurityGroupIngress"],
              groups, sid="ChangeOwnGroups", conditions={"StringEquals": mine}),
        allow("ec2:CreateSecurityGroup", groups, sid="MakeGroups", conditions={"StringEquals": made_mine}),
        allow("ec2:CreateSecurityGroup", f"arn:{partition}:ec2:{region}:*:vpc/*", sid="MakeGroupsInVpcs"),
        allow("ec2:CreateTags", groups, sid="TagNewGroups", conditions={
            "StringEquals": {**made_mine, "ec2:CreateAction": "CreateSecurityGroup"},
        }),
        allow("iam:CreateServiceLinkedRole",
              f"arn:{partition}:iam::*:role/aws-service-role/{service}/AWSServiceRoleForElasticLoadBalancing",
              sid="FirstBalancer", conditions={"StringEquals": {"iam:AWSServiceName": service}}),
    )  # fmt: skip


def cluster_state(
    layout: ClusterLayout,
    bucket_arn: str,
    bucket_key_arn: str | None,
    *,
    key_arn: str,
    incarnation: int,
    group: str,
    pki: str,
) -> Document:
    """What the node agent reads and writes in the state bucket, all of it below this cluster's prefix.

    :param key_arn: of the cluster, which encrypts the authorities.
    :param group: whose node documents it reads.
    :param pki: ``deployment``: the authorities are read; ``node``: the first node also writes them, once.
    """
    authorities, writes = layout.pki_prefix(incarnation), pki == "node"
    pki_access = prefix_access(bucket_arn, authorities, "read")
    if writes:
        pki_access[0] = allow(["s3:GetObject", "s3:PutObject"], f"{bucket_arn}/{authorities}*")
    own_backups = prefix_access(bucket_arn, layout.backups_prefix(incarnation), "manage")[0]
    statements: list[Statement] = [
        *prefix_access(bucket_arn, layout.boot_prefix)[:1],
        *prefix_access(bucket_arn, layout.node_documents_prefix(group))[:1],
        *pki_access,
        *prefix_access(bucket_arn, layout.bootstrap_prefix(incarnation), "manage"),
        # A new incarnation may be restored from the backup of an older one.
        *prefix_access(bucket_arn, layout.etcd_backups_prefix),
        own_backups,
        key_access(key_arn, bucket_arn, "write" if writes else "read", authorities),
    ]
    if bucket_key_arn is not None:
        statements.append(key_access(bucket_key_arn, bucket_arn, "manage"))
    return document(*_joined(statements))


def join_token_writer(parameter_arn: str, key_arn: str) -> Document:
    """Lets the agent put fresh join tokens into the one parameter that workers read."""
    return document(
        allow(["ssm:GetParameter", "ssm:PutParameter"], parameter_arn, sid="JoinToken"),
        allow(["kms:Decrypt", "kms:Encrypt"], key_arn, sid="JoinTokenKey", conditions=_parameter(parameter_arn)),
    )


def leaving(cluster_name: str, region: str, partition: str = "aws") -> Document:
    """Lets a control-plane node finish its own lifecycle hook: the groups of this cluster's slots."""
    tags = {f"aws:ResourceTag/{CLUSTER_NAME_TAG}": cluster_name}
    return document(
        allow(
            ["autoscaling:CompleteLifecycleAction", "autoscaling:RecordLifecycleActionHeartbeat"],
            f"arn:{partition}:autoscaling:{region}:*:autoScalingGroup:*:autoScalingGroupName/*",
            sid="Leave",
            conditions={"StringEquals": tags, "StringLike": {f"aws:ResourceTag/{SLOT_TAG}": "cp-*"}},
        )
    )


def secrets_key_user(key_arn: str) -> Document:
    """What the KMS plug-in of kube-apiserver does with the key of the Kubernetes secrets."""
    return document(allow(["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt"], key_arn, sid="KubernetesSecrets"))


def _parameter(parameter_arn: str) -> Mapping[str, Mapping[str, str]]:
    # The context with which Systems Manager encrypts a parameter.
    return {"StringEquals": {"kms:EncryptionContext:PARAMETER_ARN": parameter_arn}}


def _joined(statements: list[Statement]) -> list[Statement]:
    """One statement for those that differ in their resource alone, or in the listed prefix alone: IAM counts
    characters.
    """
    kept: list[Statement] = []
    for statement in statements:
        for other in kept:
            if other["Action"] != statement["Action"]:
                continue
            if "Condition" not in other and "Condition" not in statement:
                other["Resource"] = [*other["Resource"], *statement["Resource"]]
                break
            if other.get("Resource") == statement["Resource"] and _prefixes(other) and _prefixes(statement):
                merged = [*_prefixes(other), *_prefixes(statement)]
                other["Condition"] = {"StringLike": {"s3:prefix": merged}}
                break
        else:
            kept.append(dict(statement))
    return kept


def _prefixes(statement: Statement) -> list[str]:
    listed = statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", [])
    return [listed] if isinstance(listed, str) else list(listed)
