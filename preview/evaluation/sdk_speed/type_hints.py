"""The types of the SDK's classes, property by property.

The SDK resolves the annotations of all properties of a class when it is first used, fifty for a cluster, and a program
gives ten of them. Resolving an annotation is what typing does slowest: here each is resolved when it is asked for.
"""

import typing
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import Any, get_type_hints

import pulumi
from pulumi import _types as sdk_types  # pyright: ignore[reportPrivateUsage]

from .patch import Patch, replace

_LOCALS: dict[str, Any] = {"Output": pulumi.Output, "T": type(None)}


class Hints:
    """What the SDK's tables of types give, as far as the runtime asks them: one property at a time."""

    __slots__ = ("_cls", "_globals", "_properties", "_raw", "_texts", "_types")

    def __init__(self, cls: type[Any]) -> None:
        properties = sdk_types._py_properties(cls)  # pyright: ignore[reportPrivateUsage]
        self._cls = cls
        self._properties = {pulumi_name: prop.fget for _, pulumi_name, prop in properties}
        self._globals: dict[str, Any] | None = None
        self._raw: dict[str, Any] = {}
        self._texts = _resolved(tuple(base.__module__ for base in cls.__mro__))
        self._types: dict[str, Any] = {}

    def raw(self, key: str) -> Any:
        """The annotation of a property as it stands, resolved; None where there is none."""
        if key not in self._raw:
            getter = self._properties.get(key)
            text = getattr(getter, "__annotations__", {}).get("return")
            if isinstance(text, str):
                if text not in self._texts:
                    self._texts[text] = self._resolve(getter)
                self._raw[key] = self._texts[text]
            else:
                self._raw[key] = self._resolve(getter) if getter else None
        return self._raw[key]

    def _resolve(self, getter: Callable[..., Any] | None) -> Any:
        if self._globals is None:
            self._globals = sdk_types._globals_for_cls(self._cls)  # pyright: ignore[reportPrivateUsage]
        return get_type_hints(getter, self._globals, _LOCALS).get("return")

    def get(self, key: str, default: Any = None) -> Any:
        """The type of a property, out of its Output and Optional."""
        if key not in self._types:
            hint = self.raw(key)
            found = sdk_types.unwrap_type(hint) if hint is not None else self._annotated().get(key)
            self._types[key] = None if found is pulumi.Output else found
        found = self._types[key]
        return default if found is None else found

    def _annotated(self) -> dict[str, type]:
        """The properties of a resource that are annotations of the class instead."""
        if not issubclass(self._cls, pulumi.Resource):
            return {}
        return sdk_types._types_from_annotations(self._cls)  # pyright: ignore[reportPrivateUsage]


@cache
def _resolved(modules: tuple[str, ...]) -> dict[str, Any]:
    """What an annotation says in a class, by its text: the same wherever a class and its bases are of these modules."""
    return {}


@cache
def hints_of(cls: type[Any]) -> Hints:
    """The types of a class."""
    return Hints(cls)


def _apply(stack: ExitStack) -> None:
    for name in ("input_type_types", "output_type_types", "resource_types"):
        replace(stack, sdk_types, name, hints_of)
    # typing compiles each annotation that it is given as text, and every property in a TypedDict is one.
    replace(stack, typing, "compile", cache(compile))


PATCH = Patch(
    "type_hints",
    _apply,
    needs={
        "pulumi._types:input_type_types": ("input_type_cls",),
        "pulumi._types:output_type_types": ("output_type_cls",),
        "pulumi._types:resource_types": ("resource_cls",),
        "pulumi._types:_py_properties": ("cls",),
        "pulumi._types:_globals_for_cls": ("cls",),
        "pulumi._types:_types_from_annotations": ("cls",),
        "pulumi._types:unwrap_type": ("val",),
    },
)
