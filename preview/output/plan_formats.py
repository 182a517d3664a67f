"""Writes a plan as a tree for a terminal, as JSON with a versioned schema, and as Markdown for a pull request.

The same plan gives the same text, byte for byte: everything is sorted, and there are no timestamps.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from json.encoder import encode_basestring
from textwrap import wrap
from typing import Any, cast

from ..model import Finding, Options, Plan, Resource, Severity
from ..text.markdown import code, escape, fence
from ..text.redact import Redactor
from ..text.values import brief, camel_case, to_json_value

SCHEMA_VERSION = 1
"""Incremented when a property of the JSON is renamed, removed or gets another meaning; see ``plan.schema.json``."""
FOLD_FROM = 5
"""From this number on, siblings of one type share a line of the tree."""
DISCLAIMER = (
    "Evaluated without credentials and without state. This shows what the program declares, not the difference from "
    "what is deployed. The checks of the providers run in `pulumi preview`."
)


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as a JSON document of :data:`SCHEMA_VERSION`."""
    redactor = Redactor(plan)
    return {
        "schemaVersion": SCHEMA_VERSION,
        "project": plan.project,
        "stack": plan.stack,
        "mode": plan.mode,
        "resources": [_resource_json(resource, redactor) for resource in plan.resources],
        "outputs": redactor.value(plan.outputs),
        "findings": [_finding_json(finding, redactor) for finding in plan.findings],
        "summary": summary(plan),
    }


def json_text(plan: Plan) -> str:
    """:func:`to_json` as text."""
    return _indented(to_json(plan), "\n")


def _indented(value: Any, line: str) -> str:
    """The same as ``json.dumps`` with ``indent=2, ensure_ascii=False``, but faster."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    below = line + "  "
    if value and isinstance(value, dict):
        members = cast(dict[str, Any], value).items()
        parts = [f"{encode_basestring(key)}: {_indented(inner, below)}" for key, inner in members]
        return f"{{{below}{f',{below}'.join(parts)}{line}}}"
    if value and isinstance(value, list | tuple):
        parts = [_indented(inner, below) for inner in cast(Sequence[Any], value)]
        return f"[{below}{f',{below}'.join(parts)}{line}]"
    return _plain_text(value)


_plain_text = json.JSONEncoder(ensure_ascii=False).encode
_OPTIONS = tuple((field.name, camel_case(field.name)) for field in fields(Options))


def _resource_json(resource: Resource, redactor: Redactor) -> dict[str, Any]:
    given = ((key, getattr(resource.options, name)) for name, key in _OPTIONS)
    options = {key: value for key, value in given if value}
    return {
        "urn": resource.urn,
        "type": resource.type,
        "name": resource.name,
        "parent": resource.parent,
        "custom": resource.custom,
        **({"remote": True} if resource.remote else {}),
        **({"read": True} if resource.read else {}),
        "inputs": redactor.value(resource.inputs),
        **({"outputs": redactor.value(resource.outputs)} if resource.outputs else {}),
        "options": options,
        "source": str(resource.source) if resource.source else None,
    }


def _finding_json(finding: Finding, redactor: Redactor) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": redactor.text(finding.message),
        "remedy": redactor.text(finding.remedy),
        "urn": finding.urn,
        "path": finding.path,
        "source": str(finding.source) if finding.source else None,
    }


def summary(plan: Plan) -> dict[str, Any]:
    """The counts of a plan."""
    kinds = Counter(resource.type for resource in plan.resources if resource.custom)
    severities = Counter(str(finding.severity) for finding in plan.findings)
    unanswered = Counter(invoke.token for invoke in plan.invokes if not invoke.known)
    return {
        "resources": sum(kinds.values()),
        "components": sum(not resource.custom for resource in plan.resources),
        "types": dict(sorted(kinds.items())),
        "findings": {str(severity): severities.get(str(severity), 0) for severity in Severity},
        "unansweredFunctions": dict(sorted(unanswered.items())),
    }


@dataclass(frozen=True, slots=True)
class WindowsGroup:
    """A group of Windows nodes in a plan, for the overview."""

    name: str
    release: str
    image: str
    instance_types: str
    size: str
    source: str


def windows_groups(plan: Plan) -> list[WindowsGroup]:
    """Every group of Windows nodes: components with the output ``windowsRelease``, and EKS node groups."""
    found: list[WindowsGroup] = []
    told: set[str] = set()
    for resource in plan.resources:
        if not resource.custom and "windowsRelease" in resource.outputs:
            group = next((child for child in _descendants(plan, resource) if _is_group(child)), None)
            told |= {child.urn for child in _descendants(plan, resource)}
            found.append(_windows_group(resource, group.inputs if group else {}, resource.outputs))
    for resource in plan.resources:
        kind = resource.inputs.get("amiType") if _is_group(resource) and resource.urn not in told else None
        if isinstance(kind, str) and kind.startswith("WINDOWS_"):
            outputs = {"windowsRelease": kind.split("_")[2], "amiParameter": kind}
            found.append(_windows_group(resource, resource.inputs, outputs))
    return sorted(found, key=lambda group: group.name)


def _is_group(resource: Resource) -> bool:
    return resource.type in ("aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group")


def _windows_group(resource: Resource, group: Mapping[str, Any], outputs: Mapping[str, Any]) -> WindowsGroup:
    sizes = group.get("scalingConfig") if isinstance(group.get("scalingConfig"), dict) else group
    low, high = (sizes or {}).get("minSize", "?"), (sizes or {}).get("maxSize", "?")
    types = to_json_value(group.get("instanceTypes") or outputs.get("instanceTypes") or [])
    return WindowsGroup(
        name=resource.name,
        release=str(to_json_value(outputs.get("windowsRelease"))),
        image=str(to_json_value(outputs.get("amiParameter") or outputs.get("imageId") or "?")),
        instance_types=", ".join(map(str, types)) if isinstance(types, list) else str(types),
        size=f"{to_json_value(low)}–{to_json_value(high)}",
        source=str(resource.source or ""),
    )


def _descendants(plan: Plan, resource: Resource) -> Iterator[Resource]:
    for child in plan.children.get(resource.urn, []):
        yield child
        yield from _descendants(plan, child)


def short_type(token: str) -> str:
    """A type token in short form.

    >>> short_type("aws:ec2/launchTemplate:LaunchTemplate"), short_type("winkube:index:Network")
    ('ec2.LaunchTemplate', 'Network')
    >>> short_type("tls:index/privateKey:PrivateKey")
    'tls.PrivateKey'
    """
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    module = module.split("/")[0] if package == "aws" else module
    if package == "pulumi":
        return f"{name} provider" if module == "providers" else name
    if module.startswith("index/"):  # a package without modules
        module = package
    return name if module in ("index", "") else f"{module}.{name}"


# -- the tree ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the tree: a component, a resource, or several siblings of one type."""

    depth: int
    kind: str
    names: tuple[str, ...]
    component: bool
    count: int
    """The number of resources in it and below it."""


def tree_lines(plan: Plan) -> list[Line]:
    """The parent hierarchy as lines: components first, many siblings of one type on one line."""
    lines: list[Line] = []

    def visit(urn: str, depth: int) -> None:
        members = plan.children.get(urn, [])
        for resource in sorted((m for m in members if m.urn in plan.children or not m.custom), key=_by_name):
            count = sum(child.custom for child in _descendants(plan, resource)) + resource.custom
            lines.append(Line(depth, short_type(resource.type), (resource.name,), not resource.custom, count))
            visit(resource.urn, depth + 1)
        leaves: dict[str, list[Resource]] = {}
        for resource in sorted((m for m in members if m.custom and m.urn not in plan.children), key=_by_name):
            leaves.setdefault(short_type(resource.type), []).append(resource)
        for kind, siblings in sorted(leaves.items()):
            groups = [siblings] if len(siblings) >= FOLD_FROM else [[one] for one in siblings]
            lines.extend(Line(depth, kind, tuple(s.name for s in group), False, len(group)) for group in groups)

    visit("", 0)
    return lines


def _by_name(resource: Resource) -> tuple[str, str]:
    return (short_type(resource.type), resource.name)


def finding_lines(finding: Finding) -> list[str]:
    """A finding as text: message, remedy, location."""
    head = f"{finding.severity} {finding.code}: {finding.message}"
    where = " ".join(part for part in (finding.urn, f"({finding.source})" if finding.source else "") if part)
    path = f"{finding.path} of " if finding.path and finding.urn else ""
    return [
        head,
        *([f"remedy: {finding.remedy}"] if finding.remedy else []),
        *([f"at: {path}{where}"] if where else []),
    ]


def verdict(plan: Plan) -> str:
    """One sentence: the number of resources, components and findings."""
    counts = summary(plan)
    found = counts["findings"]
    words = [counted(number, name) for name, number in found.items() if number]
    what = f"{counted(counts['resources'], 'resource')} in {counted(counts['components'], 'component')}"
    return f"{what}; {', '.join(words) if words else 'no findings'}"


def counted(number: int, word: str) -> str:
    """A number with its word.

    >>> counted(1, "resource"), counted(2, "resource")
    ('1 resource', '2 resources')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def tree_text(plan: Plan, width: int = 120, *, color: bool = False) -> str:
    """The plan for a terminal."""
    from io import StringIO

    from rich.console import Console

    console = Console(
        file=StringIO(), width=width, force_terminal=color, no_color=not color, color_system="auto" if color else None,
        highlight=False, emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    _print_tree(console, plan)
    return Redactor(plan).text(console.file.getvalue())  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def _print_tree(console: Any, plan: Plan) -> None:
    from rich.text import Text
    from rich.tree import Tree

    root = Tree(Text(f"{plan.project}/{plan.stack} ({plan.mode})", style="bold"))
    branches = [root]
    for line in tree_lines(plan):
        label = Text()
        label.append(line.kind, style="bold cyan" if line.component else "cyan")
        if len(line.names) > 1:
            label.append(f" ×{len(line.names)}")
        label.append(f"  {_names(line.names)}")
        if line.component:
            label.append(f"  ({counted(line.count, 'resource')})", style="dim")
        del branches[line.depth + 1 :]
        branches.append(branches[line.depth].add(label))
    console.print(root)
    for title, lines in _overviews(plan):
        console.print()
        console.print(title, style="bold")
        for line in lines:
            console.print(f"  {line}", soft_wrap=True)
    if plan.findings:
        console.print()
        console.print("Findings", style="bold")
        styles = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
        for finding in plan.findings:
            head, *rest = finding_lines(finding)
            console.print(head, style=styles[finding.severity], soft_wrap=True)
            for line in rest:
                console.print(f"  {line}", soft_wrap=True)
    console.print()
    console.print(verdict(plan), style="bold")
    console.print(DISCLAIMER, style="dim", soft_wrap=True)


def _names(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _overviews(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """The sections below the tree: title and lines."""
    counts = summary(plan)
    kinds = [
        f"{number}\xa0{short_type(token)}" for token, number in sorted(counts["types"].items(), key=_by_short_type)
    ]
    lines = wrap(", ".join(kinds), 110, break_long_words=False, break_on_hyphens=False)
    yield "Resources by type", [line.replace("\xa0", " ") for line in lines]
    groups = windows_groups(plan)
    if groups:
        yield "Windows groups", [line for group in groups for line in _group_lines(group)]
    if plan.outputs:
        width = max(map(len, plan.outputs))
        yield "Stack outputs", [f"{key:{width}}  {_output(value)}" for key, value in plan.outputs.items()]
    if counts["unansweredFunctions"]:
        state = "unknown here" if plan.mode == "preview" else "placeholders here"
        lines = [f"{token} ({number}×)" for token, number in counts["unansweredFunctions"].items()]
        yield f"Functions that only the cloud can answer ({state})", lines


def _group_lines(group: WindowsGroup) -> list[str]:
    what = f"{group.name}: Windows Server {group.release}, {group.size} nodes of {group.instance_types or 'any type'}"
    return [what, f"  image {group.image}", *([f"  declared at {group.source}"] if group.source else [])]


def _output(value: Any) -> str:
    shown = to_json_value(value)
    return " ".join(shown.split())[:100] if isinstance(shown, str) and len(shown) < 100 else brief(shown)


def _by_short_type(item: tuple[str, int]) -> str:
    return short_type(item[0])


# -- Markdown ------------------------------------------------------------------------------------------------


def markdown_text(plan: Plan) -> str:
    """The plan for a comment in a pull request: verdict and findings first, everything else folded."""
    parts = [markdown_summary(plan)]
    for title, lines in _overviews(plan):
        parts += [f"<details><summary>{title}</summary>", "", *fence(lines, "text"), "", "</details>", ""]
    lines: list[str] = []
    for line in tree_lines(plan):
        many = f" ×{len(line.names)}" if len(line.names) > 1 else ""
        lines.append(f"{'  ' * line.depth}{line.kind}{many}  {_names(line.names)}")
    parts += ["<details><summary>All resources</summary>", "", *fence(lines, "text"), "", "</details>", ""]
    return Redactor(plan).text("\n".join([*parts, f"<sub>{DISCLAIMER}</sub>", ""]))


def markdown_summary(plan: Plan) -> str:
    """Only the verdict and the findings."""
    parts = [f"## Preview of {code(f'{plan.project}/{plan.stack}')}", "", f"**{verdict(plan)}**", ""]
    for finding in plan.findings:
        where = f" {code(str(finding.source))}" if finding.source else ""
        name = f" {code(finding.urn.rsplit('::', 1)[-1])}" if finding.urn else ""
        path = f" {code(finding.path)}" if finding.path else ""
        parts.append(f"- **{finding.severity}**{name}{path}: {escape(finding.message)} ({code(finding.code)}){where}")
        if finding.remedy:
            parts.append(f"  - {escape(finding.remedy)}")
    return Redactor(plan).text("\n".join([*parts, ""]))
