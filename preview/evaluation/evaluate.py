"""Evaluates a project directory, or a function, and returns a :class:`~winkube.preview.model.Plan`."""

import contextlib
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import PreviewError, ProgramError, own_frame
from ..model import Plan
from .invokes import Answers
from .monitor import Engine, Mock, Monitor
from .project import Configuration, Run, read_configuration, read_project
from .runtime import describe, run_program

MODES = ("preview", "update")


def evaluate(
    directory: str | Path,
    stack: str,
    *,
    mode: str = "preview",
    answers: Answers | None = None,
    progress: Callable[[int], None] | None = None,
    mocks: Mapping[str, Mock] | None = None,
) -> Plan:
    """Evaluate the Pulumi program in ``directory`` for one of its stacks.

    No engine, plugin, passphrase or credential is needed or looked for.

    :param mode: ``preview``: values that the cloud computes are unknown. ``update``: they are marked placeholders, so
        that every ``apply`` runs.
    :param mocks: type to a function that computes what its provider would in an update, such as keys.
    :raises PreviewError: the project, the stack or the configuration is wrong.
    :raises ProgramError: the program raised an exception; the message has its words and its line.
    """
    project = read_project(Path(directory))
    configuration = read_configuration(project, stack)
    run = Run(
        project=project.name, stack=stack, directory=str(project.directory), mode=mode, configuration=configuration
    )
    return _evaluate(lambda: _run_file(project.program), run, answers, progress, mocks)


def evaluate_function(
    build: Callable[[], Any],
    *,
    mode: str = "preview",
    config: Mapping[str, str] | None = None,
    project: str = "project",
    stack: str = "stack",
    answers: Answers | None = None,
    mocks: Mapping[str, Mock] | None = None,
) -> Plan:
    """Evaluate a function that creates resources, for tests. Its exceptions are raised unchanged."""
    configuration = Configuration(config or {})
    run = Run(project=project, stack=stack, directory=str(Path.cwd()), mode=mode, configuration=configuration)
    try:
        return _evaluate(build, run, answers, None, mocks)
    except ProgramError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise


def _evaluate(
    body: Callable[[], Any],
    run: Run,
    answers: Answers | None,
    progress: Callable[[int], None] | None,
    mocks: Mapping[str, Mock] | None,
) -> Plan:
    if run.mode not in MODES:
        raise PreviewError(f'mode must be "preview" or "update", got "{run.mode}"')
    root = run.directory + os.sep

    def locate(file: str) -> str:
        return file.removeprefix(root)

    engine = Engine()
    monitor = Monitor(run, answers=answers or Answers(), locate=locate, progress=progress, mocks=mocks)
    try:
        run_program(body, monitor, engine, run)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise ProgramError(f"the program ended with exit code {stop.code}") from stop
    except Exception as error:
        raise ProgramError(describe(error), _frame(error, run.directory), _hints(monitor)) from error
    findings = sorted([*monitor.findings, *monitor.unanswered()], key=lambda finding: finding.order)
    return Plan(
        project=run.project,
        stack=run.stack,
        mode=run.mode,
        directory=run.directory,
        resources=[monitor.resources[urn] for urn in sorted(monitor.resources)],
        outputs=dict(sorted(monitor.outputs.items())),
        invokes=monitor.invokes,
        findings=findings,
        logs=engine.logs,
    )


def _frame(error: BaseException, directory: str) -> Any:
    # A RunError's text is complete by contract: the CLI prints it without any frame, and so does this.
    import pulumi

    return None if isinstance(error, pulumi.RunError) else own_frame(error, directory)


def _hints(monitor: Monitor) -> tuple[str, ...]:
    tokens = sorted(set(monitor.unanswered_plain))
    if not tokens:
        return ()
    names = ", ".join(tokens)
    remedy = "call the *_output form of the function, or give its result with --answers FILE"
    return (f"note: {names} cannot be answered without the cloud; {remedy}",)


def _run_file(program: Path) -> None:
    """Run the program as ``python`` would, with its folder first on the path. Its modules are unloaded afterwards."""
    folder = program if program.is_dir() else program.parent
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        # The program's folder is the working directory, as under the engine. Its output must not mix with the plan.
        with contextlib.chdir(folder), contextlib.redirect_stdout(sys.stderr):
            runpy.run_path(str(program), run_name="__main__")
    finally:
        sys.path.remove(str(folder))
        for name in _modules_of(folder, set(sys.modules) - before):
            del sys.modules[name]


def _modules_of(folder: Path, names: set[str]) -> Iterator[str]:
    """The modules that were found in ``folder``: the next program may have other modules of these names."""
    for name in names:
        top = name.partition(".")[0]
        if (folder / top).is_dir() or (folder / f"{top}.py").is_file():
            yield name
