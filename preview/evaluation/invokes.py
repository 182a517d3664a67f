"""Answers to provider functions (``get_*``): what can be known without a cloud, and what cannot.

Known from a table: a provider's region, its partition, the zones of a region. Given by the user: anything, with
a file of answers. Everything else stays unknown in a preview and becomes a marked placeholder in an update; the
plan names it in a warning, so that nobody takes it for a value.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml

from ..errors import PreviewError
from ..model import UNKNOWN_TEXT

ACCOUNT_PLACEHOLDER = "000000000000"
"""Stands for the account in an update: twelve digits, as the programs expect, and no real account."""
QUIET_TOKENS = frozenset((
    "aws:index/getCallerIdentity:getCallerIdentity",
    "aws:ssm/getParameter:getParameter",
    "aws:ec2/getAmi:getAmi",
))  # fmt: skip
"""Functions that every reader expects to be unknown before a deployment: counted, not warned about."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a provider function."""

    token: str
    arguments: Mapping[str, Any]
    region: str
    """Region of the provider that serves the call, ``""`` where it is not known."""


Answer = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user knows: token to results, each with the arguments it belongs to."""

    by_token: Mapping[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = field(
        default_factory=dict[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]]
    )

    def find(self, token: str, arguments: Mapping[str, Any]) -> Answer:
        """The first result whose ``when`` fits the arguments."""
        for when, result in self.by_token.get(token, ()):
            if all(arguments.get(key) == value for key, value in when.items()):
                return result
        return None


def read_answers(path: Path) -> Answers:
    """Read a file of answers: YAML or JSON, token to a result, or to a list of ``{when: …, result: …}``.

    :raises PreviewError: when the file is missing or of another structure.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PreviewError(f"--answers {path}: {error.strerror or error}") from None
    except yaml.YAMLError as error:
        raise PreviewError(f"--answers {path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise PreviewError(f"--answers {path}: must map function tokens to results, got {type(content).__name__}")
    found: dict[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = {}
    for token, entry in content.items():
        rows = entry if isinstance(entry, list) else [{"result": entry}]
        for row in rows:
            if not isinstance(row, dict) or not isinstance(row.get("result"), dict) or set(row) - {"when", "result"}:
                raise PreviewError(
                    f"--answers {path}: {token}: write a mapping of result properties, or a list of "
                    "{when: {argument: value}, result: {property: value}}"
                )
        found[str(token)] = tuple((row.get("when") or {}, row["result"]) for row in rows)
    return Answers(found)


@cache
def _table() -> Mapping[str, Any]:
    return json.loads((Path(__file__).parent / "regions.json").read_text(encoding="utf-8"))


def regions() -> Mapping[str, Mapping[str, Any]]:
    """The table of AWS regions: name to partition and zones."""
    return _table()["regions"]


def _get_region(call: Call) -> Answer:
    name = call.arguments.get("region") or call.arguments.get("name") or call.region
    if name not in regions():
        return None
    return {"id": name, "region": name, "name": name, "endpoint": f"ec2.{name}.{_dns_suffix(name)}",
            "description": _marker("description")}  # fmt: skip


def _get_partition(call: Call) -> Answer:
    if call.region not in regions():
        return None
    partition, suffix = regions()[call.region]["partition"], _dns_suffix(call.region)
    reverse = ".".join(reversed(suffix.split(".")))
    return {"id": partition, "partition": partition, "dnsSuffix": suffix, "reverseDnsPrefix": reverse}


def _get_zones(call: Call) -> Answer:
    region = call.arguments.get("region") or call.region
    plain = call.arguments.keys() <= {"region", "state"} and call.arguments.get("state", "available") == "available"
    if region not in regions() or not plain:
        return None  # filters may leave zones out: a table cannot tell which
    names = list(regions()[region]["zones"])
    # The id behind a zone's name differs from account to account.
    return {"id": region, "region": region, "names": names, "groupNames": [region],
            "zoneIds": [_marker(f"zoneIds.{index}") for index in range(len(names))]}  # fmt: skip


def _dns_suffix(region: str) -> str:
    return _table()["partitions"][regions()[region]["partition"]]["dnsSuffix"]


def _marker(label: str) -> str:
    """Text that stands for an unknown inside a known result: the recorder reads it back as unknown."""
    return f"{UNKNOWN_TEXT}:{label}"


_TABLE: Mapping[str, Callable[[Call], Answer]] = {
    "aws:index/getRegion:getRegion": _get_region,
    "aws:index/getPartition:getPartition": _get_partition,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _get_zones,
}


def answer(call: Call, answers: Answers) -> Answer:
    """The result of a call, or None where nobody here can know it."""
    given = answers.find(call.token, call.arguments)
    if given is not None:
        return given
    function = _TABLE.get(call.token)
    return function(call) if function else None


def unknown_result(types: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a plain call that nobody can answer: each text is marked, so that it is recorded as unknown.

    A list of texts becomes a list of one unknown. What else there is cannot carry a mark and is left out: the SDK
    gives None for it.
    """
    result: dict[str, Any] = {}
    for key, hint in types.items():
        if hint is str:
            result[key] = _marker(key)
        elif get_origin(hint) is Sequence and get_args(hint) == (str,):
            result[key] = [_marker(f"{key}.0")]
    return result


def placeholder_result(call: Call, types: Mapping[str, Any], make: Callable[[Any, str], Any]) -> dict[str, Any]:
    """The result of an unanswered call in an update: the arguments, and marked placeholders for the rest."""
    special = {"accountId": ACCOUNT_PLACEHOLDER}
    label = call.token.rsplit(":", 1)[-1]
    return {
        key: call.arguments[key] if key in call.arguments else special.get(key, make(hint, f"{label}.{key}"))
        for key, hint in types.items()
    }
