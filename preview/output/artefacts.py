"""Decodes the documents in the resources of a plan for reading.

- user data: without base64, gzip and MIME;
- IAM documents and other JSON texts: indented;
- Kubernetes objects: as YAML manifests;
- configuration of add-ons: as YAML;
- every other text of several lines: unchanged.

Equal texts are listed once, with all resources that hold them. Secrets are replaced by marks.
"""

import email
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..model import UNKNOWN, Plan, Resource, Secret, walk
from ..text.user_data import readable
from ..text.values import SECRET_MARK, to_json_value

USER_DATA, IAM, MANIFEST, ADDON, DOCUMENT = (
    "User data", "IAM documents", "Manifests", "Add-on configuration", "Documents",
)  # fmt: skip
KINDS = (USER_DATA, IAM, MANIFEST, ADDON, DOCUMENT)
"""The kinds of artefacts, in the order of the page."""
_USER_DATA_KEYS = frozenset({"userData", "userDataBase64"})
_IAM_KEYS = frozenset({"policy", "assumeRolePolicy", "policyDocument", "inlinePolicy"})
_LINES = 3
"""A text with this many line breaks is an artefact."""
_SECRET_KIND = ("v1", "Secret")


@dataclass(frozen=True, slots=True)
class Carrier:
    """Where an artefact was found."""

    urn: str
    path: tuple[str | int, ...]
    """Empty for the whole resource."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """A decoded text and the resources that hold it."""

    kind: str
    language: str
    """``yaml``, ``json``, ``powershell``, ``shell`` or ``text``."""
    text: str
    carriers: tuple[Carrier, ...]


def artefacts(plan: Plan) -> list[Artefact]:
    """Every artefact of a plan, by kind and then in the order of the URNs."""
    found: dict[tuple[str, str], list[Carrier]] = {}
    for resource in plan.resources:
        for kind, text, path in _artefacts_of(resource):
            found.setdefault((kind, text), []).append(Carrier(resource.urn, path))
    ordered = sorted(found.items(), key=lambda item: KINDS.index(item[0][0]))
    return [Artefact(kind, _language(kind, text), text, tuple(carriers)) for (kind, text), carriers in ordered]


def unknown_artefacts(plan: Plan) -> dict[str, int]:
    """The number of artefacts of each kind that are not known before the deployment."""
    counts = dict.fromkeys((USER_DATA, IAM, ADDON), 0)
    for resource in plan.resources:
        for path, value in walk(visible_inputs(resource)):
            if value is UNKNOWN:
                kind = _kind_of_key(resource, path)
                if kind in counts:
                    counts[kind] += 1
    return {kind: count for kind, count in counts.items() if count}


def visible_inputs(resource: Resource) -> Mapping[str, Any]:
    """The inputs with marks also for secrets that the SDK did not mark: Kubernetes Secrets, additionalSecretOutputs."""
    inputs = resource.inputs
    named = {name for name in resource.options.additional_secret_outputs if name in inputs}
    if (inputs.get("apiVersion"), inputs.get("kind")) == _SECRET_KIND:
        named |= {"data", "stringData"} & inputs.keys()
    return {**inputs, **{name: Secret(None) for name in named}} if named else inputs


def _artefacts_of(resource: Resource) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    inputs = visible_inputs(resource)
    if resource.type.startswith("kubernetes:") and {"apiVersion", "kind"} <= inputs.keys():
        yield MANIFEST, manifest(inputs), ()
        return
    for path, value in walk(inputs):
        if not isinstance(value, str):
            continue
        if path[-1] in _USER_DATA_KEYS:
            yield USER_DATA, decoded_user_data(value), path
        elif value.lstrip()[:1] in ("{", "["):
            yield from _from_json(resource, path, value)
        elif value.count("\n") >= _LINES:
            yield DOCUMENT, value, path


def _from_json(
    resource: Resource, path: tuple[str | int, ...], value: str
) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return
    kind = _kind_of_key(resource, path)
    if isinstance(document, dict) and "Statement" in document:
        kind = IAM
    if kind == ADDON:
        yield ADDON, to_yaml(document), path
    elif document:
        yield kind or DOCUMENT, json.dumps(document, indent=2, ensure_ascii=False), path


def _kind_of_key(resource: Resource, path: tuple[str | int, ...]) -> str:
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if key in _USER_DATA_KEYS:
        return USER_DATA
    if resource.type == "aws:eks/addon:Addon" and key == "configurationValues":
        return ADDON
    return IAM if key in _IAM_KEYS and resource.type.startswith("aws:") else ""


def decoded_user_data(text: str) -> str:
    """User data in readable form: without base64, gzip and MIME.

    >>> decoded_user_data("PHBvd2Vyc2hlbGw+CjwvcG93ZXJzaGVsbD4K")
    '<powershell>\\n</powershell>\\n'
    """
    plain_text = _out_of_base64(text)
    if plain_text.lstrip()[:100].lower().startswith(("mime-version:", "content-type: multipart/")):
        return _out_of_mime(plain_text.lstrip())
    return plain_text


def _out_of_base64(text: str) -> str:
    compact = "".join(text.split())
    found = readable(compact)
    if found is None or found == compact or not all(c.isprintable() or c.isspace() for c in found):
        return text
    return found


def _out_of_mime(text: str) -> str:
    parts = [part for part in email.message_from_string(text).walk() if not part.is_multipart()]
    shown: list[str] = []
    for number, part in enumerate(parts, start=1):
        content = part.get_payload(decode=True)
        body = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
        shown.append(f"# part {number} of {len(parts)}: {part.get_content_type()}\n{body.strip()}\n")
    return "\n".join(shown) or text


def manifest(inputs: Mapping[str, Any]) -> str:
    """A Kubernetes object as YAML, with the keys in the usual order."""
    first = ("apiVersion", "kind", "metadata")
    shown = to_json_value(dict(inputs))
    if (shown.get("apiVersion"), shown.get("kind")) == _SECRET_KIND:
        shown |= {key: SECRET_MARK for key in ("data", "stringData") if key in shown}
    ordered = {key: shown[key] for key in first if key in shown}
    return to_yaml(ordered | {key: value for key, value in shown.items() if key not in first})


def to_yaml(value: Any) -> str:
    """Plain data as YAML, with texts of several lines as blocks."""
    import yaml

    return yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=120)


@cache
def _dumper() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # a subclass, so that the representer is not added to the shared class
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def write_text(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, write_text)
    return Dumper


def _language(kind: str, text: str) -> str:
    if kind in (MANIFEST, ADDON):
        return "yaml"
    if kind == USER_DATA:
        return "powershell" if "<powershell" in text.lower() else "shell"
    return "json" if text[:1] in ("{", "[") else "text"
