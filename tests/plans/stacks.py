"""The stacks and examples of the repository, each evaluated once, and the folder of their files."""

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.evaluation.invokes import read_answers
from winkube.preview.evaluation.project import read_project
from winkube.preview.model import Plan

from .files import plan_files

ROOT = Path(__file__).resolve().parent.parent.parent
SNAPSHOTS = ROOT / "tests" / "snapshots"
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/Pulumi.yaml"))
IN_PYTHON = [folder for folder in EXAMPLES if (folder / "__main__.py").exists()]
"""The others are tried by the component provider, in tests/plugin."""
STACKS = [(folder, stack) for folder in (ROOT, *IN_PYTHON) for stack in read_project(folder).stacks()]
OPAQUE = frozenset({"windows_for_pulumi_eks"})
"""Examples with a component provider that nobody runs here: in an update its outputs would be missing."""
RENEW = "make snapshots"
_MOST_LINES = 200


def name_of(folder: Path, stack: str) -> str:
    """What the files of a stack are filed under."""
    return f"{'program' if folder == ROOT else folder.name}-{stack}"


@cache
def evaluated(folder: Path, stack: str, mode: str = "preview") -> Plan:
    """A stack with what its folder says of the cloud, where it looks something up. Nobody changes it."""
    return evaluated_now(folder, stack, mode)


def evaluated_now(folder: Path, stack: str, mode: str = "preview") -> Plan:
    """:func:`evaluated`, with the code as it is at this moment."""
    answers = folder / "answers.yaml"
    return evaluate(folder, stack, mode=mode, answers=read_answers(answers) if answers.exists() else None)


def kept_mode(folder: Path) -> str:
    """The mode that says more: an update, which has a placeholder wherever a preview has an unknown."""
    return "preview" if folder.name in OPAQUE else "update"


def kept_plans() -> dict[str, Plan]:
    """The plans of all stacks, as they are kept."""
    return {name_of(folder, stack): evaluated(folder, stack, kept_mode(folder)) for folder, stack in STACKS}


@cache
def current_files() -> Mapping[str, str]:
    """Path to text, as the code makes them now."""
    return plan_files(kept_plans())


def kept_files() -> dict[str, str]:
    """Path to text, as they lie in the repository."""
    return {
        path.relative_to(SNAPSHOTS).as_posix(): path.read_bytes().decode("utf-8")
        for path in sorted(SNAPSHOTS.rglob("*"))
        if path.is_file()
    }


def difference(kept: Mapping[str, str], current: Mapping[str, str]) -> str:
    """What a reviewer would see, and how to accept it; nothing where all is as it was."""
    lines = [line for path in sorted(kept.keys() | current.keys()) for line in _changed(path, kept, current)]
    if not lines:
        return ""
    more = [f"... and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
    return "\n".join([*lines[:_MOST_LINES], *more, f"If this is wanted: {RENEW}, and review the difference."])


def _changed(path: str, kept: Mapping[str, str], current: Mapping[str, str]) -> Iterator[str]:
    if path not in current:
        yield f"{path}: nothing makes this file any more"
    elif path not in kept:
        yield f"{path}: a new file"
    elif kept[path] != current[path]:
        before, after = kept[path].split("\n"), current[path].split("\n")
        yield from difflib.unified_diff(before, after, f"kept/{path}", f"now/{path}", lineterm="", n=2)


def renew() -> None:
    """Write the files as the code makes them now, and remove those that it does not make any more."""
    current = current_files()
    for path in kept_files().keys() - current.keys():
        (SNAPSHOTS / path).unlink()
    for path, text in current.items():
        file = SNAPSHOTS / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    for folder in sorted((path for path in SNAPSHOTS.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
