"""Cases of the rules in ``rules/identity/permissions.py``."""

from ..base import allow, policy
from .common import documents

CASES = {
    "iam-no-administrator-policy": documents(
        [
            policy(allow("s3:GetObject")),
            policy({"Effect": "Deny", "Action": "*", "Resource": "*"}),
            "not json",
            policy(allow("*", "arn:aws:s3:::b")),
            policy(allow("*", Condition={"Bool": {"aws:MultiFactorAuthPresent": "true"}})),
        ],
        [policy(allow("*")), policy(allow(["s3:GetObject", "*:*"], ["*"]))],
        "policy allows every action on every resource",
    ),
    "iam-no-whole-service": documents(
        [policy(allow("s3:Get*")), policy({"Effect": "Deny", "Action": "s3:*", "Resource": "*"}), policy(allow("*"))],
        [
            policy(allow("ec2:*")),
            policy({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}),
            policy(allow("*", "arn:aws:s3:::b")),
        ],
        "allows",
    ),
    "iam-no-decrypt-on-all-keys": documents(
        [
            policy(allow("kms:Decrypt", "arn:aws:kms:eu-central-1:123456789012:key/1")),
            policy(
                allow("kms:Decrypt", Condition={"StringEquals": {"kms:ViaService": "s3.eu-central-1.amazonaws.com"}})
            ),
        ],
        [policy(allow(["kms:Encrypt", "kms:Decrypt"])), policy(allow("kms:ReEncryptFrom"))],
        "decrypting with every key",
    ),
}
