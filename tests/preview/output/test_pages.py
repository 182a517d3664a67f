"""The page and the drawing as files of the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from winkube.preview.cli.main import main

from ..programs import write_program

PROGRAM = """
import pulumi, pulumi_aws as aws
vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
aws.ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block="10.0.0.0/24")
pulumi.export("password", pulumi.Output.secret("hunter2-hunter2"))
aws.s3.Bucket("hunter2-hunter2")
"""


def run(folder: Path, *arguments: str) -> int:
    return main(["preview", "dev", "--program", str(folder), *arguments])


def test_page_and_drawing_are_written_beside_what_the_terminal_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_program(tmp_path, PROGRAM, stack="config:\n  aws:region: eu-north-1\n")
    page, picture = tmp_path / "report.html", tmp_path / "topology.svg"
    assert run(tmp_path, "--report", str(page), "--topology", str(picture), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["project"] == "demo"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    for file in (page, picture):
        text = file.read_text(encoding="utf-8")
        assert "Region eu-north-1" in text
        assert "hunter2" not in text


@pytest.mark.parametrize(("ending", "start"), [("svg", "<svg "), ("mmd", "flowchart "), ("dot", "digraph ")])
def test_the_ending_of_the_file_says_what_is_drawn(tmp_path: Path, ending: str, start: str) -> None:
    write_program(tmp_path, PROGRAM)
    file = tmp_path / f"topology.{ending}"
    assert run(tmp_path, "--topology", str(file)) == 0
    assert file.read_text(encoding="utf-8").startswith(start)
    assert "hunter2" not in file.read_text(encoding="utf-8")


def test_a_region_that_is_a_secret_is_not_told(tmp_path: Path) -> None:
    write_program(tmp_path, PROGRAM, stack="config:\n  aws:region:\n    secure: AAABAE0=\n")
    file = tmp_path / "topology.mmd"
    assert run(tmp_path, "--topology", str(file)) == 0
    assert "Region not known" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--topology", "x.png"], "--topology x.png: the file suffix must be one of .svg, .mmd, .dot"),
        (["--report", "nowhere/x.html"], "nowhere/x.html: the folder nowhere does not exist; create it first"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_program_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    write_program(tmp_path, "1 / 0\n")
    assert run(tmp_path, *arguments) == 2
    assert words in capsys.readouterr().err


def test_a_preview_without_a_page_does_not_load_what_writes_pages(tmp_path: Path) -> None:
    write_program(tmp_path, "")
    script = (
        "import sys; from winkube.preview.cli.main import main; main(sys.argv[1:]); "
        "print(sorted(m for m in sys.modules if m == 'jinja2' or m.startswith('winkube.preview.output.report.page')))"
    )
    command = [sys.executable, "-c", script, "preview", "dev", "--program", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
