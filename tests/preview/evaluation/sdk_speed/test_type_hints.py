"""Types that are resolved property by property are those that the SDK resolves at once."""

import typing
from typing import Any

import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest
from pulumi import _types as sdk_types
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.sdk_speed.type_hints import Hints, hints_of

CLASSES: list[type[Any]] = [
    aws.ec2.Vpc,
    aws.ec2.LaunchTemplate,
    aws.ec2.LaunchTemplateBlockDeviceMappingArgs,
    aws.eks.Cluster,
    aws.eks.ClusterVpcConfigArgs,
    aws.eks.outputs.ClusterVpcConfig,
    aws.s3.Bucket,
    kubernetes.apps.v1.Deployment,
    kubernetes.core.v1.PodSpecArgs,
    kubernetes.core.v1.outputs.PodSpec,
]


def table(cls: type[Any]) -> dict[str, Any]:
    if sdk_types.is_input_type(cls):
        return sdk_types.input_type_types(cls)
    return sdk_types.output_type_types(cls) if sdk_types.is_output_type(cls) else sdk_types.resource_types(cls)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_every_property_has_the_type_that_the_sdk_gives_it(cls: type[Any]) -> None:
    expected = table(cls)
    assert len(expected) > 3
    hints = Hints(cls)
    assert {key: hints.get(key) for key in expected} == expected


def test_a_property_that_is_none_has_no_type() -> None:
    assert hints_of(aws.ec2.Vpc).get("nothing") is None
    assert hints_of(aws.ec2.Vpc).get("nothing", str) is str


def test_a_name_equals_itself_whatever_it_was_resolved_to() -> None:
    """The caches of typing have names in their keys, and mix their entries up where an equality changes meanwhile."""

    def resolved(to: Any) -> typing.ForwardRef:
        name: Any = typing.ForwardRef("Name")
        name._evaluate({"Name": to}, {}, recursive_guard=frozenset())
        return name

    before = vars(typing.ForwardRef)["__eq__"]
    found: list[bool] = []
    evaluate_function(lambda: found.extend([
        resolved(int) == resolved(str), resolved(int) == typing.ForwardRef("Name"),
        resolved(int) != typing.ForwardRef("N"), resolved(int) != "Name",
    ]))  # fmt: skip
    assert found == [True] * 4
    assert vars(typing.ForwardRef)["__eq__"] is before
