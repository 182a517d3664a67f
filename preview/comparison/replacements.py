"""Whether a change of a property makes the provider replace the resource: yes, no, or not known.

The table ``replacements.json`` is made by ``refresh_replacements.py`` and names the source of each entry. Where no
source says anything the answer is *unknown*: a missing entry is no promise.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

Path_ = Sequence[str | int]


class Answer(StrEnum):
    """Whether a resource is replaced, the worst first."""

    YES = "yes"
    UNKNOWN = "unknown"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Mark:
    """An answer and who gives it."""

    answer: Answer
    source: str


UNSAID = Mark(Answer.UNKNOWN, "no source says")
_REGION = Mark(Answer.YES, "terraform-provider-aws: a resource cannot move to another region")
_TAGS = Mark(Answer.NO, "terraform-provider-aws: tags are changed in place")
_KUBERNETES = "source of pulumi-kubernetes"


@cache
def table() -> Mapping[str, Any]:
    """The table as it was made."""
    return json.loads(Path(__file__).with_name("replacements.json").read_text(encoding="utf-8"))


def mark(token: str, path: Path_, replace_on_changes: Iterable[str] = ()) -> Mark:
    """What a change at ``path`` does to a resource of type ``token``.

    >>> mark("aws:eks/nodeGroup:NodeGroup", ("amiType",)).answer
    <Answer.YES: 'yes'>
    >>> mark("aws:eks/nodeGroup:NodeGroup", ("scalingConfig", "maxSize")).answer
    <Answer.NO: 'no'>
    >>> mark("somebody:else/thing:Thing", ("size",)).answer
    <Answer.UNKNOWN: 'unknown'>
    """
    for pattern in replace_on_changes:
        if covers(pattern, path):
            return Mark(Answer.YES, "option replaceOnChanges")
    names = tuple(part for part in path if isinstance(part, str))
    if token.startswith("kubernetes:"):
        return _kubernetes(token, names)
    return _listed(token, names)


def name_properties(token: str) -> tuple[str, ...]:
    """The properties that hold the physical name of a type, where it has one: given, they fix it.

    >>> name_properties("aws:eks/nodeGroup:NodeGroup")
    ('name', 'bucket', 'identifier', 'nodeGroupName', 'nodeGroupIdentifier')
    """
    if token.startswith("aws:route53/"):
        return ()  # a name in the DNS is no name of the resource
    own = token.rpartition(":")[2]
    own = own[:1].lower() + own[1:]
    return ("name", "bucket", "identifier", f"{own}Name", f"{own}Identifier")


def worst(marks: Iterable[Mark]) -> Mark:
    """The mark that replaces most; *no* where there is none."""
    order = list(Answer)
    return min(marks, key=lambda item: order.index(item.answer), default=Mark(Answer.NO, ""))


def _listed(token: str, names: tuple[str, ...]) -> Mark:
    rows = table()["types"].get(token, {})
    for path in _prefixes(names):
        if path in rows.get("yes", {}):
            return _said(Answer.YES, rows["yes"][path])
        if path in rows.get("maybe", {}):
            source = _said(Answer.UNKNOWN, rows["maybe"][path]).source
            return Mark(Answer.UNKNOWN, f"depends on the change: {source}")
        if path in rows.get("no", {}):
            return UNSAID if _came_whole(rows, names) else _said(Answer.NO, rows["no"][path])
    if token.startswith("aws:") and names[:1] == ("region",):
        return _REGION
    if token.startswith("aws:") and names[:1] == ("tags",):
        return _TAGS
    if "*" not in rows.get("no", {}) or _came_whole(rows, names):
        return UNSAID
    return _said(Answer.NO, rows["no"]["*"])


def _came_whole(rows: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """Whether a whole object came or went, of which a part cannot be changed in place."""
    return len(names) == 1 and any(path.startswith(f"{names[0]}.") for path in rows.get("yes", {}))


def _prefixes(names: tuple[str, ...]) -> Iterator[str]:
    """The path and what it lies in, the longest first."""
    for length in range(len(names), 0, -1):
        yield ".".join(names[:length])


def _said(answer: Answer, letters: str) -> Mark:
    return Mark(answer, "; ".join(table()["sources"][letter] for letter in letters))


def _kubernetes(token: str, names: tuple[str, ...]) -> Mark:
    if names[:1] == ("metadata",):
        fixed = names[1:2] in ((), ("name",), ("namespace",))
        return Mark(Answer.YES if fixed else Answer.NO, _KUBERNETES)
    if names[:1] in (("kind",), ("apiVersion",)):
        return UNSAID
    paths = table()["kubernetes"].get(token.rpartition(":")[2])
    if paths is None:
        return UNSAID
    listed = any(path in paths for path in _prefixes(names))
    if not listed and any(path.startswith(".".join(names) + ".") for path in paths):
        return UNSAID  # the object around a listed property came or went
    return Mark(Answer.YES if listed else Answer.NO, _KUBERNETES)


def covers(pattern: str, path: Path_) -> bool:
    """Whether a property path of an option (``ignoreChanges``) stands for ``path`` or for something around it.

    >>> covers("scalingConfig.desiredSize", ("scalingConfig", "desiredSize")), covers("*", ("tags", "Name"))
    (True, True)
    >>> covers('tags["Name"]', ("tags", "Name")), covers("blocks[*].size", ("blocks", 3, "size"))
    (True, True)
    >>> covers("tags", ("tagsAll",))
    False
    """
    parts = _parts(pattern)
    return 0 < len(parts) <= len(path) and all(
        part in ("*", str(step)) for part, step in zip(parts, path, strict=False)
    )


@cache
def _parts(pattern: str) -> tuple[str, ...]:
    """A property path as the engine reads it: ``a.b[0]``, ``a["b.c"]``, ``a[*].b``."""
    parts: list[str] = []
    rest = pattern
    while rest:
        if rest.startswith("["):
            quoted = rest[1:2] == '"'
            end = rest.find('"]' if quoted else "]", 2 if quoted else 1)
            if end < 0:
                return ()
            parts.append(rest[2:end] if quoted else rest[1:end])
            rest = rest[end + (2 if quoted else 1) :]
        else:
            rest = rest.removeprefix(".")
            end = min((i for i in (rest.find("."), rest.find("[")) if i >= 0), default=len(rest))
            if end == 0 and not rest.startswith("["):
                return ()
            if end:
                parts.append(rest[:end])
            rest = rest[end:]
    return tuple(parts)
