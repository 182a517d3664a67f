"""URNs without Outputs.

The SDK makes up a URN for each resource, with three Outputs, in case that there is no monitor that tells it. Here there
always is one.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from pulumi.runtime import resource as sdk_resource

from .patch import Patch, replace


class _Text:
    """A text where the SDK only waits for the value of an Output."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    async def future(self) -> str:
        return self._text


def _urn_maker(sdk: Callable[..., Any]) -> Callable[..., Any]:
    def create_urn(name: Any, type_: Any, parent: Any = None, project: Any = None, stack: Any = None) -> Any:
        if type(parent) is type(name) is type(type_) is str and project is None and stack is None:
            return _Text(f"{parent[: parent.rfind('::')]}${type_}::{name}")
        return sdk(name, type_, parent, project, stack)

    return create_urn


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_resource, "create_urn", _urn_maker(sdk_resource.create_urn))


PATCH = Patch(
    "urns",
    _apply,
    needs={"pulumi.runtime.resource:create_urn": ("name", "type_", "parent", "project", "stack")},
)
