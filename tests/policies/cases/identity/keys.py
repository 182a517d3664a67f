"""Cases of the rules in ``rules/identity/keys.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ECR_POLICY, KMS_KEY, KMS_KEY_POLICY, SECRET_POLICY

from ..base import Case, allow, one, planned, policy

CASES = {
    "kms-key-rotation": one(
        KMS_KEY,
        [{"enableKeyRotation": True}, {"customerMasterKeySpec": "RSA_2048"}, {"keyUsage": "GENERATE_VERIFY_MAC"}],
        [{}, {"enableKeyRotation": False}],
        [{"enableKeyRotation": UNKNOWN}],
        "never rotated",
    ),
    "kms-key-deletion": one(
        KMS_KEY,
        [{}, {"deletionWindowInDays": 30}],
        [{"deletionWindowInDays": 7}],
        [{"deletionWindowInDays": UNKNOWN}],
        "deleted after 7 days",
    ),
    "resource-policy-not-public": Case(
        [
            [planned(KMS_KEY, {})],
            [
                planned(
                    KMS_KEY_POLICY,
                    {"keyId": UNKNOWN, "policy": policy(allow("kms:*", Principal={"AWS": "arn:aws:iam::1:root"}))},
                )
            ],
            [
                planned(
                    ECR_POLICY,
                    {
                        "repository": "r",
                        "policy": policy(
                            allow(
                                "ecr:BatchGetImage",
                                Principal="*",
                                Condition={"StringEquals": {"aws:PrincipalOrgID": "o-1"}},
                            )
                        ),
                    },
                )
            ],
        ],
        [
            [planned(KMS_KEY, {"policy": policy(allow("kms:*", Principal="*"))})],
            [
                planned(
                    SECRET_POLICY,
                    {"secretArn": "a", "policy": policy(allow("secretsmanager:GetSecretValue", Principal="*"))},
                )
            ],
            [planned(ECR_POLICY, {"repository": "r", "policy": policy(allow("ecr:*", Principal={"AWS": "*"}))})],
        ],
        [[planned(KMS_KEY_POLICY, {"keyId": UNKNOWN, "policy": UNKNOWN})]],
        "applies to everyone",
    ),
}
