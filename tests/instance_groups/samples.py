"""What the tests of instance groups share: a cluster that workers join, and groups of it."""

from typing import Any

import pulumi_aws as aws
from winkube.instance_groups.group_args import LinuxInstanceGroupArgs, WindowsInstanceGroupArgs
from winkube.instance_groups.join_target import JoinTarget

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KEY = "arn:aws:kms:eu-west-1:111122223333:key/1234"


def make_target(**more: Any) -> JoinTarget:
    """A cluster whose security groups for workers are not given."""
    given = {
        "cluster_name": "prod.example.com",
        "kubernetes_version": "1.36",
        "region": "eu-west-1",
        "endpoint": "api.prod.example.com:6443",
        "token_parameter": "/winkube/prod.example.com/join-token",
        "certificate_authority": PEM,
        "vpc_id": "vpc-1",
        "bucket": "clusters-example-com",
        "bucket_arn": "arn:aws:s3:::clusters-example-com",
        "bucket_key_arn": KEY,
        "token_key_arn": KEY,
        "control_plane_security_group_ids": ("sg-plane",),
        "node_security_group_ids": ("sg-plane", "sg-linux"),
    }
    return JoinTarget(**{**given, **more})


def windows_args(**more: Any) -> WindowsInstanceGroupArgs:
    """A Windows group with what it must be told."""
    given = {"name": "windows", "target": make_target(), "subnet_ids": ("subnet-1", "subnet-2")}
    return WindowsInstanceGroupArgs(**{**given, **more})


def linux_args(**more: Any) -> LinuxInstanceGroupArgs:
    """A Linux group with what it must be told."""
    given = {"name": "system", "target": make_target(), "subnet_ids": ("subnet-1", "subnet-2")}
    return LinuxInstanceGroupArgs(**{**given, **more})


def late_target(**more: Any) -> JoinTarget:
    """A cluster of which only the plain facts are known, as in the first preview; called while a plan is made."""
    vpc, bucket = aws.ec2.Vpc("late", cidr_block="10.0.0.0/16"), aws.s3.Bucket("late")
    key = aws.kms.Key("late")
    return make_target(
        vpc_id=vpc.id, bucket=bucket.id, bucket_arn=bucket.arn, bucket_key_arn=key.arn, token_key_arn=key.arn,
        certificate_authority=key.arn, **more,
    )  # fmt: skip
