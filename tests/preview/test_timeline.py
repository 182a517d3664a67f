"""What a first deployment takes: the longest chain over the dependencies, and calls by count."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from winkube.preview.cli import main
from winkube.preview.evaluate import evaluate_function
from winkube.preview.timeline import json_text, text, timeline


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
    assert found.calls == 4 + 2 + 2 + 3 == sum(found.calls_by_type.values())
    assert list(found.assumed) == ["aws:ec2/subnet:Subnet"]


@pytest.mark.parametrize("group", [{"wait_for_elb_capacity": 1}, {}])
def test_a_group_that_waits_for_healthy_nodes_takes_longer(group: Any) -> None:
    def build() -> None:
        aws.autoscaling.Group("group", min_size=1, max_size=1, **group)

    assert timeline(evaluate_function(build)).seconds == (180 if group else 60)


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
    assert "not measured" in text([found])


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
    assert json.loads(json_text([])) == []
