"""Inputs against the SDK's own types."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest
from google.protobuf.struct_pb2 import Struct
from winkube.preview.checks import sdk_inputs, type_validators
from winkube.preview.checks.plan import check_plan
from winkube.preview.model import (
    RESOURCE_SIGNATURE,
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN,
    UNKNOWN_TEXT,
    Finding,
    Options,
    Plan,
    Reference,
    Resource,
    Secret,
    Severity,
    Source,
)

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
GOOD_GROUP = {
    "clusterName": "c",
    "nodeRoleArn": UNKNOWN_TEXT,
    "subnetIds": ["subnet-1", UNKNOWN_TEXT],
    "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 1},
}


def findings(type_: str, inputs: dict[str, Any], **more: Any) -> list[Finding]:
    """The findings of a plan of one resource."""
    assert all([aws.eks.NodeGroup, aws.ec2.Vpc, aws.iam.InstanceProfile, aws.rds.Instance]), "they load when touched"
    struct = Struct()
    struct.update(inputs)
    resource = Resource(
        f"urn:pulumi:dev::p::{type_}::it", type_, "it", "", more.pop("custom", True), struct, Options(),
        Source("__main__.py", 7), **more,
    )  # fmt: skip
    return check_plan(Plan("p", "dev", "preview", "", [resource], {}, []))


def only(type_: str, inputs: dict[str, Any], **more: Any) -> Finding:
    found = findings(type_, inputs, **more)
    assert len(found) == 1, found
    return found[0]


def secret(value: Any) -> dict[str, Any]:
    return {SIGNATURE_KEY: SECRET_SIGNATURE, "value": value}


def test_what_the_class_takes_is_not_reported() -> None:
    assert findings(NODE_GROUP, GOOD_GROUP) == []


def test_an_unknown_property_is_named_with_the_nearest_valid_one() -> None:
    wrong = GOOD_GROUP | {"scalingConfig": {"min_sizee": 2, "minSize": 1, "maxSize": 2, "desiredSize": 1}}
    found = only(NODE_GROUP, wrong)
    assert (found.code, found.severity) == ("check/inputs", Severity.ERROR)
    assert found.path == "scalingConfig.min_sizee"
    assert "got 2" in found.message
    assert found.remedy == "write min_size"
    assert found.source == Source("__main__.py", 7)
    assert found.urn.endswith("::it")


def test_an_unknown_property_with_no_near_one_lists_what_there_is() -> None:
    wrong = GOOD_GROUP | {"scalingConfig": {"zzz": 2, "minSize": 1, "maxSize": 2, "desiredSize": 1}}
    assert only(NODE_GROUP, wrong).remedy == "remove it; there are desired_size, max_size, min_size"


def test_a_missing_nested_property_is_named() -> None:
    found = only(NODE_GROUP, GOOD_GROUP | {"scalingConfig": {"maxSize": 2, "desiredSize": 1}})
    assert (found.path, found.message, found.remedy) == (
        "scalingConfig.minSize", "is required and missing", "set min_size",
    )  # fmt: skip


def test_a_missing_property_at_the_top_is_named() -> None:
    found = only(NODE_GROUP, {key: value for key, value in GOOD_GROUP.items() if key != "clusterName"})
    assert (found.path, found.remedy) == ("clusterName", "set cluster_name")


@pytest.mark.parametrize(
    ("inputs", "path", "message"),
    [
        ({"enableDnsSupport": "yes"}, "enableDnsSupport", 'must be true or false, got "yes"'),
        ({"ipv4NetmaskLength": 20.5}, "ipv4NetmaskLength", "must be a whole number, got 20.5"),
        ({"cidrBlock": ["10.0.0.0/16"]}, "cidrBlock", 'must be a string, got ["10.0.0.0/16"]'),
        ({"tags": {"a": {"b": "c"}}}, "tags.a", 'must be a string, got {"b": "c"}'),
        ({"tags": ["a"]}, "tags", 'must be a mapping, got ["a"]'),
    ],
)
def test_a_wrong_type_is_reported_with_its_value(inputs: dict[str, Any], path: str, message: str) -> None:
    found = only("aws:ec2/vpc:Vpc", inputs)
    assert (found.severity, found.path, found.message) == (Severity.ERROR, path, message)


@pytest.mark.parametrize("inputs", [{"cidrBlock": 5}, {"enableDnsSupport": "true"}, {"ipv4NetmaskLength": "20"}])
def test_what_the_provider_would_convert_is_a_warning(inputs: dict[str, Any]) -> None:
    found = only("aws:ec2/vpc:Vpc", inputs)
    assert found.severity is Severity.WARNING
    assert "has to convert" in found.message


def test_an_object_in_place_of_a_list_is_reported() -> None:
    wrong = GOOD_GROUP | {"taints": {"key": "os", "effect": "NO_SCHEDULE"}}
    assert only(NODE_GROUP, wrong).message.startswith("must be a list, got {")


def test_a_list_names_the_element() -> None:
    wrong = GOOD_GROUP | {"taints": [{"key": "a", "effect": "b"}, {"key": "a"}]}
    assert only(NODE_GROUP, wrong).path == "taints[1].effect"


def test_all_mistakes_are_reported_at_once() -> None:
    found = findings("aws:ec2/vpc:Vpc", {"enableDnsSupport": "yes", "tags": "no", "cidrBlok": "x"})
    assert {finding.path for finding in found} == {"enableDnsSupport", "tags", "cidrBlok"}


@pytest.mark.parametrize("value", [UNKNOWN_TEXT, {SIGNATURE_KEY: SECRET_SIGNATURE, "value": UNKNOWN_TEXT}])
def test_the_unknown_fits_everything(value: Any) -> None:
    assert (
        findings("aws:ec2/vpc:Vpc", dict.fromkeys(["cidrBlock", "enableDnsSupport", "ipv4NetmaskLength"], value)) == []
    )
    assert findings(NODE_GROUP, GOOD_GROUP | {"scalingConfig": value}) == []


def test_a_secret_is_looked_through_and_not_shown() -> None:
    assert findings("aws:ec2/vpc:Vpc", {"enableDnsSupport": secret(True)}) == []
    found = only("aws:ec2/vpc:Vpc", {"enableDnsSupport": secret("hunter2")})
    assert found.message == "must be true or false, got <secret>"


def test_a_value_under_a_secret_name_is_not_shown() -> None:
    found = findings("aws:rds/instance:Instance", {"instanceClass": "x", "password": ["hunter2"]})
    assert ("password", "must be a string, got <hidden>") in [(finding.path, finding.message) for finding in found]
    assert "hunter2" not in str(found)


def test_a_resource_fits_where_its_id_does() -> None:
    reference = {SIGNATURE_KEY: RESOURCE_SIGNATURE, "urn": "urn:pulumi:dev::p::aws:iam/role:Role::r", "id": "r"}
    profile = "aws:iam/instanceProfile:InstanceProfile"
    assert findings(profile, {"role": reference}) == []
    assert type_validators.resource(Reference("urn")) is None
    assert type_validators.truth(Reference("urn:x::r")), "a resource is neither true nor false"


def test_a_class_that_is_not_loaded_is_not_judged_and_not_loaded() -> None:
    """In a process of its own: another test may have loaded the class."""
    program = """
import sys
import pulumi_aws
from winkube.preview.checks import sdk_inputs
assert sdk_inputs.validator_of("aws:lightsail/bucket:Bucket") is None
assert "pulumi_aws.lightsail.bucket" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_package_is_not_judged() -> None:
    assert findings("nobody:index:Thing", {"anything": [1, {"goes": True}]}) == []


def test_components_and_resources_that_are_only_read_are_not_judged() -> None:
    wrong = {"enableDnsSupport": "yes"}
    assert findings("aws:ec2/vpc:Vpc", wrong, custom=False) == []
    assert findings("aws:ec2/vpc:Vpc", wrong, read=True) == []


def test_the_inputs_of_a_provider_are_json() -> None:
    assert findings("pulumi:providers:aws", {"region": "eu-west-1", "skipCredentialsValidation": "true"}) == []
    found = only("pulumi:providers:aws", {"skipCredentialsValidation": "perhaps"})
    assert found.message == 'must be true or false, got "perhaps"'


def test_an_enumeration_is_closed_only_where_no_string_is_taken() -> None:
    closed = type_validators.one_of(["NO_SCHEDULE", "NO_EXECUTE"])
    (problem,) = closed("NoShedule") or []
    assert (problem.text(), problem.remedy) == (
        'must be one of "NO_SCHEDULE", "NO_EXECUTE", got "NoShedule"', 'write "NO_SCHEDULE"',
    )  # fmt: skip
    assert type_validators.either(type_validators.text, closed)("NoShedule") is None
    assert (closed(UNKNOWN), closed(Secret(UNKNOWN))) == (None, [])


def test_of_several_alternatives_the_one_that_fits_outside_speaks() -> None:
    inner = type_validators.Fields({"a": "a"}, frozenset("a"), lambda _: type_validators.text)
    either = type_validators.either(type_validators.text, inner)
    assert [problem.path for problem in either({}) or ()] == [("a",)]
    assert [problem.message for problem in either([]) or ()] == ["must be a string or an object with named properties"]


def test_programs_of_the_sdks_give_no_false_alarm(record: Callable[..., Plan]) -> None:
    """Through the real SDK: typed arguments, dictionaries, enumerations, references, assets, outputs."""

    def build() -> None:
        role = aws.iam.Role("role", assume_role_policy="{}", inline_policies=[{"name": "x", "policy": "{}"}])
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags={"Name": "vpc"})
        aws.ec2.SecurityGroup(
            "group", vpc_id=vpc.id, ingress=[{"protocol": "tcp", "from_port": 1, "to_port": 2, "cidr_blocks": ["::/0"]}]
        )
        aws.iam.RolePolicyAttachment("attachment", role=role, policy_arn=aws.iam.ManagedPolicy.READ_ONLY_ACCESS)
        aws.ec2.Instance(
            "instance",
            instance_type=aws.ec2.InstanceType.T3_MICRO,
            ami="ami-1",
            metadata_options=aws.ec2.InstanceMetadataOptionsArgs(http_tokens="required"),
        )
        aws.lambda_.Function(
            "function",
            role=role.arn,
            runtime=aws.lambda_.Runtime.PYTHON3D12,
            handler="a.b",
            code=pulumi.AssetArchive({"a.py": pulumi.StringAsset("pass")}),
        )
        provider = kubernetes.Provider("k8s", kubeconfig=role.arn, enable_server_side_apply=True)
        kubernetes.helm.v3.Release("release", chart="x", values={"a": {"b": [1, "c"]}},
                                   opts=pulumi.ResourceOptions(provider=provider))  # fmt: skip

    for preview in (True, False):
        plan = record(build, preview=preview)
        assert all(sdk_inputs.validator_of(resource.type) for resource in plan.resources), "every class was found"
        assert [finding for finding in check_plan(plan) if finding.code == "check/inputs"] == []


def test_the_marks_that_the_sdk_leaves_are_still_there() -> None:
    """The check reads two private marks of the SDK; without them it would say nothing at all."""
    from pulumi import _types

    names, hints = sdk_inputs._properties(aws.ec2.VpcArgs)
    assert {value: key for key, value in names.items()} == _types.input_type_py_to_pulumi_names(aws.ec2.VpcArgs)
    assert set(hints) == set(names)
    assert sdk_inputs._args_class(kubernetes.core.v1.ConfigMap) is kubernetes.core.v1.ConfigMapInitArgs


def test_what_only_the_provider_computes_is_known_by_name() -> None:
    names = sdk_inputs.computed_names("aws:iam/role:Role")
    assert "arn" in names
    assert "assumeRolePolicy" not in names
