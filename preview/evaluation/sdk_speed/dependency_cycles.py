"""Circles of dependencies are looked for where there can be one.

The SDK walks along all dependencies of a resource, and of what they depend on, for each one that is added. No way leads
to a resource that nobody depends on.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pulumi.runtime import resource_cycle_breaker as sdk_cycles
from pulumi.runtime import rpc as sdk_rpc

from .patch import Patch, replace


def _declarer(sdk: Callable[..., bool]) -> Callable[..., bool]:
    depended_on: set[Any] = set()

    def declare(from_resource: Any, to_resource: Any) -> bool:
        if from_resource in depended_on or from_resource is to_resource:
            added = sdk(from_resource=from_resource, to_resource=to_resource)
        else:
            sdk_cycles._add_dep(from_resource, to_resource)  # pyright: ignore[reportPrivateUsage]
            added = True
        depended_on.add(to_resource)
        return added

    return declare


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_rpc, "declare_dependency", _declarer(sdk_cycles.declare_dependency))


PATCH = Patch(
    "dependency_cycles",
    _apply,
    needs={
        "pulumi.runtime.rpc:declare_dependency": ("from_resource", "to_resource"),
        "pulumi.runtime.resource_cycle_breaker:declare_dependency": ("from_resource", "to_resource"),
        "pulumi.runtime.resource_cycle_breaker:_add_dep": ("from_resource", "to_resource"),
    },
)
