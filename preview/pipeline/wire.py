"""Serializes a plan as JSON for another process, and reads it back: only data is passed, no code.

The JSON holds secrets, so it goes through a pipe and never to a file.
"""

import base64
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from google.protobuf.struct_pb2 import Struct

from ..model import UNKNOWN, Finding, Invoke, Options, Plan, Reference, Resource, Secret, Severity, Source

_TAG = "\0winkube"
"""Key of an object that represents a value which JSON does not have."""


def pack(plan: Plan) -> dict[str, Any]:
    """The plan as a JSON document."""
    return {
        **{name: getattr(plan, name) for name in ("project", "stack", "mode", "directory", "logs")},
        "resources": [_pack_resource(resource) for resource in plan.resources],
        "outputs": _pack_value(plan.outputs),
        "invokes": [[call.token, _pack_value(dict(call.arguments)), call.known] for call in plan.invokes],
        "findings": [_pack_finding(finding) for finding in plan.findings],
    }


def unpack(document: Mapping[str, Any]) -> Plan:
    """The plan from the document that :func:`pack` made."""
    return Plan(
        project=document["project"],
        stack=document["stack"],
        mode=document["mode"],
        directory=document["directory"],
        resources=[_unpack_resource(item) for item in document["resources"]],
        outputs=_unpack_value(document["outputs"]),
        invokes=[Invoke(token, _unpack_value(arguments), known) for token, arguments, known in document["invokes"]],
        findings=[_unpack_finding(item) for item in document["findings"]],
        logs=[(severity, text) for severity, text in document["logs"]],
    )


_PLAIN = ("urn", "type", "name", "parent", "custom", "remote", "read", "id")
_TUPLES = frozenset(
    option.name for option in fields(Options) if option.default == () and option.name != "property_dependencies"
)


def _pack_resource(resource: Resource) -> dict[str, Any]:
    return {
        **{name: getattr(resource, name) for name in _PLAIN},
        "options": {name: value for name, value in asdict(resource.options).items() if value},
        "source": _pack_source(resource.source),
        "inputs": _pack_struct(resource.raw_inputs),
        "outputs": None if resource.raw_outputs is None else _pack_struct(resource.raw_outputs),
    }


def _unpack_resource(item: Mapping[str, Any]) -> Resource:
    options: dict[str, Any] = {
        name: tuple(value) if name in _TUPLES else value for name, value in item["options"].items()
    }
    if "property_dependencies" in options:
        options["property_dependencies"] = {
            key: tuple(urns) for key, urns in options["property_dependencies"].items()
        }  # fmt: skip
    return Resource(
        **{name: item[name] for name in _PLAIN},
        options=Options(**options),
        source=_unpack_source(item["source"]),
        raw_inputs=_unpack_struct(item["inputs"]),
        raw_outputs=None if item["outputs"] is None else _unpack_struct(item["outputs"]),
    )


def _pack_struct(struct: Struct) -> str:
    return base64.b64encode(struct.SerializeToString()).decode()


def _unpack_struct(text: str) -> Struct:
    return Struct.FromString(base64.b64decode(text))


def _pack_finding(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": str(finding.severity), "source": _pack_source(finding.source)}


def _unpack_finding(item: Mapping[str, Any]) -> Finding:
    texts: dict[str, Any] = {**item, "severity": Severity(item["severity"]), "source": _unpack_source(item["source"])}
    return Finding(**texts)


def _pack_source(source: Source | None) -> list[Any] | None:
    return [source.file, source.line] if source else None


def _unpack_source(item: list[Any] | None) -> Source | None:
    return Source(*item) if item else None


def _pack_value(value: Any) -> Any:
    if value is UNKNOWN:
        return {_TAG: "unknown"}
    if isinstance(value, Secret):
        return {_TAG: "secret", "value": _pack_value(value.value)}
    if isinstance(value, Reference):
        return {_TAG: "reference", "urn": value.urn, "id": _pack_value(value.id)}
    if isinstance(value, dict):
        return {key: _pack_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_pack_value(inner) for inner in value]
    return value


def _unpack_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack_value(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    kind = value.get(_TAG)
    if kind == "unknown":
        return UNKNOWN
    if kind == "secret":
        return Secret(_unpack_value(value["value"]))
    if kind == "reference":
        return Reference(value["urn"], _unpack_value(value["id"]))
    return {key: _unpack_value(inner) for key, inner in value.items()}
