"""What an argument may be, read from the annotations of the ``…Args`` classes: the one source of schema and reading.

A part that Python alone can have, such as another component, is left out for the other languages.
"""

import ast
import inspect
import itertools
import textwrap
import types
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, ForwardRef, Literal, Union, get_args, get_origin

import pulumi

from ..core.mistakes import camel_case

Kind = Literal["string", "integer", "number", "boolean", "array", "map", "object", "any", "choice"]
PLAIN: Mapping[Any, Kind] = {str: "string", int: "integer", float: "number", bool: "boolean"}
NOTHING = type(None)


@dataclass(frozen=True, kw_only=True)
class ArgumentType:
    """What a value may be."""

    kind: Kind
    optional: bool = False
    """Whether it may be absent."""
    output: bool = False
    """Whether it may come from another resource; everything else is plain, so that it can be judged at once."""
    parts: tuple["ArgumentType", ...] = ()
    """Of an array and a map its items, of a choice what it chooses from."""
    of: Any = None
    """Of an object its class."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """An argument, or a part of one."""

    name: str
    """In Python."""
    type: ArgumentType
    required: bool
    description: str

    @property
    def key(self) -> str:
        """In every other language."""
        return camel_case(self.name)


def type_of(hint: Any) -> ArgumentType | None:
    """What an annotation allows; None for what only Python has.

    >>> type_of(int | None)
    ArgumentType(kind='integer', optional=True, output=False, parts=(), of=None)
    """
    if hint in PLAIN:
        return ArgumentType(kind=PLAIN[hint])
    if hint is Any:
        return ArgumentType(kind="any")
    if get_origin(hint) is pulumi.Output:
        return _with(type_of(get_args(hint)[0]), output=True)
    if get_origin(hint) in (Union, types.UnionType):
        return _union(get_args(hint))
    if is_dataclass(hint):
        return ArgumentType(kind="object", of=hint)
    return _collection(hint)


def _collection(hint: Any) -> ArgumentType | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if not isinstance(origin, type):
        return None
    kind: Kind = "map" if issubclass(origin, Mapping) else "array"
    if kind == "array" and not issubclass(origin, Sequence):
        return None
    item = type_of(arguments[1 if kind == "map" else 0])
    return ArgumentType(kind=kind, parts=(item,)) if item else None


def _union(hints: Sequence[Any]) -> ArgumentType | None:
    """``X | None`` is optional, ``pulumi.Input[X]`` may be an output, and what else has several forms is a choice."""
    awaited = [hint for hint in hints if get_origin(hint) is Awaitable]
    outputs = [*awaited, *(hint for hint in hints if isinstance(hint, ForwardRef))]
    optional = NOTHING in hints
    rest = [hint for hint in hints if hint is not NOTHING and hint not in outputs]
    found = [type_of(hint) for hint in rest]
    known = [argument for argument in found if argument]
    if not known or len(known) < len(found):
        return None
    if len(known) == 1:
        return _with(known[0], optional=optional, output=bool(awaited) or known[0].output)
    if any(_holds_any(argument) for argument in known):
        return ArgumentType(kind="any", optional=optional)
    return ArgumentType(kind="choice", optional=optional, parts=tuple(known))


def _holds_any(argument: ArgumentType) -> bool:
    return argument.kind == "any" or any(_holds_any(part) for part in argument.parts)


def _with(argument: ArgumentType | None, *, optional: bool = False, output: bool = False) -> ArgumentType | None:
    if argument is None:
        return None
    return replace(argument, optional=optional or argument.optional, output=output)


@cache
def fields_of(cls: Any) -> tuple[Field, ...]:
    """The fields of an ``…Args`` class or of a part of one, in their order."""
    texts = documented(cls)
    return tuple(
        Field(
            name=field.name,
            type=argument,
            required=field.default is MISSING and field.default_factory is MISSING,
            description=texts.get(field.name, ""),
        )
        for field in fields(cls)
        if (argument := type_of(field.type)) is not None
    )


@cache
def outputs_of(component: Any) -> tuple[Field, ...]:
    """The outputs of a component: its public annotated attributes that every language can hold."""
    texts = documented(component)
    hints: dict[str, Any] = {}
    for base in reversed(component.__mro__):
        if issubclass(base, pulumi.ComponentResource) and base is not pulumi.ComponentResource:
            hints |= inspect.get_annotations(base)
    found = {name: type_of(hint) for name, hint in hints.items() if not name.startswith("_")}
    return tuple(
        Field(name=name, type=argument, required=not argument.optional, description=texts.get(name, ""))
        for name, argument in found.items()
        if argument is not None and argument.kind != "object"
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
