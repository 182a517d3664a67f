"""Buckets, file systems, registries, log groups."""

from collections.abc import Iterator

from ..frameworks import cis_aws, cis_eks, controls_page, fsbp
from ..model import (
    WHEN_OPTIONS,
    Option,
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
from ..resource_types import (
    ACCOUNT_PUBLIC_ACCESS_BLOCK,
    BUCKET_ACLS,
    BUCKET_LIFECYCLES,
    BUCKET_LOGGINGS,
    BUCKET_OBJECTS,
    BUCKET_OWNERSHIP,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS_BLOCK,
    BUCKET_VERSIONINGS,
    BUCKETS,
    ECR_LIFECYCLE,
    ECR_REPOSITORY,
    EFS_FILE_SYSTEM,
    FSX_WINDOWS,
    LOG_GROUP,
)
from ..secret_patterns import holds_client_key
from ..statements import Statement, statements

BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
READING = ("s3:getobject", "s3:listbucket", "s3:getobjectversion", "s3:getbucketlocation", "s3:getobjectattributes")


@resource_rule(
    "bucket-blocks-public-access",
    "Buckets and accounts block public access in all four ways",
    types=[BUCKET_PUBLIC_ACCESS_BLOCK, ACCOUNT_PUBLIC_ACCESS_BLOCK],
    severity="high",
    references=[fsbp("S3.1"), fsbp("S3.2"), fsbp("S3.3"), fsbp("S3.8"), cis_aws("2.1.4")],
    steps="set all four of block_public_acls, block_public_policy, ignore_public_acls and restrict_public_buckets to "
    "true; publish web sites through CloudFront",
    url=controls_page("s3"),
)
def bucket_blocks_public_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """S3 blocks all of it in new buckets; this resource is how one opens them."""
    off = [name for name in BLOCKS if not resource[name].flag]
    if off:
        yield f"public access is not blocked: {', '.join(off)} {'is' if len(off) == 1 else 'are'} not true"


@resource_rule(
    "bucket-no-public-write",
    "Nobody may write into a bucket without being known",
    types=[*BUCKETS, *BUCKET_ACLS, BUCKET_POLICY],
    severity="critical",
    level="mandatory",
    references=[fsbp("S3.3"), fsbp("S3.6")],
    steps="name the roles that write, or put a signing service in front",
    url=controls_page("s3"),
    late=True,
)
def bucket_no_public_write(resource: Planned, settings: Settings) -> Iterator[str]:
    """By ACL or by policy."""
    if resource.type != BUCKET_POLICY and resource["acl"].text == "public-read-write":
        yield 'acl "public-read-write" lets everybody write into the bucket'
    for policy in [resource["policy"]] if resource["policy"].given else []:
        for statement in statements(policy):
            if statement.allows and statement.public and not _only_reads(statement):
                yield "a statement of the bucket policy lets everybody do more than read"
                return


def _only_reads(statement: Statement) -> bool:
    return bool(statement.actions) and all(action.lower() in READING for action in statement.actions)


@resource_rule(
    "bucket-no-public-read",
    "Nobody may read a bucket without being known",
    types=[*BUCKETS, *BUCKET_ACLS, BUCKET_POLICY],
    severity="high",
    references=[fsbp("S3.2"), fsbp("S3.12"), cis_aws("2.1.4")],
    steps="publish through CloudFront with origin access control, and let the bucket policy name the distribution",
    url=controls_page("s3"),
    late=True,
)
def bucket_no_public_read(resource: Planned, settings: Settings) -> Iterator[str]:
    """Right for a web site that is served by S3 itself, and for nothing else."""
    if resource.type != BUCKET_POLICY and resource["acl"].text in ("public-read", "authenticated-read"):
        yield f'acl "{resource["acl"].raw}" lets everybody read the bucket'
    for policy in [resource["policy"]] if resource["policy"].given else []:
        for statement in statements(policy):
            if statement.allows and statement.public and _only_reads(statement):
                yield "a statement of the bucket policy lets everybody read"
                return


@resource_rule(
    "bucket-without-acls",
    "Access to buckets is a matter of policies, not of ACLs",
    types=[BUCKET_OWNERSHIP],
    severity="low",
    references=[fsbp("S3.12")],
    steps='set object_ownership to "BucketOwnerEnforced"',
    url=controls_page("s3"),
)
def bucket_without_acls(resource: Planned, settings: Settings) -> Iterator[str]:
    """New buckets have no ACLs; this resource is how one gets them back."""
    owner = resource["rule"]["objectOwnership"].text
    if owner is not None and owner != "BucketOwnerEnforced":
        yield f'objectOwnership "{owner}" keeps ACLs alive beside the bucket policy'


@stack_rule(
    "bucket-tls-only",
    "Buckets refuse requests without TLS",
    types=BUCKETS,
    references=[fsbp("S3.5"), cis_aws("2.1.1")],
    steps='add a statement that denies "s3:*" where "aws:SecureTransport" is "false" to the bucket policy',
    url=controls_page("s3"),
    late=True,
)
def bucket_tls_only(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """S3 answers plain HTTP unless the bucket policy refuses it."""

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
    "Versioned buckets let old versions go",
    types=BUCKETS,
    severity="low",
    references=[fsbp("S3.13"), fsbp("S3.10")],
    steps="add a lifecycle configuration that expires noncurrent versions and aborts broken uploads",
    url=controls_page("s3"),
)
def versioned_bucket_lifecycle(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without it every version is kept, and paid for, for ever."""

    def check(bucket: Planned) -> Iterator[Violation]:
        versionings = _beside(stack, bucket, *sorted(BUCKET_VERSIONINGS))
        states = [found["versioningConfiguration"]["status"] for found in versionings]
        own = bucket["versioning"].first()["enabled"]
        if any(state.text == "Enabled" for state in states) or own.flag:
            rules = bucket["lifecycleRules"].items() or _beside(stack, bucket, *sorted(BUCKET_LIFECYCLES))
            if not rules:
                yield Violation("the bucket keeps every version of every object for ever", bucket.urn)

    yield from every(stack.of(*sorted(BUCKETS)), check)


@stack_rule(
    "bucket-access-logs",
    "Buckets log who asks for what",
    types=BUCKETS,
    severity="low",
    references=[fsbp("S3.9")],
    steps="add an aws.s3.BucketLogging with a bucket of its own, or data events of CloudTrail and disable this rule",
    url=controls_page("s3"),
    options=WHEN_OPTIONS,
)
def bucket_access_logs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """In production, unless the configuration says always; the target of logs is not asked."""
    loggings = stack.of(*sorted(BUCKET_LOGGINGS))
    targets = {source.urn for log in loggings for source in stack.sources(log, "targetBucket", *BUCKETS)}

    def check(bucket: Planned) -> Iterator[Violation]:
        if not applies(bucket, settings) or bucket.urn in targets:
            return
        if bucket["logging"].first().known() is None and not _beside(stack, bucket, *sorted(BUCKET_LOGGINGS)):
            yield Violation("nobody can tell afterwards who read or changed the bucket's objects", bucket.urn)

    yield from every(stack.of(*sorted(BUCKETS)), check)


@resource_rule(
    "no-force-destroy",
    "What holds data is not emptied on deletion",
    types=[*BUCKETS, ECR_REPOSITORY],
    references=[fsbp("S3.14")],
    steps="set force_destroy, or force_delete, to false",
    url="https://docs.aws.amazon.com/AmazonS3/latest/userguide/delete-bucket.html",
    options=WHEN_OPTIONS,
)
def no_force_destroy(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always."""
    name = "forceDelete" if resource.type == ECR_REPOSITORY else "forceDestroy"
    if applies(resource, settings) and resource[name].flag:
        yield f"{name} deletes everything inside together with the resource"


@resource_rule(
    "object-without-secrets",
    "Objects that the program writes hold no private key",
    types=BUCKET_OBJECTS,
    severity="critical",
    level="mandatory",
    steps="keep keys and admin kubeconfigs in Secrets Manager, or name a key of KMS in kms_key_id that only their "
    "reader may use; give machines a kubeconfig that asks for a token",
    url="https://kubernetes.io/docs/setup/best-practices/certificates/",
)
def object_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Whoever reads the bucket would administer the cluster.

    What is computed is judged when it is known: most objects are, and a word about each in every preview is noise.
    """
    content = resource["content"].settled
    if not isinstance(content, str) or resource["kmsKeyId"].given:
        return
    if holds_client_key(content):
        yield "the object holds a private key: whoever may read the bucket has it"


@resource_rule(
    "file-system-encrypted",
    "File systems are encrypted",
    types=[EFS_FILE_SYSTEM],
    severity="high",
    references=[fsbp("EFS.1"), cis_aws("2.4.1")],
    steps="set encrypted to true; it cannot be changed later",
    url=controls_page("efs"),
)
def file_system_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """FSx encrypts always; EFS only if told."""
    if not resource["encrypted"].flag:
        yield "the file system is not encrypted, which cannot be changed later"


@resource_rule(
    "fsx-windows-zones",
    "File servers for Windows stand in two zones",
    types=[FSX_WINDOWS],
    references=[fsbp("FSx.5")],
    steps='set deployment_type to "MULTI_AZ_1" with two subnets',
    url=controls_page("fsx"),
    options=WHEN_OPTIONS,
)
def fsx_windows_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always."""
    if applies(resource, settings) and (resource["deploymentType"].text or "SINGLE_AZ_1") != "MULTI_AZ_1":
        yield "the file server stands in one zone; Windows pods in others lose their files with it"


@resource_rule(
    "registry-scans",
    "Images are scanned when they are pushed",
    types=[ECR_REPOSITORY],
    references=[fsbp("ECR.1"), cis_eks("5.1.1")],
    steps="set image_scanning_configuration.scan_on_push to true; only enhanced scanning knows Windows images",
    url=controls_page("ecr"),
)
def registry_scans(resource: Planned, settings: Settings) -> Iterator[str]:
    """Registry-wide scanning is set elsewhere; disable the rule then."""
    if not resource["imageScanningConfiguration"]["scanOnPush"].flag:
        yield "images are not scanned when they are pushed"


@resource_rule(
    "registry-immutable-tags",
    "A tag of an image always means the same image",
    types=[ECR_REPOSITORY],
    references=[fsbp("ECR.2")],
    steps='set image_tag_mutability to "IMMUTABLE"',
    url=controls_page("ecr"),
)
def registry_immutable_tags(resource: Planned, settings: Settings) -> Iterator[str]:
    """With exclusions counts as well: somebody thought about it."""
    if not str(resource["imageTagMutability"].text or "MUTABLE").startswith("IMMUTABLE"):
        yield "tags can be moved to other images"


@stack_rule(
    "registry-lifecycle",
    "Registries let old images go",
    types=[ECR_REPOSITORY],
    severity="low",
    references=[fsbp("ECR.3")],
    steps="add an aws.ecr.LifecyclePolicy; Windows images are several GB each",
    url=controls_page("ecr"),
)
def registry_lifecycle(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """By where the policy's repository comes from, or by name."""
    kept: set[str] = set()
    unclear = ""
    for policy in stack.of(ECR_LIFECYCLE):
        sources = stack.sources(policy, "repository", ECR_REPOSITORY)
        kept |= {source.urn for source in sources}
        kept |= {found.urn for found in stack.of(ECR_REPOSITORY)
                 if found["name"].settled and found["name"].raw == policy["repository"].raw}  # fmt: skip
        if not sources and policy["repository"].unknown:
            unclear = f"{policy.name}.repository"
    missing = [found for found in stack.of(ECR_REPOSITORY) if found.urn not in kept]
    if missing and unclear:
        raise Undecided(unclear)
    for repository in missing:
        yield Violation("images are kept for ever", repository.urn)


@resource_rule(
    "log-retention",
    "Log groups keep their events for a while, and not for ever",
    types=[LOG_GROUP],
    severity="low",
    references=[cis_eks("2.1.2"), fsbp("CloudWatch.16")],
    steps="set retention_in_days to 90 or more",
    url="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/Working-with-log-groups-and-streams.html",
    options={
        "minimumDays": Option(
            90, "days that logs of control planes are kept at least; CloudWatch.16 asks for 365",
            {"type": "integer", "minimum": 1},
        ),
    },
)  # fmt: skip
def log_retention(resource: Planned, settings: Settings) -> Iterator[str]:
    """How short is only judged of control planes, whose audit log is evidence."""
    days = resource["retentionInDays"].number
    if not days:
        if resource["logGroupClass"].settled != "DELIVERY":
            yield "the log group keeps its events for ever"
        return
    name = resource["name"].settled
    audit = isinstance(name, str) and name.startswith("/aws/eks/") and name.endswith("/cluster")
    if audit and days < settings["minimumDays"]:
        yield f"the control plane's logs are kept for {days} days only, less than {settings['minimumDays']}"


RULES = (
    bucket_blocks_public_access,
    bucket_no_public_write,
    bucket_no_public_read,
    bucket_without_acls,
    bucket_tls_only,
    versioned_bucket_lifecycle,
    bucket_access_logs,
    no_force_destroy,
    object_without_secrets,
    file_system_encrypted,
    fsx_windows_zones,
    registry_scans,
    registry_immutable_tags,
    registry_lifecycle,
    log_retention,
)
