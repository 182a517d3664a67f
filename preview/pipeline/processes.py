"""Runs jobs in parallel worker processes (:mod:`winkube.preview.pipeline.worker`).

Answers come in the order of the jobs, whichever finishes first. The output of a program comes with the answer to its
job, so that a caller can show it in that order as well.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import PreviewError
from ..evaluation.sdk_speed import SAID

MODULE = "winkube.preview.pipeline.worker"
MARK = b"\0winkube: answered\0"
"""A worker writes this to its standard error after each answer."""
SECONDS_FOR_TEXT = 10.0
"""How long to wait for the mark after an answer: a program may have closed its standard error."""
_LONGEST_TEXT = 4 << 20
GIT_LOCAL = frozenset(
    ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
     "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_WORK_TREE")
)  # fmt: skip
"""The names that ``git rev-parse --local-env-vars`` gives, except those of settings."""


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluation in a worker process."""

    folder: Path
    """The working folder of its process. Jobs of one folder may share a process, one after the other."""
    request: Mapping[str, Any]
    """The request, as :mod:`winkube.preview.pipeline.worker` reads it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a job."""

    document: Mapping[str, Any] | None
    """The requested document; None if there is an error."""
    error: str = ""
    said: str = ""
    """The output of the program."""


def processors() -> int:
    """The number of processors that this process may use."""
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known else os.cpu_count() or 1


def worth_it(jobs: int) -> bool:
    """Whether parallel processes save time: there are several jobs and several processors."""
    return jobs > 1 and processors() > 1


def run_jobs(jobs: Sequence[Job], *, timeout_seconds: float | None = None, alone: bool = False) -> list[Answer]:
    """The answers to some jobs, in their order.

    :param timeout_seconds: the time limit for each job. Default: none.
    :param alone: whether each job gets its own process. Otherwise a process takes the next job of its folder when it is
        done, and keeps the SDKs that it has imported.
    """
    if not jobs:
        return []
    waiting = _Waiting(jobs)
    running = _Running()
    answers: dict[int, Answer] = {}

    def work() -> None:
        process: _Process | None = None
        try:
            while (taken := waiting.take(process.folder if process else None)) is not None:
                number, job = taken
                if process is None or alone or process.folder != job.folder:
                    if process is not None:
                        process.end()
                    process = running.start(job.folder)
                answers[number] = process.ask(job.request, timeout_seconds)
                if process.ended:
                    process = None
        finally:
            if process is not None:
                process.end()

    # One thread for each process, and at least two, so that both sides of a comparison start together.
    threads = min(len(jobs), max(2, processors()))
    with stoppable(), ThreadPoolExecutor(threads) as pool:
        try:
            for future in [pool.submit(work) for _ in range(threads)]:
                future.result()
        except BaseException:
            running.stop()
            raise
    return [answers[number] for number in range(len(jobs))]


class _Waiting:
    """The jobs that nobody has taken yet, by folder."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[Path, list[tuple[int, Job]]] = {}
        self._taken: dict[Path, int] = {}
        for number, job in enumerate(jobs):
            self._jobs.setdefault(job.folder, []).append((number, job))

    def take(self, folder: Path | None) -> tuple[int, Job] | None:
        """The next job of a folder, else one of the folder that fewest work on."""
        with self._lock:
            if folder is None or not self._jobs.get(folder):
                left = [one for one in self._jobs if self._jobs[one]]
                if not left:
                    return None
                folder = min(left, key=lambda one: self._taken.get(one, 0))
            self._taken[folder] = self._taken.get(folder, 0) + 1
            return self._jobs[folder].pop(0)


class _Process:
    """A process that answers requests one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ended = False
        self._process: Any = subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-P", "-m", MODULE], cwd=folder, env=environment(), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._texts: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._readers = [threading.Thread(target=it, daemon=True) for it in (self._listen, self._overhear)]
        for reader in self._readers:
            reader.start()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _overhear(self) -> None:
        """Keep what is written, the end of it where it is very much, up to the mark after each answer."""
        text = bytearray()
        while part := self._process.stderr.read1(1 << 16):
            text += part
            while (end := text.find(MARK)) >= 0:
                self._texts.put(bytes(text[:end]))
                del text[: end + len(MARK)]
            if len(text) > _LONGEST_TEXT:
                del text[: len(text) - _LONGEST_TEXT // 2]
        self._texts.put(bytes(text))

    def ask(self, request: Mapping[str, Any], timeout_seconds: float | None) -> Answer:
        """The answer to a request. A process that gives none is ended."""
        with contextlib.suppress(OSError):  # it may be gone already: its exit code says more
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except queue.Empty:
            self.end()
            return Answer(None, f"the program was stopped after {timeout_seconds:g} seconds; "
                          "allow more with --timeout SECONDS")  # fmt: skip
        try:
            document = json.loads(line)
        except ValueError:
            code = self._process.wait()
            self.kill()  # what it left behind would keep its output open
            said = self._said()
            self.end()
            last = "\n  ".join(["", *said.strip().splitlines()[-8:]]).rstrip()
            return Answer(
                None,
                f"the program ended its process with exit code {code} before the evaluation was complete{last}",
                said,
            )
        return Answer(document.get("answer"), document.get("error", ""), self._said())

    def _said(self) -> str:
        """The output since the last answer; empty if the program closed its standard error."""
        with contextlib.suppress(queue.Empty):
            return self._texts.get(timeout=SECONDS_FOR_TEXT).decode("utf-8", "replace")
        return ""

    def kill(self) -> None:
        """End the process and everything that it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> None:
        """End it, and wait until it has."""
        if self.ended:
            return
        self.ended = True
        self.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.stderr.close()


@dataclass(slots=True)
class _Running:
    """The processes under way; stopped all together."""

    processes: list[_Process] = field(default_factory=list[_Process])
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, folder: Path) -> _Process:
        with self.lock:
            if self.stopped:
                raise PreviewError("stopped")
            process = _Process(folder)
            os.environ[SAID] = "1"  # what all processes would say of the SDK is said by the first
            self.processes.append(process)
            return process

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.processes:
                if not process.ended:
                    process.kill()


@contextlib.contextmanager
def stoppable() -> Generator[None]:
    """Turn SIGTERM into an interrupt, so that everything is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def environment() -> dict[str, str]:
    """The environment without the variables that tie git to one repository (hooks set them); absolute paths."""
    found = {key: value for key, value in os.environ.items() if key not in GIT_LOCAL}
    if "PYTHONPATH" in found:
        parts = [part for part in found["PYTHONPATH"].split(os.pathsep) if part]
        found["PYTHONPATH"] = os.pathsep.join(str(Path(part).absolute()) for part in parts)
    return found
