"""Cases of the rules in ``rules/identity/trust.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ROLE

from ..base import one, policy

OIDC = {
    "Effect": "Allow",
    "Principal": {"Federated": "arn:aws:iam::123456789012:oidc-provider/oidc.eks"},
    "Action": "sts:AssumeRoleWithWebIdentity",
}


def trusting(subject: Any) -> dict[str, Any]:
    return {"assumeRolePolicy": policy({**OIDC, "Condition": {"StringLike": {"oidc.eks:sub": subject}}})}


def trust(principal: Any, **more: Any) -> dict[str, Any]:
    return {"assumeRolePolicy": policy({"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole", **more})}


CASES = {
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
        "every AWS account",
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
}
