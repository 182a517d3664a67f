"""Every stack and example as a whole: evaluated, without a finding, and as it was."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from winkube.preview.checks.plan import check_plan
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.evaluation.invokes import read_answers
from winkube.preview.evaluation.project import read_project
from winkube.preview.model import Plan, Severity
from winkube.preview.output.plan_formats import to_json

from .conftest import WaitsFor

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/Pulumi.yaml"))
IN_PYTHON = [folder for folder in EXAMPLES if (folder / "__main__.py").exists()]
"""The others are tried by the component provider, in tests/plugin."""
PROGRAMS = [ROOT, *IN_PYTHON]
STACKS = [(folder, stack) for folder in PROGRAMS for stack in read_project(folder).stacks()]

MODES = ("preview", "update")
OPAQUE = frozenset({"windows_for_pulumi_eks"})
"""Examples with a component provider that nobody runs here: in an update its outputs would be missing."""
CASES = [(folder, stack, mode) for mode in MODES for folder, stack in STACKS
         if mode == "preview" or folder.name not in OPAQUE]  # fmt: skip
every_stack = pytest.mark.parametrize(
    ("folder", "stack", "mode"),
    CASES,
    ids=[f"{mode}-{folder.name if folder != ROOT else 'program'}-{stack}" for folder, stack, mode in CASES],
)


def evaluated(folder: Path, stack: str, mode: str = "preview") -> Plan:
    """A stack with what its folder says of the cloud, where it looks something up."""
    answers = folder / "answers.yaml"
    return evaluate(folder, stack, mode=mode, answers=read_answers(answers) if answers.exists() else None)


def weighty(plan: Plan) -> list[Any]:
    findings = [*plan.findings, *check_plan(plan), *run_policies(plan, ROOT / "policies")]
    return [finding for finding in findings if finding.severity is not Severity.NOTE]


@every_stack
def test_a_stack_evaluates_without_a_finding(folder: Path, stack: str, mode: str) -> None:
    """As a preview and as an update, with all checks and policies on."""
    assert weighty(evaluated(folder, stack, mode)) == []


@every_stack
def test_a_stack_is_as_it_was(folder: Path, stack: str, mode: str, snapshot: SnapshotAssertion) -> None:
    """The whole plan, without the lines of the source, which move with every edit. Renew: pytest --snapshot-update."""
    document = to_json(evaluated(folder, stack, mode))
    # Files that are made for a deployment lie where the machine keeps such files.
    document = json.loads(json.dumps(document).replace(f"{tempfile.gettempdir()}/winkube-", "<temporary>/winkube-"))
    for resource in document["resources"]:
        del resource["source"]
    assert document == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_a_stack_comes_up_in_the_right_order(stack: str, waits_for: WaitsFor) -> None:
    """Roles and logs before the cluster; CNI and kube-proxy before nodes; Linux before Windows, beside CoreDNS."""
    plan = evaluate(ROOT, stack)
    assert {f"{stack}-cluster-role", f"{stack}-logs"} <= waits_for(plan, f"{stack}-cluster")
    assert {f"{stack}-ipam-vpc-cni", f"{stack}-kube-proxy-addon"} <= waits_for(plan, f"{stack}-system-group")
    assert f"{stack}-system-group" in waits_for(plan, f"{stack}-coredns-addon")
    windows = waits_for(plan, f"{stack}-windows-2022-group")
    assert {f"{stack}-system-group", f"{stack}-ipam-vpc-cni"} <= windows
    assert f"{stack}-coredns-addon" not in windows
    assert f"{stack}-windows-2022-nodes-AmazonEKSWorkerNodePolicy" in windows


def test_addons_come_after_dns_and_before_what_they_serve(waits_for: WaitsFor) -> None:
    """Add-ons need Linux nodes and DNS; gMSA's webhook its certificates; Windows nodes and classes wait for none."""
    plan = evaluate(ROOT, "prod")
    drivers = waits_for(plan, "prod-addons-aws-ebs-csi-driver-addon")
    assert {"prod-system-group", "prod-coredns-addon", "prod-addons-aws-ebs-csi-driver-role"} <= drivers
    assert "prod-addons-cert-manager" in waits_for(plan, "prod-addons-windows-gmsa")
    for name in ("prod-windows-2025-group", "prod-ebs-ntfs-class"):
        assert not [waited for waited in waits_for(plan, name) if waited.startswith("prod-addons")]


def test_what_runs_in_a_cluster_of_its_own_comes_up_side_by_side(waits_for: WaitsFor) -> None:
    """Which of it a node gets first is not the program's to say, so nothing of it waits for another."""
    plan = evaluate(ROOT, "kubeadm-dev")
    objects = ("cloud-controller-controller", "flannel-linux", "csr-approver-approver", "kube-proxy-windows-windows")
    for name in objects:
        waited = waits_for(plan, f"kubeadm-dev-{name}")
        room = f"kubeadm-dev-{name.rpartition('-')[0]}"
        assert room in waited
        assert {it for it in waited if it.startswith("kubeadm-dev-") and not it.startswith(room)} == set()


def test_the_order_of_a_program_can_be_wrong(waits_for: WaitsFor) -> None:
    """The check above can fail: nothing makes the Windows group wait for what it does not depend on."""
    plan = evaluate(ROOT, "dev")
    assert "dev-windows-2022-group" not in waits_for(plan, "dev-system-group")
    assert "dev-state-bucket" not in waits_for(plan, "dev-windows-2022-group")


def test_the_program_runs_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(evaluate(ROOT, "dev").resources) > 50


@pytest.mark.parametrize("example", IN_PYTHON, ids=lambda folder: folder.name)
def test_a_copy_of_an_example_runs_outside_of_the_repository(example: Path, tmp_path: Path) -> None:
    """An example needs the installed library and nothing else of the repository."""
    copy = tmp_path / "copy"
    shutil.copytree(example, copy)
    assert weighty(evaluated(copy, "dev")) == []


def test_every_example_has_its_line_in_the_list() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [line.partition("[")[2].partition("]")[0] for line in text.splitlines() if line.startswith("| [")] == [
        example.name for example in EXAMPLES
    ]
    for example in IN_PYTHON:
        assert {path.name for path in example.iterdir()} >= {"__main__.py", "Pulumi.dev.yaml", "requirements.txt"}
