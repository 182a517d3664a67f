"""Node groups, templates and Auto Scaling groups as CloudFormation, judged by cfn-lint.

Its schemas come from AWS, and its lists of instance types from each region: a type that the region does not have is
found here, where a table of the whole cloud would be silent.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cfnlint.api import ManualArgs, lint

from .test_moto import REGION, asked

pytestmark = pytest.mark.verify

INSTANCE_TYPES = "E3628"
ENUMS = "E3030"
SUBNET_ID = "E1154"


def template(label: str, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A stack's groups as one template; ``changes`` are laid over the properties of every managed group."""
    resources: dict[str, Any] = {}
    for number, (_, _, operation, parameters) in enumerate(asked(label)):
        if operation == "CreateNodegroup":
            properties = {**node_group(parameters), **(changes or {})}
            resources[f"Group{number}"] = {"Type": "AWS::EKS::Nodegroup", "Properties": properties}
            types = properties["InstanceTypes"]
        elif operation == "CreateLaunchTemplate":
            resources[f"Template{number}"] = {"Type": "AWS::EC2::LaunchTemplate", "Properties": parameters}
            continue
        elif operation == "CreateAutoScalingGroup":
            resources[f"Group{number}"] = {"Type": "AWS::AutoScaling::AutoScalingGroup",
                                           "Properties": autoscaling_group(parameters)}  # fmt: skip
            types = [it["InstanceType"] for it in parameters["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]]
        else:
            continue
        # The rule that knows the regions looks at templates: one for each type of the group.
        for index, name in enumerate(types):
            data = {"LaunchTemplateData": {"InstanceType": name}}
            resources[f"Type{number}x{index}"] = {"Type": "AWS::EC2::LaunchTemplate", "Properties": data}
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def node_group(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """``CreateNodegroup`` as ``AWS::EKS::Nodegroup``: capital letters, but for keys of labels and tags."""
    kept = {key: value for key, value in parameters.items() if key not in ("labels", "tags")}
    own = {key.capitalize(): parameters[key] for key in ("labels", "tags") if key in parameters}
    return {**_capital(kept), **own}


def autoscaling_group(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """``CreateAutoScalingGroup`` as ``AWS::AutoScaling::AutoScalingGroup``: sizes as text, subnets as a list."""
    sizes = {key: str(parameters[key]) for key in ("MinSize", "MaxSize", "DesiredCapacity")}
    return {**parameters, **sizes, "VPCZoneIdentifier": parameters["VPCZoneIdentifier"].split(",")}


def _capital(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key[:1].upper() + key[1:]: _capital(inner) for key, inner in value.items()}
    return [_capital(inner) for inner in value] if isinstance(value, list) else value


def found(document: Mapping[str, Any]) -> list[str]:
    """What cfn-lint says; ids of subnets, which the plan only stands in for, apart."""
    matches = lint(json.dumps(document), config=ManualArgs(regions=[REGION]))
    return [f"{match.rule.id} {'.'.join(map(str, match.path[1:]))}: {match.message}" for match in matches
            if match.rule.id != SUBNET_ID]  # fmt: skip


@pytest.mark.parametrize("label", ["program-dev", "program-prod", "self_managed_windows-dev"])
def test_groups_are_what_cloudformation_takes_in_their_region(label: str) -> None:
    document = template(label)
    assert len(document["Resources"]) >= 3
    assert found(document) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"InstanceTypes": ["m9x.large"]}, INSTANCE_TYPES),
        ({"InstanceTypes": ["c8ib.large"]}, INSTANCE_TYPES),  # there is such a type, and not in this region
        ({"AmiType": "WINDOWS_CORE_2023_x86_64"}, ENUMS),
        ({"Taints": [{"Key": "os", "Value": "windows", "Effect": "NoSchedule"}]}, ENUMS),
        ({"ScalingConfig": {"MinSize": 1, "MaximumSize": 3}}, "E3002"),
    ],
)
def test_a_planted_mistake_is_found(changes: Mapping[str, Any], rule: str) -> None:
    assert rule in {line.partition(" ")[0] for line in found(template("program-prod", changes))}
