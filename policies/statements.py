"""Policy documents as resources carry them: JSON text, possibly unknown, possibly broken."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .model import Planned, Value
from .resource_types import ROLE

PUBLIC = frozenset(["*", "arn:aws:iam::*:root"])
NARROWING = ("aws:principalorgid", "aws:principalaccount", "aws:principalarn", "aws:sourceaccount", "aws:sourcearn",
             "aws:sourceorgid", "aws:sourcevpc", "aws:sourcevpce", "aws:sourceip", "aws:vpcsourceip",
             "aws:principalorgpaths", "kms:calleraccount", "aws:userid", "aws:principaltag")  # fmt: skip
"""Condition keys that say who, or from where."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a document."""

    effect: str
    actions: tuple[str, ...]
    not_actions: tuple[str, ...]
    resources: tuple[str, ...]
    principals: Mapping[str, tuple[str, ...]]
    """Kind (``AWS``, ``Service``, ``Federated``) to principals; everyone is ``{"AWS": ("*",)}``."""
    conditions: Mapping[str, tuple[str, ...]]
    """Condition key in lower case to its values, whatever the operator."""
    required: frozenset[str]
    """The condition keys that must have a value: those of operators that do not exclude."""

    @property
    def allows(self) -> bool:
        """Whether it allows something."""
        return self.effect == "Allow"

    @property
    def public(self) -> bool:
        """Whether it is for everyone and nothing narrows it down."""
        everybody = any(principal in PUBLIC for principal in self.principals.get("AWS", ()))
        return everybody and not any(key in self.required for key in NARROWING)


def documents(resource: Planned, *names: str) -> list[Value]:
    """The policy documents of a resource: these properties and, of a role, its inline policies."""
    found = [resource[name] for name in names if resource[name].given]
    if resource.type == ROLE and "assumeRolePolicy" not in names:
        found += [policy["policy"] for policy in resource["inlinePolicies"].items()]
    return found


def parsed(document: Value) -> Mapping[str, Any] | None:
    """The document, none where it is broken.

    :raises Undecided: when it is not known yet.
    """
    value = document.known()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else None


def statements(document: Value) -> Iterator[Statement]:
    """The statements of a document, as far as they have the shape of one.

    :raises Undecided: when it is not known yet.
    """
    content = parsed(document)
    listed: Any = content.get("Statement") if content else None
    for raw in _listed(listed):
        if isinstance(raw, Mapping):
            yield _statement(cast(Mapping[str, Any], raw))


def _statement(raw: Mapping[str, Any]) -> Statement:
    principal = raw.get("Principal")
    named: Mapping[str, Any] = {"AWS": principal} if isinstance(principal, str) else principal or {}
    principals = {kind: _texts(value) for kind, value in named.items()} if isinstance(named, Mapping) else {}  # pyright: ignore[reportUnnecessaryIsInstance]
    if "NotPrincipal" in raw:
        principals = {"AWS": ("*",)}
    conditions: dict[str, tuple[str, ...]] = {}
    required: set[str] = set()
    for operator, keys in _mapping(raw.get("Condition")).items():
        for key, values in _mapping(keys).items():
            conditions[key.lower()] = _texts(values)
            if "Not" not in operator and operator != "Null":
                required.add(key.lower())
    return Statement(
        str(raw.get("Effect")), _texts(raw.get("Action")), _texts(raw.get("NotAction")), _texts(raw.get("Resource")),
        principals, conditions, frozenset(required),
    )  # fmt: skip


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return cast(Sequence[Any], value)
    return [] if value is None else [value]


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in _listed(value))
