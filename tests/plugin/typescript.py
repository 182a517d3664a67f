"""The types that Pulumi's generator would write for TypeScript, as far as a program of our components sees them.

The generator is a part of the Pulumi CLI. What it makes of a schema is simple where a type checker looks: each
component is a class, each object an interface, what is not ``plain`` an ``Input``, each output an ``Output``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

SIMPLE: Mapping[str, str] = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def declarations(schema: Mapping[str, Any]) -> str:
    """``index.d.ts`` of the SDK."""
    lines = ['import * as pulumi from "@pulumi/pulumi";']
    for token, described in schema["types"].items():
        lines += _interface(f"{_name(token)}Args", described["properties"], described["required"])
    for token, described in schema["resources"].items():
        name = _name(token)
        needed = described["requiredInputs"]
        arguments = f"name: string, args{'' if needed else '?'}: {name}Args, opts?: pulumi.ComponentResourceOptions"
        lines += _interface(f"{name}Args", described["inputProperties"], needed)
        lines += [
            f"export declare class {name} extends pulumi.ComponentResource {{",
            f"    constructor({arguments});",
            *_outputs(described),
            "}",
        ]
    return "\n".join([*lines, ""])


def _interface(name: str, properties: Mapping[str, Any], required: Iterable[str]) -> Iterator[str]:
    yield f"export interface {name} {{"
    for key, shape in properties.items():
        yield f"    {key}{'' if key in required else '?'}: {_input(shape)};"
    yield "}"


def _outputs(described: Mapping[str, Any]) -> Iterator[str]:
    for key, shape in described["properties"].items():
        absent = "" if key in described["required"] else " | undefined"
        yield f"    readonly {key}: pulumi.Output<{_plain(shape)}{absent}>;"


def _input(shape: Mapping[str, Any]) -> str:
    text = _plain(shape, _input)
    return text if shape.get("plain") else f"pulumi.Input<{text}>"


def _plain(shape: Mapping[str, Any], inner: Any = None) -> str:
    inner = inner or _plain
    if "oneOf" in shape:
        return " | ".join(inner(part) for part in shape["oneOf"])
    if "$ref" in shape:
        return f"{_name(shape['$ref'])}Args" if shape["$ref"].startswith("#/types/") else "any"
    if shape["type"] == "array":
        return f"({inner(shape['items'])})[]"
    if shape["type"] == "object":
        return f"{{[key: string]: {inner(shape['additionalProperties'])}}}"
    return SIMPLE[shape["type"]]


def _name(token: str) -> str:
    return token.rpartition(":")[2]
