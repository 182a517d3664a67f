"""Cases of the rules about storage."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    BUCKET_OWNERSHIP,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS_BLOCK,
    ECR_LIFECYCLE,
    ECR_REPOSITORY,
    EFS_FILE_SYSTEM,
    FSX_WINDOWS,
    LOG_GROUP,
)

from .base import Case, allow, one, planned, policy, urn

BUCKET = "aws:s3/bucket:Bucket"
VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
LOGGING = "aws:s3/bucketLogging:BucketLogging"
OBJECT = "aws:s3/bucketObject:BucketObject"
OF_BUCKET = {"bucket": urn(BUCKET, "b")}
ALL_FOUR = dict.fromkeys(("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True)
TLS = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": "*",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
PUBLIC_READ = allow("s3:GetObject", Principal="*")
VERSIONED = planned(VERSIONING, {"bucket": UNKNOWN, "versioningConfiguration": {"status": "Enabled"}}, **OF_BUCKET)


def bucket(**props: Any) -> Any:
    return planned(BUCKET, props, "b")


def bucket_policy(text: Any) -> Any:
    return planned(BUCKET_POLICY, {"bucket": UNKNOWN, "policy": text}, **OF_BUCKET)


CASES = {
    "bucket-blocks-public-access": one(
        BUCKET_PUBLIC_ACCESS_BLOCK,
        [ALL_FOUR],
        [{}, {**ALL_FOUR, "blockPublicPolicy": False}],
        [{**ALL_FOUR, "ignorePublicAcls": UNKNOWN}],
        "public access is not blocked: ",
    ),
    "bucket-no-public-write": Case(
        [
            [bucket()],
            [bucket(acl="public-read")],
            [bucket_policy(policy(TLS, PUBLIC_READ))],
            [bucket_policy(policy(allow("s3:PutObject", Principal={"AWS": "arn:aws:iam::123456789012:role/ci"})))],
            [
                bucket_policy(
                    policy(allow("s3:*", Principal="*", Condition={"StringEquals": {"aws:PrincipalOrgID": "o"}}))
                )
            ],
        ],
        [
            [bucket(acl="public-read-write")],
            [bucket_policy(policy(allow(["s3:GetObject", "s3:PutObject"], Principal="*")))],
            [bucket_policy(policy(allow("s3:*", Principal={"AWS": "*"})))],
        ],
        [[bucket_policy(UNKNOWN)], [bucket(acl=UNKNOWN)]],
        "everybody",
    ),
    "bucket-no-public-read": Case(
        [
            [bucket()],
            [bucket_policy(policy(TLS))],
            [bucket_policy(policy(allow("s3:GetObject", Principal={"Service": "cloudfront.amazonaws.com"})))],
        ],
        [[bucket(acl="public-read")], [bucket_policy(policy(PUBLIC_READ))]],
        [[bucket_policy(UNKNOWN)]],
        "everybody read",
    ),
    "bucket-without-acls": one(
        BUCKET_OWNERSHIP,
        [{"rule": {"objectOwnership": "BucketOwnerEnforced"}}],
        [{"rule": {"objectOwnership": "ObjectWriter"}}],
        [{"rule": UNKNOWN}],
        "keeps ACLs alive",
    ),
    "bucket-tls-only": Case(
        [
            [bucket(), bucket_policy(policy(PUBLIC_READ, TLS))],
            [bucket(bucket="name"), planned(BUCKET_POLICY, {"bucket": "name", "policy": policy(TLS)})],
        ],
        [
            [bucket()],
            [bucket(), bucket_policy(policy(PUBLIC_READ))],
            [bucket(), planned(BUCKET_POLICY, {"bucket": "another", "policy": policy(TLS)})],
        ],
        [[bucket(), bucket_policy(UNKNOWN)]],
        "no bucket policy refuses requests without TLS",
    ),
    "versioned-bucket-lifecycle": Case(
        [
            [bucket()],
            [bucket(), VERSIONED, planned(LIFECYCLE, {"rules": [{"id": "a", "status": "Enabled"}]}, **OF_BUCKET)],
            [bucket(versioning={"enabled": True}, lifecycleRules=[{"enabled": True}])],
        ],
        [[bucket(), VERSIONED], [bucket(versioning={"enabled": True})]],
        [[bucket(), planned(VERSIONING, {"bucket": UNKNOWN, "versioningConfiguration": UNKNOWN}, **OF_BUCKET)]],
        "keeps every version of every object for ever",
    ),
    "bucket-access-logs": Case(
        [
            [
                bucket(),
                planned(
                    LOGGING, {"bucket": UNKNOWN, "targetBucket": UNKNOWN}, **OF_BUCKET, targetBucket=urn(BUCKET, "l")
                ),
                planned(BUCKET, {}, "l"),
            ]
        ],
        [[bucket()]],
        [[bucket(logging=UNKNOWN)]],
        "who read or changed the bucket's objects",
        {"when": "always"},
    ),
    "no-force-destroy": one(
        BUCKET,
        [{}, {"forceDestroy": False}, {"forceDestroy": True, "tags": {"Environment": "dev"}}],
        [{"forceDestroy": True}, {"forceDestroy": True, "tags": {"env": "prod"}}],
        [{"forceDestroy": UNKNOWN}],
        "forceDestroy deletes everything inside",
        stack="production",
    ),
    "object-without-secrets": one(
        OBJECT,
        [
            {"bucket": "b", "content": "apiVersion: v1\nkind: Config\n"},
            {"bucket": "b"},
            {"bucket": "b", "content": UNKNOWN},
            {"bucket": "b", "content": "-----BEGIN PRIVATE KEY-----\n", "kmsKeyId": "arn:aws:kms:x:1:key/a"},
        ],
        [
            {"bucket": "b", "content": "users:\n- user:\n    client-key-data: LS0t\n"},
            {"bucket": "b", "content": "-----BEGIN PRIVATE KEY-----\n"},
        ],
        [],
        "the object holds a private key",
    ),
    "file-system-encrypted": one(
        EFS_FILE_SYSTEM,
        [{"encrypted": True}],
        [{}, {"encrypted": False}],
        [{"encrypted": UNKNOWN}],
        "cannot be changed later",
    ),
    "fsx-windows-zones": one(
        FSX_WINDOWS,
        [{"deploymentType": "MULTI_AZ_1"}],
        [{}, {"deploymentType": "SINGLE_AZ_2"}],
        [{"deploymentType": UNKNOWN}],
        "stands in one zone",
        {"when": "always"},
    ),
    "registry-scans": one(
        ECR_REPOSITORY,
        [{"imageScanningConfiguration": {"scanOnPush": True}}],
        [{}, {"imageScanningConfiguration": {"scanOnPush": False}}],
        [{"imageScanningConfiguration": UNKNOWN}],
        "not scanned",
    ),
    "registry-immutable-tags": one(
        ECR_REPOSITORY,
        [{"imageTagMutability": "IMMUTABLE"}, {"imageTagMutability": "IMMUTABLE_WITH_EXCLUSION"}],
        [{}, {"imageTagMutability": "MUTABLE"}],
        [{"imageTagMutability": UNKNOWN}],
        "moved to other images",
    ),
    "registry-lifecycle": Case(
        [
            [
                planned(ECR_REPOSITORY, {}),
                planned(ECR_LIFECYCLE, {"repository": UNKNOWN}, repository=urn(ECR_REPOSITORY, "x")),
            ],
            [planned(ECR_REPOSITORY, {"name": "app"}), planned(ECR_LIFECYCLE, {"repository": "app"})],
        ],
        [
            [planned(ECR_REPOSITORY, {})],
            [planned(ECR_REPOSITORY, {"name": "app"}), planned(ECR_LIFECYCLE, {"repository": "b"})],
        ],
        [[planned(ECR_REPOSITORY, {}), planned(ECR_LIFECYCLE, {"repository": UNKNOWN})]],
        "images are kept for ever",
    ),
    "log-retention": one(
        LOG_GROUP,
        [{"retentionInDays": 90, "name": "/aws/eks/main/cluster"}, {"retentionInDays": 7, "name": "/app"}],
        [{}, {"retentionInDays": 0}, {"retentionInDays": 30, "name": "/aws/eks/main/cluster"}],
        [{"retentionInDays": UNKNOWN}],
        "for",
    ),
}
