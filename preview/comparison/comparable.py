"""Makes plans comparable: removes what depends on the folder of the files. Imports no evaluator."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from google.protobuf.struct_pb2 import Struct, Value

from ..model import SIGNATURE_KEY, Plan, Source

_ASSETS = frozenset(("c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"))
"""Signatures of a file and of an archive (pulumi/pulumi sdk/go, AssetSig and ArchiveSig)."""
_LARGEST_ASSET = 64 << 20


def comparable(plan: Plan, program: Path, checkout: Path) -> Plan:
    """Make a plan of the working tree comparable with one of a checkout. Changes the plan in place."""
    fingerprint_assets(plan, program)
    shorten_sources(plan, program, checkout)
    return plan


def shorten_sources(plan: Plan, program: Path, checkout: Path) -> None:
    """Make paths of files in the checkout relative to the program, as those inside it are."""

    def shorten(source: Source | None) -> Source | None:
        if source is None or not Path(source.file).is_absolute() or not Path(source.file).is_relative_to(checkout):
            return source
        return Source(os.path.relpath(source.file, program.resolve()), source.line)

    for resource in plan.resources:
        resource.source = shorten(resource.source)
    plan.findings = [replace(finding, source=shorten(finding.source)) for finding in plan.findings]


def relocate(plan: Plan, old: str, new: str) -> None:
    """Replace paths in the checkout by the paths in the repository, so that they compare equal."""
    for struct in _structs(plan):
        if old.encode() in struct.SerializeToString():
            for value in _strings(struct):
                value.string_value = value.string_value.replace(old, new)


def _structs(plan: Plan) -> Iterator[Struct]:
    for resource in plan.resources:
        yield resource.raw_inputs
        if resource.raw_outputs is not None:
            yield resource.raw_outputs


def _strings(struct: Struct) -> Iterator[Value]:
    for inner in _objects(struct):
        for value in inner.fields.values():
            yield from _leaves(value)


def _leaves(value: Value) -> Iterator[Value]:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        yield value
    elif kind == "list_value":
        for item in value.list_value.values:
            yield from _leaves(item)


def _objects(struct: Struct) -> Iterator[Struct]:
    """The object and every object in it."""
    yield struct
    for value in struct.fields.values():
        yield from _objects_in(value)


def _objects_in(value: Value) -> Iterator[Struct]:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        yield from _objects(value.struct_value)
    elif kind == "list_value":
        for item in value.list_value.values:
            yield from _objects_in(item)


def fingerprint_assets(plan: Plan, program: Path) -> None:
    """Add a digest of the content to files that are passed as values: their paths do not change with the content."""
    marks = [mark.encode() for mark in _ASSETS]
    for struct in _structs(plan):
        packed = struct.SerializeToString()
        if not any(mark in packed for mark in marks):
            continue
        for inner in list(_objects(struct)):
            if SIGNATURE_KEY in inner.fields and inner.fields[SIGNATURE_KEY].string_value in _ASSETS:
                path = inner.fields["path"].string_value if "path" in inner.fields else ""
                digest = _digest(program / path) if path else ""
                if digest:
                    inner.fields["content"].string_value = f"sha256:{digest}"


def _digest(path: Path) -> str:
    """The digest of a file or a folder; empty if it is missing or very large."""
    found = hashlib.sha256()
    size = 0
    files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    for file in files:
        if "__pycache__" in file.parts:
            continue
        try:
            size += file.stat().st_size
            if size > _LARGEST_ASSET:
                return ""
            found.update(f"{file.relative_to(path)}\0".encode() + file.read_bytes())
        except OSError:
            return ""
    return found.hexdigest()[:16]
