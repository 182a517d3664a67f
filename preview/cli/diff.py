"""The command ``winkube diff``. Imports nothing heavy before it runs."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .check import add_plain_sdk

_EPILOG = (
    "BASE and HEAD are git revisions: branches, tags or commits. Without HEAD, the working tree is compared, "
    "uncommitted changes included. Without --stack or --stacks, all stacks are compared. "
    "Exit codes: 0 compared, with or without differences; 1 a condition of --fail-on is met; "
    "2 a revision, a stack, a program or its settings are wrong."
)
FAIL_ON = ("change", "replace", "perhaps-replace", "disruption", "finding")


def add_diff(commands: Any) -> None:
    """Add the command to a parser's subcommands."""
    diff = commands.add_parser("diff", help="compare the plans of a program at two git revisions, or of two stacks",
                               epilog=_EPILOG)  # fmt: skip
    diff.add_argument("base", nargs="?", metavar="BASE", help="git revision to compare with")
    diff.add_argument("head", nargs="?", metavar="HEAD", help="git revision to compare (default: the working tree)")
    stacks = diff.add_mutually_exclusive_group()
    stacks.add_argument("--stack", metavar="STACK", help="compare this stack only")
    stacks.add_argument("--stacks", nargs="+", default=[], metavar="STACK", help="compare these stacks only")
    diff.add_argument("--against", metavar="STACK",
                      help="compare --stack with this stack of the working tree, instead of two revisions")  # fmt: skip
    diff.add_argument("--program", type=Path, default=Path(), metavar="DIR",
                      help="folder with Pulumi.yaml (default: the current folder)")  # fmt: skip
    diff.add_argument("--format", choices=("tree", "json", "markdown"), default="tree",
                      help="output format; markdown is a comment of at most 60 kB (default: tree)")  # fmt: skip
    diff.add_argument("--mode", choices=("preview", "update"), default="preview",
                      help="preview: values that the cloud computes are unknown; update: they are marked placeholders "
                      "(default: preview)")  # fmt: skip
    diff.add_argument("--policies", type=Path, metavar="DIR",
                      help="folder of a Pulumi policy pack to run on both sides")  # fmt: skip
    diff.add_argument("--policy-config", type=Path, metavar="FILE", help="configuration of the policy pack (JSON)")
    diff.add_argument("--answers", type=Path, metavar="FILE",
                      help="file with results of provider functions, by token (YAML or JSON)")  # fmt: skip
    diff.add_argument("--timeout", type=_seconds, default=120.0, metavar="SECONDS",
                      help="time limit for each program (default: 120)")  # fmt: skip
    diff.add_argument("--fail-on", action="append", choices=FAIL_ON, default=[],
                      help="exit with 1 on any change; a replaced resource; a resource that is or may be replaced; an "
                      "impact on Windows nodes; a new error or warning. May be given several times")  # fmt: skip
    diff.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of the terminal")
    add_plain_sdk(diff)
    diff.set_defaults(run=run_diff)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, more than 0 and less than a day, got {text!r}")
    return seconds


def run_diff(options: argparse.Namespace) -> int:
    """Compare, show the differences, and return the exit code."""
    from ..errors import PreviewError
    from ..pipeline.revisions import Evaluation, compare_revisions, compare_stacks

    _check(options)
    evaluation = Evaluation(mode=options.mode, answers=options.answers, policies=options.policies,
                            policy_config=options.policy_config, timeout_seconds=options.timeout)  # fmt: skip
    try:
        if options.against:
            differences = [compare_stacks(options.program, options.against, options.stack, evaluation)]
        else:
            stacks = [options.stack] if options.stack else options.stacks
            differences = compare_revisions(options.program, options.base, options.head, stacks, evaluation)
        text = _shown(differences, options)
        if options.output:
            options.output.write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except OSError as error:
        raise PreviewError(f"{error.filename or options.output}: {error.strerror or error}") from None
    return int(any(_FAILS[name](difference) for name in options.fail_on for difference in differences))


def _check(options: argparse.Namespace) -> None:
    """Check what the parser cannot check.

    :raises PreviewError: arguments exclude each other, or a file is missing.
    """
    from ..errors import PreviewError

    if options.against and (options.base or not options.stack):
        raise PreviewError(
            "--against compares two stacks of the working tree: write --stack HEAD --against BASE, without a revision"
        )
    if not options.against and not options.base:
        raise PreviewError(
            "name a revision to compare with (winkube diff main), or two stacks with --stack and --against"
        )
    for name in ("answers", "policy_config"):
        path = getattr(options, name)
        if path and not path.is_file():
            raise PreviewError(f"--{name.replace('_', '-')} {path}: there is no such file")
    if options.policies and not (options.policies / "__main__.py").is_file():
        raise PreviewError(f"--policies {options.policies} is not a Python policy pack: it has no __main__.py")
    if options.policy_config and not options.policies:
        raise PreviewError("--policy-config needs --policies")


def _shown(differences: Sequence[Any], options: argparse.Namespace) -> str:
    from ..output import difference_formats

    if options.format == "json":
        return difference_formats.json_text(differences)
    if options.format == "markdown":
        from ..output.difference_markdown import markdown_text

        return markdown_text(differences)
    import shutil

    terminal = options.output is None and sys.stdout.isatty()
    return difference_formats.tree_text(differences, shutil.get_terminal_size((120, 24)).columns, color=terminal)


def _new_finding(difference: Any) -> bool:
    return any(finding.severity in ("error", "warning") for finding in difference.new_findings)


_FAILS: Mapping[str, Callable[[Any], bool]] = {
    "change": lambda difference: not difference.empty,
    "replace": lambda difference: any(item.replaces.answer == "yes" for item in difference.changed),
    "perhaps-replace": lambda difference: any(item.replaces.answer != "no" for item in difference.changed),
    "disruption": lambda difference: bool(difference.node_impacts),
    "finding": _new_finding,
}
