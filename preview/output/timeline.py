"""Estimates the first deployment of a plan: the number of API calls, and the longest chain of resources.

Nothing is measured. ``durations.json`` holds the time to create a resource of each type. A resource starts as soon as
its dependencies exist, as in the engine.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..model import Plan, Resource

_FILE = Path(__file__).parent / "durations.json"
_OS_LABEL = "/label/kubernetes.io/os"


@dataclass(frozen=True, slots=True)
class Step:
    """A resource of the longest chain."""

    name: str
    type: str
    begins: int
    """Seconds from the start."""
    seconds: int
    documented: str | None = None
    """The words of the documentation on the duration; None if the duration is an estimate."""
    source: str = ""
    """The page that documents it, or what it waits for."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The estimate of the first ``pulumi up`` of a stack."""

    stack: str
    resources: int
    calls: int
    seconds: int
    """The least duration: that of the longest chain."""
    one_by_one: int
    """The duration without parallelism."""
    steps: Sequence[Step]
    documented: int
    """The documented part of the longest chain, in seconds. The rest is estimated."""
    calls_by_type: Mapping[str, int]
    assumed: Sequence[str]
    """Types that are not in the table, for which its default is used."""


def timeline(plan: Plan) -> Timeline:
    """The timeline of a plan. Components and resources that are only read take no time."""
    made = {resource.urn: resource for resource in plan.resources if resource.custom and not resource.read}
    made = {urn: resource for urn, resource in made.items() if not resource.type.startswith("pulumi:")}
    needs = {urn: _needs(plan, resource, made) for urn, resource in made.items()}
    ends: dict[str, int] = {}
    last: dict[str, str | None] = {}
    for urn in _ordered(needs):
        before = max(needs[urn], key=lambda need: (ends.get(need, 0), need), default=None)
        last[urn] = before
        ends[urn] = (ends[before] if before else 0) + _duration(made[urn])
    steps: list[Step] = []
    urn = max(ends, key=lambda urn: (ends[urn], urn), default=None)
    while urn is not None:
        row = _row(made[urn])
        begins = ends[urn] - row["seconds"]
        steps.insert(0, Step(made[urn].name, made[urn].type, begins, row["seconds"], row["documented"], row["source"]))
        urn = last[urn]
    calls: Counter[str] = Counter()
    for resource in made.values():
        calls[resource.type] += _of_type(resource.type)["calls"]
    return Timeline(
        stack=plan.stack,
        resources=len(made),
        calls=calls.total(),
        seconds=max(ends.values(), default=0),
        one_by_one=sum(map(_duration, made.values())),
        steps=steps,
        documented=sum(step.seconds for step in steps if step.documented),
        calls_by_type=dict(sorted(calls.items(), key=lambda item: (-item[1], item[0]))),
        assumed=sorted({resource.type for resource in made.values()} - _table()["types"].keys()),
    )


@cache
def _table() -> dict[str, Any]:
    return json.loads(_FILE.read_text(encoding="utf-8"))


def _of_type(type_: str) -> dict[str, Any]:
    return _table()["types"].get(type_, _table()["default"])


def _row(resource: Resource) -> dict[str, Any]:
    """The row of a resource. A group that waits for its nodes takes longer, with Windows nodes even more."""
    variant = _variant(resource)
    return _table()["variants"][variant] if variant else _of_type(resource.type)


def _duration(resource: Resource) -> int:
    return _row(resource)["seconds"]


def _variant(resource: Resource) -> str:
    inputs = resource.inputs
    if resource.type == "aws:eks/nodeGroup:NodeGroup":
        return "windowsGroup" if str(inputs.get("amiType")).startswith("WINDOWS") else ""
    if resource.type != "aws:autoscaling/group:Group" or not inputs.get("minSize"):
        return ""
    hooks = inputs.get("initialLifecycleHooks")
    # A launch hook holds an instance back until its node says that it is ready.
    held = (
        any("LAUNCHING" in str(hook.get("lifecycleTransition")) for hook in hooks) if isinstance(hooks, list) else False
    )
    if not (held or inputs.get("waitForElbCapacity")):
        return ""
    return "windowsGroup" if _windows_tag(inputs.get("tags")) else "healthyGroup"


def _windows_tag(tags: Any) -> bool:
    """Whether the tags for the autoscaler say that the nodes run Windows."""
    known = [tag for tag in tags if isinstance(tag, dict)] if isinstance(tags, list) else []
    return any(str(tag.get("key")).endswith(_OS_LABEL) and tag.get("value") == "windows" for tag in known)


def _needs(plan: Plan, resource: Resource, made: Mapping[str, Resource]) -> set[str]:
    """The resources that must exist before a resource starts.

    A provider counts as the resources that configure it. The children of a component depend on everything that the
    component depends on: a child is registered with the URN of its parent, so after its parent.
    """
    provider = plan.by_urn.get(resource.options.provider.rpartition("::")[0])
    urns = {*_given(resource), *(_given(provider) if provider else ())}
    above = plan.by_urn.get(resource.parent)
    while above is not None:
        urns |= {above.urn, *_given(above)}
        above = plan.by_urn.get(above.parent)
    return {urn for urn in urns if urn in made and urn != resource.urn}


def _given(resource: Resource) -> set[str]:
    options = resource.options
    return {*options.dependencies, *(urn for urns in options.property_dependencies.values() for urn in urns)}


def _ordered(needs: Mapping[str, set[str]]) -> list[str]:
    """The resources in an order in which each comes after its dependencies."""
    done: dict[str, None] = {}
    for first in needs:
        stack = [first]
        while stack:
            missing = [need for need in needs[stack[-1]] if need not in done and need not in stack]
            if missing:
                stack.append(missing[0])
            else:
                done[stack.pop()] = None
    return list(done)


def timeline_of(document: Mapping[str, Any]) -> Timeline:
    """The timeline from the dictionary that ``asdict`` made."""
    whole: dict[str, Any] = {**document, "steps": [Step(**step) for step in document["steps"]]}
    return Timeline(**whole)


def json_text(found: Sequence[Timeline]) -> str:
    """The timelines as a JSON document."""
    return json.dumps([asdict(one) for one in found], indent=2) + "\n"


def text(found: Sequence[Timeline]) -> str:
    """The timelines for a terminal."""
    return "\n".join(_text(one) for one in found)


def _text(found: Timeline) -> str:
    counts = f"{found.resources} resources, about {found.calls} API calls"
    times = f"at least {_spoken(found.seconds)} ({_spoken(found.one_by_one)} one by one)"
    lines = [f"{found.stack}: {counts}, {times}", "  longest chain:"]
    lines += [
        f"    {_clock(step.begins)}  {_clock(step.seconds)}  {step.name} ({step.type})"
        for step in found.steps if step.seconds > 0
    ]  # fmt: skip
    most = list(found.calls_by_type.items())[:5]
    lines.append("  most calls: " + ", ".join(f"{type_} {calls}" for type_, calls in most))
    if found.assumed:
        default = _table()["default"]["seconds"]
        lines.append(f"  {len(found.assumed)} types are not in the table; {default} s is assumed for each")
    known = found.documented
    told = f"{known} s of the chain are documented durations, {found.seconds - known} s estimates"
    lines.append(f"  {told}; none is measured (preview/output/durations.json)")
    return "\n".join(lines) + "\n"


def _clock(seconds: int) -> str:
    return f"{seconds // 60:3d}:{seconds % 60:02d}"


def _spoken(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"
