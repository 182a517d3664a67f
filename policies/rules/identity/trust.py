"""Who may assume a role."""

from collections.abc import Iterator

from ...frameworks import cis_eks
from ...model import Planned, Settings, resource_rule
from ...resource_types import ROLE
from ...statements import statements


@resource_rule(
    "iam-role-trust-closed",
    "Roles are not open to everyone",
    types=[ROLE],
    severity="critical",
    level="mandatory",
    references=[cis_eks("5.2.1")],
    steps="name the service, the account or the role that may assume it",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
    late=True,
)
def iam_role_trust_closed(resource: Planned, settings: Settings) -> Iterator[str]:
    """A principal `*` without a condition on the caller admits every AWS account."""
    for statement in statements(resource["assumeRolePolicy"]):
        if statement.allows and statement.public and "sts:externalid" not in statement.conditions:
            yield "assumeRolePolicy lets every AWS account assume the role"


@resource_rule(
    "iam-federated-trust-narrow",
    "Roles for identity providers require a subject",
    types=[ROLE],
    severity="high",
    level="mandatory",
    references=[cis_eks("5.2.1")],
    steps='require StringEquals on "<issuer>:sub", such as "system:serviceaccount:<namespace>:<name>" or '
    '"repo:<owner>/<name>:ref:refs/heads/main"',
    url="https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html",
    late=True,
)
def iam_federated_trust_narrow(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without one, every pod of the cluster, or every repository of the provider, can assume the role."""
    for statement in statements(resource["assumeRolePolicy"]):
        if not statement.allows or "sts:AssumeRoleWithWebIdentity" not in statement.actions:
            continue
        subjects = [value for key, values in statement.conditions.items() for value in values
                    if key.endswith((":sub", ":repository", ":repository_owner", ":amr"))]  # fmt: skip
        if not subjects:
            yield "assumeRolePolicy requires no subject: everyone with a token of the provider can assume the role"
        elif all(subject.strip("*:") in ("", "system:serviceaccount", "repo") for subject in subjects):
            yield "assumeRolePolicy accepts every subject of the provider"
