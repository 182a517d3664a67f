"""The worker process that evaluates stacks: ``python -P -m winkube.preview.pipeline.worker``.

Reads requests from standard input and writes answers to standard output, each as a line of JSON. The output of the
programs goes to standard error, with a mark after each answer. The evaluator is the installed one. The program and the
packages of its repository are those of the checkout, so that a change in a library shows, even if that library is
``winkube`` itself.
"""

import gc
import importlib
import json
import os
import sys
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

from ..comparison.comparable import fingerprint_assets, relocate, shorten_sources
from ..errors import PreviewError
from ..evaluation.evaluate import evaluate
from ..evaluation.invokes import read_answers
from ..model import Plan
from ..output.timeline import timeline
from .processes import MARK
from .run_checks import run_checks
from .wire import pack

_OWN = "winkube"


def main() -> None:
    """Answer requests until there are no more. Nothing that a program does to its standard output breaks an answer."""
    gc.disable()  # as in a command: a process lives for a few evaluations
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # a program that asks for input gets an end, not a wait
    for line in requests:
        answer = json.dumps(_answered(json.loads(line))).encode()
        sys.stdout.flush()
        sys.stderr.flush()
        with suppress(OSError):
            os.write(2, MARK)
        channel.write(answer + b"\n")
        channel.flush()
    os._exit(0)  # threads that the program left behind must not keep the process


def _answered(request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if request["kind"] == "timeline":
            return {"answer": asdict(timeline(_evaluated(request)))}
        plan = checked_plan(request) if request["kind"] == "checked" else compared_plan(request)
        return {"answer": pack(plan)}
    except PreviewError as error:
        text = str(error)
        return {"error": text.replace(request["checkout"] + os.sep, "") if request["kind"] == "compared" else text}


def checked_plan(request: Mapping[str, Any]) -> Plan:
    """Evaluate a stack of the working tree and run all checks on it; its plan is shown as it is.

    :raises PreviewError: the program, its settings or the policy pack is wrong.
    """
    plan = _evaluated(request)
    run_checks(plan, _path(request["policies"]), _path(request["policy_config"]))
    return plan


def _evaluated(request: Mapping[str, Any]) -> Plan:
    answers = read_answers(Path(request["answers"])) if request["answers"] else None
    roots = [Path(request[name]) for name in ("checkout", "repository") if request[name]]
    with packages_of(*roots) if roots else nullcontext():
        return evaluate(request["program"], request["stack"], mode=request["mode"], answers=answers)


def compared_plan(request: Mapping[str, Any]) -> Plan:
    """Evaluate one side of a comparison, run all checks on it and make it comparable.

    :raises PreviewError: the program, its settings or the policy pack is wrong.
    """
    checkout, repository = Path(request["checkout"]), Path(request["repository"])
    sys.dont_write_bytecode = checkout != repository
    plan = _evaluated(request)
    fingerprint_assets(plan, Path(request["program"]))
    if checkout != repository:
        relocate(plan, str(checkout), str(repository))
    shorten_sources(plan, Path(request["program"]), checkout)
    run_checks(plan, _path(request["policies"]), _path(request["policy_config"]))
    return plan


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


# -- the packages of a checkout ------------------------------------------------------------------------------------


class _Checkout:
    """Finds packages in a checkout that are installed from the repository in editable mode."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a package that belongs to the checkout, None for every other module."""
        folder = self._folders.get(fullname)
        if folder is None:
            return None
        if (folder / "__init__.py").is_file():
            return spec_from_file_location(fullname, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if folder.with_suffix(".py").is_file():
            return spec_from_file_location(fullname, folder.with_suffix(".py"))
        raise ModuleNotFoundError(f"No module named {fullname!r} in this revision", name=fullname)


@contextmanager
def packages_of(checkout: Path, repository: Path) -> Generator[None]:
    """Import the packages of the repository from ``checkout``, and all others from where they are installed."""
    folders = dict(_own_packages(checkout, repository))
    finder, path = _Checkout(folders), list(sys.path)
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if _in_checkout(name, folders)}
    sys.path[:] = [_moved(entry, checkout, repository) for entry in sys.path]
    sys.meta_path.insert(0, finder)
    try:
        if _OWN in folders:
            # The new package has the evaluator that is running now, whatever the revision has.
            vars(importlib.import_module(_OWN))["preview"] = sys.modules[f"{_OWN}.preview"]
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.path[:] = path
        for name in [name for name in sys.modules if _in_checkout(name, folders)]:
            del sys.modules[name]
        sys.modules.update(saved)


def _own_packages(checkout: Path, repository: Path) -> Iterator[tuple[str, Path]]:
    """Import name to folder, of what is installed from the repository in editable mode, and of winkube itself."""
    for finder in sys.meta_path:
        module = sys.modules.get(str(getattr(finder, "__module__", "")))
        for name, folder in dict(getattr(module, "MAPPING", None) or {}).items():
            if Path(folder).is_relative_to(repository) and not _is_evaluator(name):
                yield name, checkout / Path(folder).relative_to(repository)
    if _is_winkube(checkout):
        yield _OWN, checkout / "components"
        yield f"{_OWN}.policies", checkout / "policies"


def _is_winkube(checkout: Path) -> bool:
    try:
        project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return project.get("project", {}).get("name") == _OWN and (checkout / "components" / "__init__.py").is_file()


def _is_evaluator(name: str) -> bool:
    return name == f"{_OWN}.preview" or name.startswith(f"{_OWN}.preview.")


def _in_checkout(name: str, folders: Mapping[str, Path]) -> bool:
    return not _is_evaluator(name) and any(name == top or name.startswith(f"{top}.") for top in folders)


def _moved(entry: str, checkout: Path, repository: Path) -> str:
    """An entry of the module path, moved to the checkout. A virtual environment inside the repository stays."""
    folder = Path(entry or ".").resolve()
    if not folder.is_relative_to(repository) or folder.is_relative_to(Path(sys.prefix).resolve()):
        return entry
    return str(checkout / folder.relative_to(repository))


if __name__ == "__main__":
    main()
