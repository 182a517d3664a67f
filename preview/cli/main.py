"""The command ``winkube`` and its subcommand ``preview``."""

import argparse
import atexit
import gc
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..evaluation import sdk_speed
from .check import CLEAN, FOUND, WRONG, add_check, add_plain_sdk
from .diff import add_diff


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    parser = _parser(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(arguments)
    # A command lives for one evaluation: collecting garbage would only cost, and at its end a fifth of the time.
    gc.disable()
    atexit.register(gc.freeze)
    from ..errors import PreviewError

    try:
        with sdk_speed.plain_sdk() if getattr(options, "plain_sdk", False) else nullcontext():
            sdk_speed.before_import()
            return options.run(options)
    except PreviewError as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG


OWN = ("preview", "check", "diff")
EXTENSIONS = "winkube.commands"
"""The group of entry points by which packages add commands. Each is called with the parser's subcommands."""


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="winkube",
        description="Evaluate Pulumi Python programs without an engine, plugins or credentials.",
        epilog="Exit codes: 0 no findings, 1 findings, 2 the program or its settings are wrong.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    preview = commands.add_parser("preview", help="show what a program declares, and what is wrong with it",
                                  epilog=parser.epilog)  # fmt: skip
    preview.add_argument("stack", nargs="?", help="name of the stack (default: dev, or the only stack)")
    preview.add_argument("--program", type=Path, default=Path(), metavar="DIR",
                         help="folder with Pulumi.yaml (default: the current folder)")  # fmt: skip
    preview.add_argument("--format", choices=("tree", "json", "markdown", "sarif", "junit"), default="tree",
                         help="output format; sarif and junit hold the findings only (default: tree)")  # fmt: skip
    preview.add_argument("--mode", choices=("preview", "update"), default="preview",
                         help="preview: values that the cloud computes are unknown; update: they are marked "
                         "placeholders, so that every apply runs (default: preview)")  # fmt: skip
    preview.add_argument("--policies", type=Path, metavar="DIR", help="folder of a Pulumi policy pack to run")
    preview.add_argument("--policy-config", type=Path, metavar="FILE", help="configuration of the policy pack (JSON)")
    preview.add_argument("--answers", type=Path, metavar="FILE",
                         help="file with results of provider functions, by token (YAML or JSON)")  # fmt: skip
    preview.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of the terminal")
    preview.add_argument("--report", type=Path, metavar="FILE", help="also write a self-contained HTML page")
    preview.add_argument("--topology", type=Path, metavar="FILE",
                         help="also draw the topology: .svg, .mmd (Mermaid) or .dot (DOT)")  # fmt: skip
    preview.add_argument("--timeline", action="store_true",
                         help="show an estimate of the first deployment instead: its API calls and its longest "
                         "chain of resources; for all stacks if none is named (tree or json)")  # fmt: skip
    add_plain_sdk(preview)
    preview.set_defaults(run=_preview)
    add_check(commands)
    add_diff(commands)
    # Looking for entry points takes as long as a small evaluation, so it is left out where a command is one of ours.
    if not arguments or arguments[0] not in OWN:
        from importlib.metadata import entry_points

        for extension in sorted(entry_points(group=EXTENSIONS), key=lambda it: it.name):
            extension.load()(commands)
    return parser


def _preview(options: argparse.Namespace) -> int:
    from ..evaluation.project import read_project
    from ..pipeline.run_checks import evaluate_and_check

    if options.report or options.topology:
        from ..output.pages import check_pages

        check_pages(options.report, options.topology)
    if options.timeline:
        return _timeline(options)
    stack = options.stack or _only_stack(read_project(options.program).stacks())
    with _Progress() as progress:
        plan = evaluate_and_check(
            options.program, stack, mode=options.mode, answers=options.answers, policies=options.policies,
            policy_config=options.policy_config, progress=progress,
        )  # fmt: skip
    if options.report or options.topology:
        from ..output.pages import write_pages

        write_pages(plan, options.program, options.report, options.topology)
    text = _shown(plan, options)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    for severity, message in plan.logs:
        print(f"{severity}: {message}", file=sys.stderr)
    return FOUND if plan.blocking else CLEAN


def _timeline(options: argparse.Namespace) -> int:
    from ..evaluation.project import read_project
    from ..output import timeline
    from ..pipeline.stacks import timelines

    stacks = [options.stack] if options.stack else read_project(options.program).stacks()
    found = timelines(options.program, stacks, options.answers)
    text = timeline.json_text(found) if options.format == "json" else timeline.text(found)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return CLEAN


def _only_stack(stacks: list[str]) -> str:
    from ..errors import PreviewError

    if "dev" in stacks:
        return "dev"
    if len(stacks) == 1:
        return stacks[0]
    what = f"name one of the stacks: {', '.join(stacks)}" if stacks else "there is no Pulumi.<stack>.yaml here"
    raise PreviewError(what)


def _shown(plan: Any, options: argparse.Namespace) -> str:
    from ..output import plan_formats

    if options.format == "json":
        return plan_formats.json_text(plan) + "\n"
    if options.format == "markdown":
        return plan_formats.markdown_text(plan)
    if options.format in ("sarif", "junit"):
        from ..output.sarif_junit import junit_text, sarif_text

        return sarif_text(plan) if options.format == "sarif" else junit_text(plan)
    import shutil

    terminal = options.output is None and sys.stdout.isatty()
    return plan_formats.tree_text(plan, shutil.get_terminal_size((120, 24)).columns, color=terminal)


class _Progress:
    """Counts resources on a terminal once an evaluation takes longer than a second; silent otherwise."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = 0.0
        self._active = sys.stderr.isatty()

    def __enter__(self) -> Callable[[int], None] | None:
        return self._count if self._active else None

    def _count(self, resources: int) -> None:
        now = time.monotonic()
        if now - self._started > 1 and now - self._shown > 0.1:
            self._shown = now
            print(f"\revaluating: {resources} resources", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
