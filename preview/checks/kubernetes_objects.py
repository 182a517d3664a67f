"""Checks Kubernetes objects against the JSON schemas of the minor release of the cluster.

The schemas are those of the ``kubernetes-validate`` wheel, in their strict form: an unknown field is a mistake,
as with server-side validation. They use a small part of JSON Schema, which is compiled into validators here. These
accept unknown values, find every mistake, and take a tenth of the time of a general validator; the tests compare the
results of both. Only the files of the types in the plan are read: the whole collection is five megabytes.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..model import Plan
from .type_validators import (
    Fields,
    Validator,
    anything,
    either,
    listing,
    mapping,
    one_of,
    strict_number,
    strict_text,
    strict_truth,
    strict_whole,
)

_SCALARS: Mapping[str, Validator] = {"string": strict_text, "integer": strict_whole, "number": strict_number,
                                 "boolean": strict_truth}  # fmt: skip
_TOKEN = re.compile(r"kubernetes:(?:core/(?P<core>v1)|(?P<version>[^:]+/[^:/]+)):(?P<kind>[A-Za-z]+)")
# API groups of Kubernetes itself. "k8s.io" groups of add-ons are excluded by the apiVersion in the schema.
_OWN_GROUP = re.compile(r"[a-z]+(\.[a-z.]*k8s\.io)?/")


@cache
def _folders() -> dict[str, Path]:
    """Minor release to the folder of its schemas, oldest first; empty if the wheel is not installed."""
    spec = find_spec("kubernetes_validate")
    if spec is None or not spec.submodule_search_locations:
        return {}
    root = Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"
    found = {path.name[1:].rsplit(".", 1)[0]: path for path in root.glob("v*.0-local-strict")}
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def _order(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split(".") if part.isdigit())


def target_minor(plan: Plan) -> str | None:
    """The Kubernetes release of the EKS cluster in the plan; None if there is none, or if it is unknown."""
    for resource in plan.resources:
        if resource.type == "aws:eks/cluster:Cluster" and isinstance(resource.inputs.get("version"), str):
            return resource.inputs["version"]
    return None


def schema_minor(minor: str | None) -> str | None:
    """The release whose schemas are used: the newest that is not newer than ``minor``."""
    known = list(_folders())
    if not known or minor is None:
        return known[-1] if known else None
    older = [name for name in known if _order(name) <= _order(minor)]
    return older[-1] if older else known[0]


@cache
def validator_of(token: str, minor: str) -> Validator | None:
    """The validator for a type token; None for a custom resource or a kind without a schema."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    version, kind = match["core"] or match["version"], match["kind"]
    if "/" in version and not _OWN_GROUP.match(version):
        return None
    patch = kind.endswith("Patch")
    schema = _read(minor, _file(version, kind.removesuffix("Patch")))
    if schema is None or version not in schema["properties"].get("apiVersion", {}).get("enum", ()):
        return None
    return _compile(schema, minor, partial=patch)


def _file(version: str, kind: str) -> str:
    group, _, release = version.rpartition("/")
    return "-".join(part for part in (kind.lower(), group.partition(".")[0], release) if part)


@cache
def _read(minor: str, name: str) -> dict[str, Any] | None:
    path = _folders()[minor] / f"{name}.json"
    return json.loads(path.read_bytes()) if path.is_file() else None


def _compile(schema: Mapping[str, Any], minor: str, *, partial: bool) -> Validator:
    """Compile a schema. ``partial``: required properties may be missing, as in a patch."""
    if "$ref" in schema:
        return _definition(schema["$ref"].rpartition("/")[2], minor, partial)
    if "oneOf" in schema:
        return either(*[_compile(inner, minor, partial=partial) for inner in schema["oneOf"]])
    if "enum" in schema:
        return one_of(schema["enum"])
    if "properties" in schema:
        return _fields(schema, minor, partial)
    kinds = schema.get("type")
    kind = next(iter(_names(kinds)), None)
    if kind == "array":
        return listing(_compile(schema.get("items", {}), minor, partial=partial))
    if kind == "object":
        rest = schema.get("additionalProperties")
        return mapping(_compile(rest, minor, partial=partial) if isinstance(rest, dict) else anything)  # type: ignore[arg-type]
    return _SCALARS.get(kind or "", anything)


def _names(kinds: Any) -> Iterable[str]:
    return (kind for kind in ([kinds] if isinstance(kinds, str) else kinds or ()) if kind != "null")


def _fields(schema: Mapping[str, Any], minor: str, partial: bool) -> Validator:
    properties: Mapping[str, Any] = schema["properties"]
    required = frozenset[str]() if partial else frozenset(schema.get("required", ()))
    return Fields(
        {name: name for name in properties},
        required,
        lambda key: _compile(properties[key], minor, partial=partial),
        rest=None if schema.get("additionalProperties") is False else anything,
    )


@cache
def _definition(name: str, minor: str, partial: bool) -> Validator:
    """Compile a named type. Most have their own file; a few are in the collection only."""
    *_, group, release, kind = name.split(".")
    plain = group == "core" or not release.startswith("v")
    files = ([] if group == "core" else [f"{kind}-{group}-{release}"]) + ([f"{kind}-{release}"] if plain else [])
    for file in files:
        schema = _read(minor, file.lower())
        if schema is not None:
            return _compile(schema, minor, partial=partial)
    definitions = _read(minor, "_definitions") or {"$defs": {}}
    return _compile(definitions["$defs"].get(name, {}), minor, partial=partial)
