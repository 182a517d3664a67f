"""What roles, groups and users are given."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...resource_types import (
    ACCESS_KEY,
    GROUP_POLICY_ATTACHMENT,
    POLICY_ATTACHMENT,
    ROLE,
    ROLE_POLICY_ATTACHMENT,
    USER_POLICY,
    USER_POLICY_ATTACHMENT,
)


@resource_rule(
    "iam-no-administrator-access",
    "No administrator policy is attached",
    types=[ROLE_POLICY_ATTACHMENT, USER_POLICY_ATTACHMENT, GROUP_POLICY_ATTACHMENT, POLICY_ATTACHMENT, ROLE],
    severity="high",
    references=[fsbp("IAM.1"), cis_aws("1.16")],
    steps="attach policies for the tasks at hand; document why a deployment role needs more",
    url=controls_page("iam"),
    options={
        "policies": Option(
            ["AdministratorAccess", "PowerUserAccess", "IAMFullAccess"],
            "managed policies that are refused",
            TEXTS,
        )
    },
    late=True,
)
def iam_no_administrator_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged by the name of the managed policy."""

    def check(arn: Value) -> Iterator[str]:
        name = (arn.text or "").rsplit("/", 1)[-1]
        if name in settings["policies"]:
            yield f"{name} is attached"

    arns = resource["managedPolicyArns"].items() if resource.type == ROLE else [resource["policyArn"]]
    yield from every(arns, check)


@resource_rule(
    "iam-no-user-policies",
    "Users get their permissions from groups and roles",
    types=[USER_POLICY, USER_POLICY_ATTACHMENT],
    severity="low",
    references=[fsbp("IAM.2"), cis_aws("1.15")],
    steps="attach the policy to a group, or use a role of IAM Identity Center",
    url=controls_page("iam"),
    options={"users": Option([], "names of users that may have policies of their own", TEXTS)},
)
def iam_no_user_policies(resource: Planned, settings: Settings) -> Iterator[str]:
    """Permissions of individual users are easily forgotten."""
    if not settings["users"] or resource["user"].text not in settings["users"]:
        yield "the policy is attached to an individual user"


@resource_rule(
    "iam-no-access-keys",
    "No long-lived access keys are created",
    types=[ACCESS_KEY],
    references=[cis_aws("1.14"), fsbp("IAM.3")],
    steps="use a role: IRSA for pods, an instance profile for machines, OIDC for pipelines",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
)
def iam_no_access_keys(resource: Planned, settings: Settings) -> Iterator[str]:
    """The secret is also stored in the state of the stack."""
    if resource["status"].text != "Inactive":
        yield "the access key never expires, and its secret is stored in the state of the stack"
