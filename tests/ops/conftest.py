"""A control plane of three slots in moto: groups, machines, targets, status documents and backups."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws
from winkube.ops.clients import Clients
from winkube.ops.cluster import find
from winkube.state_bucket.layout import ClusterLayout

NAME, BUCKET, REGION = "prod.example.com", "clusters-example-com", "eu-central-1"
LAYOUT = ClusterLayout(NAME)
SHA = "ab" * 32
IMAGE = "ami-12c6146b"
"""One of those that moto knows."""


class World:
    """What a test changes: a machine's status, backups, templates."""

    def __init__(self) -> None:
        self.clients = Clients(REGION)
        self.s3 = boto3.client("s3", region_name=REGION)
        self.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.ec2 = boto3.client("ec2", region_name=REGION)
        self.scaling = boto3.client("autoscaling", region_name=REGION)
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
        self.template = self.ec2.create_launch_template(
            LaunchTemplateName="cp", LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "m5.large"}
        )["LaunchTemplate"]["LaunchTemplateId"]
        balancing = boto3.client("elbv2", region_name=REGION)
        self.target_group = balancing.create_target_group(Name="api", Protocol="TCP", Port=6443, VpcId=vpc)[
            "TargetGroups"
        ][0]["TargetGroupArn"]
        for number in range(3):
            self.make_slot(f"cp-{number}")
        self.report_all()
        self.add_backup(minutes=2)

    def make_slot(self, slot: str) -> None:
        """A group as the component makes it."""
        tags = {"winkube.io/cluster": NAME, "winkube.io/slot": slot, "winkube.io/bucket": BUCKET,
                "winkube.io/incarnation": "1"}  # fmt: skip
        self.scaling.create_auto_scaling_group(
            AutoScalingGroupName=f"group-{slot}", MinSize=1, MaxSize=1, DesiredCapacity=1,
            MixedInstancesPolicy=self.instances("1"),
            VPCZoneIdentifier=self.subnet, TargetGroupARNs=[self.target_group],
            Tags=[{"Key": key, "Value": value, "PropagateAtLaunch": True, "ResourceId": f"group-{slot}",
                   "ResourceType": "auto-scaling-group"} for key, value in tags.items()],
        )  # fmt: skip

    def instances(self, version: str) -> dict[str, Any]:
        """As the component names the template: by the number of its version."""
        template = {"LaunchTemplateId": self.template, "Version": version}
        return {
            "LaunchTemplate": {"LaunchTemplateSpecification": template, "Overrides": [{"InstanceType": "m5.large"}]}
        }

    def machine(self, slot: str) -> str | None:
        """The instance in a slot."""
        (group,) = self.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[f"group-{slot}"])[
            "AutoScalingGroups"
        ]
        return next((it["InstanceId"] for it in group["Instances"] if it["LifecycleState"] == "InService"), None)

    def report(self, slot: str, **values: Any) -> None:
        """What the agent in a slot says of itself."""
        said = {"phase": "ready", "instance_id": self.machine(slot), "slot": slot, "kubernetes_version": "1.36.4",
                "at": datetime.now(UTC).isoformat(), "certificate_days": 300, "error": None, **values}  # fmt: skip
        self.s3.put_object(Bucket=BUCKET, Key=LAYOUT.status(slot), Body=json.dumps(said).encode())

    def report_all(self) -> None:
        """Every agent is well."""
        for number in range(3):
            self.report(f"cp-{number}")

    def add_backup(self, *, minutes: float, revision: int = 100, slot: str = "cp-0") -> str:
        """A backup of some minutes ago."""
        taken = datetime.now(UTC) - timedelta(minutes=minutes)
        key = f"{LAYOUT.etcd_backups(slot)}{taken:%Y%m%dT%H%M%SZ}-r{revision}-{SHA}.db"
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=b"x" * 2**20)
        return key

    def change_template(self) -> None:
        """As after a deployment that changed what nodes are told."""
        self.ec2.create_launch_template_version(
            LaunchTemplateId=self.template, SourceVersion="1",
            LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "m5.xlarge"},
        )  # fmt: skip
        for number in range(3):
            self.scaling.update_auto_scaling_group(
                AutoScalingGroupName=f"group-cp-{number}", MixedInstancesPolicy=self.instances("2")
            )

    def cluster(self) -> Any:
        """As the commands see it."""
        return find(self.clients, NAME)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield World()
