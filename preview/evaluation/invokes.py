"""Answers calls of provider functions (``get_*``) without a cloud, as far as that is possible.

A table answers a provider's region, its partition and the zones of a region. A file of answers by the user answers any
function. Every other result is unknown in a preview and a marked placeholder in an update, and the plan warns of it.
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
"""The account id in an update: twelve digits, as programs expect, but no real account."""
QUIET_TOKENS = frozenset((
    "aws:index/getCallerIdentity:getCallerIdentity",
    "aws:ssm/getParameter:getParameter",
    "aws:ec2/getAmi:getAmi",
))  # fmt: skip
"""Functions that are known to need the cloud: they are counted, without a warning."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a provider function."""

    token: str
    arguments: Mapping[str, Any]
    region: str
    """The region of the provider; ``""`` if it is not known."""


Answer = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of the user: token to results, each with the arguments for which it holds."""

    by_token: Mapping[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = field(
        default_factory=dict[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]]
    )

    def find(self, token: str, arguments: Mapping[str, Any]) -> Answer:
        """The first result whose ``when`` matches the arguments."""
        for when, result in self.by_token.get(token, ()):
            if all(arguments.get(key) == value for key, value in when.items()):
                return result
        return None


def read_answers(path: Path) -> Answers:
    """Read a file of answers: YAML or JSON, token to a result, or to a list of ``{when: …, result: …}``.

    :raises PreviewError: the file is missing, or has another structure.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PreviewError(f"--answers {path}: {error.strerror or error}") from None
    except yaml.YAMLError as error:
        raise PreviewError(f"--answers {path} is not valid YAML: {' '.join(str(error).split())}") from None
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
        return None  # a table cannot apply filters
    names = list(regions()[region]["zones"])
    # The id behind a zone's name differs from account to account.
    return {"id": region, "region": region, "names": names, "groupNames": [region],
            "zoneIds": [_marker(f"zoneIds.{index}") for index in range(len(names))]}  # fmt: skip


def _dns_suffix(region: str) -> str:
    return _table()["partitions"][regions()[region]["partition"]]["dnsSuffix"]


def _marker(label: str) -> str:
    """The text of an unknown value inside a known result: the monitor records it as unknown."""
    return f"{UNKNOWN_TEXT}:{label}"


_TABLE: Mapping[str, Callable[[Call], Answer]] = {
    "aws:index/getRegion:getRegion": _get_region,
    "aws:index/getPartition:getPartition": _get_partition,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _get_zones,
}


def answer(call: Call, answers: Answers) -> Answer:
    """The result of a call; None if it cannot be known here."""
    given = answers.find(call.token, call.arguments)
    if given is not None:
        return given
    function = _TABLE.get(call.token)
    return function(call) if function else None


def unknown_result(types: Mapping[str, Any]) -> dict[str, Any]:
    """The result of an unanswered plain call: each text has a mark, so that it is recorded as unknown.

    A list of texts becomes a list of one unknown text. Other types cannot hold a mark and are left out; the SDK returns
    None for them.
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
