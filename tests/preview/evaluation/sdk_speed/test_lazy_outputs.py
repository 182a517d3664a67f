"""Properties that are made when they are read are those that the SDK makes at once."""

import sys
import typing
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from pulumi import _types as sdk_types  # pyright: ignore[reportPrivateUsage]
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc as sdk_rpc
from winkube.preview.evaluation import sdk_speed
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import UNKNOWN, Plan

SEEN: dict[str, Any] = {}


def program() -> None:
    """Reads properties of each kind: given, computed, secret, never given, before and after they are resolved."""
    SEEN.clear()
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags={"a": "b"})
    subnet = aws.ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block=vpc.cidr_block.apply(lambda text: text[:-2] + "24"))
    late = subnet.id.apply(lambda _: vpc.tags, run_with_unknowns=True)
    key = aws.iam.AccessKey("key", user="me")
    generic = pulumi.CustomResource("test:index:Thing", "thing", {"colour": "red", "size": None})
    generic_colour: pulumi.Output[Any] = getattr(generic, "colour")  # noqa: B009
    for name, output in {
        "cidr": vpc.cidr_block, "tags": late, "arn": vpc.arn, "secret": key.secret, "ipv6": vpc.ipv6_cidr_block,
        "colour": generic_colour, "zone": subnet.availability_zone,
    }.items():  # fmt: skip
        pulumi.export(name, output)
    assert vpc.arn is vpc.arn


def told(plan: Plan) -> Any:
    inputs = {resource.urn: (resource.inputs, resource.options) for resource in plan.resources}
    return inputs, plan.outputs, [finding.message for finding in plan.findings]


@pytest.mark.parametrize("mode", ["preview", "update"])
@pytest.mark.parametrize("left_out", sdk_speed.PATCHES)
def test_a_plan_is_the_same_without_each_patch(monkeypatch: pytest.MonkeyPatch, mode: str, left_out: str) -> None:
    fast = told(evaluate_function(program, mode=mode))
    monkeypatch.setattr(sdk_speed, "PATCHES", [name for name in sdk_speed.PATCHES if name != left_out])
    assert told(evaluate_function(program, mode=mode)) == fast
    assert fast[1]["cidr"] == "10.0.0.0/16"


def test_a_computed_property_is_unknown_in_a_preview_and_known_in_an_update() -> None:
    assert evaluate_function(program).outputs["arn"] is UNKNOWN
    assert "vpc" in str(evaluate_function(program, mode="update").outputs["arn"])


def test_whoever_waits_for_a_resource_that_fails_is_told_the_failure() -> None:
    def fails() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        aws.ec2.Vpc("vpc", cidr_block="10.1.0.0/16").arn.apply(print)
        pulumi.export("arn", vpc.arn)

    with pytest.raises(Exception, match="Duplicate resource URN"):
        evaluate_function(fails)


def test_a_value_of_a_wrong_type_is_refused_though_nobody_reads_it() -> None:
    def wrong() -> None:
        aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags=["a"])  # type: ignore[arg-type]

    with pytest.raises(AssertionError, match="Unexpected type"):
        evaluate_function(wrong)


def test_an_attribute_that_no_resource_has_is_an_error() -> None:
    def asks() -> None:
        getattr(pulumi.CustomResource("test:index:Thing", "thing", {"colour": "red"}), "size")  # noqa: B009

    with pytest.raises(AttributeError, match="'CustomResource' object has no attribute 'size'"):
        evaluate_function(asks)


def test_who_looks_at_all_of_a_resource_sees_every_property() -> None:
    def looks() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        SEEN["names"] = set(vars(vpc))
        SEEN["has"] = "arn" in vars(vpc)
        SEEN["length"] = len(vars(vpc)) == len(list(vars(vpc).items())) == len(list(vars(vpc).values()))

    evaluate_function(looks)
    assert {"cidr_block", "arn", "urn", "id"} <= SEEN["names"]
    assert SEEN["has"]
    assert SEEN["length"]


def test_nothing_of_it_is_left_behind() -> None:
    owners = [(sdk_rpc, "transfer_properties"), (sdk_rpc, "resolve_properties"), (sdk_rpc, "serialize_property"),
              (sdk_types, "resource_types"), (sdk_resource, "create_urn")]  # fmt: skip
    owners += [(sdk_rpc, "declare_dependency"), (sys.modules["pulumi._utils"], "lazy_import")]
    before = [getattr(owner, name) for owner, name in owners]
    evaluate_function(program)
    assert [getattr(owner, name) for owner, name in owners] == before
    assert "__getattr__" not in vars(pulumi.Resource)
    assert "compile" not in vars(typing)
