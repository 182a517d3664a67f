"""Arguments as another language sent them, made into the ``…Args`` of a component; every mistake at once."""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import pulumi
from pulumi.output import Unknown

from ..core.mistakes import Mistakes, Nothing, Path, Rule, nearest
from .argument_types import ArgumentType, fields_of

SCHEMA_PAGE = "https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/"
MISSING_INPUT = Rule("WK-PLG-001", "Every input without a default must be given.", SCHEMA_PAGE)
UNKNOWN_INPUT = Rule("WK-PLG-002", "An input must be one that the component has.", SCHEMA_PAGE)
WRONG_TYPE = Rule("WK-PLG-003", "An input must have the type that the schema gives.", SCHEMA_PAGE)
NOT_PLAIN = Rule(
    "WK-PLG-004", "Inputs that decide how a cluster is built must be known before the deployment.", SCHEMA_PAGE
)
WORDS: Mapping[str, str] = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "map": "an object", "object": "an object",
}  # fmt: skip
_PLAIN: Mapping[str, tuple[str, str]] = {
    "string": ("a plain value is needed, not an output or a secret",
               "write the value itself, or read it from the configuration"),
    "array": ("a list is needed, not an output or a secret that holds one",
              "write a list; outputs may stand in it where they are ids, such as [network.privateSubnetIds[0], …]"),
    "object": ("an object is needed, not an output or a secret that holds one",
               "write the object; outputs may stand in it where they are ids, names or addresses of resources"),
}  # fmt: skip
INTERNAL = "__"


def read_arguments(cls: type[Any], given: Mapping[str, Any]) -> tuple[Any, Mistakes]:
    """An instance of ``cls`` from the inputs of a request; None where there are mistakes.

    Paths are in the names of the Python arguments, as everywhere.
    """
    found = Mistakes()
    value = _object(cls, given, (), found)
    return (None if found else value), found


def _read(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    if isinstance(value, Unknown):
        value = pulumi.Output[Any].from_input(value)
    if _is_output(value):
        if not argument.output:
            message, remedy = _PLAIN.get(argument.kind, _PLAIN["string"])
            found.add(NOT_PLAIN, path, message, remedy)
        return value
    if argument.kind == "any":
        return _without_outputs(value, path, found)
    if argument.kind == "choice":
        return _choice(argument, value, path, found)
    return _READERS[argument.kind](argument, value, path, found)


def _simple(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    """Numbers arrive as floats; true and false are no numbers."""
    if argument.kind == "string" and isinstance(value, str):
        return value
    if argument.kind == "boolean" and isinstance(value, bool):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if argument.kind == "number":
            return value
        if argument.kind == "integer" and value == int(value):
            return int(value)
    return _wrong(argument, value, path, found)


def _array(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    if not _is_list(value):
        return _wrong(argument, value, path, found)
    return [_read(argument.parts[0], item, (*path, index), found) for index, item in enumerate(value)]


def _map(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    if not _is_object(value):
        return _wrong(argument, value, path, found)
    return {key: _read(argument.parts[0], item, (*path, key), found) for key, item in value.items()}


def _nested(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    if not _is_object(value):
        return _wrong(argument, value, path, found)
    return _object(argument.of, value, path, found)


def _object(cls: Any, value: Mapping[str, Any], path: Path, found: Mistakes) -> Any:
    fields = {field.key: field for field in fields_of(cls)}
    before = len(found)
    read: dict[str, Any] = {}
    for key, item in value.items():
        if key.startswith(INTERNAL) or item is None:
            continue
        if key not in fields:
            guess = nearest(key, tuple(fields))
            remedy = f'write "{guess}"' if guess else f"remove it; the inputs are {', '.join(sorted(fields))}"
            found.add(UNKNOWN_INPUT, (*path, key), "there is no such input", remedy)
            continue
        read[fields[key].name] = _read(fields[key].type, item, (*path, fields[key].name), found)
    for field in fields.values():
        if field.required and field.name not in read:
            text = field.description.partition(". ")[0].replace("\n", " ").replace("``", "").rstrip(".")
            found.add(MISSING_INPUT, (*path, field.name), "this input is missing", f"set {field.key}: {text}")
    return cls(**read) if len(found) == before else None


def _choice(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> Any:
    for part in argument.parts:
        tried = Mistakes()
        read = _read(part, value, path, tried)
        if not tried:
            return read
    return _wrong(argument, value, path, found)


def _without_outputs(value: Any, path: Path, found: Mistakes) -> Any:
    """Data of any form, as it is; numbers that are whole become so again."""
    if _is_object(value):
        return {key: _read(ANYTHING, item, (*path, key), found) for key, item in value.items()}
    if _is_list(value):
        return [_read(ANYTHING, item, (*path, index), found) for index, item in enumerate(value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_output(value: Any) -> TypeGuard[pulumi.Output[Any]]:
    return isinstance(value, pulumi.Output)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _wrong(argument: ArgumentType, value: Any, path: Path, found: Mistakes) -> None:
    needed = _words(argument)
    got = value if isinstance(value, str | int | float | bool) else Nothing
    found.add(WRONG_TYPE, path, f"{needed} is needed", _remedy(argument, value, needed), got)


def _words(argument: ArgumentType) -> str:
    if argument.kind == "choice":
        return " or ".join(_words(part) for part in argument.parts)
    if argument.kind == "array":
        inner = WORDS.get(argument.parts[0].kind, "values").removeprefix("a ").removeprefix("an ")
        return f"a list of {inner}s"
    return WORDS[argument.kind]


def _remedy(argument: ArgumentType, value: Any, needed: str) -> str:
    if argument.kind == "string" and isinstance(value, float):
        return f'put it in quotes: "{value:g}"'
    if argument.kind in ("integer", "number", "boolean") and isinstance(value, str):
        return "write it without quotes" if value.isdigit() or value in ("true", "false") else f"write {needed}"
    if argument.kind == "array" and isinstance(value, str):
        return f'write ["{value}"]'
    return f"write {needed}"


ANYTHING = ArgumentType(kind="any")
_READERS: Mapping[str, Callable[[ArgumentType, Any, Path, Mistakes], Any]] = {
    "string": _simple, "integer": _simple, "number": _simple, "boolean": _simple,
    "array": _array, "map": _map, "object": _nested,
}  # fmt: skip
