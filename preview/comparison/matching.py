"""Matches the resources of two plans by URN, by alias, or by the alias of a parent."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..model import Plan, Resource


def relative(urn: str) -> str:
    """A URN without stack and project, so that two stacks can be compared.

    >>> relative("urn:pulumi:dev::demo::aws:ec2/vpc:Vpc::main")
    'aws:ec2/vpc:Vpc::main'
    """
    return urn.split("::", 2)[2] if urn.count("::") >= 2 else urn


@dataclass(slots=True)
class Matches:
    """The resources of two plans, paired."""

    pairs: dict[str, Resource] = field(default_factory=dict[str, Resource])
    """URN in the head to the resource of the base."""
    added: list[Resource] = field(default_factory=list[Resource])
    removed: list[Resource] = field(default_factory=list[Resource])
    names: dict[str, str] = field(default_factory=dict[str, str])
    """URN in the base to URN in the head, if they differ."""
    lead: tuple[str, str] = ("", "")
    """The prefixes of the URNs of both stacks."""

    @property
    def renamed(self) -> bool:
        """Whether any URN is spelled differently on the two sides."""
        return bool(self.names) or self.lead[0] != self.lead[1]

    def translate(self, urn: str) -> str:
        """A URN of the base as the head names it."""
        found = self.names.get(urn)
        if found is not None:
            return found
        base, head = self.lead
        return head + urn.removeprefix(base) if base != head and urn.startswith(base) else urn

    def lookalike(self, resource: Resource) -> Resource | None:
        """A removed resource that this one probably was before a rename without an alias."""
        for other in self.removed:
            if other.type == resource.type and (other.name == resource.name or _same_inputs(other, resource)):
                return other
        return None


def _same_inputs(one: Resource, other: Resource) -> bool:
    return bool(one.raw_inputs.fields) and one.raw_inputs == other.raw_inputs


def match_plans(base: Plan, head: Plan) -> Matches:
    """Pair the resources of two plans."""
    matches = Matches(lead=(_lead(base), _lead(head)))
    open_ = {relative(resource.urn): resource for resource in base.resources}
    waiting: list[Resource] = []
    for resource in head.resources:
        found = open_.pop(relative(resource.urn), None)
        if found is not None:
            matches.pairs[resource.urn] = found
        else:
            waiting.append(resource)
    # A parent is paired before its children, whose old names follow from its own.
    for resource in sorted(waiting, key=lambda item: _depth(head, item)):
        found = next((open_.pop(name) for name in _old_names(resource, head, matches) if name in open_), None)
        if found is None:
            matches.added.append(resource)
            continue
        matches.pairs[resource.urn] = found
        matches.names[found.urn] = resource.urn
    matches.added.sort(key=lambda item: item.urn)
    matches.removed = sorted(open_.values(), key=lambda item: item.urn)
    return matches


def _lead(plan: Plan) -> str:
    return f"urn:pulumi:{plan.stack}::{plan.project}::"


def _depth(plan: Plan, resource: Resource) -> int:
    depth, urn = 0, resource.parent
    while urn in plan.by_urn and depth < 1000:
        depth, urn = depth + 1, plan.by_urn[urn].parent
    return depth


def _old_names(resource: Resource, head: Plan, matches: Matches) -> Iterator[str]:
    """The URNs that the engine looks for: the aliases, and those that follow from the old name of the parent."""
    own = [relative(resource.urn), *map(relative, resource.options.aliases)]
    yield from own[1:]
    parent, old = head.by_urn.get(resource.parent), matches.pairs.get(resource.parent)
    if parent is None or old is None or relative(parent.urn) == relative(old.urn):
        return
    kind = relative(old.urn).rpartition("::")[0]
    for name in own:
        qualified, _, last = name.rpartition("::")
        token = qualified.rpartition("$")[2]
        # A child whose name begins with its parent's is renamed with it.
        if last.startswith(parent.name):
            yield f"{kind}${token}::{old.name}{last.removeprefix(parent.name)}"
        yield f"{kind}${token}::{last}"
