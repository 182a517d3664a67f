"""Several stacks in processes of their own: the same as one after the other, and each evaluated once."""

import sys
from pathlib import Path
from typing import Any

import pytest
import winkube.preview.pipeline.processes
from winkube.preview.cli.main import main
from winkube.preview.model import Plan
from winkube.preview.output.plan_formats import to_json
from winkube.preview.pipeline.processes import Job, run_jobs
from winkube.preview.pipeline.stacks import checked_stacks, working_tree_job

from ..programs import write_program
from .test_pull_request import git

pytestmark = pytest.mark.verify

STACKS = ("dev", "first", "prod", "test")
PROGRAM = """
import sys
import pulumi
import pulumi_aws as aws

stack = pulumi.get_stack()
print("out of", stack)
print("err of", stack, file=sys.stderr)
if stack == "prod":
    raise pulumi.RunError("prod has no region")
pulumi.log.warn(f"{stack} is small")
aws.ec2.Vpc("vpc", cidr_block=5 if stack == "test" else "10.0.0.0/16")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Four stacks: two are right, one fails, one has a finding. All of them write."""
    write_program(tmp_path, PROGRAM)
    for stack in STACKS:
        (tmp_path / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    return tmp_path


@pytest.fixture(params=[1, 2, 8])
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A machine with so many processors. With one, nothing is to be had by processes."""
    monkeypatch.setattr(winkube.preview.pipeline.processes, "processors", lambda: request.param)
    return request.param


def said_by(run: Any, capfd: pytest.CaptureFixture[str]) -> tuple[Any, str, str]:
    """What a call gives, and what is written meanwhile."""
    sys.stderr.flush()
    capfd.readouterr()
    result = run()
    sys.stderr.flush()
    return (result, *capfd.readouterr())


def test_a_check_is_the_same_on_any_number_of_processors(
    program: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Exit code, output, what programs write, and every byte of every file."""
    found: list[Any] = []
    output = tmp_path_factory.mktemp("result")
    for number in (1, 2, 8):
        monkeypatch.setattr(winkube.preview.pipeline.processes, "processors", lambda number=number: number)
        arguments = ["check", "--program", str(program), "--output", str(output)]
        result = said_by(lambda arguments=arguments: main(arguments), capfd)
        found.append((result, {path.name: path.read_text() for path in output.iterdir()}))
        for path in output.iterdir():
            path.unlink()
    assert found[0] == found[1] == found[2]
    (code, out, err), files = found[0]
    assert code == 2
    assert [line.partition(":")[0] for line in out.splitlines()] == ["dev", "first", "test", f"written to {output}"]
    assert err.splitlines()[:3] == ["out of dev", "err of dev", "out of first"]
    assert "prod: error: prod has no region" in err
    assert files.keys() == {"comment.md", "findings.sarif", "findings.xml", "dev.html", "first.html", "test.html"}


@pytest.mark.usefixtures("processors")
def test_the_timeline_of_all_stacks_ends_with_the_first_that_fails(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["preview", "--timeline", "--program", str(program)]
    code, out, err = said_by(lambda: main(arguments), capfd)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "error: prod has no region"
    (program / "Pulumi.prod.yaml").unlink()
    code, out, err = said_by(lambda: main(arguments), capfd)
    assert code == 0
    assert [line.partition(":")[0] for line in out.splitlines() if not line.startswith(" ") and line] == [
        "dev", "first", "test",
    ]  # fmt: skip
    assert "documented durations" in out


def test_a_path_in_a_message_is_as_it_was_given(
    program: Path, processors: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where another process read it."""
    monkeypatch.chdir(program.parent)
    arguments = ["check", "--program", program.name, "--output", str(program / "out"), "--answers", "no.yaml"]
    code, _, err = said_by(lambda: main(arguments), capfd)
    assert code == 2
    assert "dev: error: " in err
    assert "no.yaml" in err
    assert str(program.parent / "no.yaml") not in err
    assert processors


def test_a_check_with_a_base_evaluates_each_side_once(program: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The plan that is shown is the plan that is compared: each stack of each side runs once."""
    notes = tmp_path_factory.mktemp("notes")
    line = f"open({str(notes)!r} + '/' + stack + str(len(__import__('os').listdir({str(notes)!r}))), 'w').close()\n"
    (program / "__main__.py").write_text(PROGRAM + line)
    (program / "Pulumi.prod.yaml").unlink()
    git(program, "init", "--quiet")
    git(program, "add", ".")
    git(program, "commit", "--quiet", "-m", "base")
    (program / "__main__.py").write_text(PROGRAM + line + "aws.ec2.Vpc('second', cidr_block='10.1.0.0/16')\n")
    output = notes.parent / "out"
    arguments = ["check", "dev", "first", "--program", str(program), "--output", str(output), "--base", "HEAD"]
    assert main(arguments) == 0
    assert sorted(path.name.rstrip("0123456789") for path in notes.iterdir()) == ["dev", "dev", "first", "first"]
    assert "1 added, 0 changed, 0 removed, 1 unchanged" in (output / "comment.md").read_text()


def test_what_is_shown_is_the_same_with_and_without_a_base(program: Path, tmp_path: Path) -> None:
    """A file beside the program and one that is passed as a value stand in the page as without a comparison."""
    (program / "Pulumi.prod.yaml").unlink()
    (program / "__main__.py").write_text(
        PROGRAM + "aws.s3.BucketObjectv2('object', bucket='b', key='k', source=pulumi.FileAsset('Pulumi.yaml'))\n"
    )
    git(program, "init", "--quiet")
    git(program, "add", ".")
    git(program, "commit", "--quiet", "-m", "base")
    arguments = ["check", "dev", "--program", str(program), "--output"]
    pages: list[str] = []
    for name, more in (("without", []), ("with", ["--base", "HEAD"])):
        assert main([*arguments, str(tmp_path / name), *more]) == 0
        assert "sha256:" not in (tmp_path / name / "dev.html").read_text()
        assert "no differences in 2 resources" in (tmp_path / name / "comment.md").read_text() or not more
        pages.append((tmp_path / name / "findings.sarif").read_text())
    assert pages[0] == pages[1]


@pytest.mark.usefixtures("processors")
def test_plans_of_processes_are_those_of_this_process(program: Path) -> None:
    found = checked_stacks(program, STACKS)
    assert [isinstance(it, Plan) for it in found] == [True, True, False, True]
    assert str(found[2]) == "prod has no region"
    plans = [it for it in found if isinstance(it, Plan)]
    assert [to_json(plan)["stack"] for plan in plans] == ["dev", "first", "test"]
    assert plans[0].logs == [("warning", "dev is small")]
    assert plans[0].directory == str(program)
    assert [finding.code for finding in plans[2].findings] == ["check/inputs"]


class TestProcesses:
    def test_answers_come_in_the_order_of_the_jobs(self, program: Path) -> None:
        answers = run_jobs([working_tree_job("timeline", program, stack) for stack in ("test", "dev", "prod", "first")])
        assert [answer.document["stack"] if answer.document else answer.error for answer in answers] == [
            "test", "dev", "prod has no region", "first",
        ]  # fmt: skip
        assert [answer.said.split()[2] for answer in answers] == ["test", "dev", "prod", "first"]

    def test_no_jobs_need_no_process(self) -> None:
        assert run_jobs([]) == []

    def test_a_program_that_takes_its_process_away_takes_nothing_from_the_others(self, program: Path) -> None:
        (program / "__main__.py").write_text(
            PROGRAM.replace("raise pulumi", "__import__('os')._exit(7)\n    raise pulumi")
        )
        answers = run_jobs([working_tree_job("timeline", program, stack) for stack in ("prod", "dev", "prod", "first")])
        assert [answer.document is None for answer in answers] == [True, False, True, False]
        assert answers[0].error.startswith(
            "the program ended its process with exit code 7 before the evaluation was complete\n  out of prod"
        )

    def test_a_program_that_never_ends_is_stopped(self, program: Path) -> None:
        (program / "__main__.py").write_text(
            PROGRAM.replace("raise pulumi", "__import__('time').sleep(600)\n    raise pulumi")
        )
        jobs = [working_tree_job("timeline", program, stack) for stack in ("prod", "dev")]
        answers = run_jobs(jobs, timeout_seconds=15)
        assert "was stopped after 15 seconds" in answers[0].error
        assert answers[1].document is not None

    @pytest.mark.parametrize("line", ["__import__('os').close(2)", "__import__('os').write(2, b'x' * (9 << 20))"])
    def test_standard_error_may_be_taken_away_or_flooded(
        self, program: Path, line: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(winkube.preview.pipeline.processes, "SECONDS_FOR_TEXT", 0.2)
        (program / "__main__.py").write_text(f"{line}\n")
        (answer,) = run_jobs([working_tree_job("timeline", program, "dev")])
        assert answer.document is not None
        assert len(answer.said) <= 4 << 20

    def test_each_has_a_process_of_its_own_where_that_is_wanted(self, program: Path) -> None:
        (program / "__main__.py").write_text("import os, sys\nprint('process', os.getpid(), file=sys.stderr)\n")
        jobs: list[Job] = [working_tree_job("timeline", program, "dev")] * 5
        assert len({answer.said for answer in run_jobs(jobs, alone=True)}) == 5
        assert len({answer.said for answer in run_jobs(jobs)}) < 5
