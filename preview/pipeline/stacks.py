"""Evaluates several stacks of the working tree, in parallel processes where that saves time.

Results and program output come in the order of the stacks, as if they were evaluated one by one. The evaluator is
imported where it runs: in the worker processes, or here if there are none.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import PreviewError
from ..model import Plan
from ..output.timeline import Timeline, timeline, timeline_of
from .processes import Answer, Job, run_jobs, worth_it
from .wire import unpack


def checked_stacks(
    program: Path,
    stacks: Sequence[str],
    *,
    answers: Path | None = None,
    policies: Path | None = None,
    policy_config: Path | None = None,
) -> list[Plan | PreviewError]:
    """The plan of each stack with all findings, or the error that prevented it."""
    if worth_it(len(stacks)):
        jobs = [
            working_tree_job("checked", program, stack, answers=answers, policies=policies, policy_config=policy_config)
            for stack in stacks
        ]
        return [plan_of(answer) for answer in run_jobs(jobs)]
    from .run_checks import evaluate_and_check

    found: list[Plan | PreviewError] = []
    for stack in stacks:
        try:
            plan = evaluate_and_check(program, stack, answers=answers, policies=policies, policy_config=policy_config)
            found.append(plan)
        except PreviewError as error:
            found.append(error)
    return found


def timelines(program: Path, stacks: Sequence[str], answers: Path | None = None) -> list[Timeline]:
    """The estimated timeline of the first deployment of each stack.

    :raises PreviewError: a stack cannot be evaluated; the error of the first one.
    """
    if not worth_it(len(stacks)):
        from ..evaluation.evaluate import evaluate
        from ..evaluation.invokes import read_answers

        known = read_answers(answers) if answers else None
        return [timeline(evaluate(program, stack, answers=known)) for stack in stacks]
    found: list[Timeline] = []
    for answer in run_jobs([working_tree_job("timeline", program, stack, answers=answers) for stack in stacks]):
        sys.stderr.write(answer.said)
        if answer.document is None:
            raise PreviewError(answer.error)
        found.append(timeline_of(answer.document))
    return found


def working_tree_job(
    kind: str, program: Path, stack: str, *, repository: Path | None = None, **files: Path | None
) -> Job:
    """The job that evaluates a stack of the working tree.

    It runs in the current folder, so that relative paths keep their meaning, also in messages. With ``repository``,
    packages that are installed from that folder are imported from it, as on the other side of a comparison.
    """
    names = ("answers", "policies", "policy_config")
    request: Mapping[str, Any] = {
        "kind": kind,
        "program": str(program),
        "stack": stack,
        "mode": "preview",
        "checkout": str(repository) if repository else None,
        "repository": str(repository) if repository else None,
        **{name: str(path) if (path := files.get(name)) else None for name in names},
    }
    return Job(Path.cwd(), request)


def plan_of(answer: Answer) -> Plan | PreviewError:
    """The plan in an answer; the output of the program is written to standard error first."""
    sys.stderr.write(answer.said)
    return PreviewError(answer.error) if answer.document is None else unpack(answer.document)
