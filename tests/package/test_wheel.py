"""What is published: everything that runs is in it, and nothing else is needed."""

import json
import os
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.plugin.bed import host

from .conftest import tracked

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/__main__.py"))
SOURCES = {"components": "winkube", "preview": "winkube/preview", "policies": "winkube/policies"}
ONLY_HERE = ("components/PulumiPlugin.yaml", "components/requirements.txt", "ruff.toml")
"""What the engine and the linter read of a checkout, and of no installation."""


def test_the_wheel_has_every_file_of_the_rooms(wheel: Path) -> None:
    """Scripts, tables, schemas, the type marker: what pyproject.toml forgets is missed by the users alone."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        name.replace(room, package, 1)
        for name in tracked()
        for room, package in SOURCES.items()
        if name.startswith(f"{room}/") and not name.endswith(ONLY_HERE)
    }
    assert wanted - packed == set()
    assert {"winkube/py.typed", "winkube/node_agent/vendor.zip"} <= packed
    made_here = packed - wanted - {"winkube/node_agent/vendor.zip"}
    assert {name for name in made_here if ".dist-info/" not in name} == set()


def test_the_sdist_builds_the_same(distributions: Path) -> None:
    """It has what the build reads, so a distribution can be made from it."""
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    rooms = {name for name in tracked() if name.partition("/")[0] in SOURCES and not name.endswith(ONLY_HERE)}
    assert rooms - names == set()
    assert {"setup.py", "pyproject.toml", "README.md", "LICENSE"} <= names


def test_the_extras_are_there(wheel: Path) -> None:
    (metadata,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    lines = zipfile.ZipFile(wheel).read(metadata).decode().splitlines()
    extras = {line.removeprefix("Provides-Extra: ") for line in lines if line.startswith("Provides-Extra: ")}
    assert {"eks", "ops", "dev", "docs"} <= extras
    assert "Requires-Python: >=3.11" in lines


def run(environment: Path, *command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": f"{environment / 'bin'}{os.pathsep}{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)


def test_every_example_runs_where_only_the_wheel_is(environment: Path, tmp_path: Path) -> None:
    """Outside of the repository, in an environment of its own, by the installed command."""

    def preview(example: Path) -> tuple[str, str]:
        folder = tmp_path / example.name
        shutil.copytree(example, folder)
        answers = ["--answers", "answers.yaml"] if (folder / "answers.yaml").exists() else []
        done = run(environment, "winkube", "preview", "dev", "--format", "json", *answers, folder=folder)
        resources = json.loads(done.stdout)["resources"] if done.returncode == 0 else []
        return example.name, "" if resources else done.stdout[-800:] + done.stderr[-800:] or "no resources"

    with ThreadPoolExecutor(2) as pool:
        failed = {name: text for name, text in pool.map(preview, EXAMPLES) if text}
    assert failed == {}


def test_the_rest_of_the_package_runs_there(environment: Path, tmp_path: Path) -> None:
    """The recorder, the policy pack, the component provider and the node agent's zip need no repository."""
    code = """
import json, winkube, winkube.policies.pack
from winkube.testing import record
from winkube.plugin.provider import ComponentProvider
from winkube.node_agent.zipapp import zipapp
from winkube.windows_boot.bundle import bundle
plan = record(lambda: winkube.StateBucket("b", winkube.StateBucketArgs()))
schema = json.loads(ComponentProvider().schema)
print(len(plan.resources) > 1, len(schema["resources"]) > 20, len(zipapp()) > 1000, len(bundle()) > 1000)
"""
    done = run(environment, "python", "-c", code, folder=tmp_path)
    assert done.stdout == "True True True True\n", done.stderr


def test_the_component_provider_runs_there(environment: Path) -> None:
    """As Pulumi runs it: the folder of a checkout, with an environment in which the library is installed."""
    with host(str(environment / "bin" / "python")) as started:
        assert json.loads(started.schema())["name"] == "winkube"
        _, made = started.construct("StateBucket", {})
    assert any(resource.type == "aws:s3/bucket:Bucket" for resource in made.values())


def test_names_bring_only_the_sdk_that_they_need(environment: Path, tmp_path: Path) -> None:
    """A program that has no Kubernetes objects does not pay for the Kubernetes SDK, nor one without keys for TLS."""
    code = """
import sys, winkube
def sdks(): return sorted(name for name in sys.modules if name.startswith("pulumi") and "." not in name)
seen = [sdks()]
winkube.WinkubeError; seen.append(sdks())
winkube.Network; seen.append(sdks())
print(seen)
"""
    done = run(environment, "python", "-c", code, folder=tmp_path)
    assert done.stdout == "[[], ['pulumi'], ['pulumi', 'pulumi_aws']]\n", done.stderr


def test_the_version_is_one() -> None:
    """The published schema and the package say the same."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    schema = json.loads((ROOT / "components" / "plugin" / "schema.json").read_text(encoding="utf-8"))
    assert schema["version"] == version
