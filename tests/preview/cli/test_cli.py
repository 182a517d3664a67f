"""The command, as a person runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from winkube.preview.cli.main import main

from ..programs import write_program

GOOD = "import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block='10.0.0.0/16')\n"


def run(*arguments: str) -> int:
    return main(["preview", *arguments])


def test_a_clean_program_gives_zero_and_its_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(tmp_path, GOOD)
    assert run("dev", "--program", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "demo/dev (preview)" in out
    assert "1 resource in 0 components; no findings" in out


def test_a_finding_gives_one_with_urn_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(tmp_path, "import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block=5)\n")
    assert run("--program", str(tmp_path), "--format", "json") == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["urn"] == "urn:pulumi:dev::demo::aws:ec2/vpc:Vpc::vpc"
    assert finding["source"] == "__main__.py:2"
    assert finding["path"] == "cidrBlock"


@pytest.mark.parametrize(
    ("main_text", "arguments", "words"),
    [
        ("1 / 0\n", ["dev"], "ZeroDivisionError: division by zero\n  at __main__.py:1 in <module>\n    1 / 0"),
        (GOOD, ["prod"], 'there is no stack "prod": Pulumi.prod.yaml does not exist; the stacks are dev.'),
        (GOOD, ["dev", "--answers", "nowhere.yaml"], "--answers nowhere.yaml: No such file"),
    ],
)
def test_a_wrong_program_gives_two_and_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], main_text: str, arguments: list[str], words: str
) -> None:
    """The message alone, on standard error; nothing half-written on standard output."""
    write_program(tmp_path, main_text)
    assert run(*arguments, "--program", str(tmp_path)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert len(captured.err.splitlines()) <= 4


def test_the_stack_may_be_left_out_only_where_it_is_plain_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, GOOD)
    (tmp_path / "Pulumi.dev.yaml").rename(tmp_path / "Pulumi.one.yaml")
    assert run("--program", str(tmp_path)) == 0
    (tmp_path / "Pulumi.two.yaml").write_text("config: {}\n")
    capsys.readouterr()
    assert run("--program", str(tmp_path)) == 2
    assert capsys.readouterr().err == "error: name one of the stacks: one, two\n"


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(tmp_path, GOOD)
    target = tmp_path / "plan.md"
    assert run("dev", "--program", str(tmp_path), "--format", "markdown", "--output", str(target)) == 0
    assert target.read_text().startswith("## Preview of `demo/dev`")
    assert capsys.readouterr().out == ""


def test_help_needs_no_sdk() -> None:
    """``--help`` answers without importing any SDK."""
    code = (
        "import sys; from winkube.preview.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('pulumi', 'grpc', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Exit codes: 0 no findings, 1 findings" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
