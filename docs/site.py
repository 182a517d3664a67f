"""What the site has beside the pages of this folder: a hook of MkDocs.

Pages are made of the settings schema (one per flavour), the public names of the library (their docstrings), the
coverage ledger and the changelog. Nothing is imported but data, so that the site can be built without the library.
"""

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"
ROOM_TITLES = {
    "addons": "Add-ons", "admission": "Admission", "control_plane": "Control plane", "core": "Errors", "ec2": "EC2",
    "eks": "EKS", "existing_clusters": "Existing clusters", "instance_groups": "Instance groups", "kubeadm": "kubeadm",
    "network": "Network", "node_images": "Node images", "pod_network": "Pod network", "roles": "Roles",
    "scheduling": "Labels and taints", "state_bucket": "State bucket", "system_services": "System services",
    "zone": "Zone",
}  # fmt: skip
FLAVOURS = {"eks": "EKS clusters", "kubeadm": "Self-managed clusters"}
MOST_EXAMPLES = 12
"""Values of a choice that are written out; the schema has the others."""


def on_startup(**_: Any) -> None:
    """Make the folder that docstrings are read from, before the configuration looks for it."""
    link_sources()


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made of data."""
    from mkdocs.structure.files import File  # only MkDocs itself runs this

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """A file of the repository that is no page is named instead of linked."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / link[2].partition("#")[0]))
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        return f"{link[1]} (`{target.relative_to(ROOT)}`)"

    return re.sub(r"\[([^\]]+)\]\((\.\.?/[^)\s]+)\)", named, markdown)


def pages() -> dict[str, str]:
    """Every page that is made, by its place."""
    schema = json.loads((ROOT / "docs" / "stack.schema.json").read_text(encoding="utf-8"))
    made = {f"reference/settings-{flavour}.md": settings_page(schema, flavour) for flavour in FLAVOURS}
    names = public_names()
    made["reference/components.md"] = components_page(names)
    for room in rooms(names):
        made[f"reference/{room}.md"] = room_page(room, rooms(names)[room])
    made["reference/coverage.md"] = coverage_page()
    made["reference/changelog.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return made


def link_sources() -> None:
    """A folder in which the rooms of the repository have their import name."""
    package = SOURCE / "winkube"
    package.mkdir(parents=True, exist_ok=True)
    targets = {path.name: path for path in (ROOT / "components").iterdir()}
    targets |= {name: ROOT / name for name in ("preview", "policies")}
    for name, target in targets.items():
        link = package / name
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(target, package))


def public_names() -> Mapping[str, str]:
    """Public name to its module, as the library itself says."""
    tree = ast.parse((ROOT / "components" / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODULES":
            return ast.literal_eval(node.value)
    raise ValueError("components/__init__.py has no table of its public names")


def rooms(names: Mapping[str, str]) -> dict[str, list[str]]:
    """Room to what it offers, as dotted names."""
    found: dict[str, list[str]] = {}
    for name, module in sorted(names.items()):
        found.setdefault(module.partition(".")[0], []).append(f"winkube.{module}.{name}")
    return dict(sorted(found.items(), key=lambda item: title(item[0])))


def title(room: str) -> str:
    """The heading of a room."""
    return ROOM_TITLES.get(room, room.replace("_", " ").capitalize())


def components_page(names: Mapping[str, str]) -> str:
    """The list of everything that a program can import."""
    lines = ["# Components", "", "Everything is imported from `winkube` itself: `from winkube import Network`.", ""]
    for room, offered in rooms(names).items():
        links = ", ".join(f"[{one.rpartition('.')[2]}]({room}.md#{one})" for one in offered)
        lines += [f"## {title(room)}", "", links, ""]
    return "\n".join(lines)


def room_page(room: str, offered: list[str]) -> str:
    """The docstrings of a room. It is reached from the list, so that the menu stays short."""
    parts = "\n\n".join(f"::: {name}" for name in offered)
    return f"---\nhide: [navigation]\n---\n\n# {title(room)}\n\n{parts}\n"


def settings_page(schema: Mapping[str, Any], flavour: str) -> str:
    """Every setting of a flavour: key, type, default, meaning; one section per model."""
    definitions = schema["$defs"]
    top = definitions[flavour]
    lines = [
        f"# Settings: {FLAVOURS[flavour].lower()}",
        "",
        f"What a stack file may say below `config` when `winkube:flavour` is `{flavour}`. Made from the",
        "[schema](../stack.schema.json) that editors read.",
        "",
        *_table(top, definitions),
    ]
    for name in _reached(top, definitions):
        section = definitions[name]
        lines += [
            "",
            f"## {_section_title(name)}",
            "",
            section.get("description", ""),
            "",
            *_table(section, definitions),
        ]
    return "\n".join([*lines, ""])


def _table(section: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    required = set(section.get("required", ()))
    yield "| key | type | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for key, value in section.get("properties", {}).items():
        default = "**required**" if key in required else _default(value)
        meaning = _cell(re.sub(r"\s*Default: .*$", "", value.get("description", ""), flags=re.S))
        yield f"| `{key}` | {_type(value, definitions)} | {default} | {meaning}{_values(value)} |"


def _default(value: Mapping[str, Any]) -> str:
    words = re.search(r"Default: (.*?)\.?$", value.get("description", ""), flags=re.S)
    if words:
        return _cell(words[1])
    return _cell(f"`{json.dumps(value['default'])}`") if "default" in value else ""


def _values(value: Mapping[str, Any]) -> str:
    found = value.get("enum", [])
    if not found:
        return ""
    shown = ", ".join(f"`{one}`" for one in found[:MOST_EXAMPLES])
    return f" One of {shown}" + (f" and {len(found) - MOST_EXAMPLES} more." if len(found) > MOST_EXAMPLES else ".")


def _type(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{_section_title(name)}](#{_section_title(name).lower().replace(' ', '-')})"
    if "anyOf" in value:
        kinds = [_type(one, definitions) for one in value["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        items = value.get("items", {})
        return f"list of {_type(items, definitions)}" if items else "list"
    names = {"integer": "number", "object": "map", "string": "text", "boolean": "true or false"}
    kind: str | list[str] = value.get("type", "any")
    return " or ".join(names.get(one, one) for one in ([kind] if isinstance(kind, str) else kind))


def _reached(top: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    """The sections that a flavour uses, in the order in which they are met."""
    found: list[str] = []
    queue = [top]
    while queue:
        for name in re.findall(r'"#/\$defs/(\w+)"', json.dumps(queue.pop(0).get("properties", {}))):
            if name not in found:
                found.append(name)
                queue.append(definitions[name])
    return found


def _section_title(name: str) -> str:
    words = re.findall(r"[A-Z][a-z]*", name.removesuffix("Settings"))
    return " ".join([words[0], *(word.lower() for word in words[1:])])


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")


def coverage_page() -> str:
    """The ledger as a page: one table per group."""
    ledger: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docs" / "coverage.yaml").read_text(encoding="utf-8"))
    groups: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, entry in ledger.items():
        groups.setdefault(name.partition("-")[0], []).append((name, entry))
    states = ("built", "refused", "documented", "outdated", "open")
    lines = ["# Coverage", "", "What is built, refused, documented or open, with what shows it. From",
             "[coverage.yaml](../coverage.yaml), which the tests check.", "",
             f"| group | {' | '.join(states)} |", f"| --- |{' --- |' * len(states)}"]  # fmt: skip
    for group, rows in groups.items():
        numbers = [sum(entry["state"] == state for _, entry in rows) for state in states]
        lines.append(f"| [{group}](#{group.lower()}) | {' | '.join(map(str, numbers))} |")
    for group, rows in groups.items():
        lines += ["", f"## {group}", "", "| id | what | state | shown by |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {name} | {_cell(entry['statement'])} | {entry['state']} | {_shown(entry)} |" for name, entry in rows
        ]
    return "\n".join([*lines, ""])


def _shown(entry: Mapping[str, Any]) -> str:
    if "evidence" in entry:
        return f"`{entry['evidence']['path']}`, `{_cell(entry['evidence']['test'])}`"
    if "code" in entry:
        return f"[{entry['code']}](../errors.md), `{_cell(entry['test'])}`"
    if "page" in entry:
        page = entry["page"].removeprefix("docs/")
        return f"[{page}](../{page})"
    return _cell(entry.get("reason", ""))
