"""Cases of the rules in ``rules/eks/access.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, CLUSTER, CONFIG_MAP

from ..base import PROVIDER, Case, cluster, in_cluster, one

ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def aws_auth(name: Any = "aws-auth", namespace: str = "kube-system") -> Any:
    return in_cluster(CONFIG_MAP, {"metadata": {"name": name, "namespace": namespace}, "data": {"mapRoles": "[]"}})


CASES = {
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
}
