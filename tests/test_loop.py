"""The three test commands: what a plain ``pytest`` leaves alone, and what a proof says where nothing is built."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import loop

ROOT = Path(__file__).resolve().parent.parent
MARKED = """
import pytest

def test_fast(): pass

@pytest.mark.verify
def test_slow(): pass

@pytest.mark.proof
def test_real(): pass
"""
DECEITFUL = """
import subprocess, sys
import pytest
from tests.binaries import binary

@pytest.fixture(scope="session")
def wine():
    subprocess.run(["wine", "cmd"])

def test_starts_a_program_of_the_cache():
    subprocess.run(["{cache}/winkube/binaries/etcd-v1-0/etcd", "--version"])

def test_starts_an_installed_validator():
    subprocess.run(["{cache}/winkube/checkov-1/bin/python", "-V"])

def test_starts_it_from_a_fixture(wine):
    pass

def test_builds_by_a_module():
    subprocess.run([sys.executable, "-m", "tests.binaries", "--list"])

def test_swallows_the_refusal():
    try:
        subprocess.run(["chromium", "--version"])
    except BaseException:
        pass

def test_asks_for_a_program():
    binary("etcd")

@pytest.mark.verify
def test_is_more_than_slow():
    binary("etcd")

@pytest.mark.proof
def test_compiles():
    subprocess.run(["go", "version"])
"""
"""Tests that do more than their marker says."""
HONEST = """
import subprocess, sys
import pytest

def test_starts_python():
    subprocess.run([sys.executable, "-c", ""], check=True)

def test_has_a_stand_in(tmp_path):
    (tmp_path / "chromium").write_text("#!/bin/sh\\n")
    (tmp_path / "chromium").chmod(0o755)
    subprocess.run(["chromium"], env={{"PATH": str(tmp_path)}}, check=True)

@pytest.mark.proof
def test_looks_for_a_real_one():
    subprocess.run(["{cache}/winkube/binaries/none"], check=False)
"""
REAL = ("tests/cluster/test_flannel.py", "tests/kubeadm/test_flags.py")


def run(*arguments: str | Path, cache: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """One pytest of its own, whose programs were kept below ``cache``."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *map(str, arguments)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTEST_ADDOPTS": ""}
    environment.pop("KUBEBUILDER_ASSETS", None)
    if path is not None:
        environment["PATH"] = path
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def run_file(folder: Path, text: str, *arguments: str, named: bool = True) -> subprocess.CompletedProcess[str]:
    """A test file beside the repository, with its settings and the rules of its runs."""
    file = folder / "tests_of_a_test" / "test_it.py"
    file.parent.mkdir()
    file.write_text(text.format(cache=folder))
    place = file if named else file.parent
    return run("-c", "pyproject.toml", "--rootdir", ".", "-p", "tests.loop", *arguments, place, cache=folder)


def outcomes(said: str) -> dict[str, str]:
    """Name of a test to the first word about it."""
    return dict(re.findall(r"::(\w+) (\w+)", said))


def test_a_folder_runs_its_fast_tests_and_says_what_it_left_out(tmp_path: Path) -> None:
    said = run_file(tmp_path, MARKED, "-v", named=False).stdout
    assert outcomes(said) == {"test_fast": "PASSED"}
    for mark in ("verify", "proof"):
        assert f"left out: 1 test marked {mark} (`make {mark}`, or name the file)" in said


def test_a_file_whose_marker_is_not_chosen_is_not_imported_and_said(tmp_path: Path) -> None:
    broken = "import pytest\n\npytestmark = pytest.mark.verify\n\nraise RuntimeError('imported')\n"
    done = run_file(tmp_path, broken, named=False)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "left out: 1 file marked verify (`make verify`, or name the file)" in done.stdout
    assert "imported" not in done.stdout


@pytest.mark.parametrize(
    ("expression", "marks"),
    [
        (loop.FAST, []),
        ("", ["verify", "proof"]),
        ("verify", ["verify"]),
        ("proof", ["proof"]),
        ("verify or proof", ["verify", "proof"]),
        ("not proof", ["verify"]),
        ("something_else", ["verify", "proof"]),
    ],
)
def test_files_that_may_be_chosen_are_read(expression: str, marks: Sequence[str]) -> None:
    assert [mark for mark in loop.COMMANDS if loop.chosen(expression, mark)] == marks


def test_a_file_that_is_named_runs_whole(tmp_path: Path) -> None:
    assert set(outcomes(run_file(tmp_path, MARKED, "-v").stdout)) == {"test_fast", "test_slow", "test_real"}


@pytest.mark.parametrize(
    ("given", "arguments", "named", "chosen"),
    [
        (loop.FAST, [], [], loop.FAST),
        (loop.FAST, ["tests/docs"], ["tests/docs"], loop.FAST),
        (loop.FAST, ["tests/test_a.py"], ["tests/test_a.py"], ""),
        (loop.FAST, ["tests/test_a.py::test_b"], ["tests/test_a.py::test_b"], ""),
        (loop.FAST, ["-m", loop.FAST, "tests/test_a.py"], ["tests/test_a.py"], loop.FAST),
        (loop.FAST, ["tests/test_a.py", "tests/docs"], ["tests/test_a.py", "tests/docs"], loop.FAST),
        ("proof", ["-mproof", "tests/test_a.py"], ["tests/test_a.py"], "proof"),
    ],
)
def test_what_is_chosen(given: str, arguments: Sequence[str], named: Sequence[str], chosen: str) -> None:
    assert loop.selection(given, arguments, named) == chosen


def test_a_test_that_does_more_than_its_marker_says_fails(tmp_path: Path) -> None:
    """Each with a line that names the marker, even if it swallows the refusal; nothing is started."""
    done = run_file(tmp_path, DECEITFUL, "-rfE", "--tb=short")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    names = set(re.findall(r"def (test_\w+)", DECEITFUL))
    assert {name for name in names if re.search(rf"::{name} .*(starts|asks for)", done.stdout)} == names
    assert "::test_starts_an_installed_validator starts python: mark it with @pytest.mark.verify" in done.stdout
    assert "::test_starts_a_program_of_the_cache starts etcd: mark it with @pytest.mark.proof" in done.stdout
    assert "starts the Go compiler: a test builds nothing" in done.stdout


def test_a_test_that_does_what_its_marker_says_passes(tmp_path: Path) -> None:
    """Python may be started, and a stand-in may have the name of any program."""
    done = run_file(tmp_path, HONEST, "-v")
    assert outcomes(done.stdout) == {
        "test_starts_python": "PASSED", "test_has_a_stand_in": "PASSED", "test_looks_for_a_real_one": "FAILED",
    }, done.stdout  # fmt: skip
    assert "FileNotFoundError" in done.stdout


def assert_skipped_in_words(done: subprocess.CompletedProcess[str], cache: Path) -> None:
    """Nothing was built, and every test that was skipped says in one line what would run it."""
    assert done.returncode == 0, done.stdout[-3000:]
    reasons = re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", done.stdout, re.MULTILINE)
    assert reasons
    words = r"`make (binaries|machines|validators)`|install|needs"
    assert [one for one in reasons if not re.search(words, one)] == []
    made = {path.name for path in cache.glob("winkube/*")}  # evaluations keep the byte code of the SDK there
    assert {name for name in made if not name.startswith("bytecode-")} == set()


def test_proofs_without_their_programs_are_skipped_in_words(tmp_path: Path) -> None:
    done = run("-q", "-rs", "-m", "proof", *REAL, cache=tmp_path)
    assert_skipped_in_words(done, tmp_path)
    assert "passed" not in done.stdout
    assert "`make binaries`" in done.stdout


@pytest.mark.verify
def test_no_proof_builds_anything(tmp_path: Path) -> None:
    """All of them, in a place that has neither programs in the cache nor any on the path."""
    done = run("-q", "-rs", "-m", "proof", "tests", cache=tmp_path, path=str(Path(sys.executable).parent))
    assert_skipped_in_words(done, tmp_path)
