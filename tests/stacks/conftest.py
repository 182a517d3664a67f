"""A stack file as the engine hands it over, with single values changed."""

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from winkube.core.errors import WinkubeError
from winkube.preview.model import Plan

from stacks.config.reading import read_settings

SMALL: Mapping[str, Any] = {
    "aws:region": "eu-central-1",
    "winkube:flavour": "eks",
    "winkube:cluster": {"name": "dev", "kubernetesVersion": "1.36"},
    "winkube:instanceGroups": [
        {"name": "system", "linux": "al2023", "minSize": 2},
        {"name": "windows", "windows": "2022"},
    ],
}
"""The least that makes a cluster with Windows nodes."""
StackOf = Callable[..., dict[str, str]]
LinesOf = Callable[..., list[str]]
WaitsFor = Callable[[Plan, str], set[str]]


def steps(path: str) -> list[str | int]:
    """``winkube:tags["aws:team"]`` as its parts: a key of the user's own stands in brackets and quotes."""
    parts = re.findall(r'"([^"]+)"|\[(\d+)\]|([^.\[\]"]+)', path)
    return [quoted or (int(index) if index else name) for quoted, index, name in parts]


def put(data: Any, path: str, value: Any) -> None:
    *outside, last = steps(path)
    for step in outside:
        data = data.setdefault(step, {}) if isinstance(data, dict) else data[step]
    if isinstance(data, list) and last == len(data):
        data.append(value)
    else:
        data[last] = value


@pytest.fixture
def stack_of() -> StackOf:
    """The small stack with changes: path to value."""

    def build(changes: Mapping[str, Any] | None = None, base: Mapping[str, Any] = SMALL) -> dict[str, str]:
        data = copy.deepcopy(dict(base))
        for path, value in (changes or {}).items():
            put(data, path, copy.deepcopy(value))
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in data.items()}

    return build


@pytest.fixture
def lines_of(stack_of: StackOf) -> LinesOf:
    """What is said of the small stack with changes, line by line, without the title."""

    def read(changes: Mapping[str, Any] | None = None, base: Mapping[str, Any] = SMALL, **more: Any) -> list[str]:
        with pytest.raises(WinkubeError) as refused:
            read_settings(stack_of(changes, base), "dev", **more)
        title, *lines = str(refused.value).split("\n  ")
        assert title == f"Pulumi.dev.yaml has {len(lines)} mistake{'s' if len(lines) > 1 else ''}:"
        assert len(lines) == len(refused.value.mistakes)
        return lines

    return read


@pytest.fixture
def waits_for() -> WaitsFor:
    """Names of everything that a resource waits for, directly or through others."""
    return _waits_for


def _waits_for(plan: Plan, name: str) -> set[str]:
    (resource,) = [resource for resource in plan.resources if resource.name == name and resource.custom]
    seen: set[str] = set()
    queue = [resource.urn]
    while queue:
        current = plan.by_urn.get(queue.pop())
        if current is None:
            continue
        options = current.options
        parents = [current.parent] if current.parent else []
        for urn in {
            *options.dependencies,
            *(u for urns in options.property_dependencies.values() for u in urns),
            *parents,
        }:
            if urn not in seen:
                seen.add(urn)
                queue.append(urn)
    return {urn.rsplit("::", 1)[-1] for urn in seen}
