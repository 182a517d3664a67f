"""A Pulumi YAML program of our components, run against the component provider."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from winkube.preview.model import UNKNOWN, Resource

from .bed import Host, output

REFERENCE = re.compile(r"\$\{(\w+)((?:\.\w+|\[\d+\])*)\}")


def run(program: Mapping[str, Any], schema: Mapping[str, Any], host: Host) -> dict[str, Resource]:
    """Make every resource in the order of its references: what was registered, by URN.

    :raises KeyError: where a program refers to what no resource or component has.
    """
    made: dict[str, Any] = {}
    registered: dict[str, Resource] = {}
    left = dict(program["resources"])
    while left:
        ready = [name for name in left if set(referred(left[name])) <= made.keys()]
        if not ready:
            raise KeyError(f"no such resource: {sorted(set(referred(left)) - made.keys() - left.keys())}")
        for name in ready:
            resource = left.pop(name)
            kind = resource["type"].replace("winkube:", "winkube:index:")
            inputs = {key: resolved(value, made, schema) for key, value in resource["properties"].items()}
            before = [made[referred_name]["urn"] for referred_name in referred(resource.get("options", {}))]
            outputs, resources = host.construct(kind, inputs, name=name, dependencies=before)
            made[name] = {**outputs, "": kind}
            registered |= resources
    for value in program.get("outputs", {}).values():
        resolved(value, made, schema)
    return registered


def referred(value: Any) -> Iterator[str]:
    """The names of the resources that a part of a program refers to."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from referred(item)
    elif isinstance(value, list):
        for item in value:
            yield from referred(item)
    elif isinstance(value, str):
        yield from (found[1] for found in REFERENCE.finditer(value))


def resolved(value: Any, made: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """A value as the engine sends it: references are outputs, known or not."""
    if isinstance(value, Mapping):
        return {key: resolved(item, made, schema) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, made, schema) for item in value]
    found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    resource = made[found[1]]
    key, *steps = re.findall(r"\w+", found[2])
    if key not in schema["resources"][resource[""]]["properties"]:
        raise KeyError(f"{resource['']} has no output {key}")
    part = resource.get(key, UNKNOWN)
    for step in steps:
        part = part[int(step)] if isinstance(part, list) else part
    return output() if holds_unknown(part) else output(part, known=True)


def holds_unknown(value: Any) -> bool:
    return value is UNKNOWN or (isinstance(value, list) and any(item is UNKNOWN for item in value))
