"""Commands in the documentation: run here as they stand, or marked with what they need."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from winkube.preview import cli

from .pages import BLOCKS, NEEDS, ROOT, RUN_HERE, Block, own_commands

TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
PROGRAMS = {
    "needs AWS": ("aws", "pulumi", "winkube cluster", "winkube inventory", "dig"),
    "needs Pulumi": ("pulumi",),
    "needs a cluster": ("kubectl",),
    "needs a package index": ("pip install",),
    "needs a release": (r"v\d",),
    "on a node": ("kubeadm", "crictl", "journalctl", "python3 /opt/winkube/agent.pyz", "kubectl", "curl"),
}
"""What has to stand in a block for its mark to be true."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this repository as it stands, whose virtual environment is the one that runs the tests."""
    folder = tmp_path_factory.mktemp("docs") / "winkube"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(folder)], check=True)
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in changed.stdout.splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    environment = folder / ".venv"
    environment.mkdir()
    (environment / "bin").symlink_to(Path(sys.executable).parent)
    for stamp in (".python", ".run", ".dev"):
        (environment / stamp).touch()
    return folder


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_here_or_says_what_it_needs(block: Block) -> None:
    assert block.title in ("", *NEEDS)
    if block.title:
        assert any(re.search(rf"(^|\s|\()\.?/?{program}\b", block.text) for program in PROGRAMS[block.title])


@pytest.mark.parametrize("block", RUN_HERE, ids=str)
def test_a_block_without_a_mark_runs_as_it_stands(checkout: Path, block: Block) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PULUMI_"))}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text], cwd=checkout, env={**environment, "PATH": path},
        capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.strip()


@pytest.mark.parametrize(("page", "command"), own_commands(), ids=lambda value: value)
def test_our_own_commands_exist_as_they_are_written(page: str, command: str) -> None:
    """Also those that need AWS: commands and flags are those of the parser, targets those of the Makefile."""
    if command.startswith("make "):
        assert command.split()[1] in TARGETS, page
        return
    words = [word.split("|")[0] for word in shlex.split(command)[1:] if not word.startswith(("[", ">"))]
    # In the text a command may be named without its arguments.
    assert understood(words) or (not any(word.startswith("-") for word in words) and understood([*words, "--help"])), (
        page
    )


def understood(words: list[str]) -> bool:
    """Whether the program takes these words."""
    try:
        cli._parser(words).parse_args(words)
    except SystemExit as ended:
        return ended.code == 0
    return True


@pytest.fixture(autouse=True)
def commands_of_other_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that pyproject.toml names now: an editable installation may know those of yesterday alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = [
        EntryPoint(name, place, cli.EXTENSIONS) for name, place in project["entry-points"][cli.EXTENSIONS].items()
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: points)


def test_a_wrong_command_would_be_found() -> None:
    assert understood(["preview", "dev"])
    assert not understood(["preview", "--no-such-flag"])
    assert not understood(["cluster", "mend"])
    assert RUN_HERE
