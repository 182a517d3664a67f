"""The three test commands: what a test's marker says of its cost, and what a test may start because of it.

No marker: ``make test``, which is also a plain ``pytest``. ``verify``: slow, and still Python alone. ``proof``: the
real programs. The marker is written where the test is; this module sees to it that nobody forgets one.
"""

import gc
import os
import re
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

FAST = "not verify and not proof"
"""What a plain ``pytest`` selects, in ``pyproject.toml``."""
COMMANDS: Mapping[str, str] = {"verify": "make verify", "proof": "make proof"}
OUTSIDE = frozenset(
    (
        *("go", "wine", "wine64", "wineserver", "wineserver64", "x86_64-w64-mingw32-as", "x86_64-w64-mingw32-ld"),
        *("chromium", "chromium-browser", "google-chrome", "dot", "pulumi", "aws", "cloud-init", "npm", "node"),
        *("systemd-nspawn", "debootstrap", "haproxy", "unshare", "nsenter", "mount", "ip"),
    )
)
"""Programs that a clone with its Python environment does not have: what starts one is a proof."""
BUILDERS = frozenset({"tests.binaries", "tests.boot"})
"""Modules of Python that build, or need what was built."""
_MODULE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(verify|proof)\b", re.MULTILINE)
"""The marker of a whole file."""
_KNOWN = frozenset({*COMMANDS, "and", "or", "not"})
_EVENTS = {"subprocess.Popen": 1, "os.posix_spawn": 1, "os.exec": 1}
"""Python's audit events of a process that starts, with the place of its arguments."""


class NotDeclaredError(AssertionError):
    """A test does what its marker does not allow."""


class _Now:
    """The test that runs in this process."""

    item: pytest.Item | None = None
    refused: str | None = None
    """What was refused to it, should it swallow the error."""
    watched = False


def selection(given: str, arguments: Sequence[str], named: Sequence[str]) -> str:
    """The marker expression of a run: a file or a test that is named runs whatever its marker is.

    :param given: the expression that pytest has read, the default or the user's own.
    :param arguments: the command line; an expression of its own always wins.
    :param named: what of it is a place.
    """
    own = any(one.startswith("-m") for one in arguments)
    narrow = bool(named) and all("::" in one or one.endswith(".py") for one in named)
    return "" if narrow and not own and given == FAST else given


def kept(command: Sequence[str]) -> str | None:
    """The marker that a command needs because of what it starts from the cache, or from KUBEBUILDER_ASSETS."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winkube"
    built = [cache / "binaries", cache / "boot", *map(Path, filter(None, [os.environ.get("KUBEBUILDER_ASSETS")]))]
    if any(Path(one).is_relative_to(folder) for one in command for folder in built):
        return "proof"
    return "verify" if Path(command[0]).is_relative_to(cache) else None


def refusal(marks: Iterable[str], command: Sequence[str], path: str | None = None) -> str | None:
    """Why a test with these marks may not start a command; None if it may.

    Stand-ins of a test's own, in its temporary folder, may have any name. Nothing but ``make binaries`` and ``make
    machines`` runs the compiler, whatever the mark.
    """
    marks = set(marks)
    program = shutil.which(command[0], path=path) or command[0]
    name = Path(program).name
    outside = name in OUTSIDE and not Path(program).is_relative_to(tempfile.gettempdir())
    if name == "go" and outside:
        return "starts the Go compiler: a test builds nothing; give the program a recipe in tests/binaries/recipes.py"
    if "proof" in marks:
        return None
    mark = "proof" if outside or not BUILDERS.isdisjoint(command) else kept(command)
    return None if mark is None or mark in marks else f"starts {name}: mark it with @pytest.mark.{mark}"


def refuse_unless_proof(what: str) -> None:
    """Fail the running test unless it is a proof; outside of tests nothing is refused."""
    if _Now.item is not None and not _Now.item.get_closest_marker("proof"):
        _refuse(f"{what}: mark it with @pytest.mark.proof")


def _refuse(reason: str) -> None:
    assert _Now.item is not None
    _Now.refused = f"{_Now.item.nodeid} {reason}"
    raise NotDeclaredError(_Now.refused)


def watch() -> None:
    """Look at every process that a test starts; an audit hook stays for the life of the interpreter."""
    if not _Now.watched:
        _Now.watched = True
        sys.addaudithook(_on_event)


def _on_event(event: str, values: tuple[Any, ...]) -> None:
    if event not in _EVENTS or _Now.item is None:
        return
    given = values[_EVENTS[event]]
    command = [os.fsdecode(one) for one in ([given] if isinstance(given, str | bytes | os.PathLike) else given)]
    environment = values[-1]
    path = environment.get("PATH") if isinstance(environment, Mapping) else None
    reason = refusal((mark.name for mark in _Now.item.iter_markers()), command, path)
    if reason:
        _refuse(reason)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Know which test runs, its fixtures included."""
    _Now.item, _Now.refused = item, None
    try:
        return (yield)
    finally:
        _Now.item = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """A refusal that the test swallowed fails it all the same."""
    result = yield
    if _Now.refused:
        pytest.fail(_Now.refused, pytrace=False)
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Choose what runs; in a worker of pytest-xdist that is done already."""
    watch()
    if not hasattr(config, "workerinput"):
        option = config.option
        option.markexpr = selection(option.markexpr, config.invocation_params.args, config.args)


def chosen(expression: str, mark: str) -> bool:
    """Whether a marker expression may choose tests that are marked so."""
    if not expression or not _KNOWN.issuperset(re.findall(r"\w+", expression)):
        return True
    return bool(eval(expression, {}, {name: name == mark for name in COMMANDS}))  # noqa: S307 (four known words)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file whose marker is not chosen is not even imported: that costs more than many a test."""
    if not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    found = _MODULE.search(collection_path.read_text(encoding="utf-8"))
    if found is None or chosen(config.option.markexpr, found[1]):
        return None
    _left_out(config, found[1])["file"] += 1
    return True


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what the marker expression left out."""
    for item in items:
        for mark in COMMANDS:
            if item.get_closest_marker(mark):
                _left_out(item.config, mark)["test"] += 1
                break


_LEFT_OUT = pytest.StashKey[dict[str, Counter[str]]]()


def _left_out(config: pytest.Config, mark: str) -> Counter[str]:
    return config.stash.setdefault(_LEFT_OUT, {name: Counter() for name in COMMANDS})[mark]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What was left out, with the command that runs it; and the CPU, which says more than minutes on a busy machine."""
    for mark, counts in config.stash.get(_LEFT_OUT, {}).items():
        if counts and config.option.markexpr == FAST:
            said = " and ".join(f"{number} {what}{'s' * (number > 1)}" for what, number in sorted(counts.items()))
            terminalreporter.write_line(f"left out: {said} marked {mark} (`{COMMANDS[mark]}`, or name the file)")
    if not hasattr(config, "workerinput"):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        terminalreporter.write_line(f"{sum(one.ru_utime + one.ru_stime for one in used):.0f} seconds of CPU")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays to the end: the garbage collector need not look at it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
