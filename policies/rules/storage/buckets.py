"""How buckets are kept: TLS, versions, logs, what lies in them."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import (
    WHEN_OPTIONS,
    Planned,
    Settings,
    Stack,
    Undecided,
    Violation,
    applies,
    every,
    resource_rule,
    stack_rule,
)
from ...resource_types import (
    BUCKET_LIFECYCLES,
    BUCKET_LOGGINGS,
    BUCKET_OBJECTS,
    BUCKET_POLICY,
    BUCKET_VERSIONINGS,
    BUCKETS,
    ECR_REPOSITORY,
)
from ...secret_patterns import holds_client_key
from ...statements import Statement, statements


@stack_rule(
    "bucket-tls-only",
    "Buckets refuse requests without TLS",
    types=BUCKETS,
    references=[fsbp("S3.5"), cis_aws("2.1.1")],
    steps='add a statement to the bucket policy that denies "s3:*" where "aws:SecureTransport" is "false"',
    url=controls_page("s3"),
    late=True,
)
def bucket_tls_only(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """S3 accepts plain HTTP unless the bucket policy denies it."""

    def check(bucket: Planned) -> Iterator[Violation]:
        policies = [policy["policy"] for policy in _beside(stack, bucket, BUCKET_POLICY)]
        if bucket["policy"].given:
            policies.append(bucket["policy"])
        known = [policy for policy in policies if not policy.unknown]
        if any(_refuses_plain(statement) for policy in known for statement in statements(policy)):
            return
        if len(known) < len(policies):
            raise Undecided(f"{bucket.name}: the bucket policy")
        yield Violation("no bucket policy refuses requests without TLS", bucket.urn)

    yield from every(stack.of(*sorted(BUCKETS)), check)


def _refuses_plain(statement: Statement) -> bool:
    everybody = "*" in statement.principals.get("AWS", ())
    plain = "false" in [value.lower() for value in statement.conditions.get("aws:securetransport", ())]
    old = "s3:tlsversion" in statement.conditions
    return not statement.allows and everybody and (plain or old)


def _beside(stack: Stack, bucket: Planned, *types: str) -> list[Planned]:
    """The resources that configure a bucket, by where their bucket comes from or by its name."""
    name = bucket["bucket"].settled
    return [
        found
        for found in stack.of(*types)
        if bucket in stack.sources(found, "bucket", bucket.type) or (name and found["bucket"].raw == name)
    ]


@stack_rule(
    "versioned-bucket-lifecycle",
    "Versioned buckets delete old versions",
    types=BUCKETS,
    severity="low",
    references=[fsbp("S3.13"), fsbp("S3.10")],
    steps="add a lifecycle configuration that expires noncurrent versions and aborts incomplete uploads",
    url=controls_page("s3"),
)
def versioned_bucket_lifecycle(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without a lifecycle configuration, every version is kept and billed forever."""

    def check(bucket: Planned) -> Iterator[Violation]:
        versionings = _beside(stack, bucket, *sorted(BUCKET_VERSIONINGS))
        states = [found["versioningConfiguration"]["status"] for found in versionings]
        own = bucket["versioning"].first()["enabled"]
        if any(state.text == "Enabled" for state in states) or own.flag:
            rules = bucket["lifecycleRules"].items() or _beside(stack, bucket, *sorted(BUCKET_LIFECYCLES))
            if not rules:
                yield Violation("the bucket keeps every version of every object forever", bucket.urn)

    yield from every(stack.of(*sorted(BUCKETS)), check)


@stack_rule(
    "bucket-access-logs",
    "Buckets write access logs",
    types=BUCKETS,
    severity="low",
    references=[fsbp("S3.9")],
    steps="add an aws.s3.BucketLogging with a separate bucket, or use CloudTrail data events and disable this rule",
    url=controls_page("s3"),
    options=WHEN_OPTIONS,
)
def bucket_access_logs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """By default, applies in production only. Buckets that receive logs are exempt."""
    loggings = stack.of(*sorted(BUCKET_LOGGINGS))
    targets = {source.urn for log in loggings for source in stack.sources(log, "targetBucket", *BUCKETS)}

    def check(bucket: Planned) -> Iterator[Violation]:
        if not applies(bucket, settings) or bucket.urn in targets:
            return
        if bucket["logging"].first().known() is None and not _beside(stack, bucket, *sorted(BUCKET_LOGGINGS)):
            yield Violation("the bucket has no access log: nobody can tell who read or changed its objects", bucket.urn)

    yield from every(stack.of(*sorted(BUCKETS)), check)


@resource_rule(
    "no-force-destroy",
    "Buckets and registries are not emptied on deletion",
    types=[*BUCKETS, ECR_REPOSITORY],
    references=[fsbp("S3.14")],
    steps="set force_destroy, or force_delete, to false",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/delete-bucket.html",
    options=WHEN_OPTIONS,
)
def no_force_destroy(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only."""
    name = "forceDelete" if resource.type == ECR_REPOSITORY else "forceDestroy"
    if applies(resource, settings) and resource[name].flag:
        yield f"{name} deletes the contents together with the resource"


@resource_rule(
    "object-without-secrets",
    "Objects that the program uploads hold no private key",
    types=BUCKET_OBJECTS,
    severity="critical",
    level="mandatory",
    steps="keep keys and admin kubeconfigs in Secrets Manager, or set kms_key_id to a KMS key that only their "
    "reader may use; give machines a kubeconfig that requests a token",
    url="https://kubernetes.io/docs/setup/best-practices/certificates/",
)
def object_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everyone who can read the bucket could administer the cluster.

    Computed content is judged in the deployment: a note about each such object in every preview would be noise.
    """
    content = resource["content"].settled
    if not isinstance(content, str) or resource["kmsKeyId"].given:
        return
    if holds_client_key(content):
        yield "the object holds a private key: everyone who can read the bucket can use it"
