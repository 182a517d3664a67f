"""The wheel, and an environment that has nothing but the wheel and what it asks for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = """
import os, sys
from setuptools import build_meta
source, made = sys.argv[1:]
os.chdir(source)
build_meta.build_wheel(made)
build_meta.build_sdist(made)
"""
"""What `python -m build` does, with what the tests have installed instead of an environment of its own."""


def tracked() -> list[str]:
    """Every file of the repository, those that are not committed yet among them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built from a copy."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-c", BUILD, str(source), str(made)], capture_output=True, check=True)
    return made


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the installed wheel; its Python sees neither the repository nor the tests' packages."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    # The pip of the tests installs into it: another one would take as long as the rest. Byte code is made when needed.
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    pins = ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*command, *pins, f"{wheel}[eks]"], check=True, env={**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"})
    return folder
