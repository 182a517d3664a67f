"""IAM's decision over rendered identity policies: enough of its language for the documents of this library.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html: a Deny wins, without an Allow
nothing is allowed, all operators and keys of a condition must hold, a key that is not in the request fails.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from winkube.preview.model import Plan


class Policies:
    """The inline policies of one role."""

    def __init__(self, documents: Sequence[Mapping[str, Any]]) -> None:
        self.statements = [statement for document in documents for statement in document["Statement"]]

    def allow(self, action: str, resource: str, **context: str) -> bool:
        """Whether a request is allowed; keys of the context with ``__`` for ``:`` and ``_`` kept."""
        asked = {key.replace("__", ":"): value for key, value in context.items()}
        effects = [one["Effect"] for one in self.statements if _fits(one, action, resource, asked)]
        return "Deny" not in effects and "Allow" in effects


def policies_of(plan: Plan, role_name: str) -> Policies:
    """The inline policies in a plan whose role has this name."""
    found = [
        json.loads(resource.inputs["policy"])
        for resource in plan.resources
        if resource.type == "aws:iam/rolePolicy:RolePolicy" and resource.name.startswith(role_name)
    ]
    assert found, f"no inline policies of {role_name}"
    return Policies(found)


def _fits(statement: Mapping[str, Any], action: str, resource: str, context: Mapping[str, str]) -> bool:
    return (
        any(_like(action.lower(), pattern.lower()) for pattern in _listed(statement["Action"]))
        and any(_like(resource, pattern) for pattern in _listed(statement["Resource"]))
        and all(
            _holds(operator, context.get(key), _listed(wanted))
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _holds(operator: str, value: str | None, wanted: list[str]) -> bool:
    if value is None:
        return False
    if operator == "StringEquals":
        return value in wanted
    if operator == "StringLike":
        return any(_like(value, pattern) for pattern in wanted)
    raise NotImplementedError(operator)


def _like(text: str, pattern: str) -> bool:
    form = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(form, text, re.DOTALL) is not None


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
