"""What the generated SDKs in this process know of a type token: its class, and what it computes.

Only looks at modules that the program has already imported: an evaluation must not pay for an SDK that the
program does not use. The names come from the table that each SDK registers with the runtime.
"""

import sys
import typing
from collections.abc import Container, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any

import pulumi
from pulumi import _types as sdk_types  # pyright: ignore[reportPrivateUsage]
from pulumi.runtime import rpc as sdk_rpc

from .sdk_speed.module_imports import snake
from .sdk_speed.type_hints import Hints

_classes: dict[str, type[Any]] = {}


def resource_class(token: str) -> type[Any] | None:
    """The SDK class of a type token, none where its module is not loaded (yet)."""
    if token not in _classes:
        found = _find_class(token)
        if found is None:
            return None
        _classes[token] = found
    return _classes[token]


def _find_class(token: str) -> type[Any] | None:
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    if package == "pulumi" and module == "providers":
        return _member(f"pulumi_{name.replace('-', '_')}", "Provider")
    for registered in sdk_rpc._RESOURCE_MODULES.get(f"{package}:{module}", ()):  # pyright: ignore[reportPrivateUsage]
        info = getattr(registered, "mod_info", None)
        if info and token in info["classes"]:
            return _member(info["fqn"], info["classes"][token])
    return None


def _member(package: str, name: str) -> type[Any] | None:
    for module_name in (f"{package}.{snake(name)}", f"{package}.{name}", package):
        module = sys.modules.get(module_name)
        if module is None:
            continue
        # A module that waits for its lazy import must not be woken, so its dictionary is read past its own hooks.
        found = object.__getattribute__(module, "__dict__").get(name)
        if isinstance(found, type):
            return found
    return None


def computed(token: str, name: str, known: Container[str], arn_prefix: str) -> dict[str, Any]:
    """Placeholders for what a provider would compute: every property of ``token`` that is not in ``known``.

    Each is marked as such and has the type that the SDK gives it, so that the program's ``apply`` calls run for real.
    """
    cls = resource_class(token)
    if cls is None:
        return {}
    return {key: placeholder(hint, f"{name}.{key}", arn_prefix) for key, hint in _output_hints(cls) if key not in known}


@cache
def _output_hints(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    """The properties that are there after a deployment: an optional one that could be given may stay absent."""
    hints = sdk_types._raw_return_hints(cls)  # pyright: ignore[reportPrivateUsage]
    initializer = getattr(cls, "_internal_init", None)
    names = sdk_types.resource_py_to_pulumi_names(cls)
    given = {names.get(name) for name in signature(initializer).parameters} if initializer else set[str | None]()
    found: list[tuple[str, Any]] = []
    for key, hint in hints.items():
        inner = typing.get_args(hint)[0] if typing.get_origin(hint) is pulumi.Output else hint
        if key not in ("urn", "id") and (type(None) not in typing.get_args(inner) or key not in given):
            found.append((key, sdk_types.unwrap_optional_type(inner)))
    return tuple(found)


PUBLIC_KEY = """\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAxtJEgLX3C7bUX7Rw47U/
LFxZbVKYIWM76RanWiPgtMTXXN9TgLxVmTmnCpK2T7nTyvYrPLXPxO3NSF87QoEq
c+F1mr/rsAuVCLgFr+u5IA3toouMSmzFJyAuuHr6H4HWUQcgWgPe52jzpKyYZ/Pv
bL/thEtz23u3b0gaZMrSzmhwNLhMR2aAiOolLEsOd+lJ8PwkHoK6/xoCWq9UahKy
UDBq6Vuikqn9EnZ5Ff/3WDLmypJZUdvbtnq1Yoo6pNdFq9PweHZQcLU89mIUW086
gqT5mJfPfHfMEnTbOQ3Rr0Gzbp87looNZKfTl+JeiM+MSJOEA7UQR12h2DXCuKBd
2QIDAQAB
-----END PUBLIC KEY-----
"""
"""Stands for every public key in PEM: programs read those, and would stop at a word. Nobody kept its private half."""
PEM_ENDINGS = ("publicKeyPem", "PublicKeyPem")

DEEPEST = 8
"""Some types hold themselves (the schema of a custom resource): placeholders stop at this depth."""


def placeholder(hint: Any, label: str, arn_prefix: str = "arn:aws:placeholder:::") -> Any:
    """A value of the type ``hint`` that says of itself that it is none.

    >>> placeholder(str, "vpc.ownerId")
    'placeholder-vpc.ownerId'
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        return [placeholder(arguments[0], f"{label}.0", arn_prefix)]
    if origin in (dict, Mapping):
        return {}
    if origin is typing.Literal:
        return arguments[0]
    if hint is bool:
        return False
    if hint in (int, float):
        return 0
    if isinstance(hint, type) and sdk_types.is_output_type(hint):
        if label.count(".") > DEEPEST:
            return {}
        types = _all_types(hint)  # inside an object that is computed as a whole, all of it is there
        return {key: placeholder(inner, f"{label}.{key}", arn_prefix) for key, inner in types.items()}
    if arguments and type(None) not in arguments:
        return placeholder(arguments[0], label, arn_prefix)
    last = label.rsplit(".", 1)[-1]
    if last.endswith(PEM_ENDINGS):
        return PUBLIC_KEY
    return f"{arn_prefix}placeholder/{label}" if last == "arn" or last.endswith("Arn") else f"placeholder-{label}"


def is_text_output(cls: type[Any], key: str) -> bool:
    """Whether a provider gives a property as text, though it may be given as an object: a policy, for example."""
    return sdk_types.resource_types(cls).get(key) is str


@cache
def nested_texts(cls: type[Any], key: str) -> tuple[str, ...]:
    """Texts inside an object of a resource that the provider may fill in: the keys within the property ``key``.

    The cluster security group of an EKS cluster is such a text: it stands inside ``vpcConfig``, half of which is
    given. The SDK does not tell which of them the provider really computes, so none may pass for "not there".
    """
    types: Any = sdk_types.resource_types(cls)
    hint = types.raw(key) if isinstance(types, Hints) else sdk_types._raw_return_hints(cls).get(key)  # pyright: ignore[reportPrivateUsage]
    inner = typing.get_args(hint)[0] if typing.get_origin(hint) is pulumi.Output else hint
    if not (isinstance(inner, type) and sdk_types.is_output_type(inner)):
        return ()  # an optional one may be absent as a whole, and what is given of it is all there is
    fields = sdk_types._raw_return_hints(inner).items()  # pyright: ignore[reportPrivateUsage]
    return tuple(name for name, kind in fields if str in (kind, *typing.get_args(kind)[:1]))


def output_types(cls: type[Any] | None) -> tuple[tuple[str, Any], ...]:
    """The properties of a function's result, in the provider's spelling, with their types."""
    return tuple(_all_types(cls).items()) if cls is not None else ()


def _all_types(cls: type[Any]) -> dict[str, Any]:
    return sdk_types._types_from_py_properties(cls)  # pyright: ignore[reportPrivateUsage]
