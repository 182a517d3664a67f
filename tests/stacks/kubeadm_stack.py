"""A stack file of the kubeadm flavour: the least that makes a cluster, and one of every section on top."""

from collections.abc import Mapping
from typing import Any

SMALL: Mapping[str, Any] = {
    "aws:region": "eu-central-1",
    "winkube:flavour": "kubeadm",
    "winkube:zone": {"domain": "dev.example.com"},
    "winkube:cluster": {"name": "dev.example.com", "kubernetesVersion": "1.36"},
    "winkube:network": {"zones": 3},
    "winkube:instanceGroups": [
        {"name": "linux", "linux": "al2023"},
        {"name": "windows", "windows": "2022"},
    ],
}
"""The least that makes a cluster with Windows nodes."""

POLICY = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::tools/*"}
FULL: Mapping[str, Any] = {
    "winkube:tags": {"team": "platform"},
    "winkube:network.gatewayEndpoints": ["s3", "dynamodb"],
    "winkube:network.interfaceEndpoints": ["sts"],
    "winkube:network.zones": ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
    "winkube:stateBucket": {
        "readerPrincipals": ["arn:aws:iam::111122223333:role/auditor"],
        "writerPrincipals": ["arn:aws:iam::111122223333:role/platform"],
    },
    "winkube:cluster.instanceTypes": ["m7i.large"],
    "winkube:cluster.irsa": {},
    "winkube:cluster.audit": {},
    "winkube:cluster.podSecurity": {"exemptNamespaces": ["monitoring"]},
    "winkube:cluster.extraArguments": {"apiServer": {"v": "2"}},
    "winkube:cluster.kubelet": {},
    "winkube:cluster.backupRetention": {},
    "winkube:cluster.registryMirrors": {"registry.k8s.io": "https://mirror.example.com"},
    "winkube:cluster.proxy": {"https": "http://proxy.example.com:3128"},
    "winkube:cluster.apiServerNames": ["kube.example.com"],
    "winkube:cluster.apiAllowedCidrs": ["10.100.0.0/16"],
    "winkube:cluster.additionalPolicies": [POLICY],
    "winkube:cluster.externalPolicies": ["arn:aws:iam::111122223333:policy/extra"],
    "winkube:instanceGroups[0].taints": [{"key": "dedicated", "effect": "PreferNoSchedule"}],
    "winkube:instanceGroups[1].warmPool": {},
    "winkube:instanceGroups[1].rollout": {},
    "winkube:instanceGroups[1].kubelet": {},
    "winkube:instanceGroups[1].containerImages": ["registry.example.com/tools/agent:7"],
    "winkube:instanceGroups[1].securityGroupIds": ["sg-0123456789abcdef0"],
    "winkube:instanceGroups[1].taints": [{"key": "dedicated"}],
    "winkube:instanceGroups[1].labels": {"team": "platform"},
    "winkube:instanceGroups[1].instanceTypes": ["m6i.large"],
    "winkube:instanceGroups[1].tags": {"team": "platform"},
    "winkube:instanceGroups[1].additionalPolicies": [POLICY],
    "winkube:instanceGroups[1].externalPolicies": ["arn:aws:iam::111122223333:policy/extra"],
    "winkube:podNetwork": {},
    "winkube:addons": [
        {"name": "cert-manager"},
        {"name": "aws-ebs-csi-driver", "additionalPolicies": [POLICY]},
        {"name": "amazon-eks-pod-identity-webhook"},
    ],
    "winkube:sampleWorkloads": {},
    "winkube:windowsAdmission": {"rules": {"memory_limit": "deny"}},
}
"""On top of the small stack: one of everything, so that each setting has a place to be wrong at."""
