"""Prepares the data of a plan for the script of the page: the tree of resources and their properties.

Resources and artefacts are referred to by index, so that a page with a thousand resources stays small.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...model import Plan, Resource
from ...text.redact import Redactor
from ...text.values import SECRET_MARK, UNKNOWN_MARK, camel_case, visible
from ..artefacts import Artefact, visible_inputs
from ..plan_formats import short_type

LONGEST_VALUE = 4_000
"""Characters of a value in the tree."""
RENDERED_MARK = "[rendered below]"
"""The mark for a text that is on the page as an artefact."""


class ResourceTree:
    """The resources in the order of the tree, each with its number."""

    def __init__(
        self, plan: Plan, redactor: Redactor, show: Callable[[str], str], artefacts: Sequence[Artefact]
    ) -> None:
        self._plan, self._redactor, self._show, self._artefacts = plan, redactor, show, artefacts
        self._order = list(_ordered(plan))
        self.number = {resource.urn: index for index, resource in enumerate(self._order)}
        """URN to the number of the resource."""

    def json(self) -> dict[str, Any]:
        """The tree as the script reads it, without empty values."""
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
                "p": self.number.get(resource.parent, -1),
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
            parent = self.number.get(self._order[index].parent)
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
            key: [self._named(urn) for urn in urns]
            for key, urns in resource.options.property_dependencies.items()
            if urns
        }
        options["provider"] = self._named(resource.options.provider.rpartition("::")[0])
        options["providers"] = {
            key: self._named(v.rpartition("::")[0]) for key, v in resource.options.providers.items()
        }
        titles = {"dependencies": "dependsOn", "property_dependencies": "computed from"}
        return {
            titles.get(key, camel_case(key)): list(v) if isinstance(v, tuple) else v for key, v in options.items() if v
        }

    def _provider(self, reference: str) -> str:
        return self._named(reference.rpartition("::")[0])  # its URN and its id

    def _named(self, urn: str) -> str:
        resource = self._plan.by_urn.get(urn)
        return f"{short_type(resource.type)} {resource.name}" if resource else urn

    def _shown(self, value: Any) -> Any:
        return self._visible(self._redactor.value(value))

    def _visible(self, value: Any) -> Any:
        if isinstance(value, str):
            return cut(visible(value, keep="\n\t"), LONGEST_VALUE)
        if isinstance(value, dict):
            return {visible(key): self._visible(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._visible(inner) for inner in value]
        return value


def _ordered(plan: Plan) -> Iterator[Resource]:
    """The resources as the tree shows them: parents before children, siblings by type and name."""

    def members(urn: str) -> list[Resource]:
        return sorted(
            plan.children.get(urn, []), key=lambda r: (r.custom, short_type(r.type), r.name, r.urn), reverse=True
        )  # fmt: skip

    waiting = members("")
    while waiting:
        resource = waiting.pop()
        yield resource
        waiting += members(resource.urn)


def _replace(value: Any, path: tuple[str | int, ...]) -> None:
    for key in path[:-1]:
        value = value[key]
    if path:
        value[path[-1]] = RENDERED_MARK


def cut(text: str, longest: int) -> str:
    """A text, or its beginning and the number of characters left out."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"
