"""The JSON Schema of a stack file, for editors: written into ``docs/stack.schema.json``.

``python -m stacks.schema --write`` writes it, ``--check`` says whether the file is what it would write. The models give
types and defaults, the text below each field its description, the components' tables the values to choose from.
"""

import argparse
import ast
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import addon_settings, cluster_settings, group_settings, settings
from .choices import CHOICES
from .settings import Settings
from .shape import Model, keys, sections

MODULES = (settings, cluster_settings, group_settings, addon_settings)
"""Where the models stand."""
FILE = Path(__file__).parent.parent / "docs" / "stack.schema.json"


def stack_schema() -> dict[str, Any]:
    """The schema of the whole file; keys of other namespaces and of the engine are left alone."""
    whole = Settings.model_json_schema(by_alias=True)
    definitions: dict[str, Any] = whole.pop("$defs")
    for _, section in sections(Settings):
        _describe(section, whole if section is Settings else definitions[section.__name__])
    known = {"enum": list(whole["properties"])}
    config = {
        "description": "The configuration of the stack.",
        "type": "object",
        "properties": whole["properties"],
        "required": whole["required"],
        "propertyNames": {"anyOf": [known, {"not": {"pattern": "^winkube:"}}]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pulumi.<stack>.yaml of winkube",
        "description": whole["description"],
        "type": "object",
        "properties": {"config": config},
        "required": ["config"],
        "$defs": dict(sorted(definitions.items())),
    }


def _describe(section: type[Model], schema: dict[str, Any]) -> None:
    """Put descriptions and choices into the schema of a section, and take out what only repeats names."""
    schema.pop("title", None)
    schema["description"] = inspect.cleandoc(section.__doc__ or "").replace("``", "")
    texts = field_texts()[section.__name__]
    for alias, name in keys(section).items():
        entry: dict[str, Any] = schema["properties"][alias]
        entry.pop("title", None)
        entry["description"] = texts[name]
        if isinstance(entry.get("default"), Mapping) and entry["default"]:
            del entry["default"]
        if (section, name) in CHOICES:
            _offer(entry, CHOICES[section, name])


def _offer(entry: dict[str, Any], values: Iterable[str]) -> None:
    """Restrict every text in an entry to the values."""
    for part in (entry, *entry.get("anyOf", ()), *entry.get("oneOf", ())):
        target = part["items"] if part.get("type") == "array" else part
        if target.get("type") == "string":
            target["enum"] = list(values)


def field_texts() -> Mapping[str, Mapping[str, str]]:
    """Model to field to the text below the field. Read from the source, so that no run of the program pays for it."""
    found: dict[str, dict[str, str]] = {}
    for node in (node for module in MODULES for node in ast.parse(inspect.getsource(module)).body):
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
    parser = argparse.ArgumentParser(prog="python -m stacks.schema", description="The JSON Schema of a stack file.")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write docs/stack.schema.json")
    action.add_argument("--check", action="store_true", help="exit with 1 when the file is not up to date")
    wanted = parser.parse_args(arguments)
    if wanted.write:
        FILE.write_text(schema_text(), encoding="utf-8")
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == schema_text():
        return 0
    print("docs/stack.schema.json is not up to date: run `python -m stacks.schema --write`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
