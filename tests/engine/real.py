"""The CLI of Pulumi on a stack, with a home, a backend and plug-ins of the test's own.

The CLI cannot be had as a package, so on most machines what uses this is skipped; the job ``engine`` of the workflow
``ci`` installs it. ``aws`` and ``tls`` are the stand-ins, found as installed plug-ins of the SDKs' versions;
``kubernetes`` is the real one, from the plug-ins that the CLI has in its usual place.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2
from winkube.preview.model import SIGNATURE_KEY, UNKNOWN, Plan, Reference, Secret, decode, holds_unknown
from winkube.preview.text.values import SECRET_MARK, to_json_value

from .cloud import Cloud
from .engine import ROOT
from .plugin import FOLDER, type_of, version
from .world import World

STAND_INS = ("aws", "tls")
MUST = "WINKUBE_ENGINE"
"""Where this variable is set, a missing engine is a failure: in the job whose work is to install it."""


class Pulumi:
    """The CLI in one folder with everything that it keeps."""

    def __init__(self, folder: Path, program: Path, stack: str, world: World | None = None) -> None:
        self.program, self.stack, self.folder = program, stack, folder
        self._command, kubernetes = required()
        self.cloud = Cloud(folder / "cloud")
        if world is not None:
            world.tell(self.cloud)
        plugins = folder / "home" / "plugins"
        for package in STAND_INS:
            write_launcher(plugins / f"resource-{package}-v{version(package)}" / f"pulumi-resource-{package}", package)
        # The CLI passes over a link to a folder when it looks for plug-ins.
        shutil.copytree(kubernetes, plugins / kubernetes.name, copy_function=_link)
        (folder / "backend").mkdir(parents=True)
        path = os.pathsep.join([*([str(world.path)] if world else []), os.environ["PATH"]])
        self.environment = {
            **os.environ,
            **(world.environment() if world else {}),
            FOLDER: str(self.cloud.folder),
            "PATH": path,
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "for tests",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_STACK": stack,
            # The folder of components gets an environment of its own: with the SDKs whose plug-ins are here.
            "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        }

    def run(self, *arguments: str, fails: bool = False) -> str:
        """What the command printed; it must succeed, or fail where that is expected."""
        command = [self._command, *arguments, "--non-interactive"]
        done = subprocess.run(
            command, cwd=self.program, env=self.environment, capture_output=True, text=True, check=False, timeout=900
        )
        assert (done.returncode != 0) is fails, f"{' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + (done.stderr if fails else "")

    def preview(self, *arguments: str) -> Mapping[str, Any]:
        """The preview as the CLI gives it to programs."""
        text = self.run("preview", "--json", *arguments)
        return json.JSONDecoder().raw_decode(text, text.index("{"))[0]

    def kept(self) -> dict[str, Any]:
        """URN to what the engine remembers: inputs, and outputs but of Kubernetes' objects, whose status lives on."""
        deployment = json.loads(self.run("stack", "export", "--show-secrets"))["deployment"]
        return {
            it["urn"]: (it.get("inputs"), None if type_of(it["urn"]).startswith("kubernetes:") else it.get("outputs"))
            for it in deployment["resources"]
        }


def required() -> tuple[str, Path]:
    """The CLI and the folder of the real kubernetes plug-in; skips the test where one of them is missing."""
    command, name = shutil.which("pulumi"), f"resource-kubernetes-v{version('kubernetes')}"
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    if command is None or not (home / "plugins" / name).is_dir():
        end = pytest.fail if os.environ.get(MUST) else pytest.skip
        end(
            "needs the CLI of Pulumi on the path and its kubernetes plug-in: "
            f"pulumi plugin install resource kubernetes {version('kubernetes')}"
        )
    return command, home / "plugins" / name


def copy_of_the_program(folder: Path) -> Path:
    """A copy that the CLI may write into; it runs with this interpreter's environment."""
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def steps(preview: Mapping[str, Any]) -> dict[str, str]:
    """URN to what would be done."""
    return {step["urn"]: step["op"] for step in preview.get("steps", ())}


def inputs(preview: Mapping[str, Any]) -> dict[str, Any]:
    """URN to inputs, as the CLI shows them: secrets are marks. Of a provider none, for the engine adds to them."""
    found: dict[str, Any] = {}
    for step in preview["steps"]:
        state, kind = step["newState"], type_of(step["urn"])
        if state.get("custom") and not kind.startswith("pulumi:providers:"):
            made = struct_pb2.Struct()
            made.update(state.get("inputs") or {})
            found[step["urn"]] = decode(made)
        elif kind != "pulumi:pulumi:Stack":
            found[step["urn"]] = {}
    return found


def missing(plan: Plan, found: Mapping[str, Any]) -> list[str]:
    """Where the engine's preview is not what the offline one says.

    The kubernetes provider adds to what it is given (names, its own annotations), so there it only has to be in it.
    """
    told = [f"{urn}: only under the engine" for urn in sorted(found.keys() - plan.by_urn.keys())]
    for urn, resource in plan.by_urn.items():
        wanted = resource.inputs if resource.custom and ":providers:" not in resource.type else {}
        if urn not in found:
            told.append(f"{urn}: only offline")
        elif not _same(wanted, found[urn], more=resource.type.startswith("kubernetes:")):
            told.append(f"{urn}: {to_json_value(wanted)!r} offline, {to_json_value(found[urn])!r} under the engine")
    return told


def _same(wanted: Any, found: Any, *, more: bool) -> bool:
    """Whether a value is what the engine shows; ``more`` lets it show keys that are not wanted."""
    if isinstance(wanted, Secret):
        # A secret that is not known yet is shown as either.
        return found == SECRET_MARK or (found is UNKNOWN and holds_unknown(wanted.value))
    if isinstance(wanted, Reference):
        return wanted.urn == found or wanted.id == found
    if isinstance(wanted, dict) and isinstance(found, dict):
        wanted, found = _without_hash(wanted), _without_hash(found)
        keys = wanted.keys() <= found.keys() if more else wanted.keys() == found.keys()
        return keys and all(_same(value, found[key], more=more) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(partial(_same, more=more), wanted, found))
    return wanted is found or wanted == found or (wanted is UNKNOWN and found == SECRET_MARK)


def _without_hash(value: Mapping[str, Any]) -> dict[str, Any]:
    """An asset as the program gives it: the engine adds what its content comes to."""
    return {key: it for key, it in value.items() if not (key == "hash" and SIGNATURE_KEY in value)}


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def write_launcher(file: Path, package: str) -> None:
    """A stand-in as the engine finds it: a program of this name in the folder of its version."""
    file.parent.mkdir(parents=True)
    file.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.engine.plugin {package} "$@"\n', encoding="utf-8"
    )
    file.chmod(0o755)
