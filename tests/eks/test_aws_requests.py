"""What the components ask for, as requests of the AWS API: shapes and enums by botocore, behaviour by moto.

Neither was written here: a wrong key, a wrong type or a value outside of an enum is refused by others.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore.session
import botocore.validate
import pulumi
import pytest
from winkube.ec2.warm_pool import WarmPool
from winkube.eks.access import AccessPolicy
from winkube.eks.addon import EksAddon, EksAddonArgs
from winkube.eks.cluster import AccessEntry, EksCluster, EksClusterArgs
from winkube.eks.fargate import EksFargateProfile, EksFargateProfileArgs
from winkube.eks.node_groups import (
    EksLinuxNodeGroup,
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
)
from winkube.eks.windows_ipam import WindowsIpam, WindowsIpamArgs
from winkube.preview.model import Plan, Resource
from winkube.scheduling.labels import Taint

REGION = "eu-central-1"
ROLE = "arn:aws:iam::111122223333:role/placeholder"
SUBNETS = ["subnet-11111111", "subnet-22222222"]
Record = Callable[..., Plan]
Request = tuple[str, str, dict[str, Any]]


def whole(value: Any) -> Any:
    """Numbers as the API takes them: Pulumi's protocol knows floats only."""
    if isinstance(value, Mapping):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    if isinstance(value, float):
        return int(value)
    return ROLE if isinstance(value, str) and value.startswith("arn:aws:placeholder") else value


def pascal(value: Any) -> Any:
    """Keys as EC2 and Auto Scaling write them, and their switches as booleans."""
    if isinstance(value, Mapping):
        return {key[:1].upper() + key[1:]: pascal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [pascal(inner) for inner in value]
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def renamed(inputs: dict[str, Any], names: Mapping[str, str | None]) -> dict[str, Any]:
    """The inputs under the API's names; None leaves one out."""
    return {names.get(key, key): value for key, value in inputs.items() if names.get(key, key) is not None}


def cluster(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateCluster``."""
    names = {"vpcConfig": "resourcesVpcConfig", "enabledClusterLogTypes": None, "encryptionConfig": None}
    return renamed(inputs, names) | {
        "encryptionConfig": [
            {
                "resources": inputs["encryptionConfig"]["resources"],
                "provider": {"keyArn": inputs["encryptionConfig"]["provider"]["keyArn"]},
            }
        ],
        "logging": {"clusterLogging": [{"types": inputs["enabledClusterLogTypes"], "enabled": True}]},
    }


def node_group(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateNodegroup``."""
    names = {"nodeGroupNamePrefix": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets"}
    request = renamed(inputs, names)
    if "warmPoolConfig" in request:
        request["warmPoolConfig"]["enabled"] = True
    return request


def launch_template(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateLaunchTemplate``."""
    data = pascal(
        {key: value for key, value in inputs.items() if key not in ("tags", "description", "updateDefaultVersion")}
    )
    if "VpcSecurityGroupIds" in data:
        data["SecurityGroupIds"] = data.pop("VpcSecurityGroupIds")
    for number, specification in enumerate(inputs["tagSpecifications"]):
        tags = [{"Key": key, "Value": value} for key, value in specification["tags"].items()]
        data["TagSpecifications"][number]["Tags"] = tags
    return {"LaunchTemplateName": inputs["tags"]["Name"], "LaunchTemplateData": data}


def autoscaling_group(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateAutoScalingGroup``; refreshes and warm pools are requests of their own, waiting is the provider's."""
    provider = ("vpcZoneIdentifiers", "instanceRefresh", "name", "waitForCapacityTimeout", "waitForElbCapacity",
                "warmPool", "initialLifecycleHooks", "minElbCapacity")  # fmt: skip
    request = pascal(renamed(inputs, {**dict.fromkeys(provider), "targetGroupArns": "targetGroupARNs"}))
    for tag in request["Tags"]:
        # The API wants the text, which for the autoscaler's switch reads "true".
        tag["Value"] = str(tag["Value"]).lower() if isinstance(tag["Value"], bool) else tag["Value"]
    hooks = [pascal(hook) for hook in inputs.get("initialLifecycleHooks", ())]
    found = [{"LifecycleHookName": hook.pop("Name"), **hook} for hook in hooks]
    if "Id" in request.get("LaunchTemplate", {}):
        request["LaunchTemplate"]["LaunchTemplateId"] = request["LaunchTemplate"].pop("Id")
    return {
        **request, "AutoScalingGroupName": inputs.get("name", "group"),
        "VPCZoneIdentifier": ",".join(inputs["vpcZoneIdentifiers"]),
        **({"LifecycleHookSpecificationList": found} if found else {}),
    }  # fmt: skip


def addon(inputs: dict[str, Any]) -> dict[str, Any]:
    """``CreateAddon``."""
    return renamed(inputs, {"resolveConflictsOnCreate": "resolveConflicts", "resolveConflictsOnUpdate": None})


REQUESTS: Mapping[str, tuple[str, str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "aws:eks/cluster:Cluster": ("eks", "CreateCluster", cluster),
    "aws:eks/nodeGroup:NodeGroup": ("eks", "CreateNodegroup", node_group),
    "aws:eks/addon:Addon": ("eks", "CreateAddon", addon),
    "aws:eks/accessEntry:AccessEntry": (
        "eks", "CreateAccessEntry", lambda inputs: renamed(inputs, {"userName": "username"}),
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": ("eks", "AssociateAccessPolicy", lambda inputs: inputs),
    "aws:eks/fargateProfile:FargateProfile": (
        "eks", "CreateFargateProfile",
        lambda inputs: {**renamed(inputs, {"subnetIds": "subnets"}), "fargateProfileName": "profile"},
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": ("ec2", "CreateLaunchTemplate", launch_template),
    "aws:autoscaling/group:Group": ("autoscaling", "CreateAutoScalingGroup", autoscaling_group),
}  # fmt: skip


def everything() -> None:
    """A cluster with a group of every kind and every option in use."""
    entry = AccessEntry(
        name="ops",
        principal_arn=ROLE,
        policies=[AccessPolicy(policy="cluster_admin"), AccessPolicy(policy="view", namespaces=["a"])],
    )
    made = EksCluster(
        "dev",
        EksClusterArgs(
            cluster_name="dev", region=REGION, kubernetes_version="1.36", subnet_ids=SUBNETS, access_entries=[entry],
            control_plane_tier="tier-xl", zonal_shift=True, control_plane_egress="customer_routed",
            deletion_protection=True,
            endpoint_public_access=True, public_access_cidrs=["203.0.113.0/24"], security_group_ids=["sg-1"],
        ),
    )  # fmt: skip
    target = made.target
    ipam = WindowsIpam("ipam", WindowsIpamArgs(cluster=target, prefix_delegation=True, warm_ip_target=2))
    EksAddon("dns", EksAddonArgs(cluster=target, addon_name="coredns", configuration_values={"replicaCount": 2}))
    EksFargateProfile("fargate", EksFargateProfileArgs(cluster=target, subnet_ids=SUBNETS))
    after = pulumi.ResourceOptions(depends_on=[ipam])
    for linux in ("al2023", "bottlerocket"):
        args = EksLinuxNodeGroupArgs(
            name=linux, cluster=target, subnet_ids=SUBNETS, linux=linux, instance_types=["m7g.large"]
        )
        EksLinuxNodeGroup(linux, args, after)
    EksWindowsNodeGroup(
        "managed",
        EksWindowsNodeGroupArgs(
            name="managed", cluster=target, subnet_ids=SUBNETS, windows="2025", edition="full", capacity_type="spot",
            instance_types=["m6i.large", "m5.large"], labels={"team": "web"},
            taints=[Taint(key="gpu", effect="PreferNoSchedule")],
            warm_pool=WarmPool(state="hibernated", max_prepared=3), max_unavailable=None, max_unavailable_percentage=50,
            update_strategy="minimal", cpu_cores=1, threads_per_core=1, commands_before=["Write-Host 'x'"],
            release_version="1.36-2026.11.10",
        ),
        after,
    )  # fmt: skip
    for name, options in (("image", {"image_id": "ami-0123456789abcdef0"}), ("own", {"management": "self_managed"})):
        EksWindowsNodeGroup(
            name, EksWindowsNodeGroupArgs(name=name, cluster=target, subnet_ids=SUBNETS, **options), after
        )


def requests(plan: Plan) -> Iterator[tuple[Resource, Request]]:
    """Every resource that becomes a request."""
    for resource in plan.resources:
        if resource.type in REQUESTS:
            service, operation, convert = REQUESTS[resource.type]
            yield resource, (service, operation, convert(whole(resource.inputs)))


def enum_mistakes(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Texts outside of their enum, which botocore itself lets through."""
    if shape.type_name == "structure":
        for key, inner in value.items():
            yield from enum_mistakes(shape.members[key], inner, f"{path}.{key}")
    elif shape.type_name == "list":
        for inner in value:
            yield from enum_mistakes(shape.member, inner, f"{path}[]")
    elif getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{path}: {value!r} is not in {shape.enum}"


def test_requests_have_the_shapes_of_the_api(record: Record):
    """Every key, type, length and enum is one of botocore's models."""
    session = botocore.session.get_session()
    seen: set[str] = set()
    for resource, (service, operation, parameters) in requests(record(everything, preview=False)):
        shape = session.get_service_model(service).operation_model(operation).input_shape
        if operation == "CreateAutoScalingGroup":
            for tag in parameters["Tags"]:
                tag.setdefault("ResourceType", "auto-scaling-group")
        report = botocore.validate.ParamValidator().validate(parameters, shape)
        assert not report.has_errors(), f"{resource.name}: {report.generate_report()}"
        assert not list(enum_mistakes(shape, parameters)), resource.name
        seen.add(operation)
    assert seen == {operation for _, operation, _ in REQUESTS.values()}


def test_a_wrong_request_would_be_seen():
    """The check fails for an unknown key and for a value outside of an enum."""
    shape = botocore.session.get_session().get_service_model("eks").operation_model("CreateNodegroup").input_shape
    parameters = {
        "clusterName": "dev",
        "nodegroupName": "x",
        "subnets": [],
        "nodeRole": ROLE,
        "amiType": "WINDOWS_CORE_2023",
    }
    assert list(enum_mistakes(shape, parameters))
    assert botocore.validate.ParamValidator().validate({**parameters, "amiTypes": "x"}, shape).has_errors()


@pytest.mark.verify
def test_the_calls_succeed_one_after_the_other(record: Record, monkeypatch: pytest.MonkeyPatch):
    """moto takes cluster, templates and groups in the order of their dependencies, and keeps what was said."""
    moto = pytest.importorskip("moto", reason="needs moto[ec2,eks,autoscaling]; CI installs it")
    boto3 = pytest.importorskip("boto3")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    found = {resource.name: request for resource, request in requests(record(everything, preview=False))}
    with moto.mock_aws():
        ec2, eks, autoscaling = (boto3.client(name, region_name=REGION) for name in ("ec2", "eks", "autoscaling"))
        network = ec2.describe_subnets()["Subnets"]
        subnets = [subnet["SubnetId"] for subnet in network[:2]]
        security_group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
        image = ec2.describe_images()["Images"][0]["ImageId"]
        made = found["dev-cluster"][2]
        made["resourcesVpcConfig"] = {**made["resourcesVpcConfig"], "subnetIds": subnets}
        eks.create_cluster(
            **{key: made[key] for key in ("name", "version", "roleArn", "resourcesVpcConfig", "logging", "tags")}
        )
        for name in ("al2023", "bottlerocket", "managed", "image", "own"):
            template = found[f"{name}-template"][2]
            template["LaunchTemplateData"].setdefault("ImageId", image)
            if name in ("image", "own"):
                template["LaunchTemplateData"]["ImageId"] = image
            if name == "own":
                template["LaunchTemplateData"]["SecurityGroupIds"] = [security_group]
            answer = ec2.create_launch_template(**template)["LaunchTemplate"]
            group = found[f"{name}-group"][2]
            if name == "own":
                group["VPCZoneIdentifier"] = ",".join(subnets)
                specification = group["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]
                specification.update(LaunchTemplateId=answer["LaunchTemplateId"], Version="1")
                autoscaling.create_auto_scaling_group(**group)
                continue
            group.update(subnets=subnets, launchTemplate={"id": answer["LaunchTemplateId"], "version": "1"})
            kept = eks.create_nodegroup(**group)["nodegroup"]
            assert kept["scalingConfig"]["maxSize"] == group["scalingConfig"]["maxSize"]
            assert kept.get("taints", []) == group.get("taints", [])
        (group,) = autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        assert {"k8s.io/cluster-autoscaler/enabled", "k8s.io/cluster-autoscaler/dev"} <= {
            t["Key"] for t in group["Tags"]
        }
        versions = ec2.describe_launch_template_versions(LaunchTemplateName="image-template")["LaunchTemplateVersions"]
        data = versions[0]["LaunchTemplateData"]
        assert data["MetadataOptions"]["HttpTokens"] == "required"
        assert b"Start-EKSBootstrap.ps1" in base64.b64decode(data["UserData"])
