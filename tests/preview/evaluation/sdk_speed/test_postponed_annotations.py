"""SDK modules with postponed annotations say the same of themselves as ordinary ones, and the cache is never wrong."""

import importlib
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from winkube.preview.evaluation.sdk_speed import postponed_annotations

pytestmark = pytest.mark.verify

SHAPES = """
import json, sys, typing, pulumi
from contextlib import ExitStack
from winkube.preview.evaluation.sdk_speed import postponed_annotations
import pulumi_aws
with ExitStack() as stack:
    if sys.argv[1] == "postponed":
        postponed_annotations.PATCH.apply(stack)
    from pulumi_aws.sqs import queue
    from pulumi_aws.sqs import _inputs
from pulumi import _types
from winkube.preview.checks import sdk_inputs
assert isinstance(queue.QueueArgs.fifo_queue.fget.__annotations__["return"], str) == (sys.argv[1] == "postponed")
names, hints = sdk_inputs._properties(queue.QueueArgs)
print(names, hints, _types.resource_types(queue.Queue), _types.input_type_types(queue.QueueArgs),
      typing.get_type_hints(queue.QueueArgs.__init__), queue.Queue.__doc__)
"""


def run(kind: str, home: Path) -> str:
    command = [sys.executable, "-c", SHAPES, kind]
    environment = {"XDG_CACHE_HOME": str(home), "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_class_says_the_same_of_its_types(tmp_path: Path) -> None:
    """Ordinarily imported, compiled now, and from the cache."""
    ordinary = run("ordinary", tmp_path)
    assert "fifoQueue" in ordinary
    assert run("postponed", tmp_path) == ordinary
    assert len(list((tmp_path / "winkube").glob("bytecode-*/*"))) >= 2
    assert run("postponed", tmp_path) == ordinary


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A generated package with one module, and a cache of its own."""
    folder = tmp_path / "pulumi_sample"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_utilities.py").write_text("")
    (folder / "thing.py").write_text("def make(a: Missing) -> None: ...\nVALUE = 1\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    functions = (postponed_annotations._cache, postponed_annotations._kept, postponed_annotations._generated)
    for function in functions:
        function.cache_clear()
    yield folder
    for name in ("pulumi_sample", "pulumi_sample.thing"):
        sys.modules.pop(name, None)
    for function in functions:
        function.cache_clear()


def load() -> Any:
    sys.modules.pop("pulumi_sample.thing", None)
    importlib.import_module("pulumi_sample")
    with ExitStack() as stack:
        postponed_annotations.PATCH.apply(stack)
        return importlib.import_module("pulumi_sample.thing")


def test_a_changed_source_of_the_same_time_and_size_is_seen(package: Path) -> None:
    """Wheels may give every file the same time: only the content tells one version from another."""
    assert load().VALUE == 1
    assert load().make.__annotations__["a"] == "Missing"
    (package / "thing.py").write_text("def make(a: Missing) -> None: ...\nVALUE = 2\n")
    assert load().VALUE == 2


def test_broken_bytecode_is_made_anew(package: Path) -> None:
    assert load().VALUE == 1
    for file in Path(postponed_annotations._cache()).iterdir():
        file.write_bytes(file.read_bytes()[:20])
    assert load().VALUE == 1


def test_without_a_cache_a_module_is_imported_as_ever(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "thing.py").write_text("def make(a: int) -> None: ...\nVALUE = 3\n")
    (package.parent / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(package.parent / "file"))
    assert load().make.__annotations__["a"] is int


def test_packages_that_are_not_generated_are_left_alone(package: Path) -> None:
    (package / "_utilities.py").unlink()
    (package / "thing.py").write_text("def make(a: int) -> None: ...\n")
    assert load().make.__annotations__["a"] is int
