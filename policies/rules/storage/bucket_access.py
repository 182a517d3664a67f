"""Who may read and write buckets."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import Planned, Settings, resource_rule
from ...resource_types import (
    ACCOUNT_PUBLIC_ACCESS_BLOCK,
    BUCKET_ACLS,
    BUCKET_OWNERSHIP,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS_BLOCK,
    BUCKETS,
)
from ...statements import Statement, statements

BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
READING = ("s3:getobject", "s3:listbucket", "s3:getobjectversion", "s3:getbucketlocation", "s3:getobjectattributes")


@resource_rule(
    "bucket-blocks-public-access",
    "Buckets and accounts enable all four public access blocks",
    types=[BUCKET_PUBLIC_ACCESS_BLOCK, ACCOUNT_PUBLIC_ACCESS_BLOCK],
    severity="high",
    references=[fsbp("S3.1"), fsbp("S3.2"), fsbp("S3.3"), fsbp("S3.8"), cis_aws("2.1.4")],
    steps="set all four of block_public_acls, block_public_policy, ignore_public_acls and restrict_public_buckets to "
    "true; publish websites through CloudFront",
    url=controls_page("s3"),
)
def bucket_blocks_public_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """S3 blocks public access to new buckets; this resource can weaken that."""
    off = [name for name in BLOCKS if not resource[name].flag]
    if off:
        yield f"public access is not blocked: {', '.join(off)} {'is' if len(off) == 1 else 'are'} not true"


@resource_rule(
    "bucket-no-public-write",
    "Buckets do not allow public writes",
    types=[*BUCKETS, *BUCKET_ACLS, BUCKET_POLICY],
    severity="critical",
    level="mandatory",
    references=[fsbp("S3.3"), fsbp("S3.6")],
    steps="grant access to the roles that write, or hand out presigned URLs",
    url=controls_page("s3"),
    late=True,
)
def bucket_no_public_write(resource: Planned, settings: Settings) -> Iterator[str]:
    """Checks ACLs and bucket policies."""
    if resource.type != BUCKET_POLICY and resource["acl"].text == "public-read-write":
        yield 'acl "public-read-write" lets everyone write to the bucket'
    for policy in [resource["policy"]] if resource["policy"].given else []:
        for statement in statements(policy):
            if statement.allows and statement.public and not _only_reads(statement):
                yield "a statement of the bucket policy lets everyone do more than read"
                return


def _only_reads(statement: Statement) -> bool:
    return bool(statement.actions) and all(action.lower() in READING for action in statement.actions)


@resource_rule(
    "bucket-no-public-read",
    "Buckets do not allow public reads",
    types=[*BUCKETS, *BUCKET_ACLS, BUCKET_POLICY],
    severity="high",
    references=[fsbp("S3.2"), fsbp("S3.12"), cis_aws("2.1.4")],
    steps="publish through CloudFront with origin access control, and let the bucket policy name the distribution",
    url=controls_page("s3"),
    late=True,
)
def bucket_no_public_read(resource: Planned, settings: Settings) -> Iterator[str]:
    """Only a website that S3 itself serves needs public reads."""
    if resource.type != BUCKET_POLICY and resource["acl"].text in ("public-read", "authenticated-read"):
        yield f'acl "{resource["acl"].raw}" lets everyone read the bucket'
    for policy in [resource["policy"]] if resource["policy"].given else []:
        for statement in statements(policy):
            if statement.allows and statement.public and _only_reads(statement):
                yield "a statement of the bucket policy lets everyone read"
                return


@resource_rule(
    "bucket-without-acls",
    "Access to buckets is controlled by policies, not by ACLs",
    types=[BUCKET_OWNERSHIP],
    severity="low",
    references=[fsbp("S3.12")],
    steps='set object_ownership to "BucketOwnerEnforced"',
    url=controls_page("s3"),
)
def bucket_without_acls(resource: Planned, settings: Settings) -> Iterator[str]:
    """ACLs are disabled on new buckets; this resource can enable them again."""
    owner = resource["rule"]["objectOwnership"].text
    if owner is not None and owner != "BucketOwnerEnforced":
        yield f'objectOwnership "{owner}" keeps ACLs enabled'
