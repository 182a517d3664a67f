"""The commands as people type them."""

import json
import stat
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from winkube.preview.cli import main as cli

from .conftest import BUCKET, LAYOUT, NAME, REGION, World
from .test_actions import stop_everything

pytestmark = pytest.mark.verify


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The group of commands, as its entry point adds it."""
    point = EntryPoint("cluster", "winkube.ops.cli:add_cluster", cli.EXTENSIONS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [point])


def run(*arguments: str) -> int:
    return cli.main(["cluster", *arguments])


def test_status_shows_the_cluster_and_whether_it_is_healthy(world: World, capsys: Any) -> None:
    assert run("status", NAME, "--region", REGION) == 0
    assert "cp-1" in capsys.readouterr().out
    world.report("cp-1", phase="join")
    assert run("status", NAME, "--region", REGION, "--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["healthy"] is False


def test_what_cannot_be_done_is_said_in_one_line(world: World, capsys: Any) -> None:
    assert run("status", "dev.example.com", "--region", REGION) == 2
    assert capsys.readouterr().err.startswith("error: no control plane is tagged")


def test_without_credentials_it_says_so(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert run("status", NAME, "--region", REGION) == 2
    assert capsys.readouterr().err == (
        "error: AWS was not reached: Unable to locate credentials. See that credentials and region are right "
        "(AWS_PROFILE)\n"
    )


def test_what_aws_refuses_is_said_in_one_line(world: World, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world.change_template()
    refused = ClientError({"Error": {"Code": "AccessDenied", "Message": "no rights"}}, "TerminateInstance")
    monkeypatch.setattr("winkube.ops.actions.find", Mock(side_effect=refused))
    assert run("roll", NAME, "--region", REGION) == 2
    assert capsys.readouterr().err.endswith("error: AWS refused TerminateInstance: AccessDenied: no rights\n")


def test_an_error_of_our_own_is_not_hidden(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winkube.ops.actions.find", Mock(side_effect=ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        run("roll", NAME, "--region", REGION)


def test_nothing_to_roll(world: World, capsys: Any) -> None:
    assert run("roll", NAME, "--region", REGION) == 0
    assert "nothing to roll" in capsys.readouterr().out


def test_a_restore_asks_for_the_cluster_s_name(world: World, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_everything(world)
    answers = iter(["yes", NAME])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert run("restore", NAME, "--region", REGION) == 2
    assert "not restored: that is not the cluster's name" in capsys.readouterr().err
    assert run("restore", NAME, "--region", REGION) == 0
    assert capsys.readouterr().out.strip() == f"s3://{BUCKET}/{LAYOUT.bootstrap('restore')}"


def test_backups_are_listed_and_chosen_by_name(world: World, capsys: Any) -> None:
    old = world.add_backup(minutes=90, revision=50)
    assert run("restore", NAME, "--region", REGION, "--list") == 0
    assert old.rpartition("/")[2][:20] in capsys.readouterr().out
    stop_everything(world)
    name = old.rpartition("/")[2][:20]
    assert run("restore", NAME, "--region", REGION, "--backup", name, "--yes", NAME) == 0
    wish = json.loads(world.s3.get_object(Bucket=BUCKET, Key=LAYOUT.bootstrap("restore"))["Body"].read())
    assert wish["key"] == old
    assert run("restore", NAME, "--region", REGION, "--backup", "1999", "--yes", NAME) == 2


def test_a_kubeconfig_is_readable_by_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a file that everybody may read stood before."""
    program = tmp_path / "pulumi"
    program.write_text('#!/bin/sh\necho "apiVersion: v1 # $*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    target = tmp_path / "config"
    target.write_text("old")
    target.chmod(0o644)
    assert run("kubeconfig", "--stack", "prod", "--output", str(target)) == 0
    assert "--show-secrets --stack prod" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_without_pulumi_it_is_said_what_is_needed(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("kubeconfig", "--stack", "prod", "--output", str(tmp_path / "config")) == 2
    assert "install the Pulumi CLI" in capsys.readouterr().err


def test_commands_of_the_preview_look_for_no_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would cost them a fifth of their time."""

    def fail(**_: Any) -> Any:
        raise AssertionError("looked")

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    with pytest.raises(SystemExit):
        cli.main(["preview", "--help"])
