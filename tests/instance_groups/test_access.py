"""What a worker may do, and what it may not."""

import json
from typing import Any

import pytest
from winkube.instance_groups.access import node_access
from winkube.instance_groups.node_image import builder_access
from winkube.roles.policy_documents import rendered

from tests.validators.linter import lint

from .samples import KEY, make_target

BUCKET = "arn:aws:s3:::clusters-example-com"


def access(**more: Any) -> dict[str, dict[str, Any]]:
    """The statements of a group called web, by their ids."""
    keys = {"bucket_key_arn": KEY, "token_key_arn": KEY}
    document = node_access(make_target(**more), "web", bucket_arn=BUCKET, **keys)
    return {statement["Sid"]: statement for statement in document["Statement"]}


@pytest.mark.parametrize("mirror", [None, "s3://mirror/winkube", "https://mirror.example.com"])
def test_the_linter_finds_nothing(mirror: str | None) -> None:
    """Actions, resources and conditions are ones that AWS has."""
    target = make_target(mirror=mirror)
    document = node_access(target, "web", bucket_arn=BUCKET, bucket_key_arn=KEY, token_key_arn=KEY)
    assert lint(rendered(document)) == []
    assert lint(rendered(builder_access(target, BUCKET, KEY))) == []


def test_a_worker_reads_its_own_files_alone() -> None:
    """Code and its group's documents; nothing of the authorities, of backups, of other groups."""
    assert access()["BootFiles"]["Action"] == ["s3:GetObject"]
    assert access()["BootFiles"]["Resource"] == [
        f"{BUCKET}/clusterconfigs/prod.example.com/boot/*",
        f"{BUCKET}/clusterconfigs/prod.example.com/nodes/web/*",
    ]
    assert not [s for s in access().values() if "s3:ListBucket" in s["Action"]]


def test_a_worker_writes_its_own_state_alone() -> None:
    """Names of instances, so that no worker can speak for a slot of the control plane."""
    assert access(incarnation=2)["Status"]["Resource"] == [
        f"{BUCKET}/clusterconfigs/prod.example.com/bootstrap/2/status/i-*.json"
    ]


def test_a_worker_reads_one_parameter() -> None:
    """The join token, with its key in the context of this parameter."""
    parameter = "arn:aws:ssm:eu-west-1:*:parameter/winkube/prod.example.com/join-token"
    assert access()["JoinToken"]["Resource"] == [parameter]
    assert access()["JoinTokenKey"]["Condition"]["StringLike"] == {"kms:EncryptionContext:PARAMETER_ARN": parameter}
    bare = node_access(make_target(), "web", bucket_arn=BUCKET, bucket_key_arn=None, token_key_arn=None)
    assert "kms" not in json.dumps(bare)


def test_a_worker_answers_the_hooks_of_its_own_group() -> None:
    """By the name of the Auto Scaling group; describing cannot be limited."""
    (own,) = access()["OwnHooks"]["Resource"]
    assert own.endswith(":autoScalingGroupName/web.prod.example.com")
    assert all(action.startswith("autoscaling:Describe") for action in access()["FindHooks"]["Action"])


def test_a_worker_tags_instances_of_its_group_with_one_key() -> None:
    """The state of the start, and nothing that decides who may do what."""
    condition = access()["ReportState"]["Condition"]
    assert condition["StringEquals"] == {"aws:ResourceTag/winkube.io/instance-group": "prod.example.com/web"}
    assert condition["ForAllValues:StringEquals"] == {"aws:TagKeys": ["winkube:boot"]}


def test_a_mirror_that_is_a_bucket_is_read() -> None:
    """Another mirror needs no statement."""
    assert access(mirror="s3://mirror/winkube")["Mirror"]["Resource"] == ["arn:aws:s3:::mirror/winkube/*"]
    assert "Mirror" not in access(mirror="https://mirror.example.com")


def test_other_partitions_have_their_own_arns() -> None:
    """China and GovCloud."""
    assert access(region="cn-north-1")["JoinToken"]["Resource"][0].startswith("arn:aws-cn:ssm:cn-north-1:")
