"""The impact of a change on Windows nodes: which groups it affects, and how.

A Windows node takes ten minutes or more to become ready, so a reviewer wants to know first whether nodes are replaced.
A group is an EKS node group or an Auto Scaling group. It has Windows nodes if its component says so
(``windowsRelease`` in its outputs), if its image type says so, or if its launch template starts PowerShell.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model import UNKNOWN, Plan, Resource
from ..text.redact import Redactor
from ..text.user_data import readable
from .compare_values import Kind
from .difference import Change, ChangedResource, NodeImpact
from .matching import Matches
from .replacements import Answer

REMOVED, REPLACED, ROLLED, EVICTED, FEWER, NEW_ONLY = (
    "removed", "replaced", "rolled", "pods evicted", "fewer nodes", "new nodes only",
)  # fmt: skip
EFFECTS = (REMOVED, REPLACED, ROLLED, EVICTED, FEWER, NEW_ONLY)
"""The possible effects on a group, the worst first."""

NODE_GROUP, SCALING_GROUP = "aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group"
_GROUPS = frozenset((NODE_GROUP, SCALING_GROUP))
_TEMPLATES = frozenset(("aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/launchConfiguration:LaunchConfiguration"))
_TEMPLATE_KEYS = ("launchTemplate", "mixedInstancesPolicy", "launchConfiguration")
_HARMLESS = frozenset(("tags", "updateDefaultVersion", "options"))
"""Properties of a launch template whose change creates no new version."""
_FACTS = ("windowsRelease", "amiParameter", "imageId", "windowsEdition")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group of Windows nodes in a plan."""

    name: str
    resource: Resource
    facts: dict[str, Any]
    """The outputs of its component that describe the image."""
    templates: tuple[Resource, ...]
    """The launch templates of its nodes."""


def windows_groups(plan: Plan) -> list[Group]:
    """Every group of Windows nodes of a plan."""
    owners = _owners(plan)
    groups = (_group(plan, resource, owners) for resource in plan.resources if resource.type in _GROUPS)
    return [group for group in groups if group is not None]


def _owners(plan: Plan) -> dict[str, Resource]:
    """URN of a resource to the Windows component that contains it."""
    found: dict[str, Resource] = {}
    for resource in plan.resources:
        up: Resource | None = resource
        while up is not None:
            if not up.custom and "windowsRelease" in up.outputs:
                found[resource.urn] = up
                break
            up = plan.by_urn.get(up.parent)
    return found


def _group(plan: Plan, resource: Resource, owners: dict[str, Resource]) -> Group | None:
    owner = owners.get(resource.urn)
    urns = {urn for key in _TEMPLATE_KEYS for urn in resource.options.property_dependencies.get(key, ())}
    templates = [plan.by_urn[urn] for urn in sorted(urns) if urn in plan.by_urn]
    templates = [template for template in templates if template.type in _TEMPLATES]
    kind = resource.inputs.get("amiType")
    if owner is not None:
        facts = {key: owner.outputs[key] for key in _FACTS if key in owner.outputs}
        return Group(owner.name, resource, facts, tuple(templates))
    if isinstance(kind, str) and kind.startswith("WINDOWS_"):
        return Group(resource.name, resource, {}, tuple(templates))
    if any(_starts_powershell(template) for template in templates):
        return Group(resource.name, resource, {}, tuple(templates))
    return None


def _starts_powershell(template: Resource) -> bool:
    texts = (template.inputs.get(key) for key in ("userData", "userDataBase64"))  # may be unknown
    return any("<powershell>" in (readable(text) or "").lower() for text in texts if isinstance(text, str))


def node_impacts(
    base: Plan, head: Plan, matches: Matches, changed: Iterable[ChangedResource], redactor: Redactor
) -> list[NodeImpact]:
    """Every Windows group that the changes affect, the worst effect first."""
    by_urn = {item.urn: item for item in changed}
    heads = {group.resource.urn: group for group in windows_groups(head)}
    found: list[NodeImpact] = []
    kept: set[str] = set()
    for group in windows_groups(base):
        urn = matches.translate(group.resource.urn)
        now = heads.get(urn)
        if now is None:
            now_urn = urn if urn in matches.pairs else ""
            words = "is no longer a group of Windows nodes" if now_urn else "the group and its nodes are removed"
            found.append(NodeImpact(group.name, now_urn or group.resource.urn, REMOVED, (words,)))
            continue
        kept.add(urn)
        found += _impact(now, _reasons(group, now, by_urn, redactor))
    for urn, group in heads.items():
        if urn not in kept and urn in matches.pairs:
            found += _impact(group, [(REPLACED, "becomes a group of Windows nodes")])
    return sorted(found, key=lambda item: (EFFECTS.index(item.effect), item.group, item.urn))


def _impact(group: Group, reasons: Sequence[tuple[str, str]]) -> list[NodeImpact]:
    if not reasons:
        return []
    effect = min((effect for effect, _ in reasons), key=EFFECTS.index)
    words = tuple(dict.fromkeys(words for _, words in sorted(reasons, key=lambda item: EFFECTS.index(item[0]))))
    return [NodeImpact(group.name, group.resource.urn, effect, words, str(group.resource.source or ""))]


def _reasons(was: Group, now: Group, changed: dict[str, ChangedResource], redactor: Redactor) -> list[tuple[str, str]]:
    reasons: list[tuple[str, str]] = []
    item = changed.get(now.resource.urn)
    if item is not None:
        reasons += _of_group(was, now, item)
    for template in now.templates:
        if template.urn in changed:
            reasons += _of_template(now.resource, changed[template.urn])
    for key, value in now.facts.items():
        if key in was.facts and was.facts[key] is not UNKNOWN and value is not UNKNOWN and was.facts[key] != value:
            before, after = redactor.value(was.facts[key]), redactor.value(value)
            reasons.append((_rolling(now.resource)[0], f"{key}: {before} → {after}"))
    return reasons


def _of_group(was: Group, now: Group, item: ChangedResource) -> Iterator[tuple[str, str]]:
    for change in item.changes:
        top = change.path.split(".")[0].split("[")[0]
        if change.ignored:
            continue
        words = f"{change.path}{_values(change)}"
        if change.kind in (Kind.FOLLOWS, Kind.UNKNOWN):
            words = f"{change.path} {change.note}"
        if change.replaces is Answer.YES:
            yield REPLACED, f"{words}: the group is replaced"
        elif top in ("version", "releaseVersion", "launchTemplate", "launchConfiguration", "mixedInstancesPolicy"):
            if change.kind is not Kind.UNKNOWN and change.kind is not Kind.FOLLOWS:
                effect, why = _rolling(now.resource)
                yield effect, f"{words}: {why}"
        elif top == "taints" and "NO_EXECUTE" in str(change.after):
            yield EVICTED, f"{words}: pods that do not tolerate it are evicted"
        elif _shrinks(change):
            yield FEWER, words
    if was.resource.type != now.resource.type:
        yield REPLACED, "the type of the group changes"


def _of_template(group: Resource, item: ChangedResource) -> Iterator[tuple[str, str]]:
    """The effect of a launch template: a new version reaches the nodes only if the group follows it."""
    paths = [change.path for change in item.changes if not change.ignored]
    paths = [path for path in paths if path.split(".")[0].split("[")[0] not in _HARMLESS]
    if item.replaces.answer is Answer.YES and group.type == NODE_GROUP:
        yield REPLACED, f"launch template {item.name} is replaced"
    elif paths:
        pinned = _pinned(group)
        effect, why = (NEW_ONLY, f"the group keeps version {pinned}") if pinned else _rolling(group)
        yield effect, f"launch template {item.name}: {', '.join(dict.fromkeys(paths))} changed: {why}"


def _rolling(group: Resource) -> tuple[str, str]:
    if group.type == NODE_GROUP:
        return ROLLED, "EKS replaces the nodes one after another"
    if group.inputs.get("instanceRefresh"):
        return ROLLED, "the instance refresh replaces the nodes one after another"
    return NEW_ONLY, "running nodes keep the old version"


def _pinned(group: Resource) -> str:
    """The version of the launch template, if the group names it as a number."""
    template = group.inputs.get("launchTemplate")
    version = template.get("version") if isinstance(template, dict) else None
    if isinstance(version, float):
        return str(int(version))
    return version if isinstance(version, str) and version.isdigit() else ""


def _shrinks(change: Change) -> bool:
    last = change.path.rpartition(".")[2]
    numbers = isinstance(change.before, int | float) and isinstance(change.after, int | float)
    return last in ("maxSize", "desiredSize", "desiredCapacity") and numbers and change.after < change.before


def _values(change: Change) -> str:
    """``before → after`` if both are short."""
    simple = all(isinstance(value, str | int | float) for value in (change.before, change.after))
    text = f" {change.before} → {change.after}"
    return text if simple and len(text) <= 80 and change.kind is Kind.CHANGED and not change.lines else ""
