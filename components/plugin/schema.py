"""The package schema: from it Pulumi makes the SDKs of the other languages.

Written to ``schema.json`` beside this file by ``make docs``, so that the plug-in starts without importing an SDK and a
change of the public surface shows in a review.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .argument_types import ArgumentType, Field, fields_of, outputs_of

NAME = "winkube"
ANY = "pulumi.json#/Any"
LANGUAGES: Mapping[str, Any] = {
    "csharp": {"respectSchemaVersion": True},
    "go": {"respectSchemaVersion": True},
    "java": {"respectSchemaVersion": True},
    "nodejs": {"respectSchemaVersion": True},
    "python": {"pyproject": {"enabled": True}, "respectSchemaVersion": True},
}


def package_schema(components: Mapping[str, tuple[Any, Any]], version: str) -> dict[str, Any]:
    """The schema of the package.

    :param components: class name to the component's class and that of its arguments.
    """
    types: dict[str, Any] = {}
    resources = {token(name): _resource(cls, args, types) for name, (cls, args) in sorted(components.items())}
    return {
        "name": NAME,
        "version": version,
        "displayName": NAME,
        "description": "Kubernetes clusters with Windows worker nodes on AWS",
        "keywords": ["pulumi", "kubernetes", "windows", "eks", "aws", "category/cloud", "kind/component"],
        "license": "Apache-2.0",
        "language": dict(LANGUAGES),
        "provider": {},
        "resources": resources,
        "types": dict(sorted(types.items())),
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """The schema as it lies in the repository."""
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def token(name: str) -> str:
    """The type token of a component or of a part of its arguments."""
    return f"{NAME}:index:{name}"


def _resource(cls: Any, args: Any, types: dict[str, Any]) -> dict[str, Any]:
    return {
        "isComponent": True,
        "description": _summary(cls),
        "inputProperties": _properties(fields_of(args), lambda argument: _input(argument, types)),
        "requiredInputs": _required(fields_of(args)),
        "type": "object",
        "properties": _properties(outputs_of(cls), _output),
        "required": _required(outputs_of(cls)),
    }


def _summary(cls: Any) -> str:
    """What the docstring says, without what is written for Python's documentation alone."""
    return (cls.__doc__ or "").partition(":raises")[0].strip().replace("\n    ", "\n")


def _properties(fields: Iterable[Field], write: Callable[[ArgumentType], dict[str, Any]]) -> dict[str, Any]:
    return {field.key: {"description": field.description, **write(field.type)} for field in fields}


def _required(fields: Iterable[Field]) -> list[str]:
    return sorted(field.key for field in fields if field.required)


def _input(argument: ArgumentType, types: dict[str, Any]) -> dict[str, Any]:
    """The schema of an input: ``plain`` is what may not come from another resource."""
    plain = {} if argument.output else {"plain": True}
    if argument.kind == "any":
        return {"$ref": ANY, **plain}
    if argument.kind == "choice":
        return {"oneOf": [_input(part, types) for part in argument.parts], **plain}
    if argument.kind == "object":
        return {"$ref": f"#/types/{_type(argument.of, types)}", **plain}
    if argument.kind == "array":
        return {"type": "array", "items": _input(argument.parts[0], types), **plain}
    if argument.kind == "map":
        return {"type": "object", "additionalProperties": _input(argument.parts[0], types), **plain}
    return {"type": argument.kind, **plain}


def _type(cls: Any, types: dict[str, Any]) -> str:
    """Describe a part of the arguments among the types, once."""
    name = token(cls.__name__)
    if name not in types:
        types[name] = {}
        types[name] = {
            "type": "object",
            "description": _summary(cls),
            "properties": _properties(fields_of(cls), lambda argument: _input(argument, types)),
            "required": _required(fields_of(cls)),
        }
    return name


def _output(argument: ArgumentType) -> dict[str, Any]:
    if argument.kind == "array":
        return {"type": "array", "items": _output(argument.parts[0])}
    if argument.kind == "map":
        return {"type": "object", "additionalProperties": _output(argument.parts[0])}
    return {"$ref": ANY} if argument.kind in ("any", "choice", "object") else {"type": argument.kind}
