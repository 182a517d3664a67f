"""Writes a minor of kubernetes_flags.json anew: ``python -m winkube.tables.refresh_kubernetes_flags 1.36 1.36.4 P M``.

A maintainer's tool, not used at run time. For one minor it asks the real programs in the folders P (with a colon
between them) for their flags (``--help``), and reads feature gates and the fields of the KubeletConfiguration from the
sources in the Go module cache M (``go env GOMODCACHE``). Flags of programs that are not there stay as they are.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("kubernetes_flags.json")
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd")
KUBELET_SOURCES = ("options.go", "globalflags_linux.go")
LOGGING_FLAGS = ("log-flush-frequency", "log-json-info-buffer-size", "log-json-split-stream",
                 "log-text-info-buffer-size", "log-text-split-stream", "logging-format", "v", "vmodule")  # fmt: skip
GATE_SOURCES = (
    ("kubernetes", "pkg/features/kube_features.go"),
    ("apiserver", "pkg/features/kube_features.go"),
    ("apiextensions-apiserver", "pkg/features/kube_features.go"),
    ("controller-manager", "pkg/features/kube_features.go"),
    ("component-base", "logs/api/v1/kube_features.go"),
    ("component-base", "metrics/features/kube_features.go"),
    ("component-base", "zpages/features/kube_features.go"),
)

_FLAG = re.compile(r"^\s+(?:-\w, )?--([a-z][a-z0-9-]*)", re.MULTILINE)
_GATE = re.compile(r"^\t(?:[a-z]+\.)?([A-Z]\w+): \{((?:\s*\{Version:.*\n|\s*//.*\n)*)\s*\},?$", re.MULTILINE)
_NAME = re.compile(r'^\t(\w+)\s+featuregate\.Feature = "(\w+)"', re.MULTILINE)
_SPEC = re.compile(r'\{Version: version\.MustParse\("([\d.]+)"\),([^}]*)\}')
_GO_FLAG = re.compile(
    r'(?:(?:fs|mainfs)\.\w+\([^"\n]*|addCadvisorFlag\([^"\n]*|registerDeprecated\([^"\n]*)"([a-z][a-z0-9-]+)"'
)
_FIELD = re.compile(r'^\t\w+\s+(\S+)\s+`json:"(\w+)', re.MULTILINE)


def flags_of(program: Path) -> list[str]:
    """The flags that a program says it has, sorted."""
    done = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=False)  # noqa: S603
    return sorted(set(_FLAG.findall(done.stdout + done.stderr)))


def gates_of(source: str, minor: str) -> dict[str, list[Any]]:
    """Gate to stage, default and lock in a minor, from a Go source with versioned feature gates."""
    gates: dict[str, list[Any]] = {}
    # Two gates are called otherwise than the constants that stand for them.
    names = dict(_NAME.findall(source))
    for constant, body in _GATE.findall(source):
        latest: list[Any] | None = None
        for version, rest in _SPEC.findall(body):
            if _number(version) <= _number(minor):
                stage = re.search(r"PreRelease: (?:featuregate\.)?(\w+)", rest)
                latest = [stage[1] if stage else "Alpha", "Default: true" in rest, "LockToDefault: true" in rest]
        if latest is not None:
            gates[names.get(constant, constant)] = latest
    return gates


def kubelet_flags_of(sources: Sequence[str]) -> list[str]:
    """The flags of the kubelet, from its Go sources: its help leaves some out."""
    found = {name for source in sources for name in _GO_FLAG.findall(source)}
    return sorted({*found, *LOGGING_FLAGS, "help", "version"})


def fields_of(types: str) -> dict[str, str]:
    """Field of the KubeletConfiguration to the kind of its value, from its Go source."""
    body = types.split("type KubeletConfiguration struct {")[1].split("\n}")[0]
    return {name: _kind(kind) for kind, name in _FIELD.findall(body)}


def _kind(go: str) -> str:
    go = go.lstrip("*")
    for start, kind in (
        ("[]", "list"),
        ("map[", "object"),
        ("int", "integer"),
        ("float", "number"),
        ("bool", "boolean"),
    ):
        if go.startswith(start):
            return kind
    return "text" if go in ("string", "metav1.Duration") else "any"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def row(minor: str, version: str, programs: Sequence[Path], modules: Path, before: Mapping[str, Any]) -> dict[str, Any]:
    """Everything about one minor."""
    staging = f"v0.{version.split('.', 1)[1]}"
    gates: dict[str, list[Any]] = {}
    for module, path in GATE_SOURCES:
        folder = modules / "k8s.io" / f"{module}@{f'v{version}' if module == 'kubernetes' else staging}"
        gates |= gates_of((folder / path).read_text(encoding="utf-8"), minor)
    kubelet = modules / "k8s.io" / f"kubernetes@v{version}" / "cmd/kubelet/app/options"
    sources = [(kubelet / name).read_text(encoding="utf-8") for name in KUBELET_SOURCES]
    types = modules / "k8s.io" / f"kubelet@{staging}" / "config/v1beta1/types.go"
    there = {name: folder / name for folder in programs for name in PROGRAMS if (folder / name).is_file()}
    flags = {
        **before.get("flags", {}),
        "kubelet": kubelet_flags_of(sources),
        **{name: flags_of(program) for name, program in there.items()},
    }
    return {
        "version": version,
        "flags": dict(sorted(flags.items())),
        "gates": dict(sorted(gates.items())),
        "kubelet_fields": dict(sorted(fields_of(types.read_text(encoding="utf-8")).items())),
    }


def main() -> None:
    """Write the row of one minor."""
    minor, version, programs, modules = sys.argv[1:]
    table: dict[str, Any] = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    table[minor] = row(minor, version, [Path(p) for p in programs.split(":")], Path(modules), table.get(minor, {}))
    lines: list[str] = []
    for key, value in sorted(table.items()):
        parts = [f"  {json.dumps(name)}: {_compact(part)}" for name, part in value.items()]
        lines.append(f"{json.dumps(key)}: {{\n" + ",\n".join(parts) + "\n}")
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _compact(value: Any) -> str:
    """One line for each entry of an object, so that a change shows as what it is."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = [f"    {json.dumps(key)}: {json.dumps(part)}" for key, part in value.items()]  # pyright: ignore
    return "{\n" + ",\n".join(lines) + "\n  }"


if __name__ == "__main__":
    main()
