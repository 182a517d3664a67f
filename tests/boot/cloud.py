"""The emulated cloud: a moto server with the bucket, the parameter, and groups whose instances are the machines."""

import base64
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from .stack import BUCKET, Group, Stack

PORT = 5000
ACCOUNT = "123456789012"
IMAGE = "ami-12c6146b"
"""One of those that moto knows."""


class Cloud:
    """The AWS API, without permissions: moto judges none."""

    def __init__(self, stack: Stack, network: str) -> None:
        self.stack = stack
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer("127.0.0.1", PORT, verbose=False)
        self.server.start()
        self.network = network
        self.zone = f"{stack.region}a"
        self.subnet = ""

    def client(self, service: str) -> Any:
        """A client of the driver, past the balancer."""
        return boto3.client(
            service, region_name=self.stack.region, endpoint_url=f"http://127.0.0.1:{PORT}",
            aws_access_key_id="test", aws_secret_access_key="test",
        )  # fmt: skip

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

    def launch(self, group: Group, count: int = 1) -> None:
        """Make a group with its launch template and hooks; its instances exist then."""
        ec2, scaling = self.client("ec2"), self.client("autoscaling")
        data = {
            "ImageId": IMAGE,
            "InstanceType": "m5.large",
            "UserData": base64.b64encode(group.user_data.encode()).decode(),
        }
        ec2.create_launch_template(LaunchTemplateName=group.name, LaunchTemplateData=data)
        tags = [{"Key": key, "Value": value, "PropagateAtLaunch": True, "ResourceId": group.name,
                 "ResourceType": "auto-scaling-group"} for key, value in group.tags.items()]  # fmt: skip
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=group.name, MinSize=0, MaxSize=9, DesiredCapacity=count,
            LaunchTemplate={"LaunchTemplateName": group.name, "Version": "$Latest"},
            VPCZoneIdentifier=self.subnet, Tags=tags,
        )  # fmt: skip
        for hook in group.hooks:
            scaling.put_lifecycle_hook(
                AutoScalingGroupName=group.name, LifecycleHookName=hook["name"],
                LifecycleTransition=hook["lifecycleTransition"], HeartbeatTimeout=int(hook["heartbeatTimeout"]),
                DefaultResult=hook["defaultResult"],
            )  # fmt: skip

    def instances(self, group: Group) -> Iterator[tuple[str, str]]:
        """Id and address of the instances of a group."""
        found = self.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group.name])
        ids = [one["InstanceId"] for one in found["AutoScalingGroups"][0]["Instances"]]
        for reservation in self.client("ec2").describe_instances(InstanceIds=ids)["Reservations"] if ids else []:
            for one in reservation["Instances"]:
                yield one["InstanceId"], one["PrivateIpAddress"]

    def terminate(self, instance: str) -> None:
        """The group replaces it."""
        self.client("autoscaling").terminate_instance_in_auto_scaling_group(
            InstanceId=instance, ShouldDecrementDesiredCapacity=False
        )

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
