"""The real engine on every stack: skipped where there is no CLI, run by the job ``engine`` of the workflow ``ci``."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pulumi_aws as aws
import pytest
import yaml
from pulumi import FileAsset, Output, ResourceOptions
from pulumi_aws import Provider
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function
from winkube.preview.evaluation.invokes import Answers
from winkube.preview.evaluation.project import read_project
from winkube.preview.model import UNKNOWN_TEXT

from .engine import ROOT
from .plugin import IMAGE, type_of
from .real import Pulumi, copy_of_the_program, inputs, missing, required, steps
from .world import World, world

pytestmark = pytest.mark.proof

ANSWERS = Answers({"aws:ssm/getParameter:getParameter": (({}, {"value": IMAGE, "insecureValue": IMAGE}),)})
CHARTS = "the stack installs Helm charts, which the network of a test does not have"


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    required()
    with world(tmp_path_factory.mktemp("world")) as running:
        yield running


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    required()
    return copy_of_the_program(tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize("stack", read_project(ROOT).stacks())
def test_the_engines_preview_and_the_offline_one_are_the_same(stack: str, program: Path, tmp_path: Path) -> None:
    """The same resources with the same inputs, before anything exists and without a cluster."""
    pulumi = Pulumi(tmp_path, program, stack)
    pulumi.run("stack", "init", stack)
    plan = evaluate(program, stack, answers=ANSWERS)
    assert missing(plan, inputs(pulumi.preview())) == []


@pytest.mark.parametrize("stack", read_project(ROOT).stacks())
def test_the_life_of_a_stack(stack: str, program: Path, bed: World, tmp_path: Path) -> None:
    """Up with the policies, a preview without changes, drift found and repaired, and nothing left at the end."""
    if any(resource.type.startswith("kubernetes:helm.sh/") for resource in evaluate(program, stack).resources):
        pytest.skip(CHARTS)
    pulumi = Pulumi(tmp_path, program, stack, bed)
    pulumi.run("stack", "init", stack)
    pulumi.run("up", "--yes", "--policy-pack", "policies")
    pulumi.run("preview", "--expect-no-changes")
    before = pulumi.kept()
    pulumi.run("refresh", "--yes")
    assert pulumi.kept() == before

    vpc = next(it for urn, it in sorted(pulumi.cloud.things().items()) if type_of(urn) == "aws:ec2/vpc:Vpc")
    tags = {"changed": "by hand"}
    pulumi.cloud.put(replace(vpc, inputs={**vpc.inputs, "tags": tags}, outputs={**vpc.outputs, "tags": tags}))
    pulumi.run("refresh", "--yes")
    assert {urn for urn, step in steps(pulumi.preview()).items() if step != "same"} == {vpc.urn}
    pulumi.run("up", "--yes")
    pulumi.run("preview", "--expect-no-changes")

    # What is protected has to be set free first, as its owner would.
    pulumi.run("state", "unprotect", "--all", "--yes")
    pulumi.run("destroy", "--yes")
    assert pulumi.cloud.things() == {}


def test_the_comparison_reads_what_the_cli_shows() -> None:
    """Secrets as marks, unknown values as the engine writes them, assets with a hash, objects with what was added."""

    def build() -> None:
        provider = Provider("aws", region="eu-central-1")
        bucket = aws.s3.Bucket("b", opts=ResourceOptions(provider=provider))
        key = Output.secret("k")
        body = FileAsset(str(ROOT / "README.md"))
        aws.s3.BucketObjectv2("o", bucket=bucket.id, key=key, source=body, opts=ResourceOptions(provider=provider))

    plan = evaluate_function(build)
    (thing,) = (it for it in plan.resources if it.name == "o")
    shown = {"bucket": UNKNOWN_TEXT, "key": "[secret]",
             "source": {**thing.inputs["source"], "hash": "0" * 64}}  # fmt: skip

    def told(**more: object) -> list[str]:
        states = {urn: {"custom": it.custom} for urn, it in plan.by_urn.items()}
        states[thing.urn] |= {"inputs": {**shown, **more}}
        return missing(plan, inputs({"steps": [{"urn": urn, "newState": it} for urn, it in states.items()]}))

    assert told() == []
    for wrong in ({"key": "k"}, {"bucket": "b"}, {"source": {**shown["source"], "path": "x"}}, {"more": "x"}):
        assert len(told(**wrong)) == 1


def test_a_policy_ends_a_preview(program: Path, tmp_path: Path) -> None:
    """An advisory policy of the pack lets a preview go on; made mandatory, the same one ends it."""
    folder = tmp_path / "program"
    shutil.copytree(program, folder, symlinks=True)
    file = folder / "Pulumi.dev.yaml"
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    settings["config"]["winkube:cluster"]["publicAccessCidrs"] = ["0.0.0.0/0"]
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    stricter = tmp_path / "policies.json"
    stricter.write_text('{"cluster-endpoint-restricted": "mandatory"}', encoding="utf-8")
    pulumi = Pulumi(tmp_path / "state", folder, "dev")
    pulumi.run("stack", "init", "dev")
    pulumi.run("preview", "--policy-pack", "policies")
    strict = ("--policy-pack", "policies", "--policy-pack-config", str(stricter))
    assert "cluster-endpoint-restricted" in pulumi.run("preview", *strict, fails=True)


def test_the_components_serve_a_program_of_another_language(program: Path, tmp_path: Path) -> None:
    """A program in YAML makes a network of the folder of components; its provider is installed by the CLI."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "other",
                "runtime": "yaml",
                "packages": {"winkube": str(program / "components")},
                "resources": {
                    "net": {"type": "winkube:Network", "properties": {"region": "eu-central-1", "nat": "none"}}
                },
                "outputs": {"vpc": "${net.vpcId}"},
            }
        )
    )
    pulumi = Pulumi(tmp_path / "state", folder, "dev")
    pulumi.run("stack", "init", "dev")
    pulumi.run("config", "set", "aws:region", "eu-central-1")
    pulumi.run("install")
    pulumi.run("up", "--yes")
    assert json.loads(pulumi.run("stack", "output", "--json"))["vpc"]
    pulumi.run("destroy", "--yes")
    assert pulumi.cloud.things() == {}


def test_the_automation_api_previews_and_makes_a_component(tmp_path: Path) -> None:
    """The components in a program of one's own process, started by the Automation API."""
    folder = tmp_path / "program"
    folder.mkdir()
    pulumi = Pulumi(tmp_path / "state", folder, "dev")
    done = subprocess.run(
        [sys.executable, "-c", AUTOMATED, str(folder)], env=pulumi.environment, capture_output=True, text=True,
        check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert set(told["planned"]) == {"create"}
    assert told["made"] == told["planned"]
    assert pulumi.cloud.things() == {}


AUTOMATED = """
import json, sys
from pulumi import ResourceOptions, automation
from pulumi_aws import Provider
from winkube.network.network import Network, NetworkArgs

def build():
    provider = Provider("aws", region="eu-central-1")
    Network("net", NetworkArgs(region="eu-central-1", nat="none"), ResourceOptions(providers=[provider]))

project = automation.ProjectSettings(name="inline", runtime="python")
options = automation.LocalWorkspaceOptions(work_dir=sys.argv[1], project_settings=project)
stack = automation.create_or_select_stack(stack_name="dev", project_name="inline", program=build, opts=options)
planned = {kind.value: number for kind, number in stack.preview().change_summary.items()}
made = stack.up().summary.resource_changes
stack.destroy()
print(json.dumps({"planned": planned, "made": made}))
"""
"""A program of somebody else's: nothing of the tests is in its process."""
