"""Writes a plan as a self-contained HTML page.

The page sends no requests, and its content security policy allows only its own script, by its hash. Data of the program
is escaped by the template, or is JSON that the script inserts as text. Secrets are replaced by marks before anything is
written, and every text is searched for them once more.
"""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ...comparison.difference import Difference
from ...model import Finding, Plan, Severity
from ...text.redact import Redactor
from ...text.values import SECRET_MARK, UNKNOWN_MARK, visible
from ..artefacts import KINDS, Artefact, artefacts, unknown_artefacts
from ..plan_formats import DISCLAIMER, short_type, summary, verdict
from ..topology import svg
from ..topology.model import Topology, shown_topology
from ..topology.topology import build_topology
from .difference import difference_page
from .tree import ResourceTree, cut

ASSETS = Path(__file__).with_name("assets")
MOST_FINDINGS = 1000
LONGEST_TEXT, ALL_TEXTS = 100_000, 1_000_000
"""Characters of an artefact, and of all artefacts together."""
Entry = tuple[str, int]
"""A link to a resource: its name, and its number in the tree."""


def report_html(
    plan: Plan, *, difference: Difference | None = None, topology: Topology | None = None, region: str = ""
) -> str:
    """The page of a plan, with its difference from another plan if that is given.

    :param topology: the topology, if it was built already.
    :param region: the region of the default provider, for the topology.
    """
    return _Page(plan, Redactor(plan)).html(difference, topology or build_topology(plan, region))


def shower(redactor: Redactor) -> Callable[[str], str]:
    """The filter for every text on the page: removes secrets, spells out control characters."""
    return lambda text: visible(redactor.text(text), keep="\n\t")


class _Page:
    def __init__(self, plan: Plan, redactor: Redactor) -> None:
        self._plan, self._redactor = plan, redactor
        self._show = shower(redactor)
        self._artefacts, self._left_out = _within(artefacts(plan), self._show)
        self._tree = ResourceTree(plan, redactor, self._show, self._artefacts)
        self._number = self._tree.number
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
            "data": _Safe(_json(self._tree.json())),
            "drawing": _Safe(svg.svg(shown)),
            "verdict": verdict(plan),
            "disclaimer": DISCLAIMER,
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

    # -- the sections of the page ----------------------------------------------------------------------

    def _sections(self, difference: Difference | None) -> list[tuple[str, str, int | None]]:
        found: list[tuple[str, str, int | None]] = [
            ("summary", "Summary", None),
            ("findings", "Findings", len(self._plan.findings)),
        ]
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
        return cut(text, LONGEST_TEXT)


def _within(found: list[Artefact], show: Callable[[str], str]) -> tuple[list[Artefact], int]:
    """The artefacts that fit on the page, ready to be shown, and the number of the others."""
    kept: list[Artefact] = []
    room = ALL_TEXTS
    for artefact in found:
        text = cut(show(artefact.text), LONGEST_TEXT)
        if len(text) <= room:
            room -= len(text)
            kept.append(Artefact(artefact.kind, artefact.language, text, artefact.carriers))
    return kept, len(found) - len(kept)


# -- the page itself -------------------------------------------------------------------------------------------


class _Safe(str):
    """Text that is markup: style, script, drawing, and JSON that cannot end its element."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _json(data: Any) -> str:
    """JSON for a script element: no character in it can end the element or start a comment."""
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
