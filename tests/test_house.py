"""The house: which room may import which, and where things stand."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
HOUSE: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "rooms.yaml").read_text(encoding="utf-8"))
NAMES: dict[str, str] = {folder: facts["name"] for folder, facts in HOUSE.items()}
"""The folders of the house and their import names."""
ROOMS = tuple(NAMES)
FACES = {f"{folder}/{face}.py" for folder, facts in HOUSE.items() for face in facts["faces"]}
SELF_MANAGED = ("addons", "admission", "control_plane", "instance_groups", "kubeadm", "node_agent", "ops",
                "pod_network", "system_services", "windows_boot")  # fmt: skip


def modules(room: str) -> list[Path]:
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The absolute names that a module imports; relative ones are resolved to the room's import name."""
    relative = path.relative_to(ROOT)
    package = [*NAMES[relative.parts[0]].split("."), *relative.parts[1:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            submodules = [f"{name}.{alias.name}" for alias in node.names if f"{name}.{alias.name}" in _files()]
            yield from submodules or [name]


@cache
def _files() -> dict[str, Path]:
    """Every module of the house by its import name."""
    found: dict[str, Path] = {}
    for room, name in NAMES.items():
        for path in modules(room):
            parts = path.relative_to(ROOT / room).with_suffix("").parts
            found[".".join([name, *(parts[:-1] if parts[-1] == "__init__" else parts)])] = path
    return found


def room_of(name: str) -> str | None:
    """The room that an import leads into, None for everything outside."""
    if name == "stacks" or name.startswith("stacks."):
        return "stacks"
    if name == "winkube" or name.startswith("winkube."):
        second = name.split(".")[1] if "." in name else ""
        return second if second in ("preview", "policies") else "components"
    return "components" if name.split(".")[0] == "components" else None


ALLOWED = {
    "components": {"components"},
    "stacks": {"stacks", "components"},
    "policies": {"policies", "components"},
    "preview": {"preview"},
}
DOORS = {"components/testing.py": "preview"}
"""What leads out of a room on purpose: the help for tests brings the recorder to other people's programs."""


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    """__main__ → stacks → components; policies → components; preview knows none of them."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(room)
        for name in imported(path)
        if (target := room_of(name))
        and target not in ALLOWED[room]
        and DOORS.get(str(path.relative_to(ROOT))) != target
    ]
    assert wrong == []


@cache
def arrows() -> list[tuple[Path, Path]]:
    """Every import of one module of the house by another."""
    files = _files()
    return [(path, files[name]) for path in files.values() for name in imported(path) if name in files]


def place(path: Path) -> tuple[str, str]:
    """The folder of a module, and its room there."""
    folder, *rest = path.relative_to(ROOT).parts
    return folder, rest[0].removesuffix(".py")


def climbing(found: Iterable[tuple[Path, Path]]) -> list[str]:
    """The imports within a folder that do not lead down to a lower floor."""
    level = {(folder, room): number for folder, facts in HOUSE.items()
             for number, rooms in enumerate(facts["floors"]) for room in rooms}  # fmt: skip
    wrong: list[str] = []
    for source, target in found:
        here, there = place(source), place(target)
        if here[0] != there[0] or here == there or source.relative_to(ROOT).as_posix() in FACES:
            continue
        if target.name == "__init__.py" and target.parent.parent == ROOT:
            continue  # the folder itself
        if level[here] <= level[there]:
            wrong.append(f"{source.relative_to(ROOT)} imports {target.relative_to(ROOT)}")
    return wrong


def test_no_arrow_runs_back_up() -> None:
    """A room imports rooms of lower floors only, so a reader goes down and never in a circle."""
    assert climbing(arrows()) == []


def test_an_arrow_that_runs_back_up_would_be_found() -> None:
    down = (ROOT / "components" / "eks" / "cluster.py", ROOT / "components" / "core" / "names.py")
    up, beside = down[::-1], (down[0], ROOT / "components" / "instance_groups" / "spec.py")
    assert climbing([down]) == []
    assert climbing([up, beside]) == [
        "components/core/names.py imports components/eks/cluster.py",
        "components/eks/cluster.py imports components/instance_groups/spec.py",
    ]


def test_every_room_has_its_floor() -> None:
    """A new room is put on a floor; a room that is gone leaves the table."""
    for folder, facts in HOUSE.items():
        rooms = {place(path)[1] for path in modules(folder) if path.relative_to(ROOT).as_posix() not in FACES}
        assert rooms == {room for rooms in facts["floors"] for room in rooms}, folder


def test_no_modules_import_each_other_in_a_circle() -> None:
    below: dict[Path, set[Path]] = {}
    for source, target in arrows():
        if source != target and target.name != "__init__.py":
            below.setdefault(source, set()).add(target)
    TopologicalSorter(below).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("room", SELF_MANAGED)
def test_nothing_self_managed_imports_eks(room: str) -> None:
    """What both flavours need stands in a room of its own, such as ``ec2``; not even by a detour is EKS imported."""
    below: dict[Path, set[Path]] = {}
    for source, target in arrows():
        below.setdefault(source, set()).add(target)
    seen: set[Path] = set()
    open_ones = [path for path in modules("components") if place(path)[1] == room]
    while open_ones:
        path = open_ones.pop()
        if path not in seen:
            seen.add(path)
            open_ones += [it for it in below.get(path, ()) if it != ROOT / "components" / "__init__.py"]
    assert [path for path in seen if place(path) == ("components", "eks")] == []


def lost(page: str) -> list[str]:
    """The places that a page names and that are not there: a file, a folder, or a definition in a file."""
    wrong: list[str] = []
    for file, _, name in re.findall(r"`((?:components|stacks|policies|preview|tests)/[\w./]+)(:(\w+))?`", page):
        path = ROOT / file
        if not path.exists() or (name and not re.search(rf"^(def|class) {name}\b", path.read_text("utf-8"), re.M)):
            wrong.append(f"{file}:{name}")
    return wrong


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/conventions.md"])
def test_what_a_page_for_contributors_names_is_there(page: str) -> None:
    assert lost((ROOT / page).read_text(encoding="utf-8")) == []


def test_a_place_that_is_gone_would_be_found() -> None:
    page = "`preview/model.py:Plan`, `preview/model.py:Nothing`, `components/objects/flannel.py`, `components/eks/`"
    assert lost(page) == ["preview/model.py:Nothing", "components/objects/flannel.py:"]


def test_a_wrong_arrow_would_be_found() -> None:
    """The check above can fail: it sees absolute and relative imports of a forbidden room."""
    assert room_of("winkube.preview.model") == "preview"
    assert room_of("winkube.core.cidr") == "components"
    assert room_of("stacks.config.settings") == "stacks"
    assert room_of("pulumi") is None


def test_nobody_imports_a_room_by_its_folder() -> None:
    """There is one import name: nobody writes ``import components``, so no class exists twice."""
    for room in ROOMS:
        for path in modules(room):
            assert not [name for name in imported(path) if name.split(".")[0] == "components"], path


def test_policies_import_only_pure_rooms() -> None:
    """A policy pack runs without the AWS SDK: what it imports of the library makes no resources."""
    heavy = {"pulumi_aws", "pulumi_kubernetes"}
    for path in modules("policies"):
        for name in imported(path):
            assert name.split(".")[0] not in heavy, path


@pytest.mark.parametrize("room", ROOMS)
def test_component_modules_keep_their_annotations(room: str) -> None:
    """Postponed annotations break the component analyser: no module uses them."""
    for path in modules(room):
        assert "annotations" not in future_imports(path), path


def future_imports(path: Path) -> set[str]:
    """What a module postpones; the module itself, with its flags, may be imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for alias in node.names}  # fmt: skip


def test_every_package_is_in_the_wheel() -> None:
    """A new room must be named in pyproject.toml, or it is missing in the wheel."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found: set[str] = set()
    for room, name in NAMES.items():
        if room == "stacks":
            continue  # the program is not part of the wheel
        packages = (path.parent for path in modules(room) if path.name == "__init__.py")
        found |= {".".join([name, *package.relative_to(ROOT / room).parts]) for package in packages}
    assert listed == found


def test_the_public_names_are_there_and_sorted() -> None:
    """``winkube.__all__`` is sorted, and every name leads to something; asking costs nothing before."""
    package = importlib.import_module("winkube")
    assert list(package.__all__) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing


def test_importing_the_library_imports_no_sdk() -> None:
    """``import winkube`` costs nothing: SDKs come with the names that need them."""
    code = "import sys, winkube; print([m for m in sys.modules if m.startswith(('pulumi', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
