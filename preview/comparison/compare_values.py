"""Compares two decoded values, property by property.

JSON texts (policies, settings) are compared as JSON, user data in decoded form, and lists by the names of their
elements if these have names.
"""

import difflib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from ..model import UNKNOWN, Reference, Secret, walk
from ..text.user_data import readable

Steps = tuple[str | int, ...]
"""The path of a value in the inputs of a resource."""
Translate = Callable[[str], str]
"""A URN of the base as the head names it."""


class Kind(StrEnum):
    """The kind of a difference."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    ORDER = "order"
    """The same elements in another order."""
    WRITING = "writing"
    """The same JSON, written differently."""
    UNKNOWN = "unknown"
    """Unknown on both sides, but computed from other values than before."""
    FOLLOWS = "follows"
    """Computed from a resource that is replaced."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One difference, with the values of the plans, secrets included."""

    path: Steps
    kind: Kind
    before: Any = None
    after: Any = None
    lines: tuple[str, ...] = ()
    """Removed and added lines of longer texts, as ``diff`` writes them."""
    note: str = ""


_USER_DATA = frozenset(("userdata", "userdatabase64", "customdata"))
_LABELS = ("name", "key", "Sid", "sid", "deviceName", "resourceType", "containerPort", "id")
"""Properties that name the elements of a list, best first."""
_LONGEST_ALIGNED = 400
"""Longer lists are compared position by position: aligning them costs the square of their length."""
_MOST_LINES = 200


def compare_values(base: Any, head: Any, translate: Translate, path: Steps = ()) -> Iterator[ValueChange]:
    """Every difference between two decoded values."""
    if isinstance(base, dict) and isinstance(head, dict):
        yield from _mappings(base, head, translate, path)
    elif isinstance(base, list) and isinstance(head, list):
        yield from _lists(base, head, translate, path)
    elif same(base, head, translate):
        return
    elif isinstance(base, Secret) or isinstance(head, Secret):
        yield ValueChange(path, Kind.CHANGED, _secret(base), _secret(head), note=_secrecy(base, head))
    elif isinstance(base, str) and isinstance(head, str):
        yield from _texts(base, head, translate, path)
    else:
        yield ValueChange(path, Kind.CHANGED, base, head)


def same(base: Any, head: Any, translate: Translate) -> bool:
    """Whether two values are equal; two unknown ones count as equal."""
    if base is UNKNOWN or head is UNKNOWN:
        return base is head
    if isinstance(base, str) and isinstance(head, str):
        return base == head or (base.startswith("urn:pulumi:") and translate(base) == head)
    if isinstance(base, bool) or isinstance(head, bool):
        return base is head
    if isinstance(base, Secret) and isinstance(head, Secret):
        return same(base.value, head.value, translate)
    if isinstance(base, Reference) and isinstance(head, Reference):
        return translate(base.urn) == head.urn and same(base.id, head.id, translate)
    if isinstance(base, dict) and isinstance(head, dict):
        return base.keys() == head.keys() and all(same(base[key], head[key], translate) for key in base)
    if isinstance(base, list) and isinstance(head, list):
        return len(base) == len(head) and all(map(same, base, head, [translate] * len(base)))
    return type(base) is type(head) and base == head


def _secret(value: Any) -> Secret:
    """A plain value compared with a secret may be the same secret, so neither is shown."""
    return value if isinstance(value, Secret) else Secret(value)


def _secrecy(base: Any, head: Any) -> str:
    if isinstance(base, Secret) and isinstance(head, Secret):
        return "the secret changed"
    return "becomes a secret" if isinstance(head, Secret) else "is no longer a secret"


def _mappings(base: dict[str, Any], head: dict[str, Any], translate: Translate, path: Steps) -> Iterator[ValueChange]:
    for key in sorted(base.keys() | head.keys()):
        here = (*path, key)
        if key not in head:
            yield ValueChange(here, Kind.REMOVED, before=base[key])
        elif key not in base:
            yield ValueChange(here, Kind.ADDED, after=head[key])
        else:
            yield from compare_values(base[key], head[key], translate, here)


# -- lists -----------------------------------------------------------------------------------------------------


def _lists(base: list[Any], head: list[Any], translate: Translate, path: Steps) -> Iterator[ValueChange]:
    if same(base, head, translate):
        return
    label = _label(base, head)
    if label:
        yield from _labelled(base, head, label, translate, path)
        return
    ours, theirs = [_canonical(item, translate) for item in base], [_canonical(item, None) for item in head]
    if ours != theirs and Counter(ours) == Counter(theirs) and not _has_secret(base) and not _has_secret(head):
        yield ValueChange(path, Kind.ORDER, base, head, note="only the order differs")
        return
    for before, after in _aligned(ours, theirs):
        if before is None and after is not None:
            yield ValueChange((*path, after), Kind.ADDED, after=head[after])
        elif after is None and before is not None:
            yield ValueChange((*path, before), Kind.REMOVED, before=base[before])
        elif before is not None and after is not None:
            yield from compare_values(base[before], head[after], translate, (*path, after))


def _aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Pair the elements of two lists: equal elements first, the others in their order."""
    if max(len(ours), len(theirs)) > _LONGEST_ALIGNED:
        blocks = [(0, len(ours), 0, len(theirs))]
    else:
        matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
        blocks = [(i1, i2, j1, j2) for _, i1, i2, j1, j2 in matcher.get_opcodes()]
    for i1, i2, j1, j2 in blocks:
        common = min(i2 - i1, j2 - j1)
        yield from ((i1 + step, j1 + step) for step in range(common))
        yield from ((index, None) for index in range(i1 + common, i2))
        yield from ((None, index) for index in range(j1 + common, j2))


def _labelled(base: list[Any], head: list[Any], label: str, translate: Translate, path: Steps) -> Iterator[ValueChange]:
    before = {item[label]: (index, item) for index, item in enumerate(base)}
    after = {item[label]: (index, item) for index, item in enumerate(head)}
    for name, (index, item) in before.items():
        if name not in after:
            yield ValueChange((*path, index), Kind.REMOVED, before=item)
    for name, (index, item) in after.items():
        if name in before:
            yield from compare_values(before[name][1], item, translate, (*path, index))
        else:
            yield ValueChange((*path, index), Kind.ADDED, after=item)
    kept, now = [name for name in before if name in after], [name for name in after if name in before]
    if kept != now:
        yield ValueChange(path, Kind.ORDER, kept, now, note="only the order differs")


def _label(base: list[Any], head: list[Any]) -> str:
    """The property that names each element of both lists; ``""`` if there is none."""
    if not base or not head or not all(isinstance(item, dict) for item in (*base, *head)):
        return ""
    for label in _LABELS:
        if all(_names_each(items, label) for items in (base, head)):
            return label
    return ""


def _names_each(items: list[Any], label: str) -> bool:
    names = [item.get(label) for item in items]
    return all(isinstance(name, str | float) for name in names) and len(set(names)) == len(names)


def _canonical(value: Any, translate: Translate | None) -> str:
    """A text that is equal for equal elements; for aligning only, not for output."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_canonical(value[key], translate)}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_canonical(inner, translate) for inner in value) + "]"
    if isinstance(value, str) and translate and value.startswith("urn:pulumi:"):
        return repr(translate(value))
    if isinstance(value, Reference):
        return f"@{translate(value.urn) if translate else value.urn}"
    return repr(value)


def _has_secret(value: Any) -> bool:
    return any(isinstance(inner, Secret) for _, inner in walk(value))


# -- texts -----------------------------------------------------------------------------------------------------


def _texts(base: str, head: str, translate: Translate, path: Steps) -> Iterator[ValueChange]:
    name = next((str(part).lower() for part in reversed(path) if isinstance(part, str)), "")
    if name in _USER_DATA:
        before, after = readable(base), readable(head)
        if before is None or after is None:
            yield ValueChange(path, Kind.CHANGED, _size(base), _size(head), note="is not readable as text")
        else:
            yield ValueChange(path, Kind.CHANGED, base, head, text_lines(before, after), "decoded user data")
        return
    ours, theirs = _json(base), _json(head)
    if ours is not None and theirs is not None:
        inner = list(compare_values(ours, theirs, translate, path))
        if not inner:
            yield ValueChange(path, Kind.WRITING, base, head, note="the same JSON, written differently")
        for change in inner:
            note = "; ".join(part for part in (change.note, "inside the JSON text") if part)
            yield ValueChange(change.path, change.kind, change.before, change.after, change.lines, note)
        return
    lines = text_lines(base, head) if "\n" in base.strip() or "\n" in head.strip() else ()
    yield ValueChange(path, Kind.CHANGED, base, head, lines)


def _json(text: str) -> Any:
    """The object or list in a JSON text; None if there is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return None
    return cast(Any, found) if isinstance(found, dict | list) else None


def text_lines(base: str, head: str) -> tuple[str, ...]:
    """Removed (``-``) and added (``+``) lines, with two lines around them."""
    lines = list(difflib.unified_diff(base.splitlines(), head.splitlines(), lineterm="", n=2))[2:]
    if len(lines) > _MOST_LINES:
        return (*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines")
    return tuple(lines) or ("… only line endings differ",)


def _size(text: str) -> str:
    return f"{len(text)} characters"
