"""What a type is out of its Output and Optional is worked out once for each, not for each value of each resource."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pulumi import _types as sdk_types  # pyright: ignore[reportPrivateUsage]

from .patch import Patch, replace


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


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_types, "unwrap_type", _once(sdk_types.unwrap_type))
    replace(stack, sdk_types, "unwrap_optional_type", _once(sdk_types.unwrap_optional_type))


PATCH = Patch(
    "unwrapped_types",
    _apply,
    needs={"pulumi._types:unwrap_type": ("val",), "pulumi._types:unwrap_optional_type": ("val",)},
)
