"""Runs every check and policy on a plan, and evaluates a stack first where that is asked for."""

from collections.abc import Callable
from pathlib import Path

from ..checks.plan import check_plan
from ..evaluation.evaluate import evaluate
from ..evaluation.invokes import read_answers
from ..model import Plan


def evaluate_and_check(
    program: Path,
    stack: str,
    *,
    mode: str = "preview",
    answers: Path | None = None,
    policies: Path | None = None,
    policy_config: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Plan:
    """Evaluate a stack, run all checks and policies, and sort the findings.

    :raises PreviewError: the program, its settings, the answers or the policy pack is wrong.
    """
    plan = evaluate(program, stack, mode=mode, answers=read_answers(answers) if answers else None, progress=progress)
    run_checks(plan, policies, policy_config)
    return plan


def run_checks(plan: Plan, policies: Path | None = None, policy_config: Path | None = None) -> None:
    """Run all checks and policies on a plan, add their findings to it, and sort them.

    :raises PreviewError: the policy pack or its configuration is wrong.
    """
    plan.findings += check_plan(plan)
    if policies:
        from ..checks.policy_runner import read_policy_config, run_policies

        config = read_policy_config(policy_config) if policy_config else None
        plan.findings += run_policies(plan, policies, config)
    plan.findings.sort(key=lambda finding: finding.order)
