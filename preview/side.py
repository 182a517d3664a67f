"""Evaluates one side of a comparison, in a process of its own: ``python -P -m winkube.preview.side``.

Reads a request from standard input and writes the plan to standard output, both as JSON; what the program writes
goes to standard error. The evaluator is the one that is installed, the program and the packages of its repository
are those of the checkout: a change inside a library shows, also where that library is ``winkube`` itself.
"""

import hashlib
import importlib
import json
import os
import sys
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from google.protobuf.struct_pb2 import Struct, Value

from .errors import PreviewError
from .evaluate import evaluate
from .invokes import read_answers
from .judge import judge
from .model import SIGNATURE_KEY, Plan, Source
from .wire import pack

_OWN = "winkube"
_ASSETS = frozenset(("c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"))
"""Signatures of a file and of an archive (pulumi/pulumi sdk/go, AssetSig and ArchiveSig)."""
_LARGEST_ASSET = 64 << 20


def main() -> None:
    """Answer one request. Whatever the program does to its standard output, the answer stays whole."""
    channel = os.dup(1)
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # a program that asks for input gets an end, not a wait
    try:
        answer: dict[str, Any] = {"plan": pack(answer_request(request))}
    except PreviewError as error:
        answer = {"error": str(error).replace(request["checkout"] + os.sep, "")}
    with os.fdopen(channel, "wb") as stream:
        stream.write(json.dumps(answer).encode())
    sys.stderr.flush()
    os._exit(0)  # threads that the program left behind must not keep the process


def answer_request(request: Mapping[str, Any]) -> Plan:
    """Evaluate, check and judge what ``request`` names.

    :raises PreviewError: the program, its settings or the policy pack is wrong.
    """
    checkout, repository = Path(request["checkout"]), Path(request["repository"])
    answers = read_answers(Path(request["answers"])) if request["answers"] else None
    sys.dont_write_bytecode = checkout != repository
    with packages_of(checkout, repository):
        plan = evaluate(request["program"], request["stack"], mode=request["mode"], answers=answers)
    _fingerprint_assets(plan)
    if checkout != repository:
        _relocate(plan, str(checkout), str(repository))
    _shorten_sources(plan, Path(request["program"]), checkout)
    judge(plan, _path(request["policies"]), _path(request["policy_config"]))
    return plan


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


# -- the packages of a checkout ------------------------------------------------------------------------------------


class _Checkout:
    """Finds packages in a checkout that are installed, editable, from the repository."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a package that belongs to the checkout, None for every other module."""
        folder = self._folders.get(fullname)
        if folder is None:
            return None
        if (folder / "__init__.py").is_file():
            return spec_from_file_location(fullname, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if folder.with_suffix(".py").is_file():
            return spec_from_file_location(fullname, folder.with_suffix(".py"))
        raise ModuleNotFoundError(f"No module named {fullname!r} in this revision", name=fullname)


@contextmanager
def packages_of(checkout: Path, repository: Path) -> Generator[None]:
    """Import the repository's own packages from ``checkout``; everything else from where it is installed."""
    folders = dict(_own_packages(checkout, repository))
    finder, path = _Checkout(folders), list(sys.path)
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if _in_checkout(name, folders)}
    sys.path[:] = [_moved(entry, checkout, repository) for entry in sys.path]
    sys.meta_path.insert(0, finder)
    try:
        if _OWN in folders:
            # The new package has the evaluator that is running now, whatever the revision has.
            vars(importlib.import_module(_OWN))["preview"] = sys.modules[f"{_OWN}.preview"]
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.path[:] = path
        for name in [name for name in sys.modules if _in_checkout(name, folders)]:
            del sys.modules[name]
        sys.modules.update(saved)


def _own_packages(checkout: Path, repository: Path) -> Iterator[tuple[str, Path]]:
    """Import name to folder, of what is installed from the repository in editable mode, and of winkube itself."""
    for finder in sys.meta_path:
        module = sys.modules.get(str(getattr(finder, "__module__", "")))
        for name, folder in dict(getattr(module, "MAPPING", None) or {}).items():
            if Path(folder).is_relative_to(repository) and not _is_evaluator(name):
                yield name, checkout / Path(folder).relative_to(repository)
    if _is_winkube(checkout):
        yield _OWN, checkout / "components"
        yield f"{_OWN}.policies", checkout / "policies"


def _is_winkube(checkout: Path) -> bool:
    try:
        project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return project.get("project", {}).get("name") == _OWN and (checkout / "components" / "__init__.py").is_file()


def _is_evaluator(name: str) -> bool:
    return name == f"{_OWN}.preview" or name.startswith(f"{_OWN}.preview.")


def _in_checkout(name: str, folders: Mapping[str, Path]) -> bool:
    return not _is_evaluator(name) and any(name == top or name.startswith(f"{top}.") for top in folders)


def _moved(entry: str, checkout: Path, repository: Path) -> str:
    """An entry of the module path in the checkout; a virtual environment inside the repository stays."""
    folder = Path(entry or ".").resolve()
    if not folder.is_relative_to(repository) or folder.is_relative_to(Path(sys.prefix).resolve()):
        return entry
    return str(checkout / folder.relative_to(repository))


# -- what depends on where the checkout lies -------------------------------------------------------------------------


def _shorten_sources(plan: Plan, program: Path, checkout: Path) -> None:
    """Name files beside the program's folder from there, as those inside it are."""

    def shorten(source: Source | None) -> Source | None:
        if source is None or not Path(source.file).is_absolute() or not Path(source.file).is_relative_to(checkout):
            return source
        return Source(os.path.relpath(source.file, program.resolve()), source.line)

    for resource in plan.resources:
        resource.source = shorten(resource.source)
    plan.findings = [replace(finding, source=shorten(finding.source)) for finding in plan.findings]


def _relocate(plan: Plan, old: str, new: str) -> None:
    """Give paths in the checkout the name that they have in the repository, so that they compare equal."""
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


def _fingerprint_assets(plan: Plan) -> None:
    """Say what is in the files that are passed as values: their paths alone do not differ when they change."""
    marks = [mark.encode() for mark in _ASSETS]
    for struct in _structs(plan):
        packed = struct.SerializeToString()
        if not any(mark in packed for mark in marks):
            continue
        for inner in list(_objects(struct)):
            if SIGNATURE_KEY in inner.fields and inner.fields[SIGNATURE_KEY].string_value in _ASSETS:
                path = inner.fields["path"].string_value if "path" in inner.fields else ""
                digest = _digest(Path(path)) if path else ""
                if digest:
                    inner.fields["content"].string_value = f"sha256:{digest}"


def _digest(path: Path) -> str:
    """Of a file, or of everything in a folder; nothing for what is missing or very large."""
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


if __name__ == "__main__":
    main()
