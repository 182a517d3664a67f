"""The real programs, for tests: built once per machine from ordinary Go modules.

``binary("kube-apiserver", minor="1.37")`` gives the path of a program that is built, and builds nothing itself: the
test that asks for another one is skipped, with the command that builds it. ``KUBEBUILDER_ASSETS`` wins for Linux
programs that lie there, for the minor that its kube-apiserver reports.

``python -m tests.binaries`` builds what the tests use.
"""

import os as system
import re
import subprocess
from functools import cache as cached
from pathlib import Path

import pytest

from tests import loop

from .build import built, folder
from .recipes import DEFAULT_MINOR, EKS_ONLY, MINORS, recipe_for

__all__ = ["DEFAULT_MINOR", "EKS_ONLY", "MINORS", "binary", "version"]


def binary(name: str, *, minor: str = DEFAULT_MINOR, os: str = "linux") -> Path:
    """Path of a program; ``name`` without ``.exe``, ``os`` ``linux`` or ``windows``.

    Programs that do not belong to Kubernetes (etcd, kwok, containerd, flanneld, CNI plug-ins) are the same for each
    minor. Only a test that is marked ``proof`` may ask: any other would be skipped on most machines, and nobody knew.
    """
    loop.refuse_unless_proof(f"asks for the program {name}")
    recipe = recipe_for(name, minor, os)
    assets = system.environ.get("KUBEBUILDER_ASSETS")
    if assets and os == "linux" and recipe.minor in (None, _minor_of(assets)):
        given = Path(assets) / name
        if given.is_file():
            return given
    if not built(recipe):
        pytest.skip(f"{recipe.title} is not built: `{recipe.command}` does it")
    return folder(recipe) / recipe.file(name)


def version(name: str, *, minor: str = DEFAULT_MINOR, os: str = "linux") -> str:
    """The pinned version of a program, as ``v1.36.4``."""
    return recipe_for(name, minor, os).version


@cached
def _minor_of(assets: str) -> str | None:
    server = Path(assets) / "kube-apiserver"
    if not server.is_file():
        return None
    said = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"v(\d+\.\d+)\.", said)
    return found[1] if found else None
