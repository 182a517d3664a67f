"""Cases of the rules about clusters and node groups."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    ACCESS_ENTRY,
    ACCESS_POLICY_ASSOCIATION,
    ADDON,
    CLUSTER,
    CONFIG_MAP,
    FARGATE_PROFILE,
    LOG_GROUP,
    NETWORK_POLICY,
    NODE_GROUP,
    SUBNET,
    VPC,
    VPC_MORE_CIDR,
)

from .base import MAIN, PROVIDER, Case, cluster, group, in_cluster, one, planned, urn

ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
DENY_ALL = in_cluster(NETWORK_POLICY, {"metadata": {"namespace": "shop"}, "spec": {"podSelector": {}}})


def config(**vpc: Any) -> dict[str, Any]:
    return {"vpcConfig": {"subnetIds": ["a", "b"], **vpc}}


def network(**props: Any) -> dict[str, Any]:
    return {"kubernetesNetworkConfig": props}


def in_vpc(service: Any, block: Any, *more: Any) -> list[Any]:
    return [
        planned(CLUSTER, {**config(), **network(serviceIpv4Cidr=service)}, "main", vpcConfig=urn(SUBNET, "a")),
        planned(SUBNET, {"vpcId": UNKNOWN}, "a", vpcId=urn(VPC, "vpc")),
        planned(VPC, {"cidrBlock": block}, "vpc"),
        *(planned(VPC_MORE_CIDR, {"vpcId": UNKNOWN, "cidrBlock": cidr}, vpcId=urn(VPC, "vpc")) for cidr in more),
    ]


def cni(values: Any) -> Any:
    text = values if values is UNKNOWN else json.dumps(values)
    props = {"addonName": "vpc-cni", "clusterName": UNKNOWN, "configurationValues": text}
    return planned(ADDON, props, "cni", clusterName=MAIN)


def aws_auth(name: Any = "aws-auth", namespace: str = "kube-system") -> Any:
    return in_cluster(CONFIG_MAP, {"metadata": {"name": name, "namespace": namespace}, "data": {"mapRoles": "[]"}})


LOGS = {"enabledClusterLogTypes": ["audit"]}

CASES = {
    "cluster-endpoint-restricted": one(
        CLUSTER,
        [config(endpointPublicAccess=False), config(publicAccessCidrs=["203.0.113.0/24"])],
        [config(), config(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/0"]), {}],
        [config(endpointPublicAccess=UNKNOWN), config(publicAccessCidrs=UNKNOWN)],
        "the whole internet reaches the cluster's endpoint",
    ),
    "cluster-endpoint-private": one(
        CLUSTER,
        [config(endpointPrivateAccess=True)],
        [config(), config(endpointPrivateAccess=False)],
        [config(endpointPrivateAccess=UNKNOWN)],
        "through the internet",
    ),
    "cluster-version-exists": one(
        CLUSTER,
        [{"version": "1.36"}, {"version": "1.40"}, {}],
        [{"version": "1.29"}],
        [{"version": UNKNOWN}],
        "EKS ended Kubernetes 1.29",
    ),
    "cluster-version-supported": one(
        CLUSTER,
        [{"version": "1.36"}, {"version": "1.29"}, {}],
        [{"version": "1.33"}],
        [{"version": UNKNOWN}],
        "standard support of Kubernetes 1.33 ended on",
    ),
    "node-version-skew": Case(
        [
            [cluster(version="1.36"), group("l", version="1.36")],
            [cluster(version="1.36"), group("l", version="1.33")],
            [cluster(), group("l")],
        ],
        [[cluster(version="1.35"), group("l", version="1.36")], [cluster(version="1.36"), group("l", version="1.32")]],
        [[cluster(), group("l", version=UNKNOWN)]],
        "than their cluster of",
    ),
    "cluster-secrets-encrypted": one(
        CLUSTER,
        [{"encryptionConfig": {"provider": {"keyArn": UNKNOWN}, "resources": ["secrets"]}}],
        [{}, {"encryptionConfig": {"provider": {"keyArn": UNKNOWN}, "resources": []}}],
        [{"encryptionConfig": UNKNOWN}],
        "not encrypted with a key of your own",
    ),
    "eks-tagged": one(
        CLUSTER,
        [{"tags": {"team": UNKNOWN}}],
        [{}, {"tags": {}}],
        [{"tags": UNKNOWN}],
        "the resource has no tag",
    ),
    "cluster-audit-logs": one(
        CLUSTER,
        [{"enabledClusterLogTypes": ["api", "audit"]}],
        [{}, {"enabledClusterLogTypes": ["api"]}],
        [{"enabledClusterLogTypes": UNKNOWN}],
        "does not write: audit",
    ),
    "cluster-log-group": Case(
        [[cluster(**LOGS), planned(LOG_GROUP, {"name": "/aws/eks/prod/cluster"})], [cluster()]],
        [
            [cluster(**LOGS)],
            [cluster(**LOGS), planned(LOG_GROUP, {"name": "/aws/eks/other/cluster"})],
            [planned(CLUSTER, LOGS)],
        ],
        [[cluster(**LOGS), planned(LOG_GROUP, {"name": UNKNOWN})]],
        "EKS makes the log group itself",
    ),
    "cluster-access-entries": one(
        CLUSTER,
        [{"accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"}}],
        [{}, {"accessConfig": {"authenticationMode": "CONFIG_MAP"}}],
        [{"accessConfig": UNKNOWN}],
        "by the ConfigMap aws-auth alone",
    ),
    "aws-auth-has-effect": Case(
        [
            [cluster(accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"}), PROVIDER, aws_auth()],
            [cluster(), PROVIDER, aws_auth("other")],
            [aws_auth()],
        ],
        [[cluster(), PROVIDER, aws_auth()]],
        [[cluster(accessConfig={"authenticationMode": UNKNOWN}), PROVIDER, aws_auth()]],
        "it does not read aws-auth",
    ),
    "access-entry-groups": one(
        ACCESS_ENTRY,
        [{"kubernetesGroups": ["developers"]}, {"type": "EC2_WINDOWS"}],
        [{"kubernetesGroups": ["system:masters"]}, {"type": "EC2_WINDOWS", "kubernetesGroups": ["a"]}],
        [{"kubernetesGroups": UNKNOWN}, {"type": UNKNOWN, "kubernetesGroups": ["a"]}],
        "roup",
    ),
    "cluster-admin-access": one(
        ACCESS_POLICY_ASSOCIATION,
        [
            {"policyArn": ADMIN, "principalArn": "arn:aws:iam::1:role/Platform-Admins"},
            {"policyArn": ADMIN.replace("Cluster", ""), "principalArn": "arn:aws:iam::1:role/dev"},
        ],
        [{"policyArn": ADMIN, "principalArn": "arn:aws:iam::1:role/developers"}],
        [{"policyArn": ADMIN, "principalArn": UNKNOWN}],
        "administers the whole cluster",
    ),
    "cluster-deletion-protection": one(
        CLUSTER,
        [{"deletionProtection": True}, {"tags": {"stage": "test"}}],
        [{}, {"deletionProtection": False}],
        [{"deletionProtection": UNKNOWN}],
        "deleted in one step",
        stack="prod",
    ),
    "cluster-two-zones": one(
        CLUSTER,
        [config(), {"vpcConfig": {"subnetIds": [UNKNOWN, UNKNOWN]}}],
        [{"vpcConfig": {"subnetIds": [UNKNOWN]}}],
        [{"vpcConfig": {"subnetIds": UNKNOWN}}],
        "it needs two",
    ),
    "cluster-service-range": one(
        CLUSTER,
        [{}, network(serviceIpv4Cidr="172.20.0.0/16")],
        [network(serviceIpv4Cidr="10.0.0.0/8"), network(serviceIpv4Cidr="203.0.113.0/24")],
        [network(serviceIpv4Cidr=UNKNOWN)],
        "the service CIDR",
    ),
    "cluster-service-range-apart": Case(
        [in_vpc("172.20.0.0/16", "10.0.0.0/16"), in_vpc("172.20.0.0/16", "10.0.0.0/16", "100.64.0.0/16")],
        [in_vpc("10.0.128.0/20", "10.0.0.0/16"), in_vpc("10.1.0.0/16", "10.0.0.0/16", "10.1.0.0/16")],
        [in_vpc("10.0.0.0/16", UNKNOWN), in_vpc(UNKNOWN, "10.0.0.0/16")],
        "overlap the VPC's",
    ),
    "node-image-maintained": one(
        NODE_GROUP,
        [{"amiType": "AL2023_x86_64_STANDARD"}, {}],
        [{"amiType": "AL2_x86_64"}],
        [{"amiType": UNKNOWN}],
        "no images of Amazon Linux 2",
    ),
    "node-group-architecture": one(
        NODE_GROUP,
        [
            {"amiType": "AL2023_ARM_64_STANDARD", "instanceTypes": ["m7g.large"]},
            {"instanceTypes": ["m6i.large", "no.such"]},
            {"amiType": "AL2023_x86_64_STANDARD", "instanceTypes": ["m6i.large"]},
        ],
        [
            {"amiType": "AL2023_x86_64_STANDARD", "instanceTypes": ["m7g.large"]},
            {"amiType": "AL2023_ARM_64_STANDARD", "instanceTypes": ["m6i.large"]},
            {"instanceTypes": ["m6i.large", "m7g.large"]},
        ],
        [
            {"amiType": "AL2023_x86_64_STANDARD", "instanceTypes": UNKNOWN},
            {"amiType": UNKNOWN, "instanceTypes": ["m6i.large"]},
        ],
        ".large",
    ),
    "node-group-sizes": one(
        NODE_GROUP,
        [{"scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1}}],
        [
            {"scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 0}},
            {"scalingConfig": {"minSize": 3, "desiredSize": 2, "maxSize": 4}},
        ],
        [{"scalingConfig": {"minSize": 1, "desiredSize": UNKNOWN, "maxSize": 4}}],
        "maxSize",
    ),
    "node-group-labels": one(
        NODE_GROUP,
        [
            {},
            {
                "labels": {"example.com/team": "a"},
                "taints": [{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}],
            },
        ],
        [
            {"labels": {"kubernetes.io/role": "a"}},
            {"taints": [{"key": "a b", "value": "x", "effect": "NO_SCHEDULE"}]},
            {"taints": [{"key": "a", "value": "x", "effect": "NoSchedule!"}]},
        ],
        [{"labels": {"team": UNKNOWN}}, {"taints": UNKNOWN}],
        ": ",
    ),
    "node-group-remote-access": one(
        NODE_GROUP,
        [{}, {"remoteAccess": {"ec2SshKey": "k", "sourceSecurityGroupIds": [UNKNOWN]}}],
        [{"remoteAccess": {"ec2SshKey": "k"}}],
        [{"remoteAccess": UNKNOWN}],
        "to the whole internet",
    ),
    "network-policies-enforced": Case(
        [
            [cluster(), PROVIDER, cni({"enableNetworkPolicy": "true"}), DENY_ALL],
            [DENY_ALL],
            [cni({}), DENY_ALL, planned("kubernetes:helm.sh/v3:Release", {"chart": "c"}, "calico")],
        ],
        [[cluster(), PROVIDER, cni({}), DENY_ALL], [cni({"enableNetworkPolicy": "false"}), DENY_ALL]],
        [[cni(UNKNOWN), DENY_ALL]],
        "1 network policies have no effect",
    ),
    "fargate-selectors": one(
        FARGATE_PROFILE,
        [{"selectors": [{"namespace": "shop"}, {"namespace": "*", "labels": {"fargate": "yes"}}]}],
        [{"selectors": [{"namespace": "*"}]}],
        [{"selectors": UNKNOWN}],
        "pods of every namespace",
    ),
    "addon-conflicts": one(
        ADDON,
        [{"addonName": "coredns"}, {"configurationValues": "{}", "resolveConflictsOnUpdate": "OVERWRITE"}],
        [{"configurationValues": "{}"}, {"configurationValues": "{}", "resolveConflictsOnUpdate": "NONE"}],
        [{"configurationValues": "{}", "resolveConflictsOnUpdate": UNKNOWN}],
        "an update fails",
    ),
}
