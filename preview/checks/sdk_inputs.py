"""Checks inputs against the types of the SDK: the generated ``<Class>Args`` of a class declare its inputs.

Only modules that the program has imported are used. A class is compiled once in a process, and a property when its
first value is checked, so that a plan pays only for what it uses.
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
# Inputs of a provider that are for the engine.
_ENGINE_INPUTS = frozenset({"version", "pluginDownloadURL", "__internal"})

_validators: dict[str, Validator] = {}


def validator_of(token: str) -> Validator | None:
    """The validator of the inputs of a type token; None if its SDK class is not loaded or declares none."""
    validator = _validators.get(token)
    if validator is None:
        cls = sdk_types.resource_class(token)
        args = _args_class(cls) if cls is not None else None
        if args is None:
            return None
        validator = _validators[token] = _provider(args) if token.startswith("pulumi:providers:") else _object(args)
    return validator


def _args_class(cls: type[Any]) -> type[Any] | None:
    """``<Class>InitArgs`` if ``<Class>Args`` is a nested type (Kubernetes), else ``<Class>Args``."""
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
    """Inputs of a provider are sent as strings, others than text as JSON; inside, both spellings of a name occur."""
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
    """A postponed annotation, evaluated once for each text; ``Any`` if it cannot be evaluated now."""
    try:
        return eval(text, vars(sys.modules[module]))  # noqa: S307 (the SDK's own source)
    except (NameError, AttributeError):
        return Any


def _optional(hint: Any) -> bool:
    return hint is Any or NoneType in getattr(hint, "__args__", ())


def _validator(hint: Any, module: str) -> Validator:
    """The validator of an annotation. For one that is not understood it accepts anything."""
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
    """Validate the members of a union, without ``Awaitable``, ``Output`` and typed dictionaries."""
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
    """A name as the module sees it. A module that is not imported yet stays so."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        if isinstance(found, ModuleType) and type(found) is not ModuleType:
            return None
        found = getattr(found, part, None)
    return found


@cache
def computed_names(token: str) -> frozenset[str]:
    """The properties of a resource that only its provider sets; empty if its class is not loaded."""
    cls = sdk_types.resource_class(token)
    args = _args_class(cls) if cls is not None else None
    if cls is None or args is None:
        return frozenset()
    return frozenset(_properties(cls)[0]) - frozenset(_properties(args)[0]) - {"id", "urn"}
