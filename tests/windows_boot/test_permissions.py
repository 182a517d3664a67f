"""What the scripts ask of AWS is what the role of a group may do."""

import fnmatch
from dataclasses import dataclass

from winkube.instance_groups.access import STATUS_TAG, node_access
from winkube.windows_boot.bundle import script

from .powershell import CMDLETS, Bundle

ACTIONS = {
    "Complete-ASLifecycleAction": "autoscaling:CompleteLifecycleAction",
    "Get-SSMParameter": "ssm:GetParameter",
    "New-EC2Tag": "ec2:CreateTags",
    "Read-S3Object": "s3:GetObject",
    "Write-ASLifecycleActionHeartbeat": "autoscaling:RecordLifecycleActionHeartbeat",
    "Write-S3Object": "s3:PutObject",
}
"""Command of the AWS Tools for PowerShell to the action that it asks for."""


@dataclass(frozen=True)
class _Cluster:
    cluster_name: str = "prod"
    region: str = "eu-west-1"
    partition: str = "aws"
    token_parameter: str = "/winkube/prod/join-token"
    incarnation: int = 1
    mirror: str | None = None


def test_every_command_of_aws_is_known(scripts: Bundle) -> None:
    """Commands of AWS carry its services' names: none is used whose action is not in the table."""
    parts = ("-AS", "-SSM", "-EC2", "-S3", "-STS", "-KMS", "-CW", "-SQS")
    aws = {name for name in CMDLETS if any(part in name for part in parts)}
    used = {name for one in scripts.values() for _, name in one.calls()}
    assert aws & used == set(ACTIONS)


def test_the_role_allows_each_action() -> None:
    """The documents of the role have every action that a script asks for."""
    document = node_access(_Cluster(), "web", bucket_arn="arn:aws:s3:::state", bucket_key_arn=None, token_key_arn=None)
    allowed = [
        action
        for statement in document["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]
    missing = [action for action in ACTIONS.values() if not any(fnmatch.fnmatch(action, one) for one in allowed)]
    assert missing == []


def test_the_tag_is_the_one_that_the_role_may_write() -> None:
    """A node may write one tag: the scripts write that one."""
    assert f"$StatusTag = '{STATUS_TAG}'" in script("Report.ps1")
