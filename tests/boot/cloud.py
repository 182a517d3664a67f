"""The emulated cloud: a moto server with the bucket, the parameter, and groups whose instances are the machines."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from .emulation import ACCOUNT, Emulation
from .stack import BUCKET, Group, Stack

PORT = 5000
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ACCOUNT_ID": ACCOUNT,
               "AWS_ENDPOINT_URL": f"http://127.0.0.1:{PORT}"}  # fmt: skip
"""What leads a command of a person to this cloud."""
IMAGE = "ami-12c6146b"
"""One of those that moto knows."""
MACHINE = {"ImageId": IMAGE, "InstanceType": "m5.large"}
"""What moto has to know of a launch template; the driver gives machines the user data of their group."""


class Cloud:
    """The AWS API, without permissions: moto judges none."""

    def __init__(
        self, stack: Stack, network: str, health: Callable[[str], str], execute: Callable[[str, str], Any]
    ) -> None:
        self.stack = stack
        self._clients: dict[str, Any] = {}
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.emulation = Emulation(stack.region, health, execute)
        self.up()
        self.network = network
        self.zone = f"{stack.region}a"
        self.subnet = self.target_group = ""

    def up(self) -> None:
        """Answer; what was known before an outage is known after it."""
        self.server = ThreadedMotoServer("127.0.0.1", PORT, verbose=False)
        self.server.start()

    def down(self) -> None:
        """Answer nobody."""
        self.server.stop()

    def client(self, service: str) -> Any:
        """A client of the driver, past the balancer."""
        if service not in self._clients:
            self._clients[service] = boto3.client(
                service, region_name=self.stack.region, endpoint_url=f"http://127.0.0.1:{PORT}",
                aws_access_key_id="test", aws_secret_access_key="test",
            )  # fmt: skip
        return self._clients[service]

    def fill(self) -> None:
        """What ``pulumi up`` makes before any instance exists."""
        s3, ec2, parameter = self.client("s3"), self.client("ec2"), self.stack.parameter
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": self.stack.region})
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        for key, body in self.stack.objects.items():
            s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        self.client("ssm").put_parameter(
            Name=parameter["name"], Type=parameter["type"], Value=parameter["value"], KeyId=parameter["keyId"]
        )
        vpc = ec2.create_vpc(CidrBlock=f"{self.network}.0.0/16")["Vpc"]["VpcId"]
        made = ec2.create_subnet(VpcId=vpc, CidrBlock=f"{self.network}.0.0/20", AvailabilityZone=self.zone)
        self.subnet = made["Subnet"]["SubnetId"]
        balancing = self.client("elbv2")
        made = balancing.create_target_group(Name="api", Protocol="TCP", Port=6443, VpcId=vpc)
        self.target_group = made["TargetGroups"][0]["TargetGroupArn"]

    def launch(self, group: Group, count: int = 1) -> None:
        """Make a group with its launch template and hooks; its instances exist then."""
        ec2, scaling = self.client("ec2"), self.client("autoscaling")
        made = ec2.create_launch_template(LaunchTemplateName=group.name, LaunchTemplateData=MACHINE)
        template = made["LaunchTemplate"]["LaunchTemplateId"]
        tags = [{"Key": key, "Value": value, "PropagateAtLaunch": True, "ResourceId": group.name,
                 "ResourceType": "auto-scaling-group"} for key, value in group.tags.items()]  # fmt: skip
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=group.name, MinSize=0, MaxSize=9, DesiredCapacity=count,
            LaunchTemplate={"LaunchTemplateId": template, "Version": "1"},
            VPCZoneIdentifier=self.subnet, Tags=tags, TargetGroupARNs=[self.target_group] if group.slot else [],
        )  # fmt: skip
        for hook in group.hooks:
            scaling.put_lifecycle_hook(
                AutoScalingGroupName=group.name, LifecycleHookName=hook["name"],
                LifecycleTransition=hook["lifecycleTransition"], HeartbeatTimeout=int(hook["heartbeatTimeout"]),
                DefaultResult=hook["defaultResult"],
            )  # fmt: skip

    def change(self, stack: Stack) -> None:
        """What a later ``pulumi up`` changes: objects, and the launch templates of the groups that are there."""
        self.stack = stack
        for key, body in stack.objects.items():
            if self.read(key) != body:
                self.put(key, body)
        ec2, scaling = self.client("ec2"), self.client("autoscaling")
        for there in scaling.describe_auto_scaling_groups()["AutoScalingGroups"]:
            group = next(one for one in stack.groups if one.name == there["AutoScalingGroupName"])
            template = there["LaunchTemplate"]["LaunchTemplateId"]
            made = ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData=MACHINE)
            version = str(made["LaunchTemplateVersion"]["VersionNumber"])
            scaling.update_auto_scaling_group(
                AutoScalingGroupName=group.name, LaunchTemplate={"LaunchTemplateId": template, "Version": version}
            )

    def instances(self, group: Group) -> Iterator[tuple[str, str]]:
        """Id and address of the instances of a group."""
        found = self.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group.name])
        ids = [one["InstanceId"] for one in found["AutoScalingGroups"][0]["Instances"]]
        for reservation in self.client("ec2").describe_instances(InstanceIds=ids)["Reservations"] if ids else []:
            for one in reservation["Instances"]:
                yield one["InstanceId"], one["PrivateIpAddress"]

    def token(self) -> str:
        """The join token of now."""
        found = self.client("ssm").get_parameter(Name=self.stack.parameter["name"], WithDecryption=True)
        return str(found["Parameter"]["Value"])

    def ended(self) -> set[str]:
        """Instances that EC2 has ended."""
        wanted = [{"Name": "instance-state-name", "Values": ["terminated"]}]
        found = self.client("ec2").describe_instances(Filters=wanted)["Reservations"]
        return {one["InstanceId"] for each in found for one in each["Instances"]}

    def read(self, key: str) -> bytes | None:
        """An object of the bucket."""
        s3 = self.client("s3")
        try:
            return s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        except s3.exceptions.NoSuchKey:
            return None

    def listed(self, prefix: str = "") -> list[str]:
        """Keys of the bucket."""
        pages = self.client("s3").get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [one["Key"] for page in pages for one in page.get("Contents", [])]

    def put(self, key: str, path: Path | bytes) -> None:
        """Write an object, as a person would."""
        self.client("s3").put_object(
            Bucket=BUCKET, Key=key, Body=path if isinstance(path, bytes) else path.read_bytes()
        )
