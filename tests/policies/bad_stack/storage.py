"""Buckets, registries and file systems."""

import json

import pulumi_aws as aws


def build() -> None:
    """A bucket that everybody may write to, and what else holds data."""
    bucket = aws.s3.Bucket("shop", force_destroy=True)
    aws.s3.BucketPublicAccessBlock("shop", bucket=bucket.id, block_public_acls=True)
    aws.s3.BucketAcl("shop", bucket=bucket.id, acl="public-read-write")
    aws.s3.BucketOwnershipControls("shop", bucket=bucket.id, rule={"object_ownership": "ObjectWriter"})
    aws.s3.BucketVersioning("shop", bucket=bucket.id, versioning_configuration={"status": "Enabled"})
    read = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::shop/*"}
    aws.s3.BucketPolicy("shop", bucket=bucket.id, policy=json.dumps({"Version": "2012-10-17", "Statement": [read]}))
    aws.s3.BucketObject("kubeconfig", bucket=bucket.id, content="users:\n- user:\n    client-key-data: LS0tLS1C\n")
    aws.ecr.Repository("app", image_tag_mutability="MUTABLE", force_delete=True)
    aws.efs.FileSystem("shared")
    aws.fsx.WindowsFileSystem("files", subnet_ids=["subnet-1"], throughput_capacity=32, storage_capacity=100)
    aws.ebs.Volume("data", availability_zone="eu-central-1a", size=100)
    aws.ebs.EncryptionByDefault("region", enabled=False)
