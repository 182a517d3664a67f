"""Writes differences as Markdown for a comment: the most important first, details folded, within a size limit.

No text can break out of its code span, fence or line, and no user is mentioned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..comparison.compare_values import Kind
from ..comparison.difference import Change, Difference, Item
from ..comparison.replacements import Answer
from ..model import Finding
from ..text.markdown import code, escape, fence
from ..text.values import brief, cut
from .difference_formats import DISCLAIMER, folded, ordered, replaces_words, title, verdict
from .plan_formats import short_type

MARKDOWN_LIMIT = 60_000
"""Bytes. GitHub refuses comments above 65,536 characters."""
_MOST_ROWS = 40
_CUT = 300


@dataclass(slots=True)
class _Page:
    """Markdown with a size limit: sections that do not fit are counted, never cut."""

    limit: int
    parts: list[str] = field(default_factory=list[str])
    size: int = 0
    left_out: int = 0

    def add(self, lines: Sequence[str], reserve: int = 500) -> bool:
        """Add all lines, or none if they do not fit."""
        text = "\n".join(lines) + "\n"
        size = len(text.encode("utf-8", "replace"))
        if self.size + size > self.limit - reserve:
            return False
        self.parts.append(text)
        self.size += size
        return True

    def add_block(self, lines: Sequence[str], short: Sequence[str]) -> None:
        """Add a block, or its short form if the block does not fit; else count it."""
        if not self.add(["", *lines]) and not self.add(["", *short]):
            self.left_out += 1


def markdown_text(differences: Sequence[Difference], limit: int = MARKDOWN_LIMIT) -> str:
    """The differences for a comment of at most ``limit`` bytes."""
    page = _Page(limit)
    page.add(["## What this change does", ""])
    # The heads of all stacks must fit, whatever else does not.
    heads = [_head(difference) for difference in differences]
    room = sum(len("\n".join(head).encode("utf-8", "replace")) + 1 for head in heads)
    for number, (difference, head) in enumerate(zip(differences, heads, strict=True)):
        if not page.add(head):
            page.left_out += len(differences) - number
            break
        room -= len("\n".join(head).encode("utf-8", "replace")) + 1
        page.limit -= room  # the heads that are still to come
        for lines, short in _blocks(difference):
            page.add_block(lines, short)
        page.add([""])
        page.limit += room
    if page.left_out:
        rest = f"{page.left_out} more sections do not fit here; `winkube diff` shows everything."
        page.add([f"**{rest}**", ""], reserve=350)
    page.add([f"<sub>{DISCLAIMER}</sub>"], reserve=0)
    return "".join(page.parts)


def _head(difference: Difference) -> list[str]:
    lines = [f"### {code(cut(title(difference), _CUT))}", "", f"**{verdict(difference)}**"]
    for note in difference.notes[:10]:
        lines += ["", f"> {escape(cut(note, _CUT))}"]
    if difference.node_impacts:
        lines += ["", "#### ⚠ Impact on Windows nodes", ""]
        for item in difference.node_impacts[:20]:
            where = f" ({code(item.source)})" if item.source else ""
            lines.append(f"- **{escape(cut(item.group, 100))}**: {item.effect}{where}")
            lines += [f"  - {escape(cut(reason, _CUT))}" for reason in item.reasons[:8]]
        if len(difference.node_impacts) > 20:
            lines.append(f"- … and {len(difference.node_impacts) - 20} more")
    return lines


def _blocks(difference: Difference) -> Iterator[tuple[list[str], list[str]]]:
    """Foldable sections, the most important first, each with a short form of one line."""
    yield from _findings_block("New findings", difference.new_findings)
    for item in ordered(difference.changed):
        sign = {Answer.YES: "±", Answer.UNKNOWN: "~?", Answer.NO: "~"}[item.replaces.answer]
        mark = replaces_words(item.replaces.answer)
        label = f"{sign} {short_type(item.type)} {item.name}{f' — {mark}' if mark else ''}"
        was = [f"was {item.was}"] if item.was else []
        lines = [*was, *(f"! {note}" for note in item.notes), *_diff_lines(item.changes)]
        where = f"at {code(item.source)}" if item.source else ""
        yield _details(label, [where, *fence(lines)]), [f"- {code(cut(label, _CUT))}"]
    for sign, word, items in (("+", "added", difference.added), ("-", "removed", difference.removed)):
        lines = [line for group in folded(items) for line in _item_lines(sign, *group)]
        if lines:
            many = len(items)
            shown = lines[:200] + [f"… {len(lines) - 200} more"] * (len(lines) > 200)
            yield _details(f"{many} {word}", fence(shown)), [f"- {many} {word}"]
    if difference.outputs:
        yield _details("Stack outputs", fence(_diff_lines(difference.outputs))), ["- stack outputs changed"]
    if difference.lookups:
        lines = [f"{'+' if change == 'added' else '-'} {cut(call, _CUT)}" for change, call in difference.lookups]
        yield (
            _details("Functions that only the cloud can answer", fence(lines[:_MOST_ROWS])),
            ["- calls of provider functions changed"],
        )
    yield from _findings_block("Resolved findings", difference.gone_findings)


def _item_lines(sign: str, kind: str, names: str, members: Sequence[Item]) -> Iterator[str]:
    yield f"{sign} {kind}  {names}"
    for note in members[0].notes:
        yield f"!   {note}"


def _diff_lines(changes: Sequence[Change]) -> list[str]:
    lines: list[str] = []
    for change in changes[:_MOST_ROWS]:
        mark = replaces_words(change.replaces)
        said = [part for part in (change.note, f"{mark} ({change.source})" if mark else "") if part]
        lines.append(cut(f"@@ {change.path} @@{' ' if said else ''}{'; '.join(said)}", 2 * _CUT))
        if change.lines:
            lines += [cut(line, _CUT) for line in change.lines[:_MOST_ROWS]]
            lines += [f"… {len(change.lines) - _MOST_ROWS} more lines"] * (len(change.lines) > _MOST_ROWS)
            continue
        if change.kind in (Kind.CHANGED, Kind.REMOVED):
            lines.append(f"- {brief(change.before, _CUT)}")
        if change.kind in (Kind.CHANGED, Kind.ADDED):
            lines.append(f"+ {brief(change.after, _CUT)}")
    if len(changes) > _MOST_ROWS:
        lines.append(f"… {len(changes) - _MOST_ROWS} more properties")
    return lines


def _details(label: str, lines: Sequence[str]) -> list[str]:
    shown = [line for number, line in enumerate(lines) if line or number]
    return [f"<details><summary>{escape(cut(label, _CUT))}</summary>", "", *shown, "", "</details>"]


def _findings_block(label: str, findings: Sequence[Finding]) -> Iterator[tuple[list[str], list[str]]]:
    if not findings:
        return
    lines: list[str] = []
    for finding in findings[:_MOST_ROWS]:
        source = f" ({code(str(finding.source))})" if finding.source else ""
        name = f" {code(cut(finding.urn.rsplit('::', 1)[-1], _CUT))}" if finding.urn else ""
        remedy = f" {escape(cut(finding.remedy, _CUT))}" if finding.remedy else ""
        message = escape(cut(finding.message, _CUT))
        lines.append(f"- **{finding.severity}** {code(finding.code)}{name}{source}: {message}.{remedy}")
    if len(findings) > _MOST_ROWS:
        lines.append(f"- … and {len(findings) - _MOST_ROWS} more")
    yield _details(f"{label}: {len(findings)}", lines), [f"- {label.lower()}: {len(findings)}"]
