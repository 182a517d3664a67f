"""Cases of the rules in ``rules/storage/buckets.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import BUCKET_POLICY

from ..base import Case, one, planned, policy, urn
from .common import BUCKET, OF_BUCKET, PUBLIC_READ, TLS, bucket, bucket_policy

VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
LOGGING = "aws:s3/bucketLogging:BucketLogging"
OBJECT = "aws:s3/bucketObject:BucketObject"
VERSIONED = planned(VERSIONING, {"bucket": UNKNOWN, "versioningConfiguration": {"status": "Enabled"}}, **OF_BUCKET)

CASES = {
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
        "keeps every version of every object forever",
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
        "the bucket has no access log",
        {"when": "always"},
    ),
    "no-force-destroy": one(
        BUCKET,
        [{}, {"forceDestroy": False}, {"forceDestroy": True, "tags": {"Environment": "dev"}}],
        [{"forceDestroy": True}, {"forceDestroy": True, "tags": {"env": "prod"}}],
        [{"forceDestroy": UNKNOWN}],
        "forceDestroy deletes the contents",
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
}
