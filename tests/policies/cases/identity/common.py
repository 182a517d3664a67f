"""What several of these cases are made of."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import IAM_POLICY, ROLE, ROLE_POLICY

from ..base import Case, planned


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
