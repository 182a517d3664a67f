"""Reads a Pulumi project: ``Pulumi.yaml``, its stacks, and their configuration as the CLI passes it on."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..errors import PreviewError
from ..model import UNKNOWN_TEXT
from ..text.suggestions import did_you_mean

# The loader in C reads a stack file ten times faster; PyYAML's wheels carry it everywhere.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Project:
    """The parts of ``Pulumi.yaml`` that an evaluation needs."""

    name: str
    directory: Path
    """The folder of ``Pulumi.yaml``."""
    program: Path
    """The file or folder to run."""
    config_directory: Path
    """The folder of the stack files."""
    declared: Mapping[str, Mapping[str, Any]]
    """The ``config:`` block: full key to its declaration."""

    def stacks(self) -> list[str]:
        """The names of the stacks that have a file, sorted."""
        names = (path.name.split(".", 1)[1].rsplit(".", 1)[0] for path in self._stack_files())
        return sorted(set(names))

    def stack_file(self, stack: str) -> Path:
        """The file of a stack.

        :raises PreviewError: it does not exist; the message names those that do.
        """
        for ending in ("yaml", "yml"):
            path = self.config_directory / f"Pulumi.{stack}.{ending}"
            if path.is_file():
                return path
        known = self.stacks()
        listing = f"the stacks are {', '.join(known)}" if known else "there is no Pulumi.<stack>.yaml here"
        raise PreviewError(
            f'there is no stack "{stack}": Pulumi.{stack}.yaml does not exist; {listing}.{did_you_mean(stack, known)}'
        )

    def _stack_files(self) -> Iterator[Path]:
        for ending in ("yaml", "yml"):
            yield from self.config_directory.glob(f"Pulumi.*.{ending}")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of a stack as text by full key. Objects are JSON, as the CLI passes them on."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_keys: frozenset[str] = frozenset()
    """Keys whose value is a secret, or holds one."""
    unknown_keys: frozenset[str] = frozenset()
    """Keys of encrypted (``secure:``) values. They stay unknown: no passphrase is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a program: what the CLI would tell the SDK about it."""

    project: str
    """The name of the project."""
    stack: str
    directory: str
    """The folder of the project, absolute."""
    mode: str = "preview"
    """``preview`` or ``update``."""
    configuration: Configuration = field(default_factory=Configuration)

    @property
    def preview(self) -> bool:
        """Whether computed values are unknown."""
        return self.mode == "preview"


def read_project(directory: Path) -> Project:
    """Read ``Pulumi.yaml`` in ``directory``.

    :raises PreviewError: it is missing or broken, or the project is not in Python.
    """
    for name in ("Pulumi.yaml", "Pulumi.yml"):
        if (directory / name).is_file():
            content = _load(directory / name)
            break
    else:
        raise PreviewError(f"{directory} has no Pulumi.yaml; give the folder of a Pulumi program with --program")
    name = content.get("name")
    runtime = content.get("runtime")
    runtime = runtime.get("name") if isinstance(runtime, dict) else runtime
    if not isinstance(name, str) or not name:
        raise PreviewError("Pulumi.yaml: name is missing; write `name: <project>`")
    if runtime != "python":
        raise PreviewError(f"Pulumi.yaml: the runtime must be python, got {runtime!r}")
    block = content.get("config") or {}
    declared = {_full_key(name, key): value if isinstance(value, dict) else {"value": value}
                for key, value in block.items()} if isinstance(block, dict) else {}  # fmt: skip
    folder = content.get("stackConfigDir") or (block if isinstance(block, str) else ".")
    program = (directory / str(content.get("main") or ".")).resolve()
    if not program.exists():
        raise PreviewError(f"Pulumi.yaml: main is {program}, which does not exist")
    return Project(name, directory.resolve(), program, directory / str(folder), declared)


def read_configuration(project: Project, stack: str) -> Configuration:
    """The configuration of a stack, with the defaults of the project, checked as the CLI does.

    :raises PreviewError: the file is broken, a declared key is missing, or a value has the wrong type.
    """
    path = project.stack_file(stack)
    block = _load(path).get("config") or {}
    if not isinstance(block, dict):
        raise PreviewError(f"{path.name}: config must be a mapping of keys to values, got {type(block).__name__}")
    values: dict[str, str] = {}
    secrets: set[str] = set()
    unknown: set[str] = set()
    given: dict[str, Any] = {_full_key(project.name, key): value for key, value in block.items()}
    problems: list[str] = []
    for key, declaration in project.declared.items():
        default = declaration.get("value", declaration.get("default"))
        if key not in given and default is not None:
            given[key] = default
        problems += _declaration_problems(key, declaration, given)
    if problems:
        raise PreviewError("\n  ".join([f"{path.name} does not match the declarations in Pulumi.yaml:", *problems]))
    for key, value in given.items():
        plain, is_secret = _open(value)
        values[key] = plain if isinstance(plain, str) else json.dumps(plain)
        if is_secret:
            secrets.add(key)
            if plain == UNKNOWN_TEXT:
                unknown.add(key)
    return Configuration(values, frozenset(secrets), frozenset(unknown))


def _load(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 (it is the safe one)
    except yaml.YAMLError as error:
        raise PreviewError(f"{path.name} is not valid YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise PreviewError(f"{path.name} must hold a mapping, got {type(content).__name__}")
    return content


def _full_key(project: str, key: Any) -> str:
    text = str(key)
    return text if ":" in text else f"{project}:{text}"


def _open(value: Any) -> tuple[Any, bool]:
    """A configured value with every ``secure:`` part replaced by the unknown, and whether there was one."""
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            return UNKNOWN_TEXT, True
        parts = {str(key): _open(inner) for key, inner in value.items()}
        return {key: inner for key, (inner, _) in parts.items()}, any(secret for _, secret in parts.values())
    if isinstance(value, list):
        items = [_open(inner) for inner in value]
        return [inner for inner, _ in items], any(secret for _, secret in items)
    return value, False


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "boolean": (bool,), "array": (list,), "object": (dict,),
}  # fmt: skip


def _declaration_problems(key: str, declaration: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    kind = declaration.get("type")
    if key not in given:
        return [f"{key}: is required ({kind or 'string'}) and has no default; set it with `config: {key}: …`"]
    value = given[key]
    secure = isinstance(value, dict) and set(value) == {"secure"}
    if declaration.get("secret") and not secure and not {"value", "default"} & declaration.keys():
        return [f"{key}: is declared secret, but is in plain text; set it with `pulumi config set --secret {key}`"]
    if secure or kind not in _TYPES or value is None:
        return []
    fits = isinstance(value, _TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))
    # The CLI writes `pulumi config set` values as strings and accepts them for scalar types.
    as_text = isinstance(value, str) and (
        (kind == "integer" and value.lstrip("-").isdigit()) or (kind == "boolean" and value in ("true", "false"))
    )
    return [] if fits or as_text else [f"{key}: must be {kind}, got {json.dumps(value, default=str)}"]
