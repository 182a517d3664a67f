"""Commands in the documentation: run here as they stand, or marked with what they need."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from winkube.node_agent.vendoring import VENDOR, ensure
from winkube.preview.cli import main as cli

from .pages import BLOCKS, NEEDS, ROOT, RUN_HERE, Fence, own_commands

pytestmark = pytest.mark.verify

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
PROGRAMS = {
    "needs AWS": ("aws", "pulumi", "winkube cluster", "winkube inventory", "dig"),
    "needs Pulumi": ("pulumi",),
    "needs a cluster": ("kubectl",),
    "needs a package index": ("pip install",),
    "needs a release": (r"v\d",),
    "on a node": ("kubeadm", "crictl", "journalctl", "python3 /opt/winkube/agent.pyz", "kubectl", "curl"),
}
"""What has to stand in a block for its mark to be true."""
FIRST_PAGES = ("README.md", "docs/tutorial.md")
"""Pages that a newcomer reads from the top of a fresh clone. All others come after README's Install."""
INSTALL = [block for block in RUN_HERE if block.page == "README.md"][:1]
MARK = "-- block"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this repository as it stands, with the virtual environment that `make` would make in it.

    Nothing is downloaded: the packages are those of the environment that runs the tests.
    """
    folder = tmp_path_factory.mktemp("docs") / "winkube"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(folder)], check=True)
    changed = subprocess.run(
        ["git", "diff", "--name-only", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in changed.stdout.splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    # What an installation leaves beside the code and in the cache: the vendored part of the node agent.
    archive = VENDOR.relative_to(ROOT)
    shutil.copy(VENDOR, folder / archive)
    ensure(folder, folder / archive, folder.parent / ".cache" / "winkube" / "vendor")
    environment = folder / ".venv"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # addsitedir also reads the .pth file by which an editable installation is found.
    (packages / "packages_of_the_tests.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    program = environment / "bin" / "winkube"
    program.write_text(f"#!{environment}/bin/python\nimport sys\nfrom {cli.__name__} import main\nsys.exit(main())\n")
    program.chmod(0o755)
    for stamp in (".python", ".run", ".dev"):
        (environment / stamp).touch()
    return folder


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_here_or_says_what_it_needs(block: Fence) -> None:
    assert block.title in ("", *NEEDS)
    if block.title:
        assert any(re.search(rf"(^|\s|\()\.?/?{program}\b", block.text) for program in PROGRAMS[block.title])


@pytest.mark.parametrize("page", sorted({block.page for block in RUN_HERE}))
def test_the_commands_of_a_page_run_as_a_newcomer_types_them(checkout: Path, page: str) -> None:
    """In one shell and in the order of the page. Who opens another page than the two first ones has done Install."""
    blocks = [block for block in RUN_HERE if block.page == page]
    if page not in FIRST_PAGES:
        blocks = [*INSTALL, *blocks]
    lines = [line for block in blocks for line in (f"echo {MARK} {block}", f"echo {MARK} {block} >&2", block.text)]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)], cwd=checkout, env=newcomer(checkout.parent),
        capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = [part.partition("\n")[2].strip() for part in done.stdout.split(MARK)[1:]]
    assert len(said) == len(blocks)
    assert all(said), [str(block) for block, words in zip(blocks, said, strict=True) if not words]


def newcomer(home: Path) -> dict[str, str]:
    """The environment of somebody who has just logged in: nothing of the tests' own environment is on the path."""
    ours = {Path(sys.executable).parent, Path(sys.prefix) / "bin"}
    path = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) not in ours]
    return {"HOME": str(home), "LANG": "C.UTF-8", "PATH": os.pathsep.join(path)}


def test_the_first_command_is_not_found_without_the_environment(checkout: Path) -> None:
    """So that the test above cannot pass by what happens to be installed."""
    done = subprocess.run(["bash", "-c", "winkube --help"], cwd=checkout, env=newcomer(checkout.parent), check=False)
    assert done.returncode == 127


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
