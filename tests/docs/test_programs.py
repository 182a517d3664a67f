"""Python on the pages: every block is a program that runs, alone or after those that stand before it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from winkube.testing import problems, record_program

from .pages import FILES, ROOT, Fence, fences_of

PYTHON = {str(file.relative_to(ROOT)): found for file in FILES if (found := fences_of(file, "python"))}
CONTINUES = re.compile(r"continues (\S+\.md)")
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PROJECT = "name: page\nruntime: python\n"
CONFIG = 'config: {"aws:region": eu-west-1}\n'


def program(page: str) -> str:
    """The blocks of a page as one program, after those of the page that it continues."""
    parts: list[str] = []
    for fence in PYTHON[page]:
        if before := CONTINUES.fullmatch(fence.title):
            parts.append(program(str((Path(page).parent / before[1]).as_posix())))
        parts.append(fence.text)
    return "\n".join(parts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of Pulumi, with the one file that pages speak of."""
    (tmp_path / "Pulumi.yaml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "Pulumi.dev.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "ca.crt").write_text(CERTIFICATE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("fence", [fence for found in PYTHON.values() for fence in found], ids=str)
def test_a_block_stands_alone_or_says_what_it_continues(fence: Fence) -> None:
    assert fence.title == "" or CONTINUES.fullmatch(fence.title)


@pytest.mark.verify
@pytest.mark.parametrize("page", PYTHON)
def test_the_program_of_a_page_runs(folder: Path, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes resources without a finding, or is a test that passes, or prints something."""
    text = program(page)
    (folder / "__main__.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    plan = record_program(folder, "dev")
    if made := [resource for resource in plan.resources if resource.type != "pulumi:pulumi:Stack"]:
        assert problems(plan) == []
        assert len(record_program(folder, "dev", preview=False).resources) >= len(made)
        return
    if tests := re.findall(r"^def test_", text, flags=re.M):
        (folder / "test_page.py").write_text(text, encoding="utf-8")
        assert f"{len(tests)} passed" in said("-m", "pytest", "-p", "no:cacheprovider", "test_page.py", cwd=folder)
        return
    assert said("__main__.py", cwd=folder).strip()


def said(*arguments: str, cwd: Path) -> str:
    """What Python prints; it must end well."""
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
