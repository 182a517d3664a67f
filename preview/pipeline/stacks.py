"""Several stacks of a program as its files are: evaluated at once in processes, where that saves time.

What comes of it is the same as one after the other, in the same order; so is what the programs write. The evaluator is
imported where it runs: by the processes, or here where there are none.
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
    """Each stack's plan with all findings, or why there is none."""
    if worth_it(len(stacks)):
        jobs = [
            asked("checked", program, stack, answers=answers, policies=policies, policy_config=policy_config)
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
    """What a first deployment of each stack takes.

    :raises PreviewError: of the first stack that cannot be evaluated.
    """
    if not worth_it(len(stacks)):
        from ..evaluation.evaluate import evaluate
        from ..evaluation.invokes import read_answers

        known = read_answers(answers) if answers else None
        return [timeline(evaluate(program, stack, answers=known)) for stack in stacks]
    found: list[Timeline] = []
    for answer in run_jobs([asked("timeline", program, stack, answers=answers) for stack in stacks]):
        sys.stderr.write(answer.said)
        if answer.document is None:
            raise PreviewError(answer.error)
        found.append(timeline_of(answer.document))
    return found


def asked(kind: str, program: Path, stack: str, *, repository: Path | None = None, **files: Path | None) -> Job:
    """What a process is asked for the files as they are.

    It runs where this one does, so that every path means the same, in messages too. With ``repository``, packages that
    are installed from there are taken from there, as on the other side of a comparison.
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
    """The plan in an answer, after what the program wrote meanwhile is written here."""
    sys.stderr.write(answer.said)
    return PreviewError(answer.error) if answer.document is None else unpack(answer.document)
