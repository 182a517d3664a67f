"""What a first deployment takes: the longest chain over the dependencies, and calls by count."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
import winkube.preview.output.timeline
from winkube.preview.cli.main import main
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.output.timeline import json_text, text, timeline


def chain() -> None:
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
    subnet = aws.ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block="10.0.0.0/24")
    aws.ec2.NatGateway("nat", subnet_id=subnet.id, allocation_id="eipalloc-1")
    aws.iam.Role("role", assume_role_policy="{}")


def test_the_longest_chain_follows_the_dependencies() -> None:
    found = timeline(evaluate_function(chain))
    assert [(step.name, step.begins, step.seconds) for step in found.steps] == [
        ("vpc", 0, 12), ("subnet", 12, 3), ("nat", 15, 105),
    ]  # fmt: skip
    assert (found.resources, found.seconds, found.one_by_one) == (4, 120, 122)
    assert found.calls == 4 + 3 + 2 + 3 == sum(found.calls_by_type.values())
    assert list(found.assumed) == []


HOOK = {"initial_lifecycle_hooks": [
    {"name": "ready", "lifecycle_transition": "autoscaling:EC2_INSTANCE_LAUNCHING", "default_result": "ABANDON"},
]}  # fmt: skip
OS_TAG = "k8s.io/cluster-autoscaler/node-template/label/kubernetes.io/os"
WINDOWS = {"tags": [{"key": OS_TAG, "value": "windows", "propagate_at_launch": False}]}


@pytest.mark.parametrize(
    ("group", "seconds"),
    [
        ({}, 60),
        (WINDOWS, 60),
        ({"wait_for_elb_capacity": 1}, 180),
        (HOOK, 180),
        ({**HOOK, **WINDOWS}, 300),
        ({**HOOK, **WINDOWS, "min_size": 0}, 60),
    ],
)
def test_a_group_that_waits_for_its_nodes_takes_as_long_as_they_do(group: Any, seconds: int) -> None:
    def build() -> None:
        aws.autoscaling.Group("group", **{"min_size": 1, "max_size": 1, **group})

    assert timeline(evaluate_function(build)).seconds == seconds


@pytest.mark.parametrize(("ami_type", "seconds"), [("WINDOWS_CORE_2022_x86_64", 300), ("AL2023_x86_64_STANDARD", 180)])
def test_windows_nodes_take_longer(ami_type: str, seconds: int) -> None:
    def build() -> None:
        aws.eks.NodeGroup("group", cluster_name="c", node_role_arn="r", subnet_ids=["s"], ami_type=ami_type,
                          scaling_config={"min_size": 1, "max_size": 1, "desired_size": 1})  # fmt: skip

    assert timeline(evaluate_function(build)).seconds == seconds


def test_what_a_component_comes_after_its_children_come_after() -> None:
    """The engine knows no parent before the parent is registered."""

    def build() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        outer = pulumi.ComponentResource("a:b:Outer", "outer", opts=pulumi.ResourceOptions(depends_on=[vpc]))
        inner = pulumi.ComponentResource("a:b:Inner", "inner", opts=pulumi.ResourceOptions(parent=outer))
        aws.iam.Role("role", assume_role_policy="{}", opts=pulumi.ResourceOptions(parent=inner))

    assert [step.name for step in timeline(evaluate_function(build)).steps] == ["vpc", "role"]


def test_every_duration_has_a_source_and_says_whether_it_is_an_estimate() -> None:
    """Nothing is taken to last longer than the provider itself would wait."""
    table = json.loads((Path(winkube.preview.output.timeline.__file__).parent / "durations.json").read_text())
    rows = {"default": table["default"], **table["types"], **table["variants"]}
    for name, row in rows.items():
        assert row["source"], name
        assert row["documented"] is None or row["source"].startswith("https://"), name
        assert row["seconds"] <= row.get("limit", row["seconds"]), name
    assert [name for name, row in rows.items() if row["documented"]] == [
        "aws:route53/zone:Zone", "aws:route53/record:Record", "aws:eks/cluster:Cluster",
    ]  # fmt: skip


def test_the_text_says_what_is_documented_and_what_is_an_estimate() -> None:
    """Each step carries its source; the sum is told."""

    def build() -> None:
        zone = aws.route53.Zone("zone", name="example.com")
        aws.iam.Role("role", assume_role_policy="{}", opts=pulumi.ResourceOptions(depends_on=[zone]))

    found = timeline(evaluate_function(build))
    assert [(step.documented, step.source[:8]) for step in found.steps] == [
        ("changes generally propagate to all servers within 60 seconds", "https://"), (None, "https://"),
    ]  # fmt: skip
    assert "60 s of the chain are documented durations, 2 s estimates" in text([found])


def test_what_a_provider_is_configured_with_comes_first() -> None:
    """Kubernetes objects wait for the cluster though they do not name it."""

    def build() -> None:
        zone = aws.route53.Zone("zone", name="example.com")
        provider = aws.Provider("late", region=zone.zone_id)
        aws.iam.Role("role", assume_role_policy="{}", opts=pulumi.ResourceOptions(provider=provider))

    assert [step.name for step in timeline(evaluate_function(build)).steps] == ["zone", "role"]


def test_an_empty_plan_takes_no_time() -> None:
    found = timeline(evaluate_function(lambda: None))
    assert (found.seconds, found.calls, list(found.steps)) == (0, 0, [])
    assert "none is measured" in text([found])


def test_a_thousand_links_are_no_matter_of_recursion() -> None:
    def build() -> None:
        before: list[pulumi.Resource] = []
        for number in range(1200):
            role = aws.iam.Role(
                f"role{number}", assume_role_policy="{}", opts=pulumi.ResourceOptions(depends_on=list(before))
            )
            before = [role]

    assert len(timeline(evaluate_function(build)).steps) == 1200


def test_the_command_shows_all_stacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "dev", "--timeline", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["stack"] == "dev"
    assert found["seconds"] >= 600
    assert 0 < found["documented"] < found["seconds"]
    assert json.loads(json_text([])) == []
