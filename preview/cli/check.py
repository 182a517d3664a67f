"""The command ``winkube check``. Imports nothing heavy before it runs."""

import argparse
import sys
from pathlib import Path
from typing import Any

CLEAN, FOUND, WRONG = 0, 1, 2
"""Exit codes: no findings; findings; the program or its settings are wrong."""


def add_check(commands: Any) -> None:
    """Add the command to a parser's subcommands."""
    check = commands.add_parser(
        "check",
        help="check every stack for a pull request: write a comment, pages and reports",
        epilog="Writes comment.md, an HTML page for each stack, findings.sarif and findings.xml (JUnit). "
        "Exit codes: 0 no findings, 1 findings, 2 a stack cannot be evaluated.",
    )
    check.add_argument(
        "stacks", nargs="*", metavar="STACK", help="names of stacks (default: all stacks that have a file)"
    )
    check.add_argument("--program", type=Path, default=Path(), metavar="DIR",
                       help="folder with Pulumi.yaml (default: the current folder)")  # fmt: skip
    check.add_argument("--output", type=Path, default=Path("winkube-check"), metavar="DIR",
                       help="folder for the results (default: winkube-check)")  # fmt: skip
    check.add_argument("--base", metavar="REVISION", help="git revision to compare with (default: no comparison)")
    check.add_argument("--policies", type=Path, metavar="DIR", help="folder of a Pulumi policy pack to run")
    check.add_argument("--policy-config", type=Path, metavar="FILE", help="configuration of the policy pack (JSON)")
    check.add_argument("--answers", type=Path, metavar="FILE",
                       help="file with results of provider functions, by token (YAML or JSON)")  # fmt: skip
    add_plain_sdk(check)
    check.set_defaults(run=run_check)


def add_plain_sdk(command: argparse.ArgumentParser) -> None:
    """Add the option that switches the patches of :mod:`winkube.preview.evaluation.sdk_speed` off."""
    command.add_argument(
        "--plain-sdk", action="store_true",
        help="use the Pulumi SDK without the patches that make it faster; the result is the same",
    )  # fmt: skip


def run_check(options: argparse.Namespace) -> int:
    """Check, print one line for each stack, and return the exit code."""
    from ..output import plan_formats
    from ..pipeline.pull_request import CheckRequest, check

    names = ("program", "output", "stacks", "base", "policies", "policy_config", "answers")
    result = check(CheckRequest(**{name: getattr(options, name) for name in names}))
    for plan in result.plans:
        print(f"{plan.stack}: {plan_formats.verdict(plan)}")
    for stack, message in result.failures.items():
        print(f"{stack}: error: {message}", file=sys.stderr)
    if result.comparison_failure:
        print(f"no comparison with {options.base}: {result.comparison_failure}", file=sys.stderr)
    print(f"written to {options.output}: comment.md, findings.sarif, findings.xml"
          + "".join(f", {plan.stack}.html" for plan in result.plans))  # fmt: skip
    if result.failures:
        return WRONG
    return FOUND if result.blocking else CLEAN
