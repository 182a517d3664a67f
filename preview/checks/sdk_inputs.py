"""Inputs against the SDK's own types: every class that is generated with ``<Class>Args`` says what it takes.

Looks only at modules that the program has imported. A class is compiled once per process, a property when a
value for it is first seen, so a plan pays for what it uses.
"""

import builtins
import sys
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal

import pulumi

from ..evaluation import sdk_types
from .type_validators import (
    Fields,
    Validator,
    anything,
    asset,
    either,
    listing,
    mapping,
    number,
    one_of,
    parsed,
    resource,
    text,
    truth,
    whole,
)

# The marks that pulumi.input_type and pulumi.getter leave (pulumi/_types.py); tests hold them to the SDK.
_INPUT_MARK, _NAME_MARK = "_pulumi_input_type", "_pulumi_name"
_SCALARS: Mapping[Any, Validator] = {str: text, bool: truth, int: whole, float: number, list: listing(anything),
                                 dict: mapping(anything), Any: anything, object: anything}  # fmt: skip
# Of a provider, the engine's own and not the provider's.
_ENGINE_INPUTS = frozenset({"version", "pluginDownloadURL", "__internal"})

_validators: dict[str, Validator] = {}


def validator_of(token: str) -> Validator | None:
    """The validator of the inputs of a type token, none where its SDK class is not loaded or says nothing."""
    validator = _validators.get(token)
    if validator is None:
        cls = sdk_types.resource_class(token)
        args = _args_class(cls) if cls is not None else None
        if args is None:
            return None
        validator = _validators[token] = _provider(args) if token.startswith("pulumi:providers:") else _object(args)
    return validator


def _args_class(cls: type[Any]) -> type[Any] | None:
    """``<Class>InitArgs`` where the plain name belongs to a nested type (kubernetes), else ``<Class>Args``."""
    names = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    for name in (f"{cls.__name__}InitArgs", f"{cls.__name__}Args"):
        found = names.get(name)
        if isinstance(found, type) and hasattr(found, _INPUT_MARK):
            return found
    return None


@cache
def _object(args: type[Any]) -> Fields:
    names, hints = _properties(args)
    required = frozenset(key for key, hint in hints.items() if not _optional(hint))
    return Fields(names, required, lambda key: _validator(hints[key], args.__module__))


def _provider(args: type[Any]) -> Validator:
    """A provider's inputs are strings on the way, everything else as JSON; inside, both spellings of a name occur."""
    names, hints = _properties(args)

    def build(key: str) -> Validator:
        if key in _ENGINE_INPUTS:
            return anything
        validator = _validator(hints[key], args.__module__)
        if validator is text:
            return text
        return parsed(validator if validator in (truth, whole, number) else anything)

    return Fields({**names, **{key: key for key in _ENGINE_INPUTS}}, frozenset(), build)


def _properties(args: type[Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Property name to the Python name, and to the annotation."""
    names: dict[str, str] = {}
    hints: dict[str, Any] = {}
    for base in reversed(args.__mro__):
        for python_name, member in vars(base).items():
            if not isinstance(member, builtins.property) or member.fget is None:
                continue
            name = getattr(member.fget, _NAME_MARK, None)
            if name:
                names[name] = python_name
                hint = member.fget.__annotations__.get("return", Any)
                hints[name] = _evaluated(hint, base.__module__) if isinstance(hint, str) else hint
    return names, hints


@cache
def _evaluated(text: str, module: str) -> Any:
    """A postponed annotation; the same few texts stand at most properties. Of what cannot be told now, anything."""
    try:
        return eval(text, vars(sys.modules[module]))  # noqa: S307 (the SDK's own source)
    except (NameError, AttributeError):
        return Any


def _optional(hint: Any) -> bool:
    return hint is Any or NoneType in getattr(hint, "__args__", ())


def _validator(hint: Any, module: str) -> Validator:
    """The validator of an annotation; of one that is not understood, the validator that takes anything."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, typing.ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        found = _resolve(hint, module)
        return anything if found is None else _validator(found, module)
    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        return _union(hint, module)
    if isinstance(hint, type) and origin is None:
        return _class(hint)
    arguments = typing.get_args(hint)
    if origin is Literal:
        return one_of(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return mapping(_validator(arguments[1], module)) if len(arguments) == 2 else mapping(anything)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return listing(_validator(arguments[0], module)) if arguments else listing(anything)
    return anything


def _class(cls: type[Any]) -> Validator:
    if hasattr(cls, _INPUT_MARK):
        return _object(cls)
    if issubclass(cls, Enum):
        return one_of(member.value for member in cls)
    if issubclass(cls, pulumi.Resource):
        return resource
    if issubclass(cls, pulumi.Asset | pulumi.Archive):
        return asset
    return anything


def _union(hint: Any, module: str) -> Validator:
    """The members that a value can belong to; ``Awaitable``, ``Output`` and the dictionary twins are plumbing."""
    validators: list[Validator] = []
    objects = False
    for member in typing.get_args(hint):
        if member is NoneType or _plumbing(member):
            continue
        validator = _validator(member, module)
        objects = objects or isinstance(validator, Fields)
        if validator is anything:
            name = getattr(member, "__forward_arg__", member)
            twin = (isinstance(name, str) and name.endswith("ArgsDict")) or typing.is_typeddict(member)
            if twin and objects:
                continue
            return anything
        validators.append(validator)
    return either(*validators) if validators else anything


def _plumbing(member: Any) -> bool:
    if isinstance(member, typing.ForwardRef):
        return member.__forward_arg__.startswith("Output[")
    origin: Any = typing.get_origin(member)
    return origin is pulumi.Output or getattr(origin, "__name__", "") in ("Awaitable", "Coroutine")


def _resolve(name: str, module: str) -> Any:
    """A name as the module sees it; a module that still waits for its lazy import is left asleep."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        if isinstance(found, ModuleType) and type(found) is not ModuleType:
            return None
        found = getattr(found, part, None)
    return found


@cache
def computed_names(token: str) -> frozenset[str]:
    """The properties of a resource that only its provider can fill in; none where its class is not loaded."""
    cls = sdk_types.resource_class(token)
    args = _args_class(cls) if cls is not None else None
    if cls is None or args is None:
        return frozenset()
    return frozenset(_properties(cls)[0]) - frozenset(_properties(args)[0]) - {"id", "urn"}
