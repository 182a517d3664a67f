"""Compares two plans: resources that are added, changed or removed, replacements, and the impact on Windows nodes.

A pure function from two :class:`~winkube.preview.model.Plan` to a :class:`Difference`, which holds plain data without
secrets. Resources are matched by URN, then by the aliases of the head. Outputs of components are not compared, because
they are made of properties of resources.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..model import UNKNOWN, Finding, Options, Plan, Resource, walk
from ..text.redact import Redactor
from ..text.values import camel_case, property_path
from .compare_values import Kind, ValueChange, compare_values, same
from .difference import Change, ChangedResource, Difference, Item, Side
from .matching import Matches, match_plans, relative
from .node_impact import node_impacts
from .replacements import Answer, Mark, covers, mark, name_properties, worst


def compare(base: Plan, head: Plan, *, base_label: str = "base", head_label: str = "head") -> Difference:
    """The difference of ``head`` from ``base``."""
    return _Comparison(base, head, Redactor(base, head)).run(base_label, head_label)


def empty_plan(like: Plan) -> Plan:
    """An empty plan, for a side on which the stack does not exist."""
    return Plan(like.project, like.stack, like.mode, like.directory, [], {}, [])


@dataclass(slots=True)
class _Comparison:
    base: Plan
    head: Plan
    redactor: Redactor
    matches: Matches = field(init=False)
    found: dict[str, list[tuple[Change, ValueChange | None]]] = field(init=False)
    """URN in the head to its differences."""

    def run(self, base_label: str, head_label: str) -> Difference:
        self.matches = match_plans(self.base, self.head)
        self.found = {}
        for head in self.head.resources:
            base = self.matches.pairs.get(head.urn)
            if base is not None:
                self.found[head.urn] = list(self._resource(base, head))
        self._follow_replacements()
        difference = Difference(_side(self.base, base_label), _side(self.head, head_label))
        difference.added = [self._item(item, self._added_notes(item)) for item in self.matches.added]
        difference.removed = [self._item(item, _removed_notes(item)) for item in self.matches.removed]
        difference.changed = list(self._changed())
        difference.unchanged = sum(
            item.custom and item.urn in self.found for item in self.head.resources
        ) - sum(item.custom for item in difference.changed)  # fmt: skip
        difference.outputs = [
            self._shown(change, Mark(Answer.NO, "")) for change in self._values(self.base.outputs, self.head.outputs)
        ]
        difference.lookups = self._lookups()
        difference.new_findings, difference.gone_findings = self._findings()
        difference.node_impacts = node_impacts(self.base, self.head, self.matches, difference.changed, self.redactor)
        return difference

    # -- resources ---------------------------------------------------------------------------------------------

    def _resource(self, base: Resource, head: Resource) -> Iterator[tuple[Change, ValueChange | None]]:
        if head.custom or head.remote:
            if base.raw_inputs != head.raw_inputs:
                for change in self._values(base.inputs, head.inputs):
                    yield self._marked(head, change), change
            for change in self._unknowns(base, head):
                yield self._marked(head, change), change
            if base.id != head.id and head.read:
                change = ValueChange(("id",), Kind.CHANGED, base.id, head.id, note="another resource is looked up")
                yield self._shown(change, Mark(Answer.NO, "")), change
        for change in self._options(base, head):
            yield change, None

    def _values(self, base: Any, head: Any) -> Iterator[ValueChange]:
        return compare_values(base, head, self.matches.translate)

    def _unknowns(self, base: Resource, head: Resource) -> Iterator[ValueChange]:
        """Properties that are unknown on both sides, but depend on other resources than before."""
        ours, theirs = base.options.property_dependencies, head.options.property_dependencies
        if ours == theirs and not self.matches.renamed:
            return
        for key in sorted(ours.keys() & theirs.keys()):
            before, after = {self.matches.translate(urn) for urn in ours[key]}, set(theirs[key])
            if before == after:
                continue
            for path, value in walk(head.inputs.get(key), (key,)):
                if value is UNKNOWN and _at(base.inputs, path) is UNKNOWN:
                    words = [f"no longer on {_name(urn)}" for urn in sorted(before - after)]
                    words += [f"now on {_name(urn)}" for urn in sorted(after - before)]
                    note = f"unknown on both sides, depends {', '.join(words)}"
                    yield ValueChange(path, Kind.UNKNOWN, UNKNOWN, UNKNOWN, note=note)
                    break

    def _marked(self, head: Resource, change: ValueChange) -> Change:
        options = head.options
        if any(covers(pattern, change.path) for pattern in options.ignore_changes):
            note = "; ".join(part for part in (change.note, "not applied: ignoreChanges") if part)
            return self._shown(change, Mark(Answer.NO, "option ignoreChanges"), note=note, ignored=True)
        if head.read:
            return self._shown(change, Mark(Answer.NO, "only read"))
        said = mark(head.type, change.path, options.replace_on_changes)
        if said.answer is Answer.YES and change.kind in (Kind.ORDER, Kind.WRITING):
            said = Mark(Answer.UNKNOWN, f"{change.note}, which many providers ignore; else {said.source}")
        return self._shown(change, said)

    def _shown(self, change: ValueChange, said: Mark, *, note: str = "", ignored: bool = False) -> Change:
        return Change(
            path=self.redactor.text(property_path(change.path)),
            kind=change.kind,
            before=self.redactor.value(change.before),
            after=self.redactor.value(change.after),
            lines=tuple(map(self.redactor.text, change.lines)),
            note=self.redactor.text(note or change.note),
            replaces=said.answer,
            source=said.source,
            ignored=ignored,
        )

    def _options(self, base: Resource, head: Resource) -> Iterator[Change]:
        translate = self.matches.translate
        for option in fields(Options):
            if option.name in _SILENT_OPTIONS:
                continue
            before, after = (_plain_option(getattr(side.options, option.name)) for side in (base, head))
            if before == after or same(before, after, lambda text: _provider(text, translate)):
                continue
            said = _OPTION_MARKS.get(option.name, Mark(Answer.NO, "option of the engine"))
            change = ValueChange(("options", camel_case(option.name)), Kind.CHANGED, before, after)
            yield self._shown(change, said)
        parents = translate(base.parent), head.parent
        if parents[0] != parents[1]:
            change = ValueChange(("options", "parent"), Kind.CHANGED, _name(base.parent), _name(head.parent))
            yield self._shown(change, Mark(Answer.NO, "matched by its alias"))

    def _follow_replacements(self) -> None:
        """Mark properties that are unknown on both sides and come from a replaced resource."""
        users: dict[str, list[tuple[Resource, str]]] = {}
        for head in self.head.resources:
            for key, urns in head.options.property_dependencies.items():
                for urn in urns:
                    users.setdefault(urn, []).append((head, key))
        queue = [urn for urn, changes in self.found.items() if _mark_of(changes).answer is Answer.YES]
        told: set[tuple[str, str]] = set()
        while queue:
            replaced = queue.pop()
            for head, key in users.get(replaced, ()):
                if head.urn not in self.found or (head.urn, key) in told or not (head.custom or head.remote):
                    continue
                told.add((head.urn, key))
                before = _mark_of(self.found[head.urn]).answer
                self.found[head.urn] += self._following(head, key, replaced)
                if before is not Answer.YES and _mark_of(self.found[head.urn]).answer is Answer.YES:
                    queue.append(head.urn)

    def _following(self, head: Resource, key: str, replaced: str) -> Iterator[tuple[Change, ValueChange | None]]:
        base = self.matches.pairs[head.urn]
        for path, value in walk(head.inputs.get(key), (key,)):
            if value is UNKNOWN and _at(base.inputs, path) is UNKNOWN:
                note = f"changes when {_name(replaced)} is replaced"
                change = ValueChange(path, Kind.FOLLOWS, UNKNOWN, UNKNOWN, note=note)
                yield self._marked(head, change), change
                return

    def _changed(self) -> Iterator[ChangedResource]:
        for urn, changes in self.found.items():
            head, base = self.head.by_urn[urn], self.matches.pairs[urn]
            was = "" if relative(base.urn) == relative(urn) else base.urn
            if not changes and not was:
                continue
            said = _mark_of(changes)
            if was and base.type != head.type and said.answer is Answer.NO:
                said = Mark(Answer.UNKNOWN, "its type changed")
            yield ChangedResource(
                urn, was, head.type, head.name, head.parent, head.custom, str(head.source or ""),
                tuple(change for change, _ in changes), said, tuple(_notes(base, head, said)),
            )  # fmt: skip

    def _item(self, resource: Resource, notes: Iterable[str]) -> Item:
        return Item(
            resource.urn, resource.type, resource.name, resource.parent, resource.custom, str(resource.source or ""),
            self.redactor.value(resource.inputs) if resource.custom else {}, tuple(notes),
        )  # fmt: skip

    def _added_notes(self, resource: Resource) -> Iterator[str]:
        lost = self.matches.lookalike(resource)
        if lost is not None and resource.custom:
            yield (
                f"looks like {_name(lost.urn)}, which is removed: without an alias, that resource is deleted and this "
                f'one is created; keep it with aliases=[pulumi.Alias(urn="{lost.urn}")]'
            )

    # -- the rest --------------------------------------------------------------------------------------------------

    def _lookups(self) -> list[tuple[str, str]]:
        ours, theirs = (self._calls(plan) for plan in (self.base, self.head))
        gone = [("removed", text) for text in sorted((ours - theirs).elements())]
        return gone + [("added", text) for text in sorted((theirs - ours).elements())]

    def _calls(self, plan: Plan) -> Counter[str]:
        calls = [invoke for invoke in plan.invokes if not invoke.known]
        return Counter(f"{call.token} {json.dumps(self.redactor.value(dict(call.arguments)))}" for call in calls)

    def _findings(self) -> tuple[list[Finding], list[Finding]]:
        ours = {self._finding_key(item, self.matches.translate(item.urn)): item for item in self.base.findings}
        theirs = {self._finding_key(item, item.urn): item for item in self.head.findings}
        new = [self._finding(item) for key, item in theirs.items() if key not in ours]
        gone = [self._finding(item) for key, item in ours.items() if key not in theirs]
        return sorted(new, key=_finding_order), sorted(gone, key=_finding_order)

    def _finding_key(self, item: Finding, urn: str) -> tuple[str, str, str, str]:
        return (item.code, urn, item.path, item.message)

    def _finding(self, item: Finding) -> Finding:
        text = self.redactor.text
        return Finding(item.code, item.severity, text(item.message), item.urn, item.source, text(item.path),
                       text(item.remedy))  # fmt: skip


_SILENT_OPTIONS = frozenset(("aliases", "dependencies", "property_dependencies", "import_id", "hooks"))
"""Aliases matter for the matching only; dependencies change the order of work, but nothing in the cloud."""
_OPTION_MARKS: Mapping[str, Mark] = {
    "provider": Mark(Answer.UNKNOWN, "the engine replaces it if the settings of the new provider require it"),
}


def _side(plan: Plan, label: str) -> Side:
    return Side(label, plan.project, plan.stack, sum(resource.custom for resource in plan.resources))


def _mark_of(changes: list[tuple[Change, ValueChange | None]]) -> Mark:
    return worst(Mark(change.replaces, change.source) for change, _ in changes)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _notes(base: Resource, head: Resource, said: Mark) -> Iterator[str]:
    """Notes for the reviewer on a replacement."""
    if said.answer is Answer.NO:
        return
    lead = "" if said.answer is Answer.YES else "if it is replaced: "
    if head.options.protect or base.options.protect:
        yield f"{lead}it is protected: the engine refuses to replace it, and the deployment fails"
    name = next((key for key in name_properties(head.type) if _fixed(base, head, key)), "")
    if head.options.delete_before_replace:
        yield f"{lead}it is deleted before its replacement is created (deleteBeforeReplace)"
    elif name:
        yield f"{lead}its name is fixed ({name}): it is deleted before its replacement is created"


def _fixed(base: Resource, head: Resource, key: str) -> bool:
    where = ("metadata", key) if head.type.startswith("kubernetes:") else (key,)
    before, after = _at(base.inputs, where), _at(head.inputs, where)
    return isinstance(after, str) and before == after


def _removed_notes(resource: Resource) -> Iterator[str]:
    if resource.options.protect:
        yield "it is protected: the engine refuses to delete it, and the deployment fails"
    if resource.options.retain_on_delete:
        yield "it stays in the cloud (retainOnDelete)"


def _plain_option(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _provider(text: str, translate: Any) -> str:
    """A provider reference is a URN and an id."""
    urn, separator, identity = text.rpartition("::")
    return f"{translate(urn)}{separator}{identity}" if urn.count("::") >= 3 else translate(text)


def _name(urn: str) -> str:
    """The name of a resource; ``the stack`` for an empty URN.

    >>> _name("urn:pulumi:dev::demo::aws:ec2/vpc:Vpc::main")
    'main'
    """
    return urn.rsplit("::", 1)[-1] if urn else "the stack"


def _finding_order(item: Finding) -> tuple[str, str, str, str, str]:
    return item.order
