"""IAM documents of the add-ons as plain data: trust of their roles, and the least that each of them needs. Pure.

The account stands as ``*`` in the ARNs: a policy of a role acts in the role's own account anyway, and this way it is
known before anything exists. Each document names the upstream one that it follows and where it is narrower.
"""

from collections.abc import Sequence
from typing import Any

from ..roles.policy_documents import Document, Statement, allow, document

AUDIENCE = "sts.amazonaws.com"
"""The audience of the tokens that service accounts show to STS."""
CLUSTER_TAG_OF_BALANCERS = "elbv2.k8s.aws/cluster"
AUTOSCALER_TAG = "k8s.io/cluster-autoscaler"


def issuer_host(issuer: str) -> str:
    """An OIDC issuer as IAM spells it in condition keys.

    >>> issuer_host("https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE")
    'oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE'
    """
    return issuer.removeprefix("https://").rstrip("/")


def irsa_trust(
    oidc_provider_arn: str, oidc_issuer: str, namespace: str, service_account: str, audience: str = AUDIENCE
) -> Document:
    """Lets exactly one service account of exactly one cluster assume a role.

    https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
    """
    host = issuer_host(oidc_issuer)
    return document({
        "Effect": "Allow",
        "Principal": {"Federated": [oidc_provider_arn]},
        "Action": ["sts:AssumeRoleWithWebIdentity"],
        "Condition": {
            # Equals, not Like: without the subject every service account of the cluster could take the role.
            "StringEquals": {
                f"{host}:aud": audience,
                f"{host}:sub": f"system:serviceaccount:{namespace}:{service_account}",
            }
        },
    })  # fmt: skip


def pod_identity_trust() -> Document:
    """Lets EKS Pod Identity hand a role to the service accounts that are associated with it.

    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
    """
    return document({
        "Effect": "Allow",
        "Principal": {"Service": ["pods.eks.amazonaws.com"]},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    })  # fmt: skip


def volume_keys(key_arns: Sequence[str]) -> Document:
    """Lets the EBS driver make volumes that are encrypted with these keys.

    As the driver's installation guide says, but for the keys named.
    """
    return document(
        allow(["kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:CreateGrant"], key_arns, sid="VolumeKeys")
    )


def mounted_buckets(bucket_arns: Sequence[str]) -> Document:
    """Lets the Mountpoint for S3 driver read and write these buckets.

    https://docs.aws.amazon.com/eks/latest/userguide/s3-csi-create.html
    """
    return document(
        allow("s3:ListBucket", bucket_arns, sid="ListBuckets"),
        allow(["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"],
              [f"{arn}/*" for arn in bucket_arns], sid="UseObjects"),
    )  # fmt: skip


def group_credentials(credential_arn: str, key_arn: str | None = None) -> Document:
    """Lets a Windows node read the portable identity of a domainless gMSA: for the node's role, not for a pod's.

    https://aws.amazon.com/blogs/containers/domainless-windows-authentication-for-amazon-eks-windows-pods/
    """
    action = "secretsmanager:GetSecretValue" if ":secretsmanager:" in credential_arn else "ssm:GetParameter"
    statements = [allow(action, credential_arn, sid="ReadPortableIdentity")]
    if key_arn:
        statements.append(allow("kms:Decrypt", key_arn, sid="DecryptPortableIdentity"))
    return document(*statements)


def log_writer(log_group_arn: str) -> Document:
    """Lets a Windows node's Fluent Bit write into one log group, which exists already."""
    return document(
        allow(["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
              [log_group_arn, f"{log_group_arn}:*"], sid="WriteLogs")
    )  # fmt: skip


def cluster_autoscaler(cluster_name: str, partition: str = "aws") -> Document:
    """Lets the autoscaler look at every Auto Scaling group, and scale those that are tagged as this cluster's.

    kubernetes/autoscaler ``cloudprovider/aws/README.md``, where the second statement may hold every group.
    """
    return document(
        allow(
            [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
            ],
            "*",
            sid="SeeGroups",
        ),
        # What a managed group at zero will look like: the only call that knows its labels and taints.
        allow("eks:DescribeNodegroup", f"arn:{partition}:eks:*:*:nodegroup/{cluster_name}/*/*", sid="SeeNodeGroups"),
        allow(
            ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            f"arn:{partition}:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*",
            sid="ScaleOwnGroups",
            conditions={"StringEquals": {f"aws:ResourceTag/{AUTOSCALER_TAG}/{cluster_name}": "owned"}},
        ),
    )


def load_balancer_controller(cluster_name: str, partition: str = "aws") -> Document:
    """Lets the AWS Load Balancer Controller make balancers, and change those of this cluster.

    aws-load-balancer-controller ``docs/install/iam_policy.json`` (3.5.0). Narrower: where that one asks for any value
    of the cluster's tag, this one asks for the cluster's own name, which is what the controller writes; and firewalls
    and protections are named where AWS lets them be.
    """
    balancing = f"arn:{partition}:elasticloadbalancing:*:*"
    groups = f"arn:{partition}:ec2:*:*:security-group/*"
    owned = {"StringEquals": {f"aws:ResourceTag/{CLUSTER_TAG_OF_BALANCERS}": cluster_name}}
    making = {"StringEquals": {f"aws:RequestTag/{CLUSTER_TAG_OF_BALANCERS}": cluster_name}}
    retagging = {"Null": {f"aws:RequestTag/{CLUSTER_TAG_OF_BALANCERS}": "true"}, **owned}
    tagged = [f"{balancing}:targetgroup/*/*", f"{balancing}:loadbalancer/net/*/*", f"{balancing}:loadbalancer/app/*/*"]
    parts = [f"{balancing}:{kind}/{family}/*/*/*" + rest
             for kind, rest in (("listener", ""), ("listener-rule", "/*")) for family in ("net", "app")]  # fmt: skip
    return document(
        allow("iam:CreateServiceLinkedRole",
              f"arn:{partition}:iam::*:role/aws-service-role/elasticloadbalancing.amazonaws.com/*",
              conditions={"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}}),
        allow(_SEE_NETWORK, "*"),
        allow(_READ_RELATED_SERVICES, "*"),
        allow(["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"], groups),
        allow("ec2:CreateSecurityGroup", [groups, f"arn:{partition}:ec2:*:*:vpc/*"]),
        allow("ec2:CreateTags", groups,
              conditions={"StringEquals": {"ec2:CreateAction": "CreateSecurityGroup", **making["StringEquals"]}}),
        allow(["ec2:CreateTags", "ec2:DeleteTags"], groups, conditions=retagging),
        allow("ec2:DeleteSecurityGroup", groups, conditions=owned),
        allow(["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"], tagged,
              conditions=making),
        allow([f"elasticloadbalancing:{verb}" for verb in ("CreateListener", "DeleteListener", "CreateRule",
                                                           "DeleteRule", "ModifyListener", "ModifyRule",
                                                           "SetRulePriorities", "AddListenerCertificates",
                                                           "RemoveListenerCertificates")],
              [*tagged[1:], *parts]),
        # The two that name no resources: the balancer's side of a firewall, and a protection before there is one.
        allow(["elasticloadbalancing:SetWebAcl", "shield:CreateProtection"], "*"),
        allow("shield:DeleteProtection", f"arn:{partition}:shield::*:protection/*"),
        allow([f"{service}:{verb}" for service in ("waf-regional", "wafv2")
               for verb in ("AssociateWebACL", "DisassociateWebACL")],
              [f"arn:{partition}:wafv2:*:*:regional/webacl/*/*", f"arn:{partition}:waf-regional:*:*:webacl/*",
               tagged[2]]),
        allow(["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"], tagged, conditions=retagging),
        allow(["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"], parts),
        allow("elasticloadbalancing:AddTags", tagged,
              conditions={"StringEquals": {"elasticloadbalancing:CreateAction": ["CreateTargetGroup",
                                                                                 "CreateLoadBalancer"],
                                           **making["StringEquals"]}}),
        allow([f"elasticloadbalancing:{verb}" for verb in _CHANGE_BALANCERS], tagged, conditions=owned),
        allow(["elasticloadbalancing:RegisterTargets", "elasticloadbalancing:DeregisterTargets"], tagged[:1]),
    )  # fmt: skip


_SEE_NETWORK = [
    *(f"ec2:Describe{what}" for what in (
        "AccountAttributes", "Addresses", "AvailabilityZones", "CoipPools", "Instances", "InternetGateways",
        "IpamPools", "NetworkInterfaces", "RouteTables", "SecurityGroups", "Subnets", "Tags", "VpcPeeringConnections",
        "Vpcs")),
    "ec2:GetCoipPoolUsage",
    "ec2:GetSecurityGroupsForVpc",
    *(f"elasticloadbalancing:Describe{what}" for what in (
        "CapacityReservation", "ListenerAttributes", "ListenerCertificates", "Listeners", "LoadBalancerAttributes",
        "LoadBalancers", "Rules", "SSLPolicies", "Tags", "TargetGroupAttributes", "TargetGroups", "TargetHealth",
        "TrustStores")),
]  # fmt: skip
_READ_RELATED_SERVICES = [
    "acm:DescribeCertificate",
    "acm:ListCertificates",
    "cognito-idp:DescribeUserPoolClient",
    "iam:GetServerCertificate",
    "iam:ListServerCertificates",
    "shield:DescribeProtection",
    "shield:GetSubscriptionState",
    *(f"{service}:{verb}" for service in ("waf-regional", "wafv2")
      for verb in ("GetWebACL", "GetWebACLForResource")),
]  # fmt: skip
_CHANGE_BALANCERS = (
    "DeleteLoadBalancer", "DeleteTargetGroup", "ModifyCapacityReservation", "ModifyIpPools",
    "ModifyLoadBalancerAttributes", "ModifyTargetGroup", "ModifyTargetGroupAttributes", "SetIpAddressType",
    "SetSecurityGroups", "SetSubnets",
)  # fmt: skip


def karpenter_controller(
    cluster_name: str,
    region: str,
    node_role_arns: Sequence[str],
    interruption_queue_arn: str | None = None,
    partition: str = "aws",
) -> Document:
    """Lets Karpenter start, tag and end the nodes of this cluster in this region, with these roles and no others.

    karpenter-provider-aws ``getting-started-with-karpenter/cloudformation.yaml`` (1.14), in one document.
    """
    ec2 = f"arn:{partition}:ec2:{region}:*"
    made = [f"{ec2}:{kind}/*" for kind in ("fleet", "instance", "volume", "network-interface", "launch-template",
                                           "spot-instances-request")]  # fmt: skip
    asked = {
        f"aws:RequestTag/kubernetes.io/cluster/{cluster_name}": "owned",
        "aws:RequestTag/eks:eks-cluster-name": cluster_name,
    }
    owned = {
        "StringEquals": {f"aws:ResourceTag/kubernetes.io/cluster/{cluster_name}": "owned"},
        "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
    }
    asking = {"StringEquals": asked, "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"}}
    statements = [
        allow(["ec2:RunInstances", "ec2:CreateFleet"],
              [*(f"arn:{partition}:ec2:{region}::{kind}/*" for kind in ("image", "snapshot")),
               *(f"{ec2}:{kind}/*" for kind in ("security-group", "subnet", "capacity-reservation",
                                                "placement-group"))], sid="StartFrom"),
        allow(["ec2:RunInstances", "ec2:CreateFleet"], f"{ec2}:launch-template/*", sid="StartFromTemplate",
              conditions=owned),
        allow(["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"], made, sid="Start",
              conditions=asking),
        allow("ec2:CreateTags", made, sid="TagWhatStarts",
              conditions={**asking, "StringEquals": {**asked, "ec2:CreateAction": ["RunInstances", "CreateFleet",
                                                                                   "CreateLaunchTemplate"]}}),
        allow("ec2:CreateTags", f"{ec2}:instance/*", sid="TagNodes",
              conditions={**owned,
                          "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": cluster_name},
                          "ForAllValues:StringEquals": {"aws:TagKeys": ["eks:eks-cluster-name",
                                                                        "karpenter.sh/nodeclaim", "Name"]}}),
        allow(["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
              [f"{ec2}:instance/*", f"{ec2}:launch-template/*"], sid="End", conditions=owned),
        allow("iam:PassRole", node_role_arns, sid="PassNodeRoles",
              conditions={"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}}),
        *_karpenter_profiles(cluster_name, region, partition),
        allow("eks:DescribeCluster", f"arn:{partition}:eks:{region}:*:cluster/{cluster_name}", sid="FindCluster"),
        allow([f"ec2:Describe{what}" for what in _KARPENTER_SEES], "*", sid="See",
              conditions={"StringEquals": {"aws:RequestedRegion": region}}),
        allow("ssm:GetParameter", f"arn:{partition}:ssm:{region}::parameter/aws/service/*", sid="FindImages"),
        allow("pricing:GetProducts", "*", sid="SeePrices"),
        allow("iam:ListInstanceProfiles", "*", sid="ListProfiles"),
    ]  # fmt: skip
    if interruption_queue_arn:
        statements.append(allow(["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"],
                                interruption_queue_arn, sid="HearOfInterruptions"))  # fmt: skip
    return document(*statements)


_KARPENTER_SEES = ("CapacityReservations", "Images", "Instances", "InstanceStatus", "InstanceTypeOfferings",
                   "InstanceTypes", "LaunchTemplates", "PlacementGroups", "SecurityGroups", "SpotPriceHistory",
                   "Subnets")  # fmt: skip


def _karpenter_profiles(cluster_name: str, region: str, partition: str) -> list[Statement]:
    profiles = f"arn:{partition}:iam::*:instance-profile/*"

    def tags(kind: str) -> dict[str, Any]:
        keys = {f"kubernetes.io/cluster/{cluster_name}": "owned", "topology.kubernetes.io/region": region}
        if kind == "Request":
            keys["eks:eks-cluster-name"] = cluster_name
        return {f"aws:{kind}Tag/{key}": value for key, value in keys.items()}

    def of_node_class(kind: str) -> dict[str, str]:
        return {f"aws:{kind}Tag/karpenter.k8s.aws/ec2nodeclass": "*"}

    return [
        allow("iam:CreateInstanceProfile", profiles, sid="MakeProfiles",
              conditions={"StringEquals": tags("Request"), "StringLike": of_node_class("Request")}),
        allow("iam:TagInstanceProfile", profiles, sid="TagProfiles",
              conditions={"StringEquals": tags("Resource") | tags("Request"),
                          "StringLike": of_node_class("Resource") | of_node_class("Request")}),
        allow(["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
              profiles, sid="UseProfiles",
              conditions={"StringEquals": tags("Resource"), "StringLike": of_node_class("Resource")}),
        allow("iam:GetInstanceProfile", profiles, sid="SeeProfiles"),
    ]  # fmt: skip
