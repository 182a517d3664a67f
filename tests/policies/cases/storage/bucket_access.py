"""Cases of the rules in ``rules/storage/bucket_access.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import BUCKET_OWNERSHIP, BUCKET_PUBLIC_ACCESS_BLOCK

from ..base import Case, allow, one, policy
from .common import PUBLIC_READ, TLS, bucket, bucket_policy

ALL_FOUR = dict.fromkeys(("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True)

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
        "everyone",
    ),
    "bucket-no-public-read": Case(
        [
            [bucket()],
            [bucket_policy(policy(TLS))],
            [bucket_policy(policy(allow("s3:GetObject", Principal={"Service": "cloudfront.amazonaws.com"})))],
        ],
        [[bucket(acl="public-read")], [bucket_policy(policy(PUBLIC_READ))]],
        [[bucket_policy(UNKNOWN)]],
        "everyone read",
    ),
    "bucket-without-acls": one(
        BUCKET_OWNERSHIP,
        [{"rule": {"objectOwnership": "BucketOwnerEnforced"}}],
        [{"rule": {"objectOwnership": "ObjectWriter"}}],
        [{"rule": UNKNOWN}],
        "keeps ACLs enabled",
    ),
}
