"""What the SDK works out again for each value of each resource, worked out once.

Each function gives what the SDK's own gives; ``test_lazy_outputs.py`` holds one against the other.
"""

import sys
from collections.abc import Callable
from typing import Any

import pulumi
from pulumi import _types as sdk_types  # pyright: ignore[reportPrivateUsage]
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import resource_cycle_breaker as sdk_cycles
from pulumi.runtime import rpc as sdk_rpc

Put = Callable[[Any, str, Any], None]

_PLAIN = frozenset((str, int, float, bool, type(None)))
"""Values of exactly these types are serialized as they are, whatever type is expected."""


def use(put: Put) -> None:
    """Let the SDK take the shortcuts, by ``put``, which replaces a name of a module."""
    put(sdk_rpc, "serialize_property", _serializer(sdk_rpc.serialize_property))
    put(sdk_rpc, "_get_list_element_type", _once(sdk_rpc._get_list_element_type))  # pyright: ignore[reportPrivateUsage]
    put(sdk_types, "unwrap_type", _once(sdk_types.unwrap_type))
    put(sdk_types, "unwrap_optional_type", _once(sdk_types.unwrap_optional_type))
    put(sdk_rpc, "declare_dependency", _declarer(sdk_cycles.declare_dependency))
    put(sdk_resource, "create_urn", _urn_maker(sdk_resource.create_urn))
    put(pulumi.log, "debug", _quiet(pulumi.log.debug))
    for module in ("invoke", "resource", "settings", "stack"):
        put(sys.modules[f"pulumi.runtime.{module}"], "wrap_with_context", _same)


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    """What would carry a context to another thread; the runtime calls the SDK's functions on this one."""
    return function


def _serializer(sdk: Callable[..., Any]) -> Callable[..., Any]:
    """Plain values need none of the twenty questions that others are asked."""

    async def serialize(value: Any, *args: Any, return_protobuf_value: bool = False, **more: Any) -> Any:
        if type(value) in _PLAIN and not return_protobuf_value:
            return value
        return await sdk(value, *args, return_protobuf_value=return_protobuf_value, **more)

    return serialize


def _once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of a type, remembered by the object: the hash of a union is slower than the function."""
    seen: dict[int, tuple[Any, Any]] = {}

    def call(typ: Any) -> Any:
        found = seen.get(id(typ))
        if found is None:
            # The type is kept with the answer, so that its identity is not given to another.
            found = seen[id(typ)] = typ, function(typ)
        return found[1]

    return call


def _quiet(sdk: Callable[..., None]) -> Callable[..., None]:
    """Several messages for each resource, of which the engine's side of an evaluation keeps none."""

    def debug(msg: Any, resource: Any = None, stream_id: Any = None, ephemeral: Any = None) -> None:
        if type(msg) is not str or not (stream_id is ephemeral is None):
            sdk(msg, resource, stream_id, ephemeral)

    return debug


class _Text:
    """A text where the SDK only waits for the value of an Output."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    async def future(self) -> str:
        return self._text


def _urn_maker(sdk: Callable[..., Any]) -> Callable[..., Any]:
    """The URN that the SDK makes up for each resource in case that there is no monitor: three Outputs for nothing."""

    def create_urn(name: Any, type_: Any, parent: Any = None, project: Any = None, stack: Any = None) -> Any:
        if type(parent) is type(name) is type(type_) is str and project is None and stack is None:
            return _Text(f"{parent[: parent.rfind('::')]}${type_}::{name}")
        return sdk(name, type_, parent, project, stack)

    return create_urn


def _declarer(sdk: Callable[..., bool]) -> Callable[..., bool]:
    """Whether a dependency closes a circle is looked for along all others; none leads to what nobody depends on."""
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
