"""Writes a plan as one self-contained HTML page.

The page asks for nothing: no request leaves it, and its policy forbids every script but its own, by its hash. What
comes from the program is escaped by the template, or lies in the page as JSON and is put in as text. Secrets are
marks before anything is written, and every text is searched for them once more.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from . import drawing
from .artefacts import KINDS, Artefact, artefacts, unknown_artefacts, visible_inputs
from .difference import Difference
from .measure import visible
from .model import Finding, Plan, Resource, Severity
from .redact import Redactor
from .render import HONESTY, SECRET_MARK, UNKNOWN_MARK, short_type, summary, verdict
from .report_difference import difference_page
from .topology import build_topology
from .topology_model import Topology, shown_topology

ASSETS = Path(__file__).with_name("report_assets")
MOST_FINDINGS = 1000
LONGEST_VALUE, LONGEST_TEXT, ALL_TEXTS = 4_000, 100_000, 1_000_000
"""Characters of a value in the tree, of an artefact, and of all artefacts together."""
RENDERED_MARK = "[rendered below]"
Entry = tuple[str, int]
"""What the page links to a resource: its name, and its number in the tree."""


def report_html(
    plan: Plan, *, difference: Difference | None = None, topology: Topology | None = None, region: str = ""
) -> str:
    """The page of a plan, with the difference to another one if there is one.

    ``region`` is the one of the default provider, for the topology; a topology that is there already is taken.
    """
    return _Page(plan, Redactor(plan)).html(difference, topology or build_topology(plan, region))


def shower(redactor: Redactor) -> Callable[[str], str]:
    """What every text goes through before it is shown: no secret, nothing that steers the reader's screen."""
    return lambda text: visible(redactor.text(text), keep="\n\t")


class _Page:
    def __init__(self, plan: Plan, redactor: Redactor) -> None:
        self._plan, self._redactor = plan, redactor
        self._show = shower(redactor)
        self._order = list(_ordered(plan))
        self._number = {resource.urn: index for index, resource in enumerate(self._order)}
        self._artefacts, self._left_out = _within(artefacts(plan), self._show)
        self._counts = summary(plan)

    def html(self, difference: Difference | None, topology: Topology) -> str:
        plan, counts = self._plan, self._counts
        script, shown = _asset("report.js"), shown_topology(topology, self._show)
        return _template().render({
            "show": self._show,
            "plan": plan,
            "policy": _policy(script),
            "style": _Safe(_asset("report.css")),
            "script": _Safe(script),
            "data": _Safe(_json(self._data())),
            "drawing": _Safe(drawing.svg(shown)),
            "verdict": verdict(plan),
            "honesty": HONESTY,
            "marks": (UNKNOWN_MARK, SECRET_MARK),
            "sections": self._sections(difference),
            "cards": self._cards(),
            "types": sorted(((short_type(kind), number) for kind, number in counts["types"].items())),
            "severities": [(str(s), counts["findings"][s]) for s in Severity if counts["findings"][s]],
            "findings": [self._finding(finding) for finding in plan.findings[:MOST_FINDINGS]],
            "more_findings": max(0, len(plan.findings) - MOST_FINDINGS),
            "difference": difference_page(difference) if difference else None,
            "groups": self._groups(topology),
            "outputs": [(key, self._value_text(value)) for key, value in plan.outputs.items()],
            "artefacts": self._artefact_sections(),
            "more_artefacts": self._left_out,
            "unknown": sorted(unknown_artefacts(plan).items()),
            "unanswered": sorted(counts["unansweredFunctions"].items()),
            "logs": plan.logs,
        })  # fmt: skip

    # -- the parts that the template writes --------------------------------------------------------------

    def _sections(self, difference: Difference | None) -> list[tuple[str, str, int | None]]:
        found = [("summary", "Summary", None), ("findings", "Findings", len(self._plan.findings))]
        if difference:
            found.append(("difference", "Difference", None))
        found += [
            ("topology", "Topology", None),
            ("resources", "Resources", self._counts["resources"]),
            ("outputs", "Outputs", len(self._plan.outputs)),
            ("artefacts", "Artefacts", len(self._artefacts)),
        ]
        notes = len(self._counts["unansweredFunctions"]) + len(self._plan.logs)
        return [*found, ("notes", "Notes", notes)] if notes else found

    def _cards(self) -> list[tuple[str, int, str]]:
        found = self._counts["findings"]
        return [
            ("Resources", self._counts["resources"], ""),
            ("Components", self._counts["components"], ""),
            ("Errors", found[Severity.ERROR], "error"),
            ("Warnings", found[Severity.WARNING], "warning"),
            ("Notes", found[Severity.NOTE], ""),
        ]

    def _finding(self, finding: Finding) -> dict[str, Any]:
        resource = self._plan.by_urn.get(finding.urn)
        return {
            "severity": str(finding.severity),
            "code": finding.code,
            "message": finding.message,
            "remedy": finding.remedy,
            "urn": finding.urn,
            "name": resource.name if resource else finding.urn.rsplit("::", 1)[-1],
            "index": self._number.get(finding.urn),
            "path": finding.path,
            "source": str(finding.source) if finding.source else "",
        }

    def _groups(self, topology: Topology) -> list[dict[str, Any]]:
        return [
            {
                "name": group.name,
                "index": self._number.get(group.urn),
                "system": group.system or group.kind,
                "cluster": group.cluster,
                "types": ", ".join(group.instance_types),
                "size": group.size,
                "image": group.image,
                "subnets": ", ".join(group.subnets),
            }
            for group in topology.groups
        ]

    def _artefact_sections(self) -> list[tuple[str, list[dict[str, Any]]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for index, artefact in enumerate(self._artefacts):
            first = artefact.carriers[0]
            carriers = [self._entry(carrier.urn) for carrier in artefact.carriers]
            found.setdefault(artefact.kind, []).append({
                "index": index,
                "title": self._plan.by_urn[first.urn].name,
                "path": ".".join(map(str, first.path)),
                "language": artefact.language,
                "text": artefact.text,
                "carriers": list(dict.fromkeys(carriers)),
            })  # fmt: skip
        return [(kind, found[kind]) for kind in KINDS if kind in found]

    def _entry(self, urn: str) -> Entry:
        return self._plan.by_urn[urn].name, self._number[urn]

    def _value_text(self, value: Any) -> str:
        shown = self._redactor.value(value)
        text = shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False)
        return _cut(text, LONGEST_TEXT)

    # -- the data that the page's script shows -----------------------------------------------------------

    def _data(self) -> dict[str, Any]:
        types = sorted({short_type(resource.type) for resource in self._order})
        prefix = f"urn:pulumi:{self._plan.stack}::{self._plan.project}::"
        below, rendered, found = self._below(), self._rendered(), self._found()
        entries: list[dict[str, Any]] = []
        for index, resource in enumerate(self._order):
            artefacts_here = rendered.get(resource.urn, {})
            entry = {
                "u": visible(self._show(resource.urn).removeprefix(self._show(prefix)), keep="\n"),
                "t": types.index(short_type(resource.type)),
                "n": self._show(resource.name),
                "p": self._number.get(resource.parent, -1),
                "c": 0 if resource.custom else 1,
                "m": "read" if resource.read else "remote" if resource.remote else "",
                "k": below[index],
                "s": self._show(str(resource.source)) if resource.source else "",
                "i": self._inputs(resource, artefacts_here),
                "o": self._shown(resource.outputs),
                "x": self._shown(self._options(resource)),
                "a": self._links(artefacts_here),
                "f": found.get(resource.urn, {}),
            }
            entries.append({key: value for key, value in entry.items() if value not in ("", {}, None) or key == "n"})
        return {
            "prefix": visible(self._show(prefix), keep="\n"),
            "types": [self._show(kind) for kind in types],
            "marks": [UNKNOWN_MARK, SECRET_MARK, RENDERED_MARK],
            "resources": entries,
        }

    def _below(self) -> list[int]:
        """How many resources, components apart, each one holds with itself. Children come after their parents."""
        counts = [int(resource.custom) for resource in self._order]
        for index in range(len(counts) - 1, -1, -1):
            parent = self._number.get(self._order[index].parent)
            if parent is not None:
                counts[parent] += counts[index]
        return counts

    def _rendered(self) -> dict[str, dict[tuple[str | int, ...], int]]:
        """URN to the artefacts of the resource: where each was found, and its number."""
        found: dict[str, dict[tuple[str | int, ...], int]] = {}
        for index, artefact in enumerate(self._artefacts):
            for carrier in artefact.carriers:
                found.setdefault(carrier.urn, {})[carrier.path] = index
        return found

    def _found(self) -> dict[str, dict[str, int]]:
        counts: dict[str, Counter[str]] = {}
        for finding in self._plan.findings:
            counts.setdefault(finding.urn, Counter())[str(finding.severity)] += 1
        return {urn: dict(sorted(counter.items())) for urn, counter in counts.items()}

    def _inputs(self, resource: Resource, rendered: Mapping[tuple[str | int, ...], int]) -> Any:
        """The inputs, without the long texts that stand on the page as artefacts."""
        shown = self._redactor.value(dict(visible_inputs(resource)))
        for path in rendered:
            _replace(shown, path)
        return self._visible(shown)

    def _links(self, rendered: Mapping[tuple[str | int, ...], int]) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for path, index in rendered.items():
            key = self._show(str(path[0])) if path else ""
            found.setdefault(key, []).append((self._show(".".join(map(str, path[1:]))), index))
        return found

    def _options(self, resource: Resource) -> dict[str, Any]:
        """The options in the program's words: other resources by type and name, the default ones left out."""
        options = asdict(resource.options)
        origins = {urn for urns in resource.options.property_dependencies.values() for urn in urns}
        options["dependencies"] = [self._named(urn) for urn in resource.options.dependencies if urn not in origins]
        options["property_dependencies"] = {
            key: [self._named(urn) for urn in urns] for key, urns in resource.options.property_dependencies.items() if urns
        }
        options["provider"] = self._named(resource.options.provider.rpartition("::")[0])
        options["providers"] = {key: self._named(v.rpartition("::")[0]) for key, v in resource.options.providers.items()}
        titles = {"dependencies": "dependsOn", "property_dependencies": "made from"}
        return {titles.get(key, _camel(key)): list(v) if isinstance(v, tuple) else v for key, v in options.items() if v}

    def _named(self, urn: str) -> str:
        resource = self._plan.by_urn.get(urn)
        return f"{short_type(resource.type)} {resource.name}" if resource else urn

    def _shown(self, value: Any) -> Any:
        return self._visible(self._redactor.value(value))

    def _visible(self, value: Any) -> Any:
        if isinstance(value, str):
            return _cut(visible(value, keep="\n\t"), LONGEST_VALUE)
        if isinstance(value, dict):
            return {visible(key): self._visible(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._visible(inner) for inner in value]
        return value


def _ordered(plan: Plan) -> Iterator[Resource]:
    """The resources as the tree shows them: parents before children, sisters by type and name."""
    def members(urn: str) -> list[Resource]:
        return sorted(
            plan.children.get(urn, []), key=lambda r: (r.custom, short_type(r.type), r.name, r.urn), reverse=True
        )  # fmt: skip

    waiting = members("")
    while waiting:
        resource = waiting.pop()
        yield resource
        waiting += members(resource.urn)


def _within(found: list[Artefact], show: Callable[[str], str]) -> tuple[list[Artefact], int]:
    """As many artefacts as have room on the page, ready to be shown, and how many have none."""
    kept: list[Artefact] = []
    room = ALL_TEXTS
    for artefact in found:
        text = _cut(show(artefact.text), LONGEST_TEXT)
        if len(text) <= room:
            room -= len(text)
            kept.append(Artefact(artefact.kind, artefact.language, text, artefact.carriers))
    return kept, len(found) - len(kept)


def _replace(value: Any, path: tuple[str | int, ...]) -> None:
    for key in path[:-1]:
        value = value[key]
    if path:
        value[path[-1]] = RENDERED_MARK


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


# -- the page itself -------------------------------------------------------------------------------------------


class _Safe(str):
    """Text that is markup already: our own style, script, drawing, and JSON that cannot end its element."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _json(data: Any) -> str:
    """JSON for inside of a script element: nothing in it can be taken for the element's end, or for a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    import jinja2

    @jinja2.pass_context
    def shown(context: Any, value: Any) -> Any:
        return context["show"](value) if type(value) is str else value

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=shown
    )
    return environment.from_string(_asset("report.html.j2"))
