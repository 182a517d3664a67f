"""A plan as one document: what resources are given, and of their options what does not follow from the rest."""

import base64
import binascii
import hashlib
import io
import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from winkube.node_agent.zipapp import zipapp_sha256
from winkube.preview.model import SIGNATURE_KEY, UNKNOWN, UNKNOWN_TEXT, Plan, Reference, Resource, Secret

from .digests import Digests, texts
from .yaml_text import Piece, Tagged

LONG = 12
"""A text of more lines has a file of its own; so has a part of fewer lines that is carried more than once."""
_FILE_ASSET = "c44067f5952c0a294b673a41bacd8c17"
"""How the engine's protocol marks a file (pulumi/pulumi sdk/go, AssetSig)."""
_CODE = ("userData", "userDataBase64", "content")
"""Properties that hold what nodes run and read."""
_JSON: Mapping[str, Callable[[Any], str]] = {
    "!json": lambda value: json.dumps(value, separators=(",", ":")),
    "!json/utf-8": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    "!json/spaced": json.dumps,
    "!json/indented": lambda value: json.dumps(value, indent=2),
}
"""The writings of JSON: one of them gives the very text again, or the text is shown as it is."""
_PLAIN_OPTIONS = (
    "protect", "retain_on_delete", "delete_before_replace", "ignore_changes", "replace_on_changes",
    "additional_secret_outputs", "custom_timeouts", "import_id", "hooks",
)  # fmt: skip


class PlanDocument:
    """The document of one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._digests = Digests(plan)
        self._ordered = list(self._below(""))
        self._by_name: dict[str, list[Resource]] = defaultdict(list)
        for resource in self._ordered:
            self._by_name[resource.name].append(resource)
        self._inside: dict[str, set[str]] = defaultdict(set)
        for resource in self._ordered:
            for component in self._ancestors(resource) if resource.custom else ():
                self._inside[component.urn].add(resource.urn)
        custom = [it for it in self._ordered if it.custom]
        self._versions = _usual((_package(it), it.options.version) for it in custom)
        self._providers = _usual((_package(it), it.options.provider) for it in custom)

    def value(self) -> dict[str, Any]:
        """Mappings, lists and scalars, with :class:`Tagged` and :class:`Piece` where there is more to say."""
        plan = self._plan
        calls = Counter(
            (it.token, json.dumps(_jsonable(dict(it.arguments)), sort_keys=True), it.known) for it in plan.invokes
        )
        return {
            "project": plan.project,
            "stack": plan.stack,
            "mode": plan.mode,
            "versions": {package: version for package, version in self._versions.items() if version},
            "providers": {package: self._provider(provider) for package, provider in self._providers.items()},
            "functions": [
                {_call(token, known=known, count=count): json.loads(given)}
                for (token, given, known), count in sorted(calls.items())
            ],
            "findings": [
                {it.code: self._digests.named(it.message), "severity": str(it.severity), "at": self._at(it.urn),
                 "path": it.path, "remedy": it.remedy} for it in plan.findings
            ],
            "warnings": [f"{severity}: {text}" for severity, text in plan.logs],
            "outputs": self._value(plan.outputs, ("outputs",)),
            "resources": {title(it): self.resource(it) for it in self._ordered},
        }  # fmt: skip

    def _below(self, urn: str) -> Iterator[Resource]:
        """Every resource after its parent, in the order of names."""
        for resource in sorted(self._plan.children.get(urn, ()), key=lambda it: (it.name, it.type, it.urn)):
            yield resource
            yield from self._below(resource.urn)

    def _ancestors(self, resource: Resource) -> Iterator[Resource]:
        while (above := self._plan.by_urn.get(resource.parent)) is not None:
            yield above
            resource = above

    def _at(self, urn: str) -> str:
        """A resource by its name; with its type where another one has that name too."""
        resource = self._plan.by_urn.get(urn)
        if resource is None:
            return urn
        return resource.name if len(self._by_name[resource.name]) == 1 else title(resource)

    def _provider(self, reference: str) -> str:
        """A provider by its name; with its id where that is another one than an evaluation gives."""
        urn, _, identity = reference.rpartition("::")
        name = self._at(urn)
        return name if identity in (f"{name}-id", UNKNOWN_TEXT) else reference

    def resource(self, resource: Resource) -> dict[str, Any]:
        """What is shown of one resource."""
        inputs = self._value(resource.inputs, (resource.name,))
        if resource.type.startswith("kubernetes:"):
            inputs = {"object": Piece(_object_name(resource), inputs)}
        options = {f"options.{key}": value for key, value in self._options(resource)}
        outputs = self._value(resource.outputs, (resource.name,))
        return {**inputs, **options, **{f"outputs.{key}": value for key, value in outputs.items()}}

    def _options(self, resource: Resource) -> Iterator[tuple[str, Any]]:
        options = resource.options
        if resource.parent != self._named_parent(resource):
            yield "parent", self._at(resource.parent) or "(the stack)"
        if resource.urn != self._urn(resource, resource.type):
            yield "urn", resource.urn
        if resource.id != ("" if self._plan.mode == "preview" or not resource.custom else f"{resource.name}-id"):
            yield "id", resource.id
        for name in ("remote", "read"):
            if getattr(resource, name):
                yield name, True
        if resource.custom == (_package(resource) == "winkube"):
            yield "custom", resource.custom
        yield from self._providers_of(resource)
        yield from self._dependencies(resource)
        for name in _PLAIN_OPTIONS:
            if given := getattr(options, name):
                yield name, json.loads(json.dumps(given))
        if options.deleted_with:
            yield "deleted_with", self._at(options.deleted_with)
        if options.aliases:
            yield "aliases", [self._alias(resource, alias) for alias in options.aliases]

    def _named_parent(self, resource: Resource) -> str:
        """The component with the longest name that this one begins with."""
        name = resource.name
        while name := name.rpartition("-")[0]:
            for candidate in self._by_name.get(name, ()):
                if not candidate.custom:
                    return candidate.urn
        return ""

    def _urn(self, resource: Resource, kind: str) -> str:
        above = self._plan.by_urn.get(resource.parent)
        qualified = f"{above.urn.split('::')[2]}${kind}" if above else kind
        return f"urn:pulumi:{self._plan.stack}::{self._plan.project}::{qualified}::{resource.name}"

    def _alias(self, resource: Resource, alias: str) -> str:
        """An older type by the type alone."""
        kind = alias.split("::")[2].rpartition("$")[2] if alias.count("::") == 3 else ""
        return kind if kind and self._urn(resource, kind) == alias else alias

    def _providers_of(self, resource: Resource) -> Iterator[tuple[str, Any]]:
        options, package = resource.options, _package(resource)
        version, provider = (self._versions, self._providers) if resource.custom else ({}, {})
        if options.version != version.get(package, ""):
            yield "version", options.version
        if options.provider != provider.get(package, ""):
            yield "provider", self._provider(options.provider)
        above = next(self._ancestors(resource), None)
        if not resource.custom and dict(options.providers) != dict(above.options.providers if above else {}):
            yield "providers", {key: self._provider(given) for key, given in sorted(options.providers.items())}
        elif resource.custom and options.providers:
            yield "providers", dict(options.providers)

    def _dependencies(self, resource: Resource) -> Iterator[tuple[str, Any]]:
        """What it waits for, as far as its values do not show it."""
        options = resource.options
        of_properties = {urn for urns in options.property_dependencies.values() for urn in urns}
        if explicit := set(options.dependencies) - of_properties:
            yield "depends_on", self._group(explicit)
        if unlisted := of_properties - set(options.dependencies):
            yield "does_not_depend_on", self._group(unlisted)
        if options.property_dependencies.keys() != (resource.inputs.keys() if resource.custom else set()):
            yield "properties", sorted(options.property_dependencies)
        hidden = {
            name: self._group(set(urns))
            for name, urns in sorted(options.property_dependencies.items())
            if set(urns) != self._shown_in(name, resource.inputs.get(name))
        }
        if hidden:
            yield "property_dependencies", hidden

    def _shown_in(self, key: str, value: Any) -> set[str]:
        """The resources whose placeholders stand in a value."""
        found: set[str] = set()
        for path, text in texts(value):
            names = [text.removesuffix("-id")] if text.endswith("-id") else []
            for match in re.findall(r"placeholder[-/]([\w.-]+)", text):
                while match:
                    names.append(match)
                    match = match.rpartition(".")[0]
            for name in names:
                found.update(self._meant(name, "".join([key, *map(str, path)]).lower()))
        return found

    def _meant(self, name: str, path: str) -> list[str]:
        """The resource of a name; of several, the one whose kind is in the name of the property, as in "subnetIds"."""
        custom = [it for it in self._by_name.get(name, ()) if it.custom]
        if len(custom) > 1:
            custom = [it for it in custom if it.type.rpartition(":")[2].lower() in path]
        return [it.urn for it in custom] if len(custom) == 1 else []

    def _group(self, urns: set[str]) -> list[str]:
        """Resources by name; ``name/*`` for everything inside a component."""
        left, groups = set(urns), list[str]()
        for resource in self._ordered:
            inside = self._inside.get(resource.urn, set())
            if len(inside) > 1 and inside <= left:
                left -= inside
                groups.append(f"{self._at(resource.urn)}/*")
        return sorted([*groups, *map(self._at, left)])

    def _value(self, value: Any, at: tuple[str, ...]) -> Any:
        if value is UNKNOWN:
            return Tagged("!unknown")
        if isinstance(value, Secret):
            return Tagged("!secret", self._value(value.value, at))
        if isinstance(value, Reference):
            return Tagged("!resource", {"urn": value.urn, "id": self._value(value.id, at)})
        if isinstance(value, dict):
            if value.get(SIGNATURE_KEY) == _FILE_ASSET and value.keys() == {SIGNATURE_KEY, "path"}:
                return self._asset(value["path"])
            return {self._digests.named(key): self._value(value[key], (*at, key)) for key in sorted(value)}
        if isinstance(value, list):
            return [self._value(inner, at) for inner in value]
        if isinstance(value, str):
            return self._text(value, at)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _text(self, text: str, at: tuple[str, ...]) -> Any:
        code = len(at) == 2 and at[1] in _CODE
        name = at[0] if code and at[1] == "content" else ".".join(at)
        if (unpacked := _out_of_base64(text)) is not None:
            return Tagged("!base64", self._text(unpacked, at))
        if (found := _out_of_json(text)) is not None:
            tag, held = found
            inner = self._in_json(held, (name,) if code else at)
            if code and isinstance(inner, dict):  # nodes of several groups have parts of their documents in common
                inner = {key: Piece(f"{name}.{key}.yaml", part) for key, part in inner.items()}
            return Piece(f"{name}.yaml", Tagged(tag, inner), always=code)
        shown = self._digests.named(text)
        if "\n" not in shown:
            return shown
        return Piece(_file_name(name, text), shown, always=code or shown.count("\n") > LONG)

    def _in_json(self, value: Any, at: tuple[str, ...]) -> Any:
        """What stands in a text of JSON keeps its order; a file in it has the name that it is going to have."""
        if isinstance(value, dict):
            path = value.get("path")
            file = re.split(r"[/\\]", path)[-1:] if isinstance(path, str) else []
            return {
                self._digests.named(key): self._in_json(
                    inner, (at[0], *file) if key == "content" and file else (*at, key)
                )
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._in_json(inner, at) for inner in value]
        return self._text(value, (".".join(at),)) if isinstance(value, str) else value

    def _asset(self, path: str) -> Any:
        """A file of the machine as what is in it."""
        content = Path(path).read_bytes() if Path(path).is_file() else b""
        digest = hashlib.sha256(content).hexdigest()
        if Path(path).name != f"winkube-{digest}":
            return Tagged("!asset", {"path": path})
        if digest == zipapp_sha256() or not zipfile.is_zipfile(io.BytesIO(content)):
            return Tagged("!asset", {"content": self._digests.named(digest)})
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name).decode("utf-8") for name in archive.namelist()}
        return Tagged("!archive", [Piece(name, text, always=True) for name, text in members.items()])


def title(resource: Resource) -> str:
    """Name and type: what a resource stands under."""
    return f"{resource.name} {resource.type}"


def _package(resource: Resource) -> str:
    """The package whose provider makes it; nobody makes a provider."""
    return "" if resource.type.startswith("pulumi:") else resource.type.partition(":")[0]


def _usual(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The most frequent value for each key."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for key, value in pairs:
        if key:
            counts[key][value] += 1
    return {key: min(found, key=lambda value: (-found[value], value)) for key, found in sorted(counts.items())}


def _call(token: str, *, known: bool, count: int) -> str:
    return token + ("" if known else " (unanswered)") + (f" ({count} times)" if count > 1 else "")


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_jsonable(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _out_of_base64(text: str) -> str | None:
    if len(text) < 40 or len(text) % 4 or not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", text):
        return None
    try:
        data = base64.b64decode(text, validate=True)
        found = data.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    legible = all(character.isprintable() or character in "\n\r\t" for character in found)
    return found if legible and base64.b64encode(data).decode() == text else None


def _out_of_json(text: str) -> tuple[str, Any] | None:
    """How a text of JSON is written, and what it holds."""
    if text[:1] not in ("{", "["):
        return None
    try:
        held = json.loads(text)
    except ValueError:
        return None
    for tag, write in _JSON.items():
        if write(held) == text:
            return tag, held
        if write(held) + "\n" == text:
            return f"{tag}/line", held
    return None


def _object_name(resource: Resource) -> str:
    metadata = resource.inputs.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{resource.type.rpartition(':')[2]}-{name or resource.name}.yaml"


def _file_name(name: str, text: str) -> str:
    """A name with an ending that says what the text is."""
    if re.search(r"\.(sh|ps1|py|yaml|json|toml|conf|conflist|service)$", name):
        return name
    if text.startswith("<powershell>"):
        return f"{name}.ps1"
    return f"{name}.yaml" if re.match(r"#cloud-config|[\w\"]+:( |\n)", text) else f"{name}.txt"
