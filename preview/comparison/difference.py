"""The difference between two plans as plain data: made by ``compare``, shown by the output formats.

It holds no secrets: secret and unknown values are replaced by marks.
"""

from dataclasses import dataclass, field
from typing import Any

from ..model import Finding
from .compare_values import Kind
from .replacements import Answer, Mark


@dataclass(frozen=True, slots=True)
class Change:
    """One property that differs, without secrets."""

    path: str
    kind: Kind
    before: Any
    after: Any
    lines: tuple[str, ...]
    note: str
    replaces: Answer
    source: str
    """The source of the answer whether it replaces the resource."""
    ignored: bool = False
    """Whether ``ignoreChanges`` covers it, so that the engine does not apply it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A resource that is on one side only."""

    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    source: str
    inputs: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedResource:
    """A resource that is on both sides, but differs."""

    urn: str
    was: str
    """Its URN in the base, if it was renamed or moved."""
    type: str
    name: str
    parent: str
    custom: bool
    source: str
    changes: tuple[Change, ...]
    replaces: Mark
    notes: tuple[str, ...] = ()

    @property
    def applied(self) -> bool:
        """Whether the engine applies any of the changes."""
        return any(not change.ignored for change in self.changes)


@dataclass(frozen=True, slots=True)
class NodeImpact:
    """The impact of a change on a group of Windows nodes."""

    group: str
    urn: str
    effect: str
    """One of :data:`winkube.preview.comparison.node_impact.EFFECTS`."""
    reasons: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two compared plans."""

    label: str
    """The revision, or the stack, as the user named it."""
    project: str
    stack: str
    resources: int
    present: bool = True
    """False if the stack does not exist on this side."""


@dataclass(slots=True)
class Difference:
    """The difference between two plans."""

    base: Side
    head: Side
    notes: list[str] = field(default_factory=list[str])
    node_impacts: list[NodeImpact] = field(default_factory=list[NodeImpact])
    added: list[Item] = field(default_factory=list[Item])
    removed: list[Item] = field(default_factory=list[Item])
    changed: list[ChangedResource] = field(default_factory=list[ChangedResource])
    unchanged: int = 0
    outputs: list[Change] = field(default_factory=list[Change])
    lookups: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """``added`` or ``removed``, and a call of a provider function whose result is unknown here."""
    new_findings: list[Finding] = field(default_factory=list[Finding])
    gone_findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def empty(self) -> bool:
        """Whether nothing differs."""
        return not (
            self.added or self.removed or self.changed or self.outputs or self.lookups or self.node_impacts
            or self.new_findings or self.gone_findings
        )  # fmt: skip

    def replaced(self, *answers: Answer) -> list[ChangedResource]:
        """The changed resources with one of these answers."""
        return [item for item in self.changed if item.replaces.answer in answers]
