"""The check of a pull request, as a reviewer meets it."""

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from winkube.preview.cli.main import main
from winkube.preview.pipeline.pull_request import CheckRequest, check, comment

from ..programs import write_program

pytestmark = pytest.mark.verify

VPC = "import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block='10.0.0.0/16')\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A program in git with two stacks, and a change to it that is not committed."""
    write_program(tmp_path, VPC)
    (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "base")
    (tmp_path / "__main__.py").write_text(VPC + "aws.ec2.Vpc('second', cidr_block='10.1.0.0/16')\n")
    return tmp_path


def test_every_stack_is_judged_compared_and_written(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = repository / "out" / "deep"
    arguments = ["check", "--program", str(repository), "--output", str(output), "--base", "HEAD"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "dev: 2 resources in 0 components; no findings" in said
    assert "prod: 2 resources in 0 components; no findings" in said
    assert {path.name for path in output.iterdir()} == {
        "comment.md", "dev.html", "prod.html", "findings.sarif", "findings.xml",
    }  # fmt: skip
    text = (output / "comment.md").read_text()
    assert "1 added, 0 changed, 0 removed, 1 unchanged" in text
    assert "## Preview of `demo/dev`" in text
    assert "## Preview of `demo/prod`" in text
    sarif = json.loads((output / "findings.sarif").read_text())
    assert [run["automationDetails"]["id"] for run in sarif["runs"]] == ["winkube/dev/", "winkube/prod/"]
    assert ET.parse(output / "findings.xml").getroot().tag == "testsuites"  # noqa: S314


def test_a_finding_is_exit_code_one(repository: Path) -> None:
    (repository / "__main__.py").write_text("import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block=5)\n")
    assert main(["check", "dev", "--program", str(repository), "--output", str(repository / "out")]) == 1
    sarif = json.loads((repository / "out" / "findings.sarif").read_text())
    (result,) = sarif["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_a_stack_that_fails_does_not_take_the_others_away(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, its message in the comment and as an error of JUnit; the other stacks are there all the same."""
    (repository / "__main__.py").write_text(
        "import pulumi\nif pulumi.get_stack() == 'prod':\n    raise pulumi.RunError('no <b>region</b>')\n" + VPC
    )
    output = repository / "out"
    assert main(["check", "--program", str(repository), "--output", str(output), "--base", "HEAD"]) == 2
    text = (output / "comment.md").read_text()
    assert text.startswith("## ❌ `prod` cannot be evaluated\n\n> no &#60;b&#62;region&#60;/b&#62;")
    assert "## Preview of `demo/dev`" in text
    error = ET.parse(output / "findings.xml").getroot().find(".//testcase[@classname='prod']/error")  # noqa: S314
    assert error is not None
    assert error.get("message") == "no <b>region</b>"
    assert "prod: error: no <b>region</b>" in capsys.readouterr().err


def test_a_base_that_is_not_there_leaves_the_rest_of_the_check(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = repository / "out"
    assert main(["check", "dev", "--program", str(repository), "--output", str(output), "--base", "nowhere"]) == 0
    assert (output / "comment.md").read_text().startswith("> No comparison with the base: ")
    assert "no comparison with nowhere" in capsys.readouterr().err


def test_a_program_without_stacks_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(tmp_path, VPC)
    (tmp_path / "Pulumi.dev.yaml").unlink()
    assert main(["check", "--program", str(tmp_path), "--output", str(tmp_path / "out")]) == 2
    assert "there is no stack to check" in capsys.readouterr().err


def test_an_output_that_cannot_be_made_is_wrong(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "file").write_text("")
    assert main(["check", "dev", "--program", str(repository), "--output", str(repository / "file")]) == 2
    assert "--output" in capsys.readouterr().err


def test_the_comment_stays_under_its_limit(repository: Path) -> None:
    """What has no room is named, never cut in the middle."""
    many = "".join(f"aws.ec2.Vpc('a-vpc-with-a-rather-long-name-{i}', cidr_block='10.0.0.0/16')\n" for i in range(400))
    (repository / "__main__.py").write_text("import pulumi_aws as aws\n" + many)
    result = check(CheckRequest(program=repository, output=repository / "out", base="HEAD"))
    for limit in (60_000, 8_000, 4_000, 1_500, 1_000):
        text = comment(result, limit)
        assert len(text.encode()) <= limit
        assert text.count("<details>") == text.count("</details>")
    assert "do not fit into this comment" in comment(result, 1_000)
