"""Writes differences as a tree for a terminal and as JSON with a versioned schema; holds the words of all formats.

The impact on Windows nodes comes first, then replacements, then everything else. The same differences give the same
text, byte for byte.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ..comparison.compare_values import Kind
from ..comparison.difference import Change, ChangedResource, Difference, Item
from ..comparison.replacements import Answer
from ..model import Finding
from ..text.values import brief, visible
from .plan_formats import FOLD_FROM, finding_lines, short_type

SCHEMA_VERSION = 1
"""Incremented when a property is renamed, removed or gets another meaning; see ``difference.schema.json``."""
DISCLAIMER = (
    "Both sides were evaluated without credentials and without state. This compares two programs, not a program with "
    "what is deployed. Replacements are predicted from tables; `pulumi preview` asks the providers."
)
_ORDER = {Answer.YES: 0, Answer.UNKNOWN: 1, Answer.NO: 2}


# -- words that all formats share ----------------------------------------------------------------------------------


def title(difference: Difference) -> str:
    """Project, stack and the labels of both sides."""
    base, head = difference.base, difference.head
    ours, theirs = f"{base.project}/{base.stack}", f"{head.project}/{head.stack}"
    name = theirs if ours == theirs else f"{ours} → {theirs}"
    return f"{name}: {base.label} → {head.label}"


def verdict(difference: Difference) -> str:
    """One sentence: the counts of a difference."""
    if difference.empty:
        return f"no differences in {difference.unchanged} resources"
    custom = [item for item in difference.changed if item.custom]
    yes, maybe = (len(difference.replaced(answer)) for answer in (Answer.YES, Answer.UNKNOWN))
    marks = [f"{yes} replaced"] * bool(yes) + [f"{maybe} perhaps replaced"] * bool(maybe)
    words = [
        f"{sum(item.custom for item in difference.added)} added",
        f"{len(custom)} changed" + (f" ({', '.join(marks)})" if marks else ""),
        f"{sum(item.custom for item in difference.removed)} removed",
        f"{difference.unchanged} unchanged",
    ]
    text = ", ".join(words)
    for number, what in (
        (len(difference.node_impacts), "Windows group"),
        (len(difference.new_findings), "new finding"),
    ):
        if number:
            verb = " affected" if what == "Windows group" else ""
            text += f"; {number} {what}{'s' if number != 1 else ''}{verb}"
    return text


def ordered(changed: Iterable[ChangedResource]) -> list[ChangedResource]:
    """Changed resources: replacements first, then possible replacements."""
    return sorted(changed, key=lambda item: (_ORDER[item.replaces.answer], item.urn))


def replaces_words(answer: Answer) -> str:
    """An answer in words; ``""`` for no."""
    return {Answer.YES: "replaces", Answer.UNKNOWN: "may replace", Answer.NO: ""}[answer]


def one_line(change: Change, limit: int = 100) -> str:
    """``before → after``, or the one that a change has."""
    if change.kind in (Kind.UNKNOWN, Kind.FOLLOWS, Kind.ORDER, Kind.WRITING):
        return ""
    if change.kind is Kind.ADDED:
        return brief(change.after, limit)
    if change.kind is Kind.REMOVED:
        return brief(change.before, limit)
    if change.lines:
        return ""
    return f"{brief(change.before, limit)} → {brief(change.after, limit)}"


def folded(items: Sequence[Item]) -> Iterator[tuple[str, str, list[Item]]]:
    """Type, names and members: many siblings of one type share a line."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        groups.setdefault((short_type(item.type), item.parent), []).append(item)
    for (kind, _), members in sorted(groups.items(), key=lambda entry: (entry[0][0], entry[1][0].urn)):
        plain = [item for item in members if not item.notes]
        if len(plain) >= FOLD_FROM:
            yield f"{kind} ×{len(plain)}", f"{plain[0].name} … {plain[-1].name}", plain
            plain = []
        for item in members:
            if item.notes or item in plain:
                yield kind, item.name, [item]


# -- JSON ----------------------------------------------------------------------------------------------------------


def to_json(differences: Sequence[Difference]) -> dict[str, Any]:
    """The differences as a JSON document of :data:`SCHEMA_VERSION`."""
    return {"schemaVersion": SCHEMA_VERSION, "stacks": [_stack_json(difference) for difference in differences]}


def json_text(differences: Sequence[Difference]) -> str:
    """:func:`to_json` as text."""
    return json.dumps(to_json(differences), indent=2, ensure_ascii=False) + "\n"


def _stack_json(difference: Difference) -> dict[str, Any]:
    return {
        "base": asdict(difference.base),
        "head": asdict(difference.head),
        "summary": summary(difference),
        "notes": list(difference.notes),
        "disruptions": [{**asdict(item), "reasons": list(item.reasons)} for item in difference.node_impacts],
        "added": [_item_json(item) for item in difference.added],
        "removed": [_item_json(item) for item in difference.removed],
        "changed": [_changed_json(item) for item in ordered(difference.changed)],
        "outputs": [_change_json(change) for change in difference.outputs],
        "lookups": [{"change": change, "call": call} for change, call in difference.lookups],
        "newFindings": [_finding_json(finding) for finding in difference.new_findings],
        "goneFindings": [_finding_json(finding) for finding in difference.gone_findings],
    }


def summary(difference: Difference) -> dict[str, int]:
    """The counts of a difference, without components."""
    return {
        "added": sum(item.custom for item in difference.added),
        "changed": sum(item.custom for item in difference.changed),
        "removed": sum(item.custom for item in difference.removed),
        "renamed": sum(item.custom and bool(item.was) for item in difference.changed),
        "unchanged": difference.unchanged,
        "replaced": len(difference.replaced(Answer.YES)),
        "perhapsReplaced": len(difference.replaced(Answer.UNKNOWN)),
        "disruptions": len(difference.node_impacts),
        "newFindings": len(difference.new_findings),
        "goneFindings": len(difference.gone_findings),
    }


def _item_json(item: Item) -> dict[str, Any]:
    return {**asdict(item), "notes": list(item.notes)}


def _changed_json(item: ChangedResource) -> dict[str, Any]:
    return {
        **{name: getattr(item, name) for name in ("urn", "was", "type", "name", "parent", "custom", "source")},
        "replaces": str(item.replaces.answer),
        "replacesSource": item.replaces.source,
        "applied": item.applied,
        "notes": list(item.notes),
        "changes": [_change_json(change) for change in item.changes],
    }


def _change_json(change: Change) -> dict[str, Any]:
    row = {**asdict(change), "kind": str(change.kind), "replaces": str(change.replaces), "lines": list(change.lines)}
    if change.kind is Kind.ADDED:
        del row["before"]
    if change.kind is Kind.REMOVED:
        del row["after"]
    return row


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        **asdict(finding),
        "severity": str(finding.severity),
        "source": str(finding.source) if finding.source else None,
    }


# -- the tree --------------------------------------------------------------------------------------------------------


def tree_text(differences: Sequence[Difference], width: int = 120, *, color: bool = False) -> str:
    """The differences for a terminal."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=StringIO(), width=width, force_terminal=color, no_color=not color, color_system="auto" if color else None,
        highlight=False, emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    for number, difference in enumerate(differences):
        if number:
            console.print()
        for text, style in _tree_lines(difference):
            console.print(Text(visible(text)), style=style, soft_wrap=True)
    console.print()
    console.print(Text(DISCLAIMER), style="dim", soft_wrap=True)
    return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def _tree_lines(difference: Difference) -> Iterator[tuple[str, str]]:
    yield title(difference), "bold"
    for note in difference.notes:
        yield f"note: {note}", "dim"
    if difference.node_impacts:
        yield "", ""
        yield "Impact on Windows nodes", "bold red"
        for item in difference.node_impacts:
            where = f"  ({item.source})" if item.source else ""
            yield f"! {item.group}: {item.effect}{where}", "red"
            for reason in item.reasons:
                yield f"    {reason}", ""
    if difference.changed or difference.added or difference.removed:
        yield "", ""
    for item in ordered(difference.changed):
        yield from _changed_lines(item)
    for sign, style, items in (("+", "green", difference.added), ("-", "red", difference.removed)):
        for kind, names, members in folded(items):
            where = f"  ({members[0].source})" if members[0].source and sign == "+" else ""
            yield f"{sign} {kind}  {names}{where}", style
            for note in members[0].notes:
                yield f"    {note}", ""
    yield from _tree_rest(difference)
    yield "", ""
    yield verdict(difference), "bold"


def _changed_lines(item: ChangedResource) -> Iterator[tuple[str, str]]:
    mark = replaces_words(item.replaces.answer)
    was = f"  was {item.was.rsplit('::', 1)[-1]}" if item.was else ""
    where = f"  ({item.source})" if item.source else ""
    sign = "±" if item.replaces.answer is Answer.YES else "~"
    style = {Answer.YES: "bold magenta", Answer.UNKNOWN: "magenta", Answer.NO: "yellow"}[item.replaces.answer]
    yield f"{sign} {short_type(item.type)}  {item.name}{was}{f'  {mark}' if mark else ''}{where}", style
    for note in item.notes:
        yield f"    ! {note}", "magenta"
    for change in item.changes:
        yield from _change_lines(change, item.replaces.answer is not Answer.NO)


def _change_lines(change: Change, marked: bool) -> Iterator[tuple[str, str]]:
    signs = {Kind.ADDED: "+", Kind.REMOVED: "-"}
    mark = (
        f"  {replaces_words(change.replaces)} ({change.source})" if marked and replaces_words(change.replaces) else ""
    )
    note = f"  [{change.note}]" if change.note else ""
    values = one_line(change)
    text = f"    {signs.get(change.kind, '~')} {change.path}{f': {values}' if values else ''}{note}{mark}"
    yield text, "dim" if change.ignored else ""
    for line in change.lines[:60]:
        yield f"        {line}", {"+": "green", "-": "red"}.get(line[:1], "dim")
    if len(change.lines) > 60:
        yield f"        … {len(change.lines) - 60} more lines", "dim"


def _tree_rest(difference: Difference) -> Iterator[tuple[str, str]]:
    if difference.outputs:
        yield "", ""
        yield "Stack outputs", "bold"
        for change in difference.outputs:
            yield from _change_lines(change, False)
    if difference.lookups:
        yield "", ""
        yield "Functions that only the cloud can answer", "bold"
        for change, call in difference.lookups:
            yield f"  {'+' if change == 'added' else '-'} {call}", ""
    for name, findings in (("New findings", difference.new_findings), ("Resolved findings", difference.gone_findings)):
        if findings:
            yield "", ""
            yield name, "bold"
            for finding in findings:
                head, *rest = finding_lines(finding)
                yield head, {"error": "bold red", "warning": "yellow"}.get(finding.severity, "dim")
                for line in rest:
                    yield f"  {line}", ""
