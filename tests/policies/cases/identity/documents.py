"""Cases of the rules in ``rules/identity/documents.py``."""

from ..base import allow, policy
from .common import documents

CASES = {
    "iam-policy-shape": documents(
        [policy(allow("s3:GetObject")), policy(allow("no:Such"))],
        [
            "not json",
            policy({"Effect": "Permit", "Action": "s3:GetObject", "Resource": "*"}),
            policy(allow("s3:GetObject", Conditions={})),
        ],
        "policy: ",
    ),
    "iam-policy-actions": documents(
        [
            policy(allow("s3:GetObject")),
            policy(allow("s3:*")),
            policy(allow("s3:GetObject", "arn:aws:placeholder:::bucket/*")),
            "not json",
        ],
        [
            policy(allow("s3:GetObjekt")),
            policy(allow("s3:GetObject", "bucket")),
            policy(allow("ec2:DescribeInstances", "arn:aws:ec2:eu-central-1:123456789012:instance/i-1")),
        ],
        "policy: ",
    ),
}
