"""The house: which room may import which, and where things stand."""

import ast
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("components", "stacks", "policies", "preview")


def modules(room: str) -> list[Path]:
    return sorted(path for path in (ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """The absolute names that a module imports; relative ones are resolved to the room's import name."""
    names = {"components": "winkube", "preview": "winkube.preview", "policies": "winkube.policies", "stacks": "stacks"}
    relative = path.relative_to(ROOT)
    package = [*names[relative.parts[0]].split("."), *relative.parts[1:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])])


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
    for room, name in (("components", "winkube"), ("preview", "winkube.preview"), ("policies", "winkube.policies")):
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
