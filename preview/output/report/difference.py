"""Prepares a difference for the HTML page: plain rows, the most important first."""

import json
from typing import Any

from ...comparison.compare_values import Kind
from ...comparison.difference import Change, ChangedResource, Difference, Item
from ...comparison.replacements import Answer
from ..difference_formats import replaces_words
from ..plan_formats import short_type

_WORDS = {
    Kind.ORDER: "only the order differs", Kind.WRITING: "the same JSON, written differently",
    Kind.UNKNOWN: "computed from other values", Kind.FOLLOWS: "follows a replacement",
}  # fmt: skip


def difference_page(difference: Difference) -> dict[str, Any]:
    """The difference as the template needs it: removals and replacements before changes and additions."""
    order = {answer: index for index, answer in enumerate(Answer)}
    changed = sorted(difference.changed, key=lambda item: (order[item.replaces.answer], item.type, item.name, item.urn))
    entries = [_alone(item, "removed") for item in difference.removed]
    entries += [_changed(item) for item in changed]
    entries += [_alone(item, "added") for item in difference.added]
    if difference.outputs:
        changes = [_row(change) for change in difference.outputs]
        entries.append(_entry("changed", "stack", "outputs", "", (), changes))
    counts = (
        (len(difference.added), "added"), (len(difference.changed), "changed"), (len(difference.removed), "removed"),
        (difference.unchanged, "unchanged"),
    )  # fmt: skip
    found = (len(difference.new_findings), "new"), (len(difference.gone_findings), "resolved")
    words = ", ".join(f"{number} {word}" for number, word in counts)
    findings = ", ".join(f"{number} {word}" for number, word in found if number)
    return {
        "base": difference.base.label,
        "head": difference.head.label,
        "words": f"{words}; findings: {findings}" if findings else words,
        "notes": difference.notes,
        "node_impacts": difference.node_impacts,
        "entries": entries,
    }


def _alone(item: Item, kind: str) -> dict[str, Any]:
    return _entry(kind, short_type(item.type), item.name, "", item.notes, [])


def _changed(item: ChangedResource) -> dict[str, Any]:
    was = (f"was {item.was}",) if item.was else ()
    replaces = replaces_words(item.replaces.answer) if item.applied else ""
    changes = [_row(change) for change in item.changes]
    return _entry("changed", short_type(item.type), item.name, replaces, (*was, *item.notes), changes)


def _entry(
    kind: str, type_: str, name: str, replaces: str, notes: tuple[str, ...], changes: list[dict[str, Any]]
) -> dict[str, Any]:
    return {"kind": kind, "type": type_, "name": name, "replaces": replaces, "notes": notes, "changes": changes}


def _row(change: Change) -> dict[str, Any]:
    words = replaces_words(change.replaces)
    replaces = f"{words} ({change.source})" if words else ""
    ignored = "not applied: ignoreChanges" if change.ignored else ""
    remark = "; ".join(filter(None, (_WORDS.get(change.kind, ""), change.note, ignored or replaces)))
    return {
        "path": change.path,
        "before": "" if change.kind is Kind.ADDED else _text(change.before),
        "after": "" if change.kind is Kind.REMOVED else _text(change.after),
        "lines": "\n".join(change.lines),
        "remark": remark,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
