"""Cases of the rules in ``rules/eks/node_groups.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import FARGATE_PROFILE, NODE_GROUP

from ..base import one

CASES = {
    "node-image-maintained": one(
        NODE_GROUP,
        [{"amiType": "AL2023_x86_64_STANDARD"}, {}],
        [{"amiType": "AL2_x86_64"}],
        [{"amiType": UNKNOWN}],
        "stopped publishing Amazon Linux 2 images",
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
    "fargate-selectors": one(
        FARGATE_PROFILE,
        [{"selectors": [{"namespace": "shop"}, {"namespace": "*", "labels": {"fargate": "yes"}}]}],
        [{"selectors": [{"namespace": "*"}]}],
        [{"selectors": UNKNOWN}],
        "pods of every namespace",
    ),
}
