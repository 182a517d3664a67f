"""Permissions for everybody and everything."""

import json
from typing import Any

import pulumi_aws as aws


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def trust(principal: Any, action: str = "sts:AssumeRole", **more: Any) -> str:
    return policy({"Effect": "Allow", "Principal": principal, "Action": action, **more})


def build() -> None:
    """Roles, policies, keys and secrets."""
    _roles()
    _policies()
    aws.kms.Key(
        "open", deletion_window_in_days=7, policy=policy(allow("kms:*", Principal={"AWS": "*"})), description="x"
    )
    aws.secretsmanager.Secret("gmsa", recovery_window_in_days=0)
    aws.ssm.Parameter("password", name="/shop/db-password", type="String", value="hunter2")
    aws.ssm.Document(
        "setup", document_type="Command", content="{}", permissions={"type": "Share", "account_ids": "All"}
    )
    aws.cloudtrail.Trail("trail", s3_bucket_name="logs", is_multi_region_trail=True)
    aws.guardduty.Detector("detector", enable=False)


def _roles() -> None:
    aws.iam.Role("anyone", assume_role_policy=trust("*"))
    provider = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/1"
    aws.iam.Role("any-pod", assume_role_policy=trust({"Federated": provider}, "sts:AssumeRoleWithWebIdentity"))
    user = aws.iam.User("robot")
    aws.iam.AccessKey("robot", user=user.name)
    aws.iam.UserPolicyAttachment("robot", user=user.name, policy_arn="arn:aws:iam::aws:policy/AdministratorAccess")


def _policies() -> None:
    role = aws.iam.Role("worker", assume_role_policy=trust({"Service": "lambda.amazonaws.com"}))
    documents = {
        "everything": policy(allow("*")),
        "all-of-s3": policy(allow("s3:*", "arn:aws:s3:::shop/*")),
        "typing-error": policy(allow("s3:GetObjekt", "arn:aws:s3:::shop/*")),
        "no-effect": policy({"Effect": "Permit", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::shop/*"}),
        "every-key": policy(allow("kms:Decrypt")),
    }
    for name, document in documents.items():
        aws.iam.RolePolicy(name, role=role.name, policy=document)
