"""The plan: the resources that a program registered with the engine, as plain data.

Property values are decoded once, on first use. A value that a preview cannot know is :data:`UNKNOWN`. A secret is a
:class:`Secret` that never shows its value. A resource that was passed as a value is a :class:`Reference`. Everything
else is ``dict``, ``list``, ``str``, ``float``, ``bool`` or ``None``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from google.protobuf.struct_pb2 import Struct

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's protocol writes this for a value that is not known yet (pulumi/pulumi sdk/go, UnknownStringValue)."""
SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105
RESOURCE_SIGNATURE = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT_SIGNATURE = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


class Unknown:
    """The type of :data:`UNKNOWN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unknown>"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false: test it with `is UNKNOWN`")


UNKNOWN = Unknown()
"""The value of everything that is known only after the deployment."""


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A secret value. Its text never shows the value."""

    value: Any

    def __repr__(self) -> str:
        return "<secret>"


@dataclass(frozen=True, slots=True)
class Reference:
    """A resource that was passed as a value."""

    urn: str
    id: Any = None


def decode(struct: Struct) -> dict[str, Any]:
    """A protocol message as plain data with :data:`UNKNOWN`, :class:`Secret` and :class:`Reference`."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if UNKNOWN_TEXT in text else text
    if kind == "struct_value":
        fields = value.struct_value.fields
        if SIGNATURE_KEY in fields:
            return _decode_special(fields)
        return {key: _decode(inner) for key, inner in fields.items()}
    if kind == "list_value":
        return [_decode(inner) for inner in value.list_value.values]
    if kind == "bool_value":
        return value.bool_value
    if kind == "number_value":
        return value.number_value
    return None


def _decode_special(fields: Mapping[str, Any]) -> Any:
    signature = fields[SIGNATURE_KEY].string_value
    if signature == SECRET_SIGNATURE:
        return Secret(_decode(fields["value"]))
    if signature == RESOURCE_SIGNATURE:
        return Reference(fields["urn"].string_value, _decode(fields["id"]) if "id" in fields else None)
    if signature == OUTPUT_SIGNATURE:
        inner = _decode(fields["value"]) if "value" in fields else UNKNOWN
        return Secret(inner) if "secret" in fields and fields["secret"].bool_value else inner
    return {key: _decode(inner) for key, inner in fields.items()}  # an asset or an archive


def holds_unknown(value: Any) -> bool:
    """Whether any part of a decoded value is unknown."""
    return any(inner is UNKNOWN for _, inner in walk(value))


def unwrap_secrets(value: Any) -> Any:
    """A decoded value with its secrets as plain values: for mocks of a provider, never for output."""
    if isinstance(value, Secret):
        return unwrap_secrets(value.value)
    if isinstance(value, dict):
        return {key: unwrap_secrets(inner) for key, inner in value.items()}
    return [unwrap_secrets(inner) for inner in value] if isinstance(value, list) else value


def walk(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every leaf of a decoded value, with its path. A secret is a leaf."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))
    else:
        yield path, value


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """The line of the program that creates a resource."""

    file: str
    """Relative to the directory of the program if it is inside it, else absolute."""
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Options:
    """The resource options as the engine received them. Options that were not set keep their default."""

    protect: bool = False
    provider: str = ""
    """URN and id of the explicit provider; ``""`` for the default provider."""
    providers: Mapping[str, str] = field(default_factory=dict[str, str])
    dependencies: tuple[str, ...] = ()
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    aliases: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    delete_before_replace: bool = False
    retain_on_delete: bool = False
    deleted_with: str = ""
    custom_timeouts: Mapping[str, str] = field(default_factory=dict[str, str])
    import_id: str = ""
    version: str = ""
    hooks: tuple[str, ...] = ()


@dataclass(eq=False)
class Resource:
    """One resource that the program registered or read."""

    urn: str
    type: str
    name: str
    parent: str
    """URN of the parent; ``""`` if that is the stack."""
    custom: bool
    """False for a component."""
    raw_inputs: Struct
    options: Options
    source: Source | None = None
    remote: bool = False
    read: bool = False
    """True for an existing resource that the program only reads (``X.get``)."""
    raw_outputs: Struct | None = None
    """The outputs that a component registered."""
    id: str = ""

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """The decoded inputs, with keys in the camelCase of the provider."""
        return decode(self.raw_inputs)

    @cached_property
    def outputs(self) -> dict[str, Any]:
        """The decoded outputs that a component registered; empty if it registered none."""
        return decode(self.raw_outputs) if self.raw_outputs is not None else {}


class Severity(StrEnum):
    """The severity of a finding. Errors and warnings make the exit code 1."""

    ERROR = "error"
    """The deployment would fail, or a mandatory policy is violated."""
    WARNING = "warning"
    """An advisory policy is violated, or a check is not certain."""
    NOTE = "note"
    """Something that cannot be decided before the deployment."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check or a policy, for a resource or for the whole plan."""

    code: str
    """``check/<name>`` or ``policy/<pack>/<name>``."""
    severity: Severity
    message: str
    urn: str = ""
    source: Source | None = None
    path: str = ""
    """The path of the property, in the spelling of the provider: ``scalingConfig.minSize``."""
    remedy: str = ""

    @property
    def order(self) -> tuple[str, str, str, str, str]:
        """The sort key of findings."""
        return (str(list(Severity).index(self.severity)), self.code, self.urn, self.path, self.message)


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a provider function."""

    token: str
    arguments: Mapping[str, Any]
    known: bool
    """Whether it was answered (from a table or a file of answers)."""


@dataclass(eq=False)
class Plan:
    """Everything that one evaluation of a program recorded."""

    project: str
    stack: str
    mode: str
    """``preview`` or ``update``."""
    directory: str
    resources: list[Resource]
    """In the order of their URNs, without the stack."""
    outputs: dict[str, Any]
    invokes: list[Invoke]
    findings: list[Finding] = field(default_factory=list[Finding])
    logs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """``(severity, text)`` of the warnings and errors that the program logged."""

    @property
    def blocking(self) -> bool:
        """Whether any finding is more than a note."""
        return any(finding.severity is not Severity.NOTE for finding in self.findings)

    @cached_property
    def by_urn(self) -> dict[str, Resource]:
        """The resources by URN."""
        return {resource.urn: resource for resource in self.resources}

    @cached_property
    def children(self) -> dict[str, list[Resource]]:
        """URN of a parent to its resources. Resources without a parent component are under ``""``."""
        found: dict[str, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.parent if resource.parent in self.by_urn else "", []).append(resource)
        return found
