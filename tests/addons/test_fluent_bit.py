"""Logs of Windows nodes."""

import json
from dataclasses import replace

import pytest
from winkube.addons.fluent_bit import (
    IMAGE,
    FluentBitWindows,
    FluentBitWindowsArgs,
    check_fluent_bit_windows,
    log_manifests,
)
from winkube.kubernetes.windows_pods import check_windows_pod
from winkube.preview.model import UNKNOWN

from .conftest import TAGS, assert_well_made, the

ARGS = FluentBitWindowsArgs(cluster_name="dev", region="eu-central-1", tags=TAGS)
PARTS = log_manifests("logs", "eu-central-1", "/aws/eks/dev/windows")


def test_the_objects_are_those_of_kubernetes(validated):
    for manifest in PARTS.values():
        validated(manifest)


def test_its_pod_keeps_our_own_rules():
    """What we say of the pods of others."""
    assert not list(check_windows_pod(PARTS["agent"]["spec"]["template"]["spec"]))


def test_it_runs_on_windows_nodes_only_whatever_their_taints():
    pod = PARTS["agent"]["spec"]["template"]["spec"]
    assert pod["os"] == {"name": "windows"}
    assert pod["nodeSelector"] == {"kubernetes.io/os": "windows"}
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["securityContext"]["windowsOptions"]["hostProcess"] is True
    assert pod["hostNetwork"] is True
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["memory"]
    assert not container["image"].endswith("latest")


def test_it_reads_containers_and_the_event_log_of_eks():
    text = PARTS["configuration"]["data"]["fluent-bit.conf"]
    assert r"C:\\var\\log\\containers\\*.log" in text
    assert "EKS, System" in text
    assert "${LOG_GROUP}" in text


def test_a_changed_configuration_is_rolled_out():
    """The pods carry its digest."""
    other = log_manifests("logs", "eu-central-1", "x", channels=("System",))
    assert other["configuration"] != PARTS["configuration"]
    digests = [parts["agent"]["spec"]["template"]["metadata"]["annotations"] for parts in (PARTS, other)]
    assert digests[0] != digests[1]


@pytest.mark.parametrize("preview", [True, False])
def test_the_component_writes_into_its_own_group(record, preview: bool):
    plan = record(lambda: FluentBitWindows("logs", ARGS), preview=preview)
    assert_well_made(plan, "FluentBitWindows", ["logGroupName", "nodePolicy"])
    group = the(plan, "LogGroup")
    assert (group.inputs["name"], group.inputs["retentionInDays"]) == ("/aws/eks/dev/windows", 90)
    container = the(plan, "DaemonSet").inputs["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == IMAGE
    policy = the(plan, "FluentBitWindows").outputs["nodePolicy"]
    if not preview:
        (statement,) = json.loads(policy)["Statement"]
        assert "logs:PutLogEvents" in statement["Action"]
    else:
        assert policy is UNKNOWN


@pytest.mark.parametrize(
    ("more", "code", "path", "remedy"),
    [
        ({"log_retention_days": 91}, "WK-EKS-007", ("log_retention_days",), "set log_retention_days to 90"),
        ({"namespace": "*"}, "WK-ADD-020", ("namespace",), "write the exact name"),
        ({"tags": {"aws:x": "y"}}, "WK-TAG-002", ("tags", "aws:x"), "rename the tag"),
    ],
)
def test_mistakes(more, code: str, path, remedy: str):
    (mistake,) = check_fluent_bit_windows(replace(ARGS, **more))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == (code, path, remedy)
