"""The bucket for the state of a team's clusters.

- the bucket: private, versioned, objects owned by its account, no access lists;
- encryption with a key of its own that rotates (or with one that is given);
- a policy: TLS 1.2 or newer, that key only, and on wish nobody but the principals named;
- a life cycle: replaced versions, orphaned delete markers and broken uploads go away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.tags import named
from ..roles.policy_documents import rendered
from .bucket_policies import bucket_policy, key_policy
from .bucket_rules import check_state_bucket

INCOMPLETE_UPLOAD_DAYS = 7
KEY_DELETION_DAYS = 30
"""The longest that KMS offers: without the key the state is lost."""


@dataclass(frozen=True, kw_only=True)
class StateBucketArgs:
    """The arguments of a state bucket."""

    bucket_name: str | None = None
    """Name of the bucket; derived from the component's name by default. ``suggested_name`` derives one from a
    domain."""
    allow_dots: bool = False
    """Whether the name may have dots. Clients must then address the bucket by path."""
    kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the objects; a new key by default. You manage the policy of your own key: readers and
    writers need ``kms:Decrypt`` and ``kms:GenerateDataKey``."""
    noncurrent_days: int = 90
    """Retention of noncurrent versions in days."""
    reader_principals: Sequence[pulumi.Input[str]] = ()
    """ARNs of roles and users that may read everything, also in other accounts. They can administer all clusters."""
    writer_principals: Sequence[pulumi.Input[str]] = ()
    """ARNs of roles and users that may read, write and delete everything."""
    allowed_principals: Sequence[str] = ()
    """ARN patterns of the principals that may access objects; all others are denied, whatever IAM allows. By default,
    IAM alone decides. Include the roles of control planes and nodes, by path: ``arn:aws:iam::1…:role/k8s/*``."""
    access_log_bucket: pulumi.Input[str] | None = None
    """Name of a bucket for access logs; none by default."""
    deletion_protection: bool = True
    """Whether bucket and KMS key are protected from deletion. Without them, no cluster can be rebuilt."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of bucket and key."""


class StateBucket(Component):
    """A private, versioned, encrypted bucket for the state of clusters.

    :raises WinkubeError: with every mistake in the arguments (``WK-BKT-001`` to ``WK-BKT-007``, ``WK-TAG``).
    """

    bucket: pulumi.Output[str]
    """Name of the bucket, known when it is private, encrypted and has its policy."""
    arn: pulumi.Output[str]
    """ARN of the bucket."""
    kms_key_arn: pulumi.Output[str]
    """ARN of the key that encrypts it."""

    def __init__(self, name: str, args: StateBucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_state_bucket(args))
        bucket = aws.s3.Bucket(
            f"{name}-bucket",
            bucket=args.bucket_name,
            # A bucket with state in it is not deleted by accident.
            force_destroy=False,
            tags=named(args.tags, f"{name}-bucket"),
            opts=self._kept(args),
        )
        self.arn = bucket.arn
        self.kms_key_arn = self._create_key(f"{name}-key", args)
        first = [*self._close(name, bucket, args), *self._create_life_cycle(name, bucket, args)]
        # Taken from the last part: whoever uses the name then waits until the bucket is private and encrypted.
        self.bucket = self._encrypt(name, bucket, first).bucket
        self.register_outputs({"bucket": self.bucket, "arn": self.arn, "kmsKeyArn": self.kms_key_arn})

    def _kept(self, args: StateBucketArgs) -> pulumi.ResourceOptions:
        # None, not False: the component's own protect then still flows down.
        return self.child(protect=True if args.deletion_protection else None)

    def _create_key(self, name: str, args: StateBucketArgs) -> pulumi.Output[str]:
        if args.kms_key_arn is not None:
            return pulumi.Output.from_input(args.kms_key_arn)
        key = aws.kms.Key(
            name,
            description="State of Kubernetes clusters",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            tags=named(args.tags, name),
            opts=self._kept(args),
        )
        readers, writers = _principals(args)
        aws.kms.KeyPolicy(
            f"{name}-policy",
            key_id=key.key_id,
            policy=pulumi.Output.all(key.arn, self.arn, readers, writers).apply(
                lambda v: rendered(key_policy(v[0], v[1], readers=v[2], writers=v[3]))
            ),
            opts=self.child(),
        )
        return key.arn

    def _close(self, name: str, bucket: aws.s3.Bucket, args: StateBucketArgs) -> list[pulumi.CustomResource]:
        block = aws.s3.BucketPublicAccessBlock(
            f"{name}-private",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self.child(),
        )
        owner = aws.s3.BucketOwnershipControls(
            f"{name}-owner",
            bucket=bucket.bucket,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=self.child(),
        )
        readers, writers = _principals(args)
        policy = aws.s3.BucketPolicy(
            f"{name}-policy",
            bucket=bucket.bucket,
            policy=pulumi.Output.all(self.arn, self.kms_key_arn, readers, writers).apply(
                lambda v: rendered(
                    bucket_policy(v[0], v[1], readers=v[2], writers=v[3], allowed=args.allowed_principals)
                )
            ),
            # S3 refuses two changes of a bucket's access at the same time (OperationAborted).
            opts=self.child(depends_on=[block, owner]),
        )
        parts: list[pulumi.CustomResource] = [block, owner, policy]
        if args.access_log_bucket is not None:
            logging = aws.s3.BucketLogging(
                f"{name}-access-logs",
                bucket=bucket.bucket,
                target_bucket=args.access_log_bucket,
                target_prefix=pulumi.Output.concat(bucket.bucket, "/"),
                opts=self.child(),
            )
            parts.append(logging)
        return parts

    def _encrypt(
        self, name: str, bucket: aws.s3.Bucket, first: Sequence[pulumi.Resource]
    ) -> aws.s3.BucketServerSideEncryptionConfiguration:
        default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
            sse_algorithm="aws:kms", kms_master_key_id=self.kms_key_arn
        )
        rule = aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
            apply_server_side_encryption_by_default=default,
            # One data key for many objects: fewer calls of KMS, and one encryption context to write policies for.
            bucket_key_enabled=True,
            blocked_encryption_types=["SSE-C"],
        )
        return aws.s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption", bucket=bucket.bucket, rules=[rule], opts=self.child(depends_on=first)
        )

    def _create_life_cycle(
        self, name: str, bucket: aws.s3.Bucket, args: StateBucketArgs
    ) -> tuple[pulumi.CustomResource, ...]:
        versioning = aws.s3.BucketVersioning(
            f"{name}-versions",
            bucket=bucket.bucket,
            versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
            opts=self.child(),
        )
        rules: dict[str, dict[str, Any]] = {
            "replaced-versions": {
                "noncurrent_version_expiration":
                    aws.s3.BucketLifecycleConfigurationRuleNoncurrentVersionExpirationArgs(
                        noncurrent_days=args.noncurrent_days
                    ),
                "expiration": aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(expired_object_delete_marker=True),
            },
            "broken-uploads": {
                "abort_incomplete_multipart_upload":
                    aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs(
                        days_after_initiation=INCOMPLETE_UPLOAD_DAYS
                    ),
            },
        }  # fmt: skip
        life_cycle = aws.s3.BucketLifecycleConfiguration(
            f"{name}-life-cycle",
            bucket=bucket.bucket,
            rules=[
                aws.s3.BucketLifecycleConfigurationRuleArgs(
                    id=rule,
                    status="Enabled",
                    filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                    **parts,
                )
                for rule, parts in rules.items()
            ],
            # Rules about versions are refused while there are none.
            opts=self.child(depends_on=[versioning]),
        )
        return versioning, life_cycle


def _principals(args: StateBucketArgs) -> tuple[pulumi.Output[list[str]], pulumi.Output[list[str]]]:
    return pulumi.Output.all(*args.reader_principals), pulumi.Output.all(*args.writer_principals)
