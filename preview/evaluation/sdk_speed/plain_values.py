"""Plain values of properties are serialized as they are: none of the twenty questions is asked that others need."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pulumi.runtime import rpc as sdk_rpc

from .patch import Patch, replace

_PLAIN = frozenset((str, int, float, bool, type(None)))
"""Values of exactly these types are serialized as they are, whatever type is expected."""


def serializer(sdk: Callable[..., Any]) -> Callable[..., Any]:
    """What serializes a value, by the SDK's own function where it is not plain."""

    async def serialize(value: Any, *args: Any, return_protobuf_value: bool = False, **more: Any) -> Any:
        if type(value) in _PLAIN and not return_protobuf_value:
            return value
        return await sdk(value, *args, return_protobuf_value=return_protobuf_value, **more)

    return serialize


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_rpc, "serialize_property", serializer(sdk_rpc.serialize_property))


PATCH = Patch(
    "plain_values",
    _apply,
    needs={
        "pulumi.runtime.rpc:serialize_property": (
            "value", "deps", "property_key", "resource_obj", "input_transformer", "typ", "keep_output_values",
            "exclude_resource_refs_from_deps", "return_protobuf_value",
        ),
    },
)  # fmt: skip
