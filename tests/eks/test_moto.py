"""The programs as requests of the AWS API: every shape by botocore, and prod as a whole by moto, in its own order.

Neither was written here. The conversion from Pulumi's inputs is that of :mod:`tests.eks.test_aws_requests`; this module
adds network and IAM, so that what EKS is given is what the same plan makes before.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import boto3
import botocore.session
import botocore.validate
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.evaluation.invokes import read_answers
from winkube.preview.model import Plan, Resource

from tests.validators.programs import PROGRAMS

from .test_aws_requests import REQUESTS, enum_mistakes, pascal, renamed, whole

pytestmark = pytest.mark.verify

REGION = "eu-central-1"
ACCOUNT = "123456789012"
ISSUER = f"https://oidc.eks.{REGION}.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"
IMAGE = "ami-12c6146b"
"""One of those that moto knows."""
Convert = Callable[[dict[str, Any]], dict[str, Any]]


def tagged(inputs: Mapping[str, Any], resource_type: str) -> dict[str, Any]:
    """``TagSpecifications`` of a resource of EC2."""
    tags = [{"Key": key, "Value": value} for key, value in inputs.get("tags", {}).items()]
    return {"TagSpecifications": [{"ResourceType": resource_type, "Tags": tags}]} if tags else {}


def of_ec2(inputs: dict[str, Any], resource_type: str, *left_out: str) -> dict[str, Any]:
    """A resource of EC2: its keys in the API's spelling, its tags as a specification."""
    kept = {key: value for key, value in inputs.items() if key not in ("tags", *left_out)}
    return {**pascal(kept), **tagged(inputs, resource_type)}


def role(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateRole``."""
    tags = [{"Key": key, "Value": value} for key, value in inputs.get("tags", {}).items()]
    request = renamed(inputs, {"namePrefix": None, "assumeRolePolicy": "assumeRolePolicyDocument"})
    return {**pascal({**request, "tags": None}), "Tags": tags, "RoleName": inputs["tags"]["Name"]}


def autoscaling_tag(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateOrUpdateTags``."""
    place = {"ResourceId": inputs["autoscalingGroupName"], "ResourceType": "auto-scaling-group"}
    return {"Tags": [{**pascal(inputs["tag"]), "Value": inputs["tag"]["value"], **place}]}


SURROUNDINGS: Mapping[str, tuple[str, str, Convert]] = {
    "aws:ec2/vpc:Vpc": (
        "ec2", "CreateVpc", lambda inputs: of_ec2(inputs, "vpc", "enableDnsSupport", "enableDnsHostnames"),
    ),
    "aws:ec2/subnet:Subnet": (
        "ec2", "CreateSubnet", lambda inputs: of_ec2(inputs, "subnet", "mapPublicIpOnLaunch"),
    ),
    "aws:ec2/routeTable:RouteTable": (
        "ec2", "CreateRouteTable", lambda inputs: of_ec2(inputs, "route-table"),
    ),
    "aws:ec2/securityGroup:SecurityGroup": (
        "ec2", "CreateSecurityGroup",
        lambda inputs: {**of_ec2(inputs, "security-group"), "GroupName": inputs["tags"]["Name"]},
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (
        "ec2", "CreateVpcEndpoint", lambda inputs: of_ec2(inputs, "vpc-endpoint"),
    ),
    "aws:iam/role:Role": ("iam", "CreateRole", role),
    "aws:iam/rolePolicy:RolePolicy": (
        "iam", "PutRolePolicy",
        lambda inputs: {"RoleName": inputs["role"], "PolicyName": "inline", "PolicyDocument": inputs["policy"]},
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (
        "iam", "AttachRolePolicy", lambda inputs: {"RoleName": inputs["role"], "PolicyArn": inputs["policyArn"]},
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": (
        "iam", "CreateOpenIDConnectProvider",
        lambda inputs: {"Url": inputs["url"], "ClientIDList": inputs["clientIdLists"]},
    ),
    "aws:autoscaling/tag:Tag": ("autoscaling", "CreateOrUpdateTags", autoscaling_tag),
}  # fmt: skip
"""Beside those of EKS, launch templates and Auto Scaling groups."""

ORDER = (
    "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/routeTable:RouteTable", "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:iam/openIdConnectProvider:OpenIdConnectProvider", "aws:iam/role:Role",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:iam/rolePolicy:RolePolicy",
    "aws:eks/cluster:Cluster", "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/nodeGroup:NodeGroup",
    "aws:autoscaling/group:Group", "aws:autoscaling/tag:Tag",
)  # fmt: skip
"""What moto takes, in the order of dependencies. Add-ons and access entries it does not know: botocore judges them."""
CONVERSIONS = {**REQUESTS, **SURROUNDINGS}


@cache
def plan_of(label: str) -> Plan:
    """A stack as an update, in which every value is known or a marked placeholder."""
    folder, stack = PROGRAMS[label]
    answers = folder / "answers.yaml"
    return evaluate(folder, stack, mode="update", answers=read_answers(answers) if answers.exists() else None)


def settled(plan: Plan, resource: Resource) -> dict[str, Any]:
    """The inputs of a resource, with roles and issuer as AWS would have computed them in place of placeholders."""
    paths = {it.name: it.inputs.get("path", "/") for it in plan.resources if it.type == "aws:iam/role:Role"}
    text = json.dumps(resource.inputs)
    for name, path in paths.items():
        text = text.replace(
            f'arn:aws:placeholder:::placeholder/{name}.arn"', f'arn:aws:iam::{ACCOUNT}:role{path}{name}"'
        )
        text = text.replace(f'"placeholder-{name}.name"', f'"{name}"')
        text = text.replace(f'"role": "{name}-id"', f'"role": "{name}"')
    text = re.sub(r'"placeholder-[^"]+\.issuer"', f'"{ISSUER}"', text)
    text = re.sub(r"placeholder-[^\":]+\.issuer", ISSUER.removeprefix("https://"), text)
    return whole(json.loads(text))


def asked(label: str) -> Iterator[tuple[Resource, str, str, dict[str, Any]]]:
    """Every resource of a stack that becomes a request: with service, operation and parameters."""
    plan = plan_of(label)
    for resource in plan.resources:
        if resource.type in CONVERSIONS and not resource.read:
            service, operation, convert = CONVERSIONS[resource.type]
            yield resource, service, operation, convert(settled(plan, resource))


@cache
def input_shape(service: str, operation: str) -> Any:
    return botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape


def refused(service: str, operation: str, parameters: Mapping[str, Any]) -> list[str]:
    """What botocore's model of the operation says against the parameters: keys, types, lengths and enums."""
    shape = input_shape(service, operation)
    report = botocore.validate.ParamValidator().validate(parameters, shape)
    return [report.generate_report()] if report.has_errors() else list(enum_mistakes(shape, parameters))


NOT_WHOLE = ("windows_for_pulumi_eks-", "fleet_in_stacks-")
SEEN_WHOLE = sorted(label for label in PROGRAMS if not label.startswith(NOT_WHOLE))
"""Stacks whose values all come from the program: not from a component provider, nor from another stack's outputs."""


@pytest.mark.parametrize("label", SEEN_WHOLE)
def test_every_request_of_a_program_has_the_shape_of_the_api(label: str) -> None:
    found = {resource.name: mistakes for resource, *request in asked(label) if (mistakes := refused(*request))}
    assert found == {}


def test_prod_asks_for_everything_that_is_judged_here() -> None:
    """The check above sees one of each, an Auto Scaling group of the program's own apart."""
    seen = {resource.type for resource, *_ in asked("program-prod")}
    assert set(CONVERSIONS) - seen == {"aws:autoscaling/group:Group", "aws:eks/fargateProfile:FargateProfile"}
    assert "aws:autoscaling/group:Group" in {resource.type for resource, *_ in asked("self_managed_windows-dev")}


class Cloud:
    """A region of moto in which a plan is made, resource by resource."""

    def __init__(self) -> None:
        services = ("ec2", "iam", "eks", "autoscaling")
        self.clients = {service: boto3.client(service, region_name=REGION) for service in services}
        self.ids: dict[tuple[str, str], str] = {}
        """Kind and placeholder of an id to the id."""
        self.refusals: dict[str, str] = {}
        """What was refused: resource to the reason."""

    def make(self, plan: Plan, changes: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Make what moto knows of a plan, each with the ids of what was made before.

        :param changes: name of a resource to inputs of another value.
        """
        for kind in ORDER:
            service, operation, convert = CONVERSIONS[kind]
            for resource in (it for it in plan.resources if it.type == kind):
                inputs = {**settled(plan, resource), **(changes or {}).get(resource.name, {})}
                parameters = convert(self._placed(inputs))
                call = getattr(self.clients[service], botocore.xform_name(operation))
                try:
                    self._keep(kind, resource, call(**self._fitted(kind, parameters)))
                except ClientError as error:
                    self.refusals[resource.name] = str(error)

    def _placed(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The inputs with ids of this region in place of those that the plan stands in for."""

        def placed(key: str, value: Any) -> Any:
            if isinstance(value, dict):
                return {inner: placed(f"{key}.{inner}", it) for inner, it in value.items()}
            if isinstance(value, list):
                return [placed(key, it) for it in value]
            return (
                self.ids.get((KINDS.get(key.rpartition(".")[2], key), value), value)
                if isinstance(value, str)
                else value
            )

        return {key: placed(key, value) for key, value in inputs.items()}

    def _fitted(self, kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
        # Versions of templates begin with 1 here; a managed group takes its image from EKS, which moto does not have.
        if kind == "aws:eks/nodeGroup:NodeGroup":
            parameters["launchTemplate"]["version"] = "1"
        if kind == "aws:autoscaling/group:Group":
            parameters["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]["Version"] = "1"
        if kind == "aws:ec2/launchTemplate:LaunchTemplate":
            parameters["LaunchTemplateData"].setdefault("ImageId", IMAGE)
        if kind == "aws:autoscaling/tag:Tag":
            parameters["Tags"][0]["ResourceId"] = self.ids["group", parameters["Tags"][0]["ResourceId"]]
        return parameters

    def _keep(self, kind: str, resource: Resource, answer: dict[str, Any]) -> None:
        if kind == "aws:eks/nodeGroup:NodeGroup":
            # moto makes no Auto Scaling group behind a node group, so one stands in for the tags.
            name, group = resource.name, answer["nodegroup"]
            self.clients["autoscaling"].create_auto_scaling_group(
                AutoScalingGroupName=name, MinSize=0, MaxSize=1, VPCZoneIdentifier=group["subnets"][0],
                LaunchTemplate={"LaunchTemplateId": group["launchTemplate"]["id"]},
            )  # fmt: skip
            self.ids["group", f"placeholder-{name}.resources.0.autoscalingGroups.0.name"] = name
        for key, (outer, inner) in ANSWERS.items():
            if kind == key:
                self.ids[kind, resource.id] = answer[outer][inner] if outer else answer[inner]


KINDS: Mapping[str, str] = {
    "vpcId": "aws:ec2/vpc:Vpc",
    "subnetIds": "aws:ec2/subnet:Subnet",
    "routeTableIds": "aws:ec2/routeTable:RouteTable",
    "securityGroupIds": "aws:ec2/securityGroup:SecurityGroup",
    "id": "aws:ec2/launchTemplate:LaunchTemplate",
    "launchTemplateId": "aws:ec2/launchTemplate:LaunchTemplate",
}
"""Inputs with the kind of resource whose id stands there."""
ANSWERS: Mapping[str, tuple[str, str]] = {
    "aws:ec2/vpc:Vpc": ("Vpc", "VpcId"),
    "aws:ec2/subnet:Subnet": ("Subnet", "SubnetId"),
    "aws:ec2/routeTable:RouteTable": ("RouteTable", "RouteTableId"),
    "aws:ec2/securityGroup:SecurityGroup": ("", "GroupId"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("LaunchTemplate", "LaunchTemplateId"),
}
"""Where an answer has the id of what was made."""


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws(config={"iam": {"load_aws_managed_policies": True}}):
        yield Cloud()


def test_prod_can_be_made_in_its_own_order(cloud: Cloud) -> None:
    """Network, roles with AWS' own policies, cluster, templates, groups and tags: nothing refuses anything."""
    cloud.make(plan_of("program-prod"))
    assert cloud.refusals == {}
    eks = cloud.clients["eks"]
    assert eks.describe_cluster(name="prod")["cluster"]["version"] == "1.36"
    groups = {name: eks.describe_nodegroup(clusterName="prod", nodegroupName=name)["nodegroup"]
              for name in eks.list_nodegroups(clusterName="prod")["nodegroups"]}  # fmt: skip
    assert {name: group["amiType"] for name, group in groups.items()} == {
        "system-": "AL2023_x86_64_STANDARD",
        "windows-2022-": "WINDOWS_CORE_2022_x86_64",
        "windows-2025-": "WINDOWS_CORE_2025_x86_64",
    }
    for group in groups.values():
        role_name = group["nodeRole"].rpartition("/")[2]
        attached = cloud.clients["iam"].list_attached_role_policies(RoleName=role_name)["AttachedPolicies"]
        assert "AmazonEKSWorkerNodePolicy" in {policy["PolicyName"] for policy in attached}
        subnets = cloud.clients["ec2"].describe_subnets(SubnetIds=group["subnets"])["Subnets"]
        assert len({subnet["AvailabilityZone"] for subnet in subnets}) == 3
    tags = {tag["Key"] for tag in cloud.clients["autoscaling"].describe_tags()["Tags"]}
    assert "k8s.io/cluster-autoscaler/node-template/label/kubernetes.io/os" in tags


def test_a_self_managed_group_can_be_made(cloud: Cloud) -> None:
    """Its subnets, security group and image are others', so they are made first under the ids that it names."""
    ec2 = cloud.clients["ec2"]
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
    planned = {
        "vpcZoneIdentifiers": [subnet], "vpcSecurityGroupIds": [group], "imageId": IMAGE,
    }  # fmt: skip
    plan = plan_of("self_managed_windows-dev")
    changes = {it.name: {key: value for key, value in planned.items() if key in it.inputs} for it in plan.resources}
    cloud.make(plan, changes)
    assert cloud.refusals == {}
    (made,) = cloud.clients["autoscaling"].describe_auto_scaling_groups()["AutoScalingGroups"]
    assert (made["MinSize"], made["MaxSize"]) == (0, 6)
    overrides = made["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
    assert [override["InstanceType"] for override in overrides] == ["m6i.2xlarge", "m7i.2xlarge"]


PLANTED = {
    "an AMI type that EKS does not have": ("aws:eks/nodeGroup:NodeGroup", "amiType", "WINDOWS_CORE_2023_x86_64"),
    "Kubernetes' word for an effect": (
        "aws:eks/nodeGroup:NodeGroup", "taints", [{"key": "os", "value": "windows", "effect": "NoSchedule"}],
    ),
    "a capacity type in small letters": ("aws:eks/nodeGroup:NodeGroup", "capacityType", "on_demand"),
    "a number as text": ("aws:eks/nodeGroup:NodeGroup", "scalingConfig", {"minSize": "1"}),
    "a mode without an underscore": ("aws:eks/cluster:Cluster", "accessConfig", {"authenticationMode": "CONFIGMAP"}),
    "a switch that is no switch": ("aws:ec2/launchTemplate:LaunchTemplate", "metadataOptions", {"httpTokens": "on"}),
    "a disk type that EBS does not have": (
        "aws:ec2/launchTemplate:LaunchTemplate", "blockDeviceMappings",
        [{"deviceName": "/dev/sda1", "ebs": {"volumeType": "gp9"}}],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "field", "value"), PLANTED.values(), ids=PLANTED)
def test_a_planted_mistake_is_found(kind: str, field: str, value: Any) -> None:
    plan = plan_of("program-prod")
    resource = next(it for it in plan.resources if it.type == kind)
    service, operation, convert = CONVERSIONS[kind]
    assert refused(service, operation, convert(settled(plan, resource))) == []
    assert refused(service, operation, convert({**settled(plan, resource), field: value})) != []


def test_a_planted_policy_is_refused_by_moto(cloud: Cloud) -> None:
    """A policy of AWS that is none, and a document with a misspelt key."""
    plan = plan_of("program-prod")
    changes = {
        "prod-system-nodes-AmazonEKSWorkerNodePolicy": {"policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerPolicy"},
        "prod-addons-cluster-autoscaler-controller": {
            "policy": '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Actions": "*", "Resource": "*"}]}'
        },
    }
    cloud.make(plan, changes)
    assert set(cloud.refusals) == set(changes)


def test_endpoints_of_prod_are_services_of_the_region(cloud: Cloud) -> None:
    offered = cloud.clients["ec2"].describe_vpc_endpoint_services()["ServiceNames"]
    wanted = {parameters["ServiceName"] for resource, _, operation, parameters in asked("program-prod")
              if operation == "CreateVpcEndpoint"}  # fmt: skip
    assert len(wanted) > 10
    assert wanted <= set(offered)
