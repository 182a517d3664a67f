"""The plan that validators read says what ours says, in Terraform's words."""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from winkube.preview.evaluation.evaluate import evaluate_function

from tests.validators.terraform_plan import terraform_plan


def translated(build: Callable[[], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and expressions by address."""
    document = terraform_plan(evaluate_function(build, mode="update"))
    values, expressions = (
        {row["address"]: row[key] for row in document[part]["root_module"]["resources"]}
        for part, key in (("planned_values", "values"), ("configuration", "expressions"))
    )
    return values, expressions


def test_an_object_is_a_block_and_a_map_is_none() -> None:
    """Blocks of one, blocks of many, and tags, which are no block; whole numbers are whole."""
    values, _ = translated(
        lambda: aws.ec2.LaunchTemplate(
            "t",
            metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
            block_device_mappings=[{"device_name": "/dev/sda1", "ebs": {"volume_size": 80}}],
            tag_specifications=[{"resource_type": "volume", "tags": {"aTag": "x"}}],
            tags={"Name": "t"},
        )
    )
    assert values == {
        "aws_launch_template.t": {
            "metadata_options": [{"http_tokens": "required", "http_put_response_hop_limit": 1}],
            "block_device_mappings": [{"device_name": "/dev/sda1", "ebs": [{"volume_size": 80}]}],
            "tag_specifications": [{"resource_type": "volume", "tags": {"aTag": "x"}}],
            "tags": {"Name": "t"},
        }
    }
    assert isinstance(values["aws_launch_template.t"]["metadata_options"][0]["http_put_response_hop_limit"], int)


def test_what_another_resource_computes_is_a_reference() -> None:
    """Its id, its name and its ARN, in blocks too; a text that merely holds one stays and refers as well."""

    def build() -> None:
        bucket = aws.s3.Bucket("state")
        key = aws.kms.Key("key")
        rule = {"apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn}}
        aws.s3.BucketServerSideEncryptionConfiguration("state", bucket=bucket.id, rules=[rule])
        aws.s3.BucketPolicy("state", bucket=bucket.bucket, policy=pulumi.Output.json_dumps({"Resource": bucket.arn}))

    values, expressions = translated(build)
    encryption = "aws_s3_bucket_server_side_encryption_configuration.state"
    assert values[encryption] == {"rule": [{"apply_server_side_encryption_by_default": [{"sse_algorithm": "aws:kms"}]}]}
    assert expressions[encryption] == {
        "bucket": {"references": ["aws_s3_bucket.state.id", "aws_s3_bucket.state"]},
        "rule": [
            {
                "apply_server_side_encryption_by_default": [
                    {"kms_master_key_id": {"references": ["aws_kms_key.key.arn", "aws_kms_key.key"]}}
                ]
            }
        ],
    }
    policy = "aws_s3_bucket_policy.state"
    assert "arn:aws" in values[policy]["policy"]
    assert "bucket" not in values[policy]
    assert expressions[policy] == {
        "bucket": {"references": ["aws_s3_bucket.state.bucket", "aws_s3_bucket.state"]},
        "policy": {"references": ["aws_s3_bucket.state.arn", "aws_s3_bucket.state"]},
    }


def test_addresses_are_terraforms_and_differ() -> None:
    """Characters that a Terraform name may not have are replaced; two children of one name are two resources."""

    def build() -> None:
        aws.ec2.Eip("k8s.io/nat")
        for name in ("one", "two"):
            parent = pulumi.ComponentResource("it:index:Part", name) if name == "one" else None
            aws.ec2.Eip("same", opts=pulumi.ResourceOptions(parent=parent))

    values, _ = translated(build)
    assert set(values) == {"aws_eip.k8s_io_nat", "aws_eip.same", "aws_eip.same_2"}


def test_a_secret_stays_out() -> None:
    values, _ = translated(lambda: aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret("hunter2")))
    assert values["aws_ssm_parameter.p"] == {"type": "SecureString", "value": "(secret)"}


def strange_type() -> None:
    aws.chime.VoiceConnector("v", require_encryption=True)


def strange_list() -> None:
    aws.s3.BucketAcl("a", bucket="b", access_control_policy={"grants": [{"permission": "READ"}]})


@pytest.mark.parametrize(("build", "missing"), [(strange_type, "TYPES"), (strange_list, "BLOCKS")])
def test_nothing_is_left_out_unseen(build: Callable[[], Any], missing: str) -> None:
    """What the tables do not know is an error: a validator cannot miss what it never got."""
    with pytest.raises(LookupError, match=f"has no row in {missing}"):
        translated(build)
