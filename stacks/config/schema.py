"""Generates the JSON schema of a stack file for editors, ``docs/stack.schema.json``.

``python -m stacks.config.schema --write`` writes the file, ``--check`` checks that it is up to date. Types and defaults
come from the models, descriptions from the text below each field, and allowed values from the tables of the components.
"""

import argparse
import ast
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .choices import CHOICES, Choices
from .flavours import FLAVOURS, module_of, settings_of
from .groups import DEFAULTS, GROUPS, OWN
from .introspection import Model, keys, sections
from .settings import Settings

FILE = Path(__file__).parent.parent.parent / "docs" / "stack.schema.json"


def stack_schema() -> dict[str, Any]:
    """The schema of the whole file. Keys of other namespaces and of the engine are not restricted."""
    definitions: dict[str, Any] = {}
    for flavour in FLAVOURS:
        definitions |= _of_flavour(flavour)
    first, *others = FLAVOURS
    config: dict[str, Any] = {"$ref": f"#/$defs/{first}"}
    for flavour in others:
        chosen = {"properties": {"winkube:flavour": {"const": flavour}}, "required": ["winkube:flavour"]}
        config = {"if": chosen, "then": {"$ref": f"#/$defs/{flavour}"}, "else": config}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pulumi.<stack>.yaml of winkube",
        "description": _words(Settings),
        "type": "object",
        "properties": {"config": {"description": "The configuration of the stack.", "type": "object", **config}},
        "required": ["config"],
        "$defs": dict(sorted(definitions.items())),
    }


def _of_flavour(flavour: str) -> dict[str, Any]:
    """The schemas of the sections of a flavour, and under its name that of its configuration."""
    model = settings_of(flavour)
    choices: Choices = {**CHOICES, **module_of(flavour, "choices").CHOICES}
    whole = model.model_json_schema(by_alias=True)
    definitions: dict[str, Any] = whole.pop("$defs")
    for _, section in sections(model):
        _describe(section, whole if section is model else definitions[section.__name__], choices)
    _describe_defaults(whole["properties"], definitions)
    known = {"enum": list(whole["properties"])}
    definitions[flavour] = {
        "description": _words(model),
        "properties": whole["properties"],
        "required": whole["required"],
        "propertyNames": {"anyOf": [known, {"not": {"pattern": "^winkube:"}}]},
    }
    return definitions


def _describe_defaults(properties: dict[str, Any], definitions: Mapping[str, Any]) -> None:
    """The defaults of groups have the settings of a group, except those that identify a group."""
    group: str = properties[GROUPS]["items"]["$ref"]
    settings = definitions[group.rpartition("/")[2]]["properties"]
    shared = {key: {"$ref": f"{group}/properties/{key}"} for key in settings if key not in OWN}
    properties[DEFAULTS] |= {"properties": shared, "additionalProperties": False}


def _describe(section: type[Model], schema: dict[str, Any], choices: Choices) -> None:
    """Add descriptions and allowed values to the schema of a section, and remove generated titles."""
    schema.pop("title", None)
    schema["description"] = _words(section)
    texts = field_texts(section)
    for alias, name in keys(section).items():
        entry: dict[str, Any] = schema["properties"][alias]
        entry.pop("title", None)
        entry["description"] = texts[name]
        if isinstance(entry.get("default"), Mapping) and entry["default"]:
            del entry["default"]
        for ancestor in section.__mro__:
            if (ancestor, name) in choices:
                _offer(entry, choices[ancestor, name])


def _words(section: type[Model]) -> str:
    return inspect.cleandoc(section.__doc__ or "").replace("``", "")


def _offer(entry: dict[str, Any], values: Iterable[str]) -> None:
    """Restrict every text of an entry to the allowed values."""
    for part in (entry, *entry.get("anyOf", ()), *entry.get("oneOf", ())):
        target = part["items"] if part.get("type") == "array" else part
        if target.get("type") == "string":
            target["enum"] = list(values)


def field_texts(section: type[Model]) -> Mapping[str, str]:
    """Field to the text below it, read from the source, so that it costs nothing in the program."""
    texts: dict[str, str] = {}
    for ancestor in reversed(section.__mro__):
        if issubclass(ancestor, Model) and ancestor is not Model:
            texts |= _texts_of_module(sys.modules[ancestor.__module__]).get(ancestor.__name__, {})
    return texts


@cache
def _texts_of_module(module: ModuleType) -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for field, text in zip(node.body, node.body[1:], strict=False):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                        found.setdefault(node.name, {})[name] = " ".join(words.split())
                    case _:
                        pass
    return found


def schema_text() -> str:
    """The schema as the text of the file."""
    return json.dumps(stack_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the file."""
    parser = argparse.ArgumentParser(
        prog="python -m stacks.config.schema", description="The JSON Schema of a stack file."
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write docs/stack.schema.json")
    action.add_argument("--check", action="store_true", help="exit with 1 when the file is not up to date")
    wanted = parser.parse_args(arguments)
    if wanted.write:
        FILE.write_text(schema_text(), encoding="utf-8")
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == schema_text():
        return 0
    print("docs/stack.schema.json is not up to date: run `python -m stacks.config.schema --write`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
