"""What a group asks of AWS has the shape of AWS' own API, as botocore knows it."""

from collections.abc import Iterator, Mapping
from typing import Any

import botocore.session
import botocore.validate
import pytest
from winkube.ec2.warm_pool import WarmPool
from winkube.instance_groups.groups import LinuxInstanceGroup, WindowsInstanceGroup
from winkube.preview.model import Plan, Resource

from .samples import linux_args, windows_args

Request = tuple[str, str, dict[str, Any]]


def pascal(value: Any) -> Any:
    """Keys as the API writes them, whole numbers, and switches as booleans."""
    if isinstance(value, Mapping):
        return {key[:1].upper() + key[1:]: pascal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [pascal(inner) for inner in value]
    if isinstance(value, float):
        return int(value)
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def template(resource: Resource) -> Iterator[Request]:
    """``CreateLaunchTemplate``."""
    left_out = ("tags", "description", "updateDefaultVersion", "tagSpecifications")
    data = pascal({key: value for key, value in resource.inputs.items() if key not in left_out})
    data["SecurityGroupIds"] = data.pop("VpcSecurityGroupIds")
    data["TagSpecifications"] = [
        {"ResourceType": spec["resourceType"], "Tags": [{"Key": k, "Value": v} for k, v in spec["tags"].items()]}
        for spec in resource.inputs["tagSpecifications"]
    ]
    yield "ec2", "CreateLaunchTemplate", {"LaunchTemplateName": resource.name, "LaunchTemplateData": data}


def group(resource: Resource) -> Iterator[Request]:
    """``CreateAutoScalingGroup``, ``PutWarmPool``, ``StartInstanceRefresh``."""
    inputs = dict(resource.inputs)
    name = {"AutoScalingGroupName": inputs.pop("name")}
    refresh, pool = inputs.pop("instanceRefresh"), inputs.pop("warmPool", None)
    inputs.pop("waitForCapacityTimeout")
    zones = ",".join(inputs.pop("vpcZoneIdentifiers"))
    tags = [{"Key": tag["key"], "Value": str(tag["value"]), "PropagateAtLaunch": tag["propagateAtLaunch"]}
            for tag in inputs.pop("tags")]  # fmt: skip
    hooks = [
        {"LifecycleHookName": hook.pop("Name"), **hook} for hook in map(pascal, inputs.pop("initialLifecycleHooks"))
    ]
    wanted = pascal(inputs)
    if "LaunchTemplate" in wanted:
        wanted["LaunchTemplate"] = {"LaunchTemplateId": wanted["LaunchTemplate"].pop("Id"), **wanted["LaunchTemplate"]}
    request = {**name, **wanted, "VPCZoneIdentifier": zones, "Tags": tags, "LifecycleHookSpecificationList": hooks}
    yield "autoscaling", "CreateAutoScalingGroup", request
    preferences = pascal(refresh["preferences"])
    preferences["CheckpointDelay"] = int(preferences["CheckpointDelay"])
    yield "autoscaling", "StartInstanceRefresh", {**name, "Strategy": refresh["strategy"], "Preferences": preferences}
    if pool:
        yield "autoscaling", "PutWarmPool", {**name, **pascal(pool)}


def hook(resource: Resource) -> Iterator[Request]:
    """``PutLifecycleHook``."""
    inputs = pascal(resource.inputs)
    inputs["AutoScalingGroupName"] = inputs.pop("AutoscalingGroupName")
    yield "autoscaling", "PutLifecycleHook", {"LifecycleHookName": inputs.pop("Name"), **inputs}


KINDS = {
    "aws:ec2/launchTemplate:LaunchTemplate": template,
    "aws:autoscaling/group:Group": group,
    "aws:autoscaling/lifecycleHook:LifecycleHook": hook,
}


def enum_mistakes(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Texts outside of their enum, which botocore itself lets through."""
    if shape.type_name == "structure":
        for key, inner in value.items():
            if key not in shape.members:
                continue
            yield from enum_mistakes(shape.members[key], inner, f"{path}.{key}")
    elif shape.type_name == "list":
        for inner in value:
            yield from enum_mistakes(shape.member, inner, f"{path}[]")
    elif getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{path}: {value!r} is not in {shape.enum}"


def mistakes(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """Each operation with what is wrong with its request."""
    session = botocore.session.get_session()
    for resource in plan.resources:
        for service, operation, parameters in KINDS.get(resource.type, lambda _: iter(()))(resource):
            shape = session.get_service_model(service).operation_model(operation).input_shape
            report = botocore.validate.ParamValidator().validate(parameters, shape)
            said = [report.generate_report()] if report.has_errors() else []
            yield operation, [*said, *enum_mistakes(shape, parameters)]


@pytest.mark.parametrize(
    "values",
    [{}, {"warm_pool": WarmPool(min_size=1)}, {"capacity_type": "spot", "on_demand_base": 1},
     {"max_instance_lifetime_days": 30, "root_volume_size_gib": 200}],
    ids=["plain", "warm", "spot", "old"],
)  # fmt: skip
def test_requests_have_the_shapes_of_the_api(record: Any, values: dict[str, Any]) -> None:
    """Every key, type, length and enum is one of botocore's models, for both systems."""

    def build() -> None:
        WindowsInstanceGroup("win", windows_args(**values))
        LinuxInstanceGroup("lin", linux_args(**values))

    found = list(mistakes(record(build, preview=False)))
    assert [(operation, said) for operation, said in found if said] == []
    operations = {operation for operation, _ in found}
    wanted = {"CreateLaunchTemplate", "CreateAutoScalingGroup", "StartInstanceRefresh", "PutLifecycleHook"}
    assert wanted <= operations
    assert ("PutWarmPool" in operations) == ("warm_pool" in values)


@pytest.mark.verify
def test_a_wrong_request_would_be_seen(record: Any) -> None:
    """A key that the API has not, and a word outside of its enum."""
    plan = record(lambda: WindowsInstanceGroup("win", windows_args(warm_pool=WarmPool(min_size=1))), preview=False)
    (wrong,) = [r for r in plan.resources if r.type == "aws:autoscaling/group:Group"]
    wrong.inputs["warmPool"]["poolState"] = "Asleep"
    wrong.inputs["instanceRefresh"]["preferences"]["hurry"] = True
    said = dict(mistakes(plan))
    assert any("Asleep" in text for text in said["PutWarmPool"])
    assert any("Hurry" in text for text in said["StartInstanceRefresh"])
