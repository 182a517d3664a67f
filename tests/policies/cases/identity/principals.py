"""Cases of the rules in ``rules/identity/principals.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ACCESS_KEY, ROLE, USER_POLICY_ATTACHMENT

from ..base import Case, attachment, one, planned

CASES = {
    "iam-no-administrator-access": Case(
        [[attachment("r", "AmazonEKSWorkerNodePolicy")], [planned(ROLE, {})]],
        [
            [attachment("r", "AdministratorAccess")],
            [planned(ROLE, {"managedPolicyArns": ["arn:aws:iam::aws:policy/PowerUserAccess"]})],
        ],
        [[attachment("r", UNKNOWN)]],
        "is attached",
    ),
    "iam-no-user-policies": one(
        USER_POLICY_ATTACHMENT,
        [{"user": "robot", "policyArn": "a"}],
        [{"user": "alice", "policyArn": "a"}],
        [{"user": UNKNOWN, "policyArn": "a"}],
        "an individual user",
        {"users": ["robot"]},
    ),
    "iam-no-access-keys": one(
        ACCESS_KEY,
        [{"user": "a", "status": "Inactive"}],
        [{"user": "a"}, {"user": UNKNOWN, "status": "Active"}],
        [{"user": "a", "status": UNKNOWN}],
        "never expires",
    ),
}
