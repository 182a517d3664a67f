"""What provider functions answer without a cloud."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from winkube.preview.errors import PreviewError
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.invokes import read_answers
from winkube.preview.model import UNKNOWN, Plan

CONFIG = {"aws:region": "eu-central-1"}


def outputs(build: Callable[[], Any], **more: Any) -> dict[str, Any]:
    return plan_of(build, **more).outputs


def plan_of(build: Callable[[], Any], **more: Any) -> Plan:
    return evaluate_function(lambda: pulumi.export("it", build()), config=CONFIG, **more)


@pytest.mark.parametrize("mode", ["preview", "update"])
def test_region_partition_and_zones_come_from_the_table(mode: str) -> None:
    """What a table knows is known in both modes, plainly and as an Output."""

    def build() -> None:
        pulumi.export("region", aws.get_region().region)
        pulumi.export("partition", aws.get_partition_output().partition)
        pulumi.export("suffix", aws.get_partition_output().dns_suffix)
        pulumi.export("zones", aws.get_availability_zones(state="available").names)

    assert evaluate_function(build, config=CONFIG, mode=mode).outputs == {
        "region": "eu-central-1",
        "partition": "aws",
        "suffix": "amazonaws.com",
        "zones": ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
    }


def test_the_region_is_the_providers() -> None:
    """A function called through a provider answers for that provider's region and partition."""

    def build() -> None:
        china = aws.Provider("china", region="cn-north-1")
        options = pulumi.InvokeOutputOptions(provider=china)
        pulumi.export("partition", aws.get_partition_output(opts=options).partition)
        pulumi.export("region", aws.get_region_output(opts=options).region)

    assert evaluate_function(build, config=CONFIG).outputs == {"partition": "aws-cn", "region": "cn-north-1"}


def test_zone_ids_and_filtered_zones_stay_unknown() -> None:
    """The id of a zone differs by account, and a filter may drop zones: no table can tell."""
    assert outputs(lambda: aws.get_availability_zones_output().zone_ids) == {"it": [UNKNOWN, UNKNOWN, UNKNOWN]}
    filters = [{"name": "opt-in-status", "values": ["opted-in"]}]
    assert outputs(lambda: aws.get_availability_zones_output(filters=filters).names) == {"it": UNKNOWN}


def test_account_and_image_stay_unknown_in_a_preview() -> None:
    def build() -> None:
        pulumi.export("account", aws.get_caller_identity_output().account_id)
        pulumi.export("image", aws.ssm.get_parameter_output(name="/aws/service/x").value)
        pulumi.export("plain", f"arn:aws:iam::{aws.get_caller_identity().account_id}:root")

    plan = evaluate_function(build, config=CONFIG)
    assert plan.outputs == {"account": UNKNOWN, "image": UNKNOWN, "plain": UNKNOWN}
    assert plan.findings == []
    assert sum(not invoke.known for invoke in plan.invokes) == 3


def test_account_and_image_are_marked_placeholders_in_an_update() -> None:
    def build() -> None:
        pulumi.export("account", aws.get_caller_identity().account_id)
        pulumi.export("image", aws.ssm.get_parameter_output(name="/aws/service/x").value)

    assert evaluate_function(build, config=CONFIG, mode="update").outputs == {
        "account": "000000000000",
        "image": "placeholder-getParameter.value",
    }


def test_a_function_that_nobody_can_answer_is_named_in_a_warning() -> None:
    plan = plan_of(lambda: aws.sqs.get_queue_output(name="q").url)
    assert plan.outputs == {"it": UNKNOWN}
    (finding,) = plan.findings
    assert finding.code == "check/unanswered-function"
    assert "aws:sqs/getQueue:getQueue" in finding.message
    assert '{"name": "q"}' in finding.message
    assert finding.remedy == "give its result with --answers FILE"


def test_a_plain_call_that_breaks_the_program_is_named_with_the_error(tmp_path: Path) -> None:
    from winkube.preview.errors import ProgramError
    from winkube.preview.evaluation.evaluate import evaluate

    from ..programs import write_program

    write_program(tmp_path, "import pulumi_aws as aws\nlen(aws.ec2.get_vpc(id='v').cidr_block_associations)\n")
    with pytest.raises(ProgramError) as caught:
        evaluate(tmp_path, "dev")
    assert "at __main__.py:2" in str(caught.value)
    assert "aws:ec2/getVpc:getVpc cannot be answered without the cloud" in str(caught.value)


def test_a_plain_list_that_nobody_can_answer_holds_one_unknown() -> None:
    """Never None, which would pass for "there is none"."""
    assert outputs(lambda: aws.ec2.get_subnets(filters=[{"name": "vpc-id", "values": ["v"]}]).ids) == {"it": [UNKNOWN]}


def test_answers_of_the_user_come_first(tmp_path: Path) -> None:
    """A file of answers gives results by token, and by arguments where it says ``when``."""
    path = tmp_path / "answers.yaml"
    path.write_text("""
        aws:index/getCallerIdentity:getCallerIdentity: {accountId: "123456789012"}
        aws:ssm/getParameter:getParameter:
          - {when: {name: /a}, result: {value: ami-a}}
          - {result: {value: ami-b}}
        aws:ec2/vpc:Vpc: {cidrBlock: 10.9.0.0/16}
        """)

    def build() -> None:
        pulumi.export("account", aws.get_caller_identity().account_id)
        pulumi.export("a", aws.ssm.get_parameter_output(name="/a").value)
        pulumi.export("b", aws.ssm.get_parameter_output(name="/b").value)
        pulumi.export("cidr", aws.ec2.Vpc.get("vpc", "vpc-1").cidr_block)

    plan = evaluate_function(build, config=CONFIG, answers=read_answers(path))
    assert plan.outputs == {"account": "123456789012", "a": "ami-a", "b": "ami-b", "cidr": "10.9.0.0/16"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("[", "is not valid YAML"),
        ("- a", "must map function tokens to results, got list"),
        ("a:b:c: 3", "a:b:c: write a mapping"),
        ("a:b:c: [{wen: {}, result: {}}]", "a:b:c: write a mapping"),
    ],
)
def test_a_wrong_file_of_answers_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "answers.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PreviewError, match=r"--answers") as caught:
        read_answers(path)
    assert words in str(caught.value)
