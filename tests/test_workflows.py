"""The workflows and the action: read by their own linter, and safe for changes from strangers."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.binaries import binary

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)


def read(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text())


def steps(path: Path) -> list[dict[str, Any]]:
    content = read(path)
    jobs = content.get("jobs", {"action": content.get("runs", {})})
    return [step for job in jobs.values() for step in job.get("steps", [])]


every_file = pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)


@pytest.mark.proof
def test_the_linter_of_the_field_finds_nothing() -> None:
    done = subprocess.run(
        [binary("actionlint"), "-shellcheck=", "-pyflakes=", *map(str, WORKFLOWS)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@every_file
def test_no_value_of_an_event_becomes_text_of_a_script(path: Path) -> None:
    """A branch may be called anything: what an event says reaches a script as a variable, never as its text."""
    for step in steps(path):
        assert not EXPRESSION.search(step.get("run", "")), step


@every_file
def test_every_step_that_runs_or_uses_is_pinned(path: Path) -> None:
    for step in steps(path):
        if "uses" in step and not step["uses"].startswith("./"):
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_rights_are_the_least(path: Path) -> None:
    """Nothing writes unless it says so in its own job; nothing runs strangers' code with rights."""
    content = read(path)
    assert content["permissions"] in ({}, {"contents": "read"})
    triggers = content[True]  # YAML reads the key `on` as a boolean
    assert "pull_request_target" not in triggers
    if "pull_request" in triggers:
        assert all("permissions" not in job for job in content["jobs"].values())
        assert "secrets." not in path.read_text()
    if "workflow_run" in triggers:
        assert not [step for step in steps(path) if "checkout" in step.get("uses", "")]


def test_what_the_workflows_run_is_there() -> None:
    """make targets, scripts and commands that the workflows name exist."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in WORKFLOWS:
        for step in steps(path):
            for line in step.get("run", "").splitlines():
                if line.startswith("make "):
                    assert set(line.removeprefix("make ").split()) <= targets
                if line.startswith(".ci/"):
                    assert (ROOT / line).exists()


def test_the_actions_script_is_good_shell(tmp_path: Path) -> None:
    (step,) = [step for step in steps(ROOT / "action.yml") if "run" in step]
    script = tmp_path / "check.sh"
    script.write_text(step["run"])
    done = subprocess.run(
        [str(Path(sys.executable).parent / "shellcheck"), "--shell=bash", str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_actions_script_works(tmp_path: Path) -> None:
    """The script of the action, run as a runner would, with stand-ins for pip's installs only."""
    (step,) = [step for step in steps(ROOT / "action.yml") if "run" in step]
    program = tmp_path / "program"
    program.mkdir()
    (program / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    (program / "Pulumi.dev.yaml").write_text("config: {}\n")
    (program / "__main__.py").write_text("import pulumi_aws as aws\naws.ec2.Vpc('v', cidr_block='10.0.0.0/16')\n")

    bin_folder = tmp_path / "winkube-venv" / "bin"
    bin_folder.mkdir(parents=True)
    stand_ins = {
        tmp_path / "bin" / "python": "exit 0",  # makes no second virtual environment
        bin_folder / "pip": 'echo "$@" >> "$RUNNER_TEMP/pip.log"',
        bin_folder / "winkube": f'exec {sys.executable} -m winkube.preview.cli.main "$@"',
    }
    for file, text in stand_ins.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    out, summary = tmp_path / "out", tmp_path / "summary"
    environment = {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(out), "GITHUB_STEP_SUMMARY": str(summary), "PROGRAM": str(program), "STACKS": "dev",
        "POLICIES": "", "BASE": "", "REQUIREMENTS": "requirements.txt", "CONSTRAINTS": "",
        "DIRECTORY": str(tmp_path / "result"), "HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert out.read_text() == f"directory={tmp_path / 'result'}\n"
    assert "## Preview of `demo/dev`" in summary.read_text()
    assert str(ROOT) in (tmp_path / "pip.log").read_text()
