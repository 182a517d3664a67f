"""What an argument may be, read from the annotations of the ``…Args`` classes: the one source of schema and reading.

A part that Python alone can have, such as another component, is left out for the other languages.
"""

import ast
import inspect
import itertools
import textwrap
import types
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin

import pulumi

from ..core.mistakes import camel_case

Kind = Literal["string", "integer", "number", "boolean", "array", "map", "object", "any", "choice"]
PLAIN: Mapping[Any, Kind] = {str: "string", int: "integer", float: "number", bool: "boolean"}
NOTHING = type(None)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a value may be."""

    kind: Kind
    optional: bool = False
    """Whether it may be absent."""
    output: bool = False
    """Whether it may come from another resource; everything else is plain, so that it can be judged at once."""
    parts: tuple["Shape", ...] = ()
    """Of an array and a map its items, of a choice what it chooses from."""
    of: Any = None
    """Of an object its class."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """An argument, or a part of one."""

    name: str
    """In Python."""
    shape: Shape
    required: bool
    description: str

    @property
    def key(self) -> str:
        """In every other language."""
        return camel_case(self.name)


def shape_of(hint: Any) -> Shape | None:
    """The shape that an annotation describes; None for what only Python has.

    >>> shape_of(int | None)
    Shape(kind='integer', optional=True, output=False, parts=(), of=None)
    """
    if hint in PLAIN:
        return Shape(kind=PLAIN[hint])
    if hint is Any:
        return Shape(kind="any")
    if get_origin(hint) is pulumi.Output:
        return _with(shape_of(get_args(hint)[0]), output=True)
    if get_origin(hint) in (Union, types.UnionType):
        return _union(get_args(hint))
    if is_dataclass(hint):
        return Shape(kind="object", of=hint)
    return _collection(hint)


def _collection(hint: Any) -> Shape | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if not isinstance(origin, type):
        return None
    kind: Kind = "map" if issubclass(origin, Mapping) else "array"
    if kind == "array" and not issubclass(origin, Sequence):
        return None
    item = shape_of(arguments[1 if kind == "map" else 0])
    return Shape(kind=kind, parts=(item,)) if item else None


def _union(hints: Sequence[Any]) -> Shape | None:
    """``X | None`` is optional, ``pulumi.Input[X]`` may be an output, and what else has several forms is a choice."""
    awaited = [hint for hint in hints if get_origin(hint) is Awaitable]
    outputs = [*awaited, *(hint for hint in hints if isinstance(hint, ForwardRef))]
    optional = NOTHING in hints
    rest = [hint for hint in hints if hint is not NOTHING and hint not in outputs]
    found = [shape_of(hint) for hint in rest]
    shapes = [shape for shape in found if shape]
    if not shapes or len(shapes) < len(found):
        return None
    if len(shapes) == 1:
        return _with(shapes[0], optional=optional, output=bool(awaited) or shapes[0].output)
    if any(_holds_any(shape) for shape in shapes):
        return Shape(kind="any", optional=optional)
    return Shape(kind="choice", optional=optional, parts=tuple(shapes))


def _holds_any(shape: Shape) -> bool:
    return shape.kind == "any" or any(_holds_any(part) for part in shape.parts)


def _with(shape: Shape | None, *, optional: bool = False, output: bool = False) -> Shape | None:
    if shape is None:
        return None
    return Shape(kind=shape.kind, optional=optional or shape.optional, output=output, parts=shape.parts, of=shape.of)


@cache
def fields_of(cls: Any) -> tuple[Field, ...]:
    """The fields of an ``…Args`` class or of a part of one, in their order."""
    texts = documented(cls)
    return tuple(
        Field(
            name=field.name,
            shape=shape,
            required=field.default is MISSING and field.default_factory is MISSING,
            description=texts.get(field.name, ""),
        )
        for field in fields(cls)
        if (shape := shape_of(field.type)) is not None
    )


@cache
def outputs_of(component: Any) -> tuple[Field, ...]:
    """The outputs of a component: its public annotated attributes that every language can hold."""
    texts = documented(component)
    hints: dict[str, Any] = {}
    for base in reversed(component.__mro__):
        if issubclass(base, pulumi.ComponentResource) and base is not pulumi.ComponentResource:
            hints |= inspect.get_annotations(base)
    found = {name: shape_of(hint) for name, hint in hints.items() if not name.startswith("_")}
    return tuple(
        Field(name=name, shape=shape, required=not shape.optional, description=texts.get(name, ""))
        for name, shape in found.items()
        if shape is not None and shape.kind != "object"
    )


@cache
def documented(cls: Any) -> Mapping[str, str]:
    """The string after each annotated attribute of a class and of those it is made from."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] != __name__.partition(".")[0]:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for statement, after in itertools.pairwise(statements):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and _is_text(after):
                found[statement.target.id] = inspect.cleandoc(after.value.value)  # pyright: ignore
    return found


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
