"""Cases of the rules about permissions, keys and secrets."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    ACCESS_KEY,
    DETECTOR,
    DETECTOR_FEATURE,
    ECR_POLICY,
    IAM_POLICY,
    KMS_KEY,
    KMS_KEY_POLICY,
    ROLE,
    ROLE_POLICY,
    SECRET,
    SECRET_POLICY,
    SECRET_ROTATION,
    SSM_DOCUMENT,
    SSM_PARAMETER,
    TRAIL,
    USER_POLICY_ATTACHMENT,
)

from .base import Case, allow, attachment, group, one, planned, policy, urn

OIDC = {
    "Effect": "Allow",
    "Principal": {"Federated": "arn:aws:iam::123456789012:oidc-provider/oidc.eks"},
    "Action": "sts:AssumeRoleWithWebIdentity",
}


def trusting(subject: Any) -> dict[str, Any]:
    return {"assumeRolePolicy": policy({**OIDC, "Condition": {"StringLike": {"oidc.eks:sub": subject}}})}


def trust(principal: Any, **more: Any) -> dict[str, Any]:
    return {"assumeRolePolicy": policy({"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole", **more})}


def documents(good: list[Any], bad: list[Any], says: str, **more: Any) -> Case:
    """The same for policies of all kinds."""
    return Case(
        [*[[planned(IAM_POLICY, {"policy": text})] for text in good], [planned(ROLE, {"assumeRolePolicy": "{}"})]],
        [
            *[[planned(ROLE_POLICY, {"role": "r", "policy": text})] for text in bad],
            [planned(ROLE, {"assumeRolePolicy": "{}", "inlinePolicies": [{"name": "a", "policy": bad[0]}]})],
        ],
        [[planned(ROLE_POLICY, {"role": "r", "policy": UNKNOWN})], [planned(ROLE, {"inlinePolicies": UNKNOWN})]],
        says,
        **more,
    )


NODES = [planned(ROLE, {"name": "nodes"}, "l"), group("l")]
SSM = attachment("l", "AmazonSSMManagedInstanceCore")
COMPLETE = {
    "s3BucketName": "b",
    "isMultiRegionTrail": True,
    "enableLogFileValidation": True,
    "kmsKeyId": UNKNOWN,
    "cloudWatchLogsGroupArn": UNKNOWN,
}

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
    "iam-role-trust-closed": one(
        ROLE,
        [
            trust({"Service": "ec2.amazonaws.com"}),
            trust({"AWS": "arn:aws:iam::123456789012:root"}),
            trust({"AWS": "*"}, Condition={"StringEquals": {"aws:PrincipalOrgID": "o-1"}}),
        ],
        [
            trust("*"),
            trust({"AWS": "*"}),
            trust("*", Condition={"StringNotEquals": {"aws:PrincipalAccount": "111122223333"}}),
        ],
        [{"assumeRolePolicy": UNKNOWN}],
        "every AWS account of the world",
    ),
    "iam-federated-trust-narrow": one(
        ROLE,
        [trusting("system:serviceaccount:shop:app"), trust({"Service": "ec2.amazonaws.com"})],
        [
            {"assumeRolePolicy": policy(OIDC)},
            trusting("*"),
            trusting("system:serviceaccount:*:*"),
            {
                "assumeRolePolicy": policy(
                    {**OIDC, "Condition": {"StringEquals": {"oidc.eks:aud": "sts.amazonaws.com"}}}
                )
            },
        ],
        [{"assumeRolePolicy": UNKNOWN}],
        "assumeRolePolicy ",
    ),
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
        "a single user",
        {"users": ["robot"]},
    ),
    "iam-no-access-keys": one(
        ACCESS_KEY,
        [{"user": "a", "status": "Inactive"}],
        [{"user": "a"}, {"user": UNKNOWN, "status": "Active"}],
        [{"user": "a", "status": UNKNOWN}],
        "does not expire",
    ),
    "node-role-least-privilege": Case(
        [[*NODES, attachment("l", "AmazonEKSWorkerNodePolicy")], [*NODES, attachment("other", "AmazonS3FullAccess")]],
        [
            [*NODES, attachment("l", "AmazonS3FullAccess")],
            [planned(ROLE, {"managedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}, "l"), NODES[1]],
        ],
        [[*NODES, attachment("l", UNKNOWN)]],
        "the role of nodes carries",
    ),
    "nodes-managed-by-ssm": Case(
        [[*NODES, SSM], [group("l")]],
        [[*NODES, attachment("l", "AmazonEKSWorkerNodePolicy")]],
        [[*NODES, attachment("l", UNKNOWN)]],
        "cannot be reached by Systems Manager",
    ),
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
        "gone 7 days after",
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
        "for everybody in the world",
    ),
    "secrets-rotated": Case(
        [[planned(SECRET, {}), planned(SECRET_ROTATION, {"secretId": UNKNOWN}, secretId=urn(SECRET, "x"))]],
        [[planned(SECRET, {})]],
        [[planned(SECRET, {}), planned(SECRET_ROTATION, {"secretId": UNKNOWN})]],
        "never changed",
        {"when": "always"},
    ),
    "secret-recoverable": one(
        SECRET,
        [{}, {"recoveryWindowInDays": 7}],
        [{"recoveryWindowInDays": 0}],
        [{"recoveryWindowInDays": UNKNOWN}],
        "gone at once",
        stack="prod",
    ),
    "parameter-secure": one(
        SSM_PARAMETER,
        [{"name": "/app/password", "type": "SecureString"}, {"name": "/passwords/url", "type": "String"}],
        [{"name": "/app/db-password", "type": "String"}],
        [{"name": "/app/token", "type": UNKNOWN}, {"name": UNKNOWN}],
        "in clear text",
    ),
    "ssm-document-private": one(
        SSM_DOCUMENT,
        [{}, {"permissions": {"type": "Share", "account_ids": "123456789012"}}],
        [{"permissions": {"type": "Share", "account_ids": "All"}}],
        [{"permissions": UNKNOWN}],
        "every AWS account",
    ),
    "trail-complete": one(
        TRAIL,
        [COMPLETE],
        [{"s3BucketName": "b"}, {**COMPLETE, "enableLogging": False}],
        [{**COMPLETE, "isMultiRegionTrail": UNKNOWN}],
        "the trail lacks",
    ),
    "guardduty-watches-eks": Case(
        [[planned(DETECTOR, {})], [planned(DETECTOR_FEATURE, {"name": "S3_DATA_EVENTS", "status": "DISABLED"})]],
        [
            [planned(DETECTOR, {"enable": False})],
            [planned(DETECTOR_FEATURE, {"name": "EKS_AUDIT_LOGS", "status": "DISABLED"})],
        ],
        [[planned(DETECTOR, {"enable": UNKNOWN})]],
        "switched off",
    ),
}
