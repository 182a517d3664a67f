"""Evaluates two sides of a program and compares them: two git revisions, or two stacks.

Each side runs in its own process, in parallel. Revisions are checked out as git worktrees in a temporary folder
outside the repository. The folder is removed however the comparison ends.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..comparison.comparable import comparable
from ..comparison.compare import compare, empty_plan
from ..comparison.difference import Difference
from ..errors import PreviewError
from ..evaluation.project import read_project
from ..model import Plan
from ..text.suggestions import did_you_mean
from .processes import Answer, Job, environment, run_jobs, stoppable
from .stacks import checked_stacks, plan_of, working_tree_job
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

    @property
    def files(self) -> dict[str, Path | None]:
        """The files that take part in the checks of a stack, as arguments."""
        return {"answers": self.answers, "policies": self.policies, "policy_config": self.policy_config}


@dataclass(frozen=True, slots=True)
class Tree:
    """A checkout of the repository."""

    label: str
    """The revision as the user named it, or ``working tree``."""
    checkout: Path
    program: Path
    commit: str = ""

    def stacks(self) -> list[str] | None:
        """The stacks of the program in this checkout; None if it does not hold the program.

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
    """Compare a program at two git revisions, one difference for each stack; by default with the working tree.

    Without ``stacks``, all stacks that have a file on either side are compared.

    :raises PreviewError: a revision, a stack or a program is wrong; the message names the side.
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
            _SideJob(tree, stack, root)
            for stack in names
            for tree, found in zip(trees, present, strict=True)
            if stack in (found or ())
        ]
        notes = list(_notes(root, trees, head is None))  # first: an evaluation may leave bytecode behind
        plans = _evaluate_all(jobs, evaluation)
        return [_difference(stack, trees, plans, notes) for stack in names]


@dataclass(frozen=True, slots=True)
class CheckedStacks:
    """The stacks of the working tree, checked, and their differences from a revision."""

    stacks: Sequence[Plan | PreviewError]
    """The plan of each stack, or the error that prevented it."""
    differences: Sequence[Difference]
    """One for each stack that has a plan."""
    failure: str
    """Why there is no comparison; empty if there is one, or if no stack has a plan."""


def check_and_compare(program: Path, base: str, stacks: Sequence[str], evaluation: Evaluation) -> CheckedStacks:
    """Check stacks of the working tree and compare them with a revision. Each side is evaluated once."""
    try:
        root = repository_root(program)
        commit = resolve_revision(root, base)
        with _checkouts(root, [commit]) as (folder,):
            now = Tree(_WORKING_TREE, root, program.resolve())
            before = Tree(base, folder, folder / now.program.relative_to(root), commit)
            present = before.stacks() or ()
            notes = list(_notes(root, [before, now], True))
            return _check_and_compare([before, now], stacks, present, notes, program, evaluation)
    except PreviewError as error:
        found = checked_stacks(program, stacks, **evaluation.files)
        return CheckedStacks(found, [], str(error) if any(isinstance(it, Plan) for it in found) else "")


def _check_and_compare(
    trees: Sequence[Tree],
    stacks: Sequence[str],
    present: Sequence[str],
    notes: Sequence[str],
    program: Path,
    evaluation: Evaluation,
) -> CheckedStacks:
    before, now = trees
    heads = [
        working_tree_job("checked", program, stack, repository=now.checkout, **evaluation.files) for stack in stacks
    ]
    sides = [_SideJob(before, stack, now.checkout) for stack in stacks if stack in present]
    requests = [*heads, *(side.evaluated_by(evaluation) for side in sides)]
    answers = run_jobs(requests, timeout_seconds=evaluation.timeout_seconds)
    found = [plan_of(answer) for answer in answers[: len(heads)]]
    known = [stack for stack, it in zip(stacks, found, strict=True) if isinstance(it, Plan)]
    # The plan that is shown must not change, so its copy is made comparable.
    plans = {
        (now.label, stack): comparable(unpack(answer.document), now.program, now.checkout)
        for stack, answer in zip(stacks, answers, strict=False) if answer.document is not None
    }  # fmt: skip
    told = [(side, answer) for side, answer in zip(sides, answers[len(heads) :], strict=True) if side.stack in known]
    try:
        plans |= _plans([side for side, _ in told], [answer for _, answer in told])
    except PreviewError as error:
        return CheckedStacks(found, [], str(error))
    return CheckedStacks(found, [_difference(stack, trees, plans, notes) for stack in dict.fromkeys(known)], "")


def compare_stacks(program: Path, base: str, head: str, evaluation: Evaluation | None = None) -> Difference:
    """Compare two stacks of one program in the working tree.

    :raises PreviewError: a stack or the program is wrong.
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
    plans = _evaluate_all([_SideJob(tree, base, root), _SideJob(tree, head, root)], evaluation or Evaluation())
    return compare(
        plans[tree.label, base], plans[tree.label, head], base_label=f"stack {base}", head_label=f"stack {head}"
    )


def _stacks_of(wanted: Sequence[str], present: Sequence[list[str] | None], trees: Sequence[Tree]) -> list[str]:
    known = sorted({stack for stacks in present for stack in stacks or ()})
    if not known:
        where = " or in ".join(tree.label for tree in trees)
        raise PreviewError(f"there is no stack to compare: no Pulumi.<stack>.yaml beside Pulumi.yaml in {where}")
    for stack in wanted:
        if stack not in known:
            stacks_here = f"stacks: {', '.join(known)}.{did_you_mean(stack, known)}"
            raise PreviewError(f'there is no stack "{stack}" on either side; {stacks_here}')
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
        difference.notes.append(f'the stack "{stack}" does not exist in {trees[0].label}: all its resources are added')
    if found[1] is None:
        difference.head = replace(difference.head, present=False)
        difference.notes.append(
            f'the stack "{stack}" does not exist in {trees[1].label}: all its resources are removed'
        )
    if base.project != head.project:
        difference.notes.append(
            f'the project is called "{base.project}" in {trees[0].label} and "{head.project}" in {trees[1].label}: '
            "the engine takes them for two different stacks"
        )
    return difference


def _notes(root: Path, trees: Sequence[Tree], working_tree: bool) -> Generator[str]:
    if working_tree:
        changed = [line for line in _git(root, "status", "--porcelain").splitlines() if "__pycache__" not in line]
        if changed:
            files = f"{len(changed)} file{'s' if len(changed) != 1 else ''}"
            yield f"the working tree has uncommitted changes ({files}); the comparison includes them"
    for tree in trees:
        if tree.commit and (tree.checkout / ".gitmodules").is_file():
            yield f"submodules are not checked out in {tree.label}"


# -- git -----------------------------------------------------------------------------------------------------------


def repository_root(program: Path) -> Path:
    """The top folder of the repository that holds the program.

    :raises PreviewError: the program is not in a repository.
    """
    if not program.is_dir():
        raise PreviewError(f"{program} is not a folder; give the folder of a Pulumi program with --program")
    try:
        return Path(_git(program, "rev-parse", "--show-toplevel").strip()).resolve()
    except PreviewError as error:
        raise PreviewError(
            f"{program.resolve()} is not in a git repository ({error}). Revisions need a repository; "
            "two stacks can be compared anywhere: --stack HEAD --against BASE"
        ) from None


def resolve_revision(root: Path, revision: str) -> str:
    """The commit of a revision.

    :raises PreviewError: there is no such revision; the message says what to do in a shallow clone.
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
    hint = did_you_mean(revision, remote[:1] or names)
    raise PreviewError(f'there is no revision "{revision}" in this repository.{hint}')


@contextlib.contextmanager
def _checkouts(root: Path, commits: Sequence[str]) -> Generator[list[Path]]:
    """Worktrees of some commits; removed at the end."""
    with stoppable():
        folder = Path(tempfile.mkdtemp(prefix="winkube-diff-")).resolve()
        found: list[Path] = []
        try:
            for number, commit in enumerate(commits):
                found.append(folder / f"side{number}")
                # No hook of the repository may run: a comparison has no side effects.
                _git(root, "-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--detach", "--quiet",
                     str(found[-1]), commit)  # fmt: skip
            yield found
        finally:
            for tree in found:
                with contextlib.suppress(PreviewError):
                    _git(root, "worktree", "remove", "--force", str(tree))
            shutil.rmtree(folder, ignore_errors=True)


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (no shell)
            ["git", *arguments], cwd=folder, env=environment(), capture_output=True, text=True, check=False,  # noqa: S607
        )  # fmt: skip
    except OSError:
        raise PreviewError("git is not installed, or not on the PATH") from None
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise PreviewError(f"git {arguments[0]}: {words[0] if words else f'exit code {done.returncode}'}")
    return done.stdout


# -- the processes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SideJob:
    """One stack of one side."""

    tree: Tree
    stack: str
    repository: Path

    def __str__(self) -> str:
        commit = f" ({self.tree.commit[:10]})" if self.tree.commit else ""
        return f'{self.tree.label}{commit}, stack "{self.stack}"'

    def evaluated_by(self, evaluation: Evaluation) -> Job:
        """The job for its process."""
        request = {
            "kind": "compared",
            "program": str(self.tree.program),
            "stack": self.stack,
            "mode": evaluation.mode,
            "checkout": str(self.tree.checkout),
            "repository": str(self.repository),
            "answers": _absolute(evaluation.answers),
            "policies": _absolute(evaluation.policies),
            "policy_config": _absolute(evaluation.policy_config),
        }
        return Job(self.tree.program, request)


def _evaluate_all(jobs: Sequence[_SideJob], evaluation: Evaluation) -> dict[tuple[str, str], Plan]:
    """Evaluate each stack of each side in its own process."""
    requests = [job.evaluated_by(evaluation) for job in jobs]
    return _plans(jobs, run_jobs(requests, timeout_seconds=evaluation.timeout_seconds, alone=True))


def _plans(jobs: Sequence[_SideJob], answers: Sequence[Answer]) -> dict[tuple[str, str], Plan]:
    problems: dict[str, list[str]] = {}
    plans: dict[tuple[str, str], Plan] = {}
    for job, answer in zip(jobs, answers, strict=True):
        if answer.document is None:
            problems.setdefault(answer.error, []).append(str(job))
        else:
            plans[job.tree.label, job.stack] = unpack(answer.document)
    if problems:
        raise PreviewError("\n".join(f"{' and '.join(sides)}: {words}" for words, sides in problems.items()))
    return plans


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path else None
