"""The command ``winkube diff``. Imports nothing heavy before it runs."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .check import add_plain_sdk

_EPILOG = (
    "BASE and HEAD are git revisions: branches, tags, commits. Without HEAD the files are compared as they are, "
    "uncommitted changes included. Without --stack or --stacks, all stacks of either side are compared. "
    "Exit codes: 0 compared, whether or not something differs; 1 something that --fail-on names was found; "
    "2 a revision, a stack, a program or its settings are wrong."
)
FAIL_ON = ("change", "replace", "perhaps-replace", "disruption", "finding")


def add_diff(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
    diff = commands.add_parser("diff", help="compare what a program asks for at two git revisions, or for two stacks",
                               epilog=_EPILOG)  # fmt: skip
    diff.add_argument("base", nargs="?", metavar="BASE", help="git revision to compare with")
    diff.add_argument("head", nargs="?", metavar="HEAD", help="git revision that is compared (default: the files)")
    stacks = diff.add_mutually_exclusive_group()
    stacks.add_argument("--stack", metavar="STACK", help="compare this stack only")
    stacks.add_argument("--stacks", nargs="+", default=[], metavar="STACK", help="compare these stacks only")
    diff.add_argument("--against", metavar="STACK",
                      help="compare --stack with this stack of the same files, instead of two revisions")  # fmt: skip
    diff.add_argument("--program", type=Path, default=Path(), metavar="DIR",
                      help="folder with Pulumi.yaml (default: this one)")  # fmt: skip
    diff.add_argument("--format", choices=("tree", "json", "markdown"), default="tree",
                      help="how to show it; markdown is for a comment, of at most 60 kB (default: tree)")  # fmt: skip
    diff.add_argument("--mode", choices=("preview", "update"), default="preview",
                      help="preview: what the cloud computes is unknown; update: it is a marked placeholder "
                      "(default: preview)")  # fmt: skip
    diff.add_argument("--policies", type=Path, metavar="DIR",
                      help="folder of a Pulumi policy pack to judge both sides with")  # fmt: skip
    diff.add_argument("--policy-config", type=Path, metavar="FILE", help="configuration of the policy pack (JSON)")
    diff.add_argument("--answers", type=Path, metavar="FILE",
                      help="results of provider functions, by token (YAML or JSON)")  # fmt: skip
    diff.add_argument("--timeout", type=_seconds, default=120.0, metavar="SECONDS",
                      help="how long each program may take before it is stopped (default: 120)")  # fmt: skip
    diff.add_argument("--fail-on", action="append", choices=FAIL_ON, default=[],
                      help="exit with 1 on: any change; a resource that is replaced; one that is or perhaps is; a "
                      "disturbed Windows group; a new error or warning. May be given several times")  # fmt: skip
    diff.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of the terminal")
    add_plain_sdk(diff)
    diff.set_defaults(run=run_diff)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise argparse.ArgumentTypeError(f"must be seconds, more than 0 and less than a day, got {text!r}")
    return seconds


def run_diff(options: argparse.Namespace) -> int:
    """Compare, show, and give the exit code."""
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
    """What the parser cannot tell.

    :raises PreviewError: arguments that do not go together, or files that are not there.
    """
    from ..errors import PreviewError

    if options.against and (options.base or not options.stack):
        raise PreviewError("--against compares two stacks of the same files: write --stack HEAD --against BASE, alone")
    if not options.against and not options.base:
        raise PreviewError("name the revision to compare with (winkube diff main), or two stacks with --against")
    for name in ("answers", "policy_config"):
        path = getattr(options, name)
        if path and not path.is_file():
            raise PreviewError(f"--{name.replace('_', '-')} {path}: there is no such file")
    if options.policies and not (options.policies / "__main__.py").is_file():
        raise PreviewError(f"--policies {options.policies}: is not a Python policy pack: it has no __main__.py")
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
