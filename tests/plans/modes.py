"""A preview beside an update of the same stack: they say the same, as far as a preview can know it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from winkube.preview.model import UNKNOWN, UNKNOWN_TEXT, Plan, Reference, Resource, Secret

Steps = tuple[Any, ...]


def contradictions(preview: Plan, update: Plan) -> Iterator[str]:
    """Where a preview says something else than an update, apart from what it does not know."""
    yield from _differences(_head(preview), _head(update), ())
    if preview.by_urn.keys() != update.by_urn.keys():
        yield f"resources: {sorted(preview.by_urn.keys() ^ update.by_urn.keys())}"
    for urn in preview.by_urn.keys() & update.by_urn.keys():
        yield from _differences(_facts(preview.by_urn[urn]), _facts(update.by_urn[urn]), (urn.rpartition("::")[2],))


def _head(plan: Plan) -> dict[str, Any]:
    return {
        "project": plan.project, "stack": plan.stack, "outputs": plan.outputs, "warnings": sorted(set(plan.logs)),
        "functions": sorted({(it.token, repr(sorted(it.arguments.items())), it.known) for it in plan.invokes}),
    }  # fmt: skip


def _facts(resource: Resource) -> dict[str, Any]:
    options = asdict(resource.options)
    # The id of a provider is a part of every reference to it, and unknown in a preview.
    options["provider"] = options["provider"].rpartition("::")[0]
    options["providers"] = {key: given.rpartition("::")[0] for key, given in options["providers"].items()}
    return {
        "type": resource.type, "parent": resource.parent, "custom": resource.custom, "remote": resource.remote,
        "read": resource.read, "inputs": resource.inputs, "outputs": resource.outputs, "options": options,
    }  # fmt: skip


def _differences(before: Any, after: Any, at: Steps) -> Iterator[str]:
    if before is UNKNOWN or before == Secret(UNKNOWN) or (isinstance(before, str) and UNKNOWN_TEXT in before):
        return
    if isinstance(before, Secret) and isinstance(after, Secret):
        yield from _differences(before.value, after.value, at)
    elif isinstance(before, Reference) and isinstance(after, Reference) and before.urn == after.urn:
        yield from _differences(before.id, after.id, at)
    elif isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for key, value in before.items():
            yield from _differences(value, after[key], (*at, key))
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for index, value in enumerate(before):
            yield from _differences(value, after[index], (*at, index))
    elif before != after:
        yield f"{'.'.join(map(str, at))}: {before!r} is not {after!r}"
