"""Shows that the evidence of the coverage ledger is evidence: each break of a ``built`` row makes its test fail.

``python -m tests.mutants`` tries all rows, ``python -m tests.mutants NET CP-36`` some, ``--sample`` those of the day.
The tests run on copies of the repository; a break is a text of one file, replaced, as the row's ``breaks`` says.
"""

import argparse
import contextlib
import importlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from datetime import UTC, date, datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from docs import ledger

ROOT = Path(__file__).resolve().parents[1]
LINKS = "build/mutants"
Say = Callable[[str, str], None]
SAMPLE = 12
PATIENCE_SECONDS = 240
PRELOADED = "pulumi pulumi_aws pulumi_kubernetes pulumi_tls pulumi_policy pydantic jsonschema rich yaml hypothesis"
"""What most tests import and no break touches: a worker imports it once, before it forks."""


@dataclass(frozen=True)
class Row:
    """A row of the ledger with its test and the break that the test must catch."""

    name: str
    test: str
    file: str
    replace: str
    by: str


def rows(entries: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The rows that are ``built`` and say what breaks them, in the order of the ledger."""
    found: list[Row] = []
    for name, entry in entries.items():
        evidence = entry.get("evidence", {})
        if entry["state"] == "built" and "breaks" in evidence:
            breaks = evidence["breaks"]
            place = breaks.get("in", evidence["path"])
            found.append(Row(name, evidence["test"], place, breaks["replace"], breaks["by"]))
    return found


def sample(of: Sequence[Row], day: date, size: int = SAMPLE) -> list[Row]:
    """The rows of a day: far apart in the ledger, and each row once in as many days as the rows need."""
    shares = max(1, -(-len(of) // size))
    return list(of[day.toordinal() % shares :: shares])


def chosen(of: Iterable[Row], wishes: Sequence[str]) -> list[Row]:
    """The rows that the wishes name, by id or by group; all without a wish."""
    return [row for row in of if not wishes or row.name in wishes or row.name.partition("-")[0] in wishes]


def names(test: str, item: str) -> bool:
    """Whether a row's reference means the test of this id; ``[case]`` means the cases ``case`` and ``case-0``."""
    function, _, case = test.removesuffix("]").partition("[")
    other, _, parameters = item.removesuffix("]").partition("[")
    return function == other and (not case or re.sub(r"-\d+$", "", parameters) == case or parameters == case)


def broken(text: str, row: Row) -> str:
    """The text of a file with a row's break in it. Raises ValueError unless the text to break is there just once."""
    if (count := text.count(row.replace)) != 1:
        raise ValueError(f"{row.file} has the text to break {count} times, not once: {row.replace!r}")
    return text.replace(row.replace, row.by)


def copy_to(folder: Path) -> None:
    """Copy the repository's files, and make the import name ``winkube`` mean the copy, also for child processes."""
    kept = [
        ["git", "ls-files", "-z", "-co", "--exclude-standard"],
        ["git", "ls-files", "-z", "-oi", "--exclude-standard", "components/*.zip"],
    ]
    for command in kept:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
    package = folder / LINKS / "winkube"
    package.mkdir(parents=True)
    for place in (*(folder / "components").iterdir(), folder / "preview", folder / "policies"):
        (package / place.name).symlink_to(place)


class Recorder:
    """A pytest plugin: keeps the tests that are wanted and what became of each."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self.wanted = wanted
        self.outcomes: dict[str, str] = {}
        self.details: dict[str, str] = {}
        self.errors: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave only what a row names."""
        items[:] = [item for item in items if any(names(test, item.nodeid) for test in self.wanted)]
        # What a proof started is ended by the last test, which must be one that may do so.
        items.sort(key=lambda item: item.get_closest_marker("proof") is not None)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected proves nothing."""
        if report.failed:
            self.errors.append(str(report.longrepr).strip().splitlines()[-1])

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """What the marker expression leaves out is not run."""
        for item in items:
            self.outcomes[item.nodeid], self.details[item.nodeid] = "skipped", "its test is a proof (`make mutants`)"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Tell a failing test from a skipped one and from a crash of what it tests."""
        report: pytest.TestReport = yield  # pyright: ignore[reportAssignmentType]
        said = self.outcomes.get(item.nodeid)
        if report.skipped and not hasattr(report, "wasxfail"):
            self.outcomes[item.nodeid] = "skipped"
            self.details[item.nodeid] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "")
        elif report.failed and call.excinfo and said != "failed":
            self.outcomes[item.nodeid] = "failed" if is_proof(call.excinfo.value) else "crashed"
            self.details[item.nodeid] = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}"[:300]
        elif report.passed and report.when == "call":
            self.outcomes.setdefault(item.nodeid, "passed")
        return report  # pyright: ignore[reportReturnType]


def is_proof(error: BaseException) -> bool:
    """Whether a test failed because of what it looks at: an assertion, a refusal, or an error of its own lines.

    Anything else that is raised within the library is a crash: a break must change what it does, not just end it.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_proof(part) for part in error.exceptions)
    if isinstance(error, SyntaxError | ImportError | NameError):
        return False
    if isinstance(error, AssertionError | pytest.fail.Exception) or type(error).__module__.startswith("winkube."):
        return True
    here = [place for frame, _ in traceback.walk_tb(error.__traceback__)
            if (place := Path(frame.f_code.co_filename)).is_relative_to(Path.cwd())]  # fmt: skip
    return bool(here) and here[-1].is_relative_to(Path.cwd() / "tests")


def run(tests: Sequence[str], marks: str = "", *, keep_bytecode: bool = False) -> dict[str, Any]:
    """Run tests in a fork of this process, in the current folder, and say what became of them."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            os.setsid()
            sys.dont_write_bytecode = not keep_bytecode
            with Path(os.devnull).open("r+b") as nowhere:
                for stream in range(3):
                    os.dup2(nowhere.fileno(), stream)
            recorder = Recorder(tests)
            files = list(dict.fromkeys(test.partition("[")[0] for test in tests))
            pytest.main(["-q", "-m", marks, "-p", "no:cacheprovider", "-p", "no:xdist", *files], plugins=[recorder])
            said = {"outcomes": recorder.outcomes, "details": recorder.details, "errors": recorder.errors}
            with os.fdopen(writing, "w") as pipe:
                json.dump(said, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    said = b""
    limit = PATIENCE_SECONDS * (1 + len(tests) // 20)
    with os.fdopen(reading, "rb") as pipe:
        while select.select([pipe], [], [], limit)[0] and (part := os.read(pipe.fileno(), 1 << 16)):
            said += part
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(said) if said else {"outcomes": {}, "details": {}, "errors": ["the test did not end"]}


def judge(row: Row, whole: Mapping[str, Any], with_break: Mapping[str, Any]) -> str:
    """What the two runs of a row's test say; ``caught`` is the good one."""
    before = {item: outcome for item, outcome in whole["outcomes"].items() if names(row.test, item)}
    if bad := [item for item, outcome in before.items() if outcome in ("failed", "crashed")]:
        return f"fails without the break: {whole['details'][bad[0]]}"
    if "passed" not in before.values():
        why = next((whole["details"][item] for item in before), "; ".join(whole["errors"]) or "no such test")
        return f"{'not run' if before else 'cannot be run'}: {why}"
    if with_break["errors"]:
        return f"proves nothing, the tests cannot be collected: {with_break['errors'][0]}"
    outcomes = with_break["outcomes"]
    if "failed" in outcomes.values():
        return "caught"
    if crashed := [item for item, outcome in outcomes.items() if outcome == "crashed"]:
        return f"proves nothing, the code crashes: {with_break['details'][crashed[0]]}"
    return f"NOT CAUGHT: the test passes with {row.by!r} in place of {row.replace!r} in {row.file}"


def work(of: Sequence[Row], marks: str) -> Iterator[tuple[str, str]]:
    """Judge rows one after the other, in the copy that is the current folder."""
    whole = run([row.test for row in of], marks, keep_bytecode=True)
    for row in of:
        place = Path(row.file)
        kept, status = place.read_text(encoding="utf-8"), place.stat()
        try:
            verdict = judge(row, whole, {"outcomes": {}, "errors": ["not tried"]})
            if not verdict.endswith("not tried"):  # skipped, or fails anyway
                yield row.name, verdict
                continue
            place.write_text(broken(kept, row), encoding="utf-8")
            yield row.name, judge(row, whole, run([row.test], marks))
        except ValueError as error:
            yield row.name, str(error)
        finally:
            place.write_text(kept, encoding="utf-8")
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def _in_copy(of: Sequence[Row], folder: Path, marks: str, say: Say) -> dict[str, str]:
    """The verdicts of a worker that works in a copy of its own."""
    copy_to(folder)
    path = os.pathsep.join([str(folder / LINKS), str(folder)])
    command = [sys.executable, "-m", "tests.mutants", f"--work={marks}"]
    environment = {**os.environ, "PYTHONPATH": path, "GRPC_ENABLE_FORK_SUPPORT": "0"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    said = {row.name: "the worker ended without a word" for row in of}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as worker:
        assert worker.stdin
        assert worker.stdout
        with worker.stdin as rows_of_worker:
            json.dump([astuple(row) for row in of], rows_of_worker)
        for line in worker.stdout:
            name, _, verdict = line.rstrip("\n").partition("\t")
            if name in said:
                said[name] = verdict
                say(name, verdict)
    return said


def verdicts(
    of: Sequence[Row], workers: int = 2, marks: str = "", say: Say = lambda _name, _verdict: None
) -> dict[str, str]:
    """What became of each row, in the order of the rows.

    :param marks: a marker expression of pytest: rows whose test it leaves out are not run.
    :param say: is told each verdict as soon as there is one.
    """
    # Neighbours in the ledger often share a test's file: rows of one file go to one worker.
    by_file = sorted(of, key=lambda row: row.test)
    size = -(-len(of) // workers) or 1
    shares = [by_file[start : start + size] for start in range(0, len(by_file), size)]
    with tempfile.TemporaryDirectory(prefix="winkube-mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        places = [Path(folder).resolve() / str(number) for number in range(len(shares))]
        said = {
            name: verdict
            for part in pool.map(_in_copy, shares, places, repeat(marks), repeat(say))
            for name, verdict in part.items()
        }
    return {row.name: said[row.name] for row in of}


def is_good(verdict: str) -> bool:
    """Whether a verdict is no problem: the break is caught, or what the test needs is not built here."""
    return verdict == "caught" or verdict.startswith("not run: ")


def main() -> int:
    """Try rows, and end with 1 if the break of one is not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("wishes", nargs="*", metavar="ROW", help="ids or groups of the ledger (default: all)")
    parser.add_argument("--sample", action="store_true", help=f"about {SAMPLE} rows, others each day")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", metavar="MARKS", help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.work is not None:
        for module in PRELOADED.split():
            importlib.import_module(module)
        for name, verdict in work([Row(*row) for row in json.load(sys.stdin)], wish.work):
            print(name, " ".join(verdict.split()), sep="\t", flush=True)
        return 0
    found = chosen(rows(ledger.load(ROOT / "docs" / "coverage.yaml")), wish.wishes)
    if wish.sample:
        found = sample(found, datetime.now(UTC).date())
    said = verdicts(found, wish.workers, say=lambda name, verdict: print(f"{name}: {verdict}", flush=True))
    wrong = [name for name, verdict in said.items() if not is_good(verdict)]
    not_run = sum(verdict.startswith("not run") for verdict in said.values())
    print(f"{len(said)} rows: {len(said) - len(wrong) - not_run} caught, {not_run} not run, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
