"""The plain SDK gives the same bytes, and is used by itself where the patches do not fit."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc
from winkube.preview.evaluation import sdk_speed
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.project import read_project
from winkube.preview.evaluation.sdk_speed import dependency_cycles, patch, unused_modules, urns

ROOT = Path(__file__).resolve().parents[4]
PROGRAMS = [ROOT, *(folder for folder in sorted((ROOT / "examples").iterdir()) if (folder / "__main__.py").is_file())]
STACKS = [(folder, stack) for folder in PROGRAMS for stack in read_project(folder).stacks()]
NOTE = "note: the preview is slower, with the same result, as the plain Pulumi SDK is used: "

EVALUATE = """
import json, sys
from pathlib import Path
from winkube.preview.evaluation import sdk_speed
if sys.argv[2]:
    exec(sys.argv[2])
sdk_speed.before_import()
from winkube.preview.errors import PreviewError
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.evaluation.invokes import read_answers
from winkube.preview.output.plan_formats import json_text
found = {}
for folder, stack in json.loads(sys.argv[1]):
    answers = Path(folder) / "answers.yaml"
    for mode in ("preview", "update"):
        known = read_answers(answers) if answers.is_file() else None
        try:
            found[f"{Path(folder).name} {stack} {mode}"] = json_text(evaluate(folder, stack, mode=mode, answers=known))
        except PreviewError as error:
            found[f"{Path(folder).name} {stack} {mode}"] = str(error)
json.dump(found, sys.stdout)
"""
"""What each stack is in either mode. Without its checks: those read the plan and not the SDK."""


def texts(stacks: list[tuple[Path, str]], *, plain: bool, first: str = "") -> dict[str, str]:
    """The plans of some stacks as text, from a process of their own that runs some code at first."""
    environment = {name: value for name, value in os.environ.items() if name != sdk_speed.PLAIN}
    command = [sys.executable, "-c", EVALUATE, json.dumps([(str(folder), stack) for folder, stack in stacks]), first]
    done = subprocess.run(
        command, env=environment | ({sdk_speed.PLAIN: "1"} if plain else {}), capture_output=True, text=True, check=True
    )
    assert NOTE not in done.stderr
    return json.loads(done.stdout)


@pytest.mark.verify
def test_every_stack_and_example_is_the_same_with_the_plain_sdk() -> None:
    assert len(STACKS) > 10
    fast, plain = texts(STACKS, plain=False), texts(STACKS, plain=True)
    assert len(fast) == 2 * len({(folder.name, stack) for folder, stack in STACKS})
    assert [name for name in fast if fast[name] != plain[name]] == []


WRONG = {
    "a property that the program reads is lost": """
from winkube.preview.evaluation.sdk_speed import lazy_outputs
right = lazy_outputs._resolve
def resolve(state, values, *more):
    right(state, {key: value for key, value in values.items() if key != "arn"}, *more)
lazy_outputs._resolve = resolve
""",
    "a value is serialized as none": """
from winkube.preview.evaluation.sdk_speed import plain_values
right = plain_values.serializer
def serializer(sdk):
    serialize = right(sdk)
    async def wrong(value, *args, **more):
        return None if value is False else await serialize(value, *args, **more)
    return wrong
plain_values.serializer = serializer
""",
    "a dependency is lost": """
from winkube.preview.evaluation.sdk_speed import dependency_cycles
dependency_cycles._declarer = lambda sdk: lambda from_resource, to_resource: False
""",
}


@pytest.mark.verify
def test_a_patch_that_is_wrong_makes_a_difference() -> None:
    """What the comparison above catches."""
    stacks = [(ROOT, "dev")]
    plain = texts(stacks, plain=True)
    assert texts(stacks, plain=False) == plain
    assert [what for what, code in WRONG.items() if texts(stacks, plain=False, first=code) == plain] == []


def test_the_command_shows_the_same_bytes() -> None:
    def shown(*more: str) -> tuple[int, bytes, bytes]:
        command = [sys.executable, "-m", "winkube.preview.cli.main", "preview", "dev", "--format", "json", *more]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    fast = shown()
    assert len(fast[1]) > 10_000
    assert shown("--plain-sdk") == fast


@pytest.mark.verify
@pytest.mark.parametrize("plain", [True, False], ids=["--plain-sdk", "another version"])
def test_processes_use_the_plain_sdk_too(tmp_path: Path, plain: bool) -> None:
    """All stacks at once: each process is told not to use the patches, or finds out itself; one of them says so."""
    told = tmp_path / "told"
    (tmp_path / "sitecustomize.py").write_text(f"""
import os, sys
from winkube.preview.evaluation import sdk_speed
from winkube.preview.evaluation.sdk_speed import patch
faster = sdk_speed.faster_sdk
def watched():
    with open({str(told)!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{len(sdk_speed.patches_on())}}\\n")
    return faster()
sdk_speed.faster_sdk = watched
if {not plain}:
    patch.sdk_version = lambda: (3, 999)
""")
    command = [sys.executable, "-m", "winkube.preview.cli.main", "check", "dev", "prod", "--output", str(tmp_path)]
    done = subprocess.run(
        [*command, *(["--plain-sdk"] if plain else [])], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert [line.split()[1] for line in told.read_text().splitlines()] == ["0", "0"]
    assert done.stderr.count(NOTE) == (0 if plain else 1)


# -- the way back ------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been said of the SDK in this process."""
    monkeypatch.delenv(sdk_speed.SAID, raising=False)
    monkeypatch.delenv(sdk_speed.PLAIN, raising=False)


SEEN: dict[str, Any] = {}


def program() -> None:
    """A resource in a resource, and what the SDK is meanwhile."""
    parent = pulumi.ComponentResource("test:index:Parent", "parent")
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=parent))
    pulumi.export("cidr", vpc.cidr_block)
    SEEN["sdk"] = [
        sdk_rpc.transfer_properties,
        sdk_rpc.serialize_property,
        sdk_resource.create_urn,
        sdk_rpc.declare_dependency,
    ]
    SEEN["finders"] = len(sys.meta_path)


def evaluated() -> Any:
    plan = evaluate_function(program)
    return [(resource.urn, resource.inputs, resource.options) for resource in plan.resources], plan.outputs


def used() -> list[Any]:
    return [
        sdk_rpc.transfer_properties,
        sdk_rpc.serialize_property,
        sdk_resource.create_urn,
        sdk_rpc.declare_dependency,
    ]


def is_plain() -> bool:
    """Whether the evaluation before saw nothing but the SDK's own."""
    return SEEN["sdk"] == used() and SEEN["finders"] == len(sys.meta_path)


def test_the_patches_fit_the_sdk_that_is_installed() -> None:
    """With another version of the SDK, this says which patch is to be looked at."""
    assert sdk_speed.patches_on() == sdk_speed.PATCHES
    assert unused_modules.PATCH.misfit() == ""
    evaluated()
    assert not set(map(id, SEEN["sdk"])) & set(map(id, used()))


def plant_arguments(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sdk_resource, "create_urn", lambda name, kind, parent=None: sdk_create_urn(name, kind, parent))
    return "pulumi.runtime.resource.create_urn takes (name, kind, parent), where (name, type_, parent, project, stack)"


sdk_create_urn: Any = sdk_resource.create_urn


def plant_missing(monkeypatch: pytest.MonkeyPatch) -> str:
    needs = {**urns.PATCH.needs, "pulumi.runtime.resource:make_urn": ("name",)}
    monkeypatch.setattr(urns, "PATCH", dataclasses.replace(urns.PATCH, needs=needs))
    return "pulumi.runtime.resource.make_urn is missing, where (name) was expected"


def plant_version(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(patch, "sdk_version", lambda: (3, 999))
    return "pulumi is 3.999, and what makes it faster was tried with 3.272"


def plant_no_version(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(patch, "sdk_version", lambda: None)
    return "pulumi is of an unknown version"


def plant_error(monkeypatch: pytest.MonkeyPatch) -> str:
    def breaks(stack: ExitStack) -> None:
        raise KeyError("gone")

    assert sdk_speed.PATCHES[-1] == "dependency_cycles", "all others are applied when this one breaks"
    monkeypatch.setattr(dependency_cycles, "PATCH", dataclasses.replace(dependency_cycles.PATCH, apply=breaks))
    return "KeyError: 'gone'"


@pytest.mark.parametrize("plant", [plant_arguments, plant_missing, plant_version, plant_no_version, plant_error])
def test_an_sdk_that_differs_is_used_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], plant: Callable[[pytest.MonkeyPatch], str]
) -> None:
    """The plan is the same, nothing of a patch is left, and the reason is said once."""
    fast = evaluated()
    assert not is_plain()
    why = plant(monkeypatch)
    assert evaluated() == evaluated() == fast
    assert is_plain()
    said = capsys.readouterr().err
    assert said.startswith(NOTE + why), said
    assert said.count("\n") == 1
    if plant is not plant_error:
        assert sdk_speed.patches_on() == ()


def test_plain_is_wanted_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    fast = evaluated()
    with sdk_speed.plain_sdk():
        assert sdk_speed.patches_on() == ()
        assert evaluated() == fast
        assert is_plain()
    assert sdk_speed.PLAIN not in os.environ
    assert capsys.readouterr().err == ""
    evaluated()
    assert not is_plain()


def test_the_page_names_every_patch() -> None:
    page = (ROOT / "docs" / "sdk-speed.md").read_text(encoding="utf-8")
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted([*sdk_speed.PATCHES, "unused_modules"])
