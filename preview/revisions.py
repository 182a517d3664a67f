"""Evaluates a program on two sides and compares them: two git revisions, or two stacks.

Each side is a process of its own, all of them run at once. Revisions are checked out as git worktrees in a temporary
folder outside the repository, which is removed however the comparison ends.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .compare import compare, empty_plan
from .difference import Difference
from .errors import PreviewError
from .model import Plan
from .project import read_project
from .wire import unpack

TIMEOUT_SECONDS = 120.0
_WORKING_TREE = "working tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How each side is evaluated."""

    mode: str = "preview"
    answers: Path | None = None
    policies: Path | None = None
    policy_config: Path | None = None
    timeout_seconds: float = TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Tree:
    """A checkout of the repository."""

    label: str
    """The revision as the user named it, ``working tree`` for the files as they are."""
    checkout: Path
    program: Path
    commit: str = ""

    def stacks(self) -> list[str] | None:
        """The stacks of the program in it, None where the program is not there at all.

        :raises PreviewError: Pulumi.yaml is broken.
        """
        if not any((self.program / name).is_file() for name in ("Pulumi.yaml", "Pulumi.yml")):
            return None
        try:
            return read_project(self.program).stacks()
        except PreviewError as error:
            raise PreviewError(f"{self.label}: {error}") from None


def compare_revisions(
    program: Path, base: str, head: str | None, stacks: Sequence[str] = (), evaluation: Evaluation | None = None
) -> list[Difference]:
    """Compare a program at two git revisions, one difference per stack; without ``head``, with the files as they are.

    Without ``stacks``, all stacks that have a file on either side are compared.

    :raises PreviewError: a revision, a stack, or one of the programs is wrong; it names the side.
    """
    evaluation = evaluation or Evaluation()
    root = repository_root(program)
    inside = program.resolve().relative_to(root)
    commits = [resolve_revision(root, revision) for revision in (base, head) if revision is not None]
    with _checkouts(root, commits) as folders:
        trees = [Tree(base, folders[0], folders[0] / inside, commits[0])]
        if head is None:
            trees.append(Tree(_WORKING_TREE, root, program.resolve()))
        else:
            trees.append(Tree(head, folders[1], folders[1] / inside, commits[1]))
        present = [tree.stacks() for tree in trees]
        names = _stacks_of(stacks, present, trees)
        jobs = [
            _Job(tree, stack, root)
            for stack in names
            for tree, found in zip(trees, present, strict=True)
            if stack in (found or ())
        ]
        notes = list(_notes(root, trees, head is None))  # first: an evaluation may leave bytecode behind
        plans = _evaluate_all(jobs, evaluation)
        return [_difference(stack, trees, plans, notes) for stack in names]


def compare_stacks(program: Path, base: str, head: str, evaluation: Evaluation | None = None) -> Difference:
    """Compare two stacks of one program, as its files are.

    :raises PreviewError: a stack or one of the programs is wrong.
    """
    program = program.resolve()
    project = read_project(program)
    for stack in (base, head):
        project.stack_file(stack)
    try:
        root = repository_root(program)
    except PreviewError:
        root = program  # two stacks can be compared without git
    tree = Tree(_WORKING_TREE, root, program)
    plans = _evaluate_all([_Job(tree, base, root), _Job(tree, head, root)], evaluation or Evaluation())
    return compare(
        plans[tree.label, base], plans[tree.label, head], base_label=f"stack {base}", head_label=f"stack {head}"
    )


def _stacks_of(wanted: Sequence[str], present: Sequence[list[str] | None], trees: Sequence[Tree]) -> list[str]:
    known = sorted({stack for stacks in present for stack in stacks or ()})
    if not known:
        where = " nor in ".join(tree.label for tree in trees)
        raise PreviewError(f"no stack to compare: neither in {where} is there a Pulumi.<stack>.yaml beside Pulumi.yaml")
    for stack in wanted:
        if stack not in known:
            near = get_close_matches(stack, known, n=1)
            hint = f' Did you mean "{near[0]}"?' if near else ""
            raise PreviewError(f'there is no stack "{stack}" on either side; stacks: {", ".join(known)}.{hint}')
    return list(dict.fromkeys(wanted)) or known


def _difference(
    stack: str, trees: Sequence[Tree], plans: dict[tuple[str, str], Plan], notes: Iterable[str]
) -> Difference:
    found = [plans.get((tree.label, stack)) for tree in trees]
    one = next(plan for plan in found if plan is not None)
    base, head = (plan or empty_plan(one) for plan in found)
    difference = compare(base, head, base_label=trees[0].label, head_label=trees[1].label)
    difference.notes += notes
    if found[0] is None:
        difference.base = replace(difference.base, present=False)
        difference.notes.append(f'the stack "{stack}" does not exist in {trees[0].label}: everything is added')
    if found[1] is None:
        difference.head = replace(difference.head, present=False)
        difference.notes.append(f'the stack "{stack}" does not exist in {trees[1].label}: everything is removed')
    if base.project != head.project:
        difference.notes.append(
            f'the project is called "{base.project}" in {trees[0].label} and "{head.project}" in {trees[1].label}: '
            "for the engine these are two stacks"
        )
    return difference


def _notes(root: Path, trees: Sequence[Tree], working_tree: bool) -> Generator[str]:
    if working_tree:
        changed = [line for line in _git(root, "status", "--porcelain").splitlines() if "__pycache__" not in line]
        if changed:
            files = f"{len(changed)} file{'s' if len(changed) != 1 else ''}"
            yield f"the working tree has changes that are not committed ({files}); they are in the comparison"
    for tree in trees:
        if tree.commit and (tree.checkout / ".gitmodules").is_file():
            yield f"submodules are not checked out in {tree.label}"


# -- git -----------------------------------------------------------------------------------------------------------


def repository_root(program: Path) -> Path:
    """The top folder of the repository that the program lies in.

    :raises PreviewError: it lies in none.
    """
    if not program.is_dir():
        raise PreviewError(f"{program} is no folder; give the folder of a Pulumi program with --program")
    try:
        return Path(_git(program, "rev-parse", "--show-toplevel").strip()).resolve()
    except PreviewError as error:
        raise PreviewError(
            f"{program.resolve()} is not in a git repository with files ({error}); "
            "revisions can be compared only there, two stacks anywhere: --stack HEAD --against BASE"
        ) from None


def resolve_revision(root: Path, revision: str) -> str:
    """The commit that a revision means.

    :raises PreviewError: there is none; says what to do in a shallow clone.
    """
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except PreviewError:
        pass
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == "true":
        raise PreviewError(
            f'revision "{revision}" is not in this clone, which is shallow: run `git fetch --unshallow`, '
            "or check out with fetch-depth: 0"
        )
    names = _git(root, "for-each-ref", "--format=%(refname:short)").split()
    remote = [name for name in names if name.endswith(f"/{revision}")]
    near = remote or get_close_matches(revision, names, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise PreviewError(f'there is no revision "{revision}" in this repository{hint}')


@contextlib.contextmanager
def _checkouts(root: Path, commits: Sequence[str]) -> Generator[list[Path]]:
    """Worktrees of some commits, for as long as they are needed."""
    with _stoppable():
        folder = Path(tempfile.mkdtemp(prefix="winkube-diff-")).resolve()
        found: list[Path] = []
        try:
            for number, commit in enumerate(commits):
                found.append(folder / f"side{number}")
                # No hook of the repository runs: a comparison must not do anything else.
                _git(root, "-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--detach", "--quiet",
                     str(found[-1]), commit)  # fmt: skip
            yield found
        finally:
            for tree in found:
                with contextlib.suppress(PreviewError):
                    _git(root, "worktree", "remove", "--force", str(tree))
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _stoppable() -> Generator[None]:
    """A request to end is an interrupt, so that what was begun is cleaned up."""
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


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (no shell)
            ["git", *arguments], cwd=folder, env=_environment(), capture_output=True, text=True, check=False,  # noqa: S607
        )  # fmt: skip
    except OSError:
        raise PreviewError("git is not installed, or not on the PATH") from None
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise PreviewError(f"git {arguments[0]}: {words[0] if words else f'exit code {done.returncode}'}")
    return done.stdout


def _environment() -> dict[str, str]:
    """The environment without what ties git to one repository (a hook sets it), and with whole module paths."""
    found = {key: value for key, value in os.environ.items() if key not in _GIT_LOCAL}
    if "PYTHONPATH" in found:
        found["PYTHONPATH"] = os.pathsep.join(str(Path(part).absolute()) for part in _parts(found["PYTHONPATH"]))
    return found


_GIT_LOCAL = frozenset(
    ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
     "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_WORK_TREE")
)  # fmt: skip
"""What ``git rev-parse --local-env-vars`` names, but for the settings."""


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.pathsep) if part]


# -- the processes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """One stack of one side."""

    tree: Tree
    stack: str
    repository: Path

    def __str__(self) -> str:
        commit = f" ({self.tree.commit[:10]})" if self.tree.commit else ""
        return f'{self.tree.label}{commit}, stack "{self.stack}"'


@dataclass(slots=True)
class _Running:
    """The processes under way; stopped all together."""

    processes: set[Any] = field(default_factory=set[Any])
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, job: _Job) -> Any:
        with self.lock:
            if self.stopped:
                raise PreviewError("stopped")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "winkube.preview.side"],
                cwd=job.tree.program, env=_environment(), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            self.processes.add(process)
            return process

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.processes:
                _kill(process)


def _kill(process: Any) -> None:
    """End a process and everything that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _evaluate_all(jobs: Sequence[_Job], evaluation: Evaluation) -> dict[tuple[str, str], Plan]:
    running = _Running()
    problems: dict[str, list[str]] = {}
    plans: dict[tuple[str, str], Plan] = {}
    with _stoppable(), ThreadPoolExecutor(max(2, min(len(jobs), os.cpu_count() or 2))) as pool:
        try:
            futures = [pool.submit(_evaluate, job, evaluation, running) for job in jobs]
            for job, future in zip(jobs, futures, strict=True):
                try:
                    plans[job.tree.label, job.stack] = future.result()
                except PreviewError as error:
                    problems.setdefault(str(error), []).append(str(job))
        except BaseException:
            running.stop()
            raise
    if problems:
        raise PreviewError("\n".join(f"{' and '.join(sides)}: {words}" for words, sides in problems.items()))
    return plans


def _evaluate(job: _Job, evaluation: Evaluation, running: _Running) -> Plan:
    """Evaluate one stack of one side in a process of its own."""
    request = {
        "program": str(job.tree.program),
        "stack": job.stack,
        "mode": evaluation.mode,
        "checkout": str(job.tree.checkout),
        "repository": str(job.repository),
        "answers": _absolute(evaluation.answers),
        "policies": _absolute(evaluation.policies),
        "policy_config": _absolute(evaluation.policy_config),
    }
    process = running.start(job)
    answer: list[bytes] = []
    said: deque[bytes] = deque(maxlen=64)
    readers = [
        threading.Thread(target=lambda: answer.append(process.stdout.read()), daemon=True),
        threading.Thread(target=lambda: said.extend(iter(lambda: process.stderr.read1(4096), b"")), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        with contextlib.suppress(OSError):  # it may be gone already: its exit code says more
            process.stdin.write(json.dumps(request).encode())
            process.stdin.close()
        code = process.wait(evaluation.timeout_seconds)
    except subprocess.TimeoutExpired:
        raise PreviewError(
            f"the program did not end within {evaluation.timeout_seconds:g} seconds and was stopped; "
            "give it more with --timeout SECONDS"
        ) from None
    finally:
        _kill(process)
        process.wait()
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
    return _plan(answer[0], code, b"".join(said).decode("utf-8", "replace"))


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path else None


def _plan(answer: bytes, code: int, said: str) -> Plan:
    try:
        document = json.loads(answer)
    except ValueError:
        last = "\n  ".join(["", *said.strip().splitlines()[-8:]]).rstrip()
        raise PreviewError(f"the program ended its process with code {code} before it was done{last}") from None
    if "error" in document:
        raise PreviewError(document["error"])
    return unpack(document["plan"])
