"""A new Kubernetes minor changes tables and generated files alone: it is added to a copy of the repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from winkube.tables.kubernetes import minor_number
from winkube.tables.releases import release

from tests.golden import EKS_NEWEST, NEWEST

from .pages import ROOT

pytestmark = pytest.mark.verify

GENERATED = {"README.md", "docs/air-gap.md", "docs/limits.md", "docs/policies.md", "docs/stack.schema.json",
             "docs/windows-nodes.md"}  # fmt: skip
"""Where `make docs` names minors."""
GOLDEN = (
    "tests/tables", "tests/eks/test_cluster_rules.py", "tests/stacks/test_settings.py", "tests/stacks/test_schema.py",
    "tests/stacks/test_reading.py", "tests/stacks/test_kubeadm_settings.py", "tests/kubeadm/test_checks.py",
    "tests/docs/test_pages.py",
)  # fmt: skip
"""Tests with sentences that name minors."""


def following(minor: str) -> str:
    """The minor after this one."""
    return f"1.{minor_number(minor)[1] + 1}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with one minor more on EKS and one more self-managed minor."""
    folder = tmp_path_factory.mktemp("minor") / "winkube"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in [*filter(None, listed.split("\0")), "components/node_agent/vendor.zip"]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    package = folder / "import-name" / "winkube"
    package.mkdir(parents=True)
    for path in [*(folder / "components").iterdir(), folder / "preview", folder / "policies"]:
        (package / path.name).symlink_to(path)
    add_minors(folder / "components" / "tables")
    # The pins of the real programs are a table too. Nothing is built from them here.
    modules = folder / "tests" / "binaries" / "modules"
    shutil.copytree(modules / f"kubernetes-{NEWEST}", modules / f"kubernetes-{following(NEWEST)}")
    return folder


def add_minors(tables: Path) -> None:
    """Rows like those of the newest minors, with the next number."""
    new, row = following(NEWEST), release(NEWEST)
    insert(
        tables / "kubernetes.py",
        "EKS_KNOWN_MINORS: ",
        f'_ROWS = (*_ROWS, _row("{following(EKS_NEWEST)}", _ROWS[-1].since, _ROWS[-1].standard_support_until))\n',
        f'AUTOSCALER_IMAGES = {{**AUTOSCALER_IMAGES, "{following(EKS_NEWEST)}": "v{following(EKS_NEWEST)}.0"}}\n',
    )
    image = f"f'{{_CLOUD_CONTROLLER_MANAGER}}:v{NEWEST}.0'"
    insert(
        tables / "releases.py",
        "SELF_MANAGED_RELEASES: ",
        "from dataclasses import replace\n"
        f'_ROWS = (*_ROWS, replace(_ROWS[-1], minor="{new}", patch="{new}.0", crictl="{NEWEST}.0", '
        f"cloud_controller_manager={image}))\n",
        f'PLANNED = {{"{following(new)}": STATE_OF}}\n',
    )
    flags = json.loads((tables / "kubernetes_flags.json").read_text(encoding="utf-8"))
    flags[new] = {**flags[NEWEST], "version": f"{new}.0"}
    (tables / "kubernetes_flags.json").write_text(json.dumps(flags), encoding="utf-8")
    digests = json.loads((tables / "artefact_digests.json").read_text(encoding="utf-8"))
    for name, versions in digests.items():
        old, version = (row.crictl, f"{NEWEST}.0") if name == "crictl" else (row.patch, f"{new}.0")
        if old in versions and version not in versions:
            versions[version] = {system: stand_in(digest) for system, digest in versions[old].items()}
    (tables / "artefact_digests.json").write_text(json.dumps(digests), encoding="utf-8")


def stand_in(digest: str) -> str:
    """Another digest of the same form."""
    kind, _, value = digest.partition(":")
    return f"{kind}:{value[::-1]}"


def insert(file: Path, before: str, text: str, end: str) -> None:
    """Text before the line that begins so, and at the end."""
    old = file.read_text(encoding="utf-8")
    assert old.count(f"\n{before}") == 1
    file.write_text(old.replace(f"\n{before}", f"\n{text}{before}") + end, encoding="utf-8")


def python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in the copy, with the library of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "import-name"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, timeout=900
    )


def test_tables_and_generated_files_alone_change(tree: Path) -> None:
    """`make docs` names both minors, and every golden sentence follows. No test is edited."""
    before = {path: path.read_bytes() for path in (tree / "docs").rglob("*") if path.is_file()}
    before[tree / "README.md"] = (tree / "README.md").read_bytes()
    made = python(tree, "docs/generate.py", "--write")
    assert made.returncode == 0, made.stderr[-3000:]
    changed = {str(path.relative_to(tree)) for path, text in before.items() if path.read_bytes() != text}
    assert changed == GENERATED
    limits = (tree / "docs" / "limits.md").read_text(encoding="utf-8")
    assert f"\n| {following(EKS_NEWEST)} | " in limits
    assert f"\n| {following(NEWEST)} | {following(NEWEST)}.0 | " in limits
    found = python(tree, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *GOLDEN)
    assert found.returncode == 0, found.stdout[-4000:]
