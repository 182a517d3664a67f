"""What is wrong with the wish for a state bucket. Pure."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import AddressValueError, IPv4Address
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule
from ..core.names import physical_name
from ..core.tags import check_tags

NAMING = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
BUCKET_NAME = Rule(
    "WK-BKT-001", "A bucket name has 3 to 63 lower-case letters, digits and hyphens, and is not an IP address.", NAMING
)
BUCKET_NAME_RESERVED = Rule("WK-BKT-002", "AWS reserves some prefixes and suffixes of bucket names.", NAMING)
BUCKET_NAME_DOTS = Rule(
    "WK-BKT-003", "A bucket name must not contain dots, which break the certificate check of S3.", NAMING
)
NONCURRENT_DAYS = Rule(
    "WK-BKT-004",
    "Noncurrent versions must be kept for at least one day.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html",
)
PRINCIPAL_ARN = Rule(
    "WK-BKT-005",
    "A principal of the bucket is the ARN of a role, a user or an account.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
)
KEY_ARN = Rule(
    "WK-BKT-006",
    "A KMS key is given by its ARN.",
    "https://docs.aws.amazon.com/kms/latest/developerguide/concepts-key-id.html",
)
LOCKED_OUT = Rule("WK-BKT-007", "Readers and writers must be among the allowed principals.")

LONGEST_NAME = 63
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_BEGINNINGS = ("xn--", "sthree-", "amzn-s3-demo-")
_ENDS = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:(iam|sts)::\d{12}:(root|(role|user|assumed-role|federated-user)/[^*?\s]+)")
_PATTERN = re.compile(r"arn:aws[a-z-]*:(iam|sts)::\d{12}:(root|(role|user|assumed-role|federated-user)/\S+)")
_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+")


class StateBucketLike(Protocol):
    """What a state bucket is judged by; computed values are left alone."""

    @property
    def bucket_name(self) -> str | None: ...  # noqa: D102
    @property
    def allow_dots(self) -> bool: ...  # noqa: D102
    @property
    def noncurrent_days(self) -> int: ...  # noqa: D102
    @property
    def kms_key_arn(self) -> Any: ...  # noqa: D102
    @property
    def reader_principals(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def writer_principals(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def allowed_principals(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


def suggested_name(domain: str) -> str:
    """A name for the bucket of a team whose clusters are named below ``domain``.

    >>> suggested_name("dev.example.com")
    'clusters-dev-example-com'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", domain.lower()).strip("-")
    return physical_name("clusters", plain, limit=LONGEST_NAME)


def check_state_bucket(bucket: StateBucketLike) -> Mistakes:
    """Everything that is wrong with the wish for a state bucket (``WK-BKT-001`` to ``WK-BKT-007``, ``WK-TAG``)."""
    found = Mistakes()
    if bucket.bucket_name is not None:
        found.take(check_bucket_name(bucket.bucket_name, allow_dots=bucket.allow_dots))
    if bucket.noncurrent_days < 1:
        found.add(NONCURRENT_DAYS, ("noncurrent_days",), "noncurrent versions must be kept for at least 1 day",
                  "set noncurrent_days to 1 or more, such as 90", bucket.noncurrent_days)  # fmt: skip
    if isinstance(bucket.kms_key_arn, str) and not _KEY.fullmatch(bucket.kms_key_arn):
        found.add(KEY_ARN, ("kms_key_arn",), "is not the ARN of a key",
                  'write it as "arn:aws:kms:<region>:<account>:key/<id>", or leave it out to create a key',
                  bucket.kms_key_arn)  # fmt: skip
    for field, principals in (("reader_principals", bucket.reader_principals),
                              ("writer_principals", bucket.writer_principals)):  # fmt: skip
        _check_principals(field, principals, _PRINCIPAL, found)
    _check_principals("allowed_principals", bucket.allowed_principals, _PATTERN, found)
    _check_locked_out(bucket, found)
    found.take(check_tags(bucket.tags))
    return found


def check_bucket_name(name: str, path: Path = ("bucket_name",), *, allow_dots: bool = False) -> Mistakes:
    """Whether S3 takes the name, and whether its host name is covered by S3's certificate (``WK-BKT-001`` to ``-003``).

    :param allow_dots: accept dots. Clients must then address the bucket by path, which the AWS SDKs do by themselves.
    """
    found = Mistakes()
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    remedy = f'write "{plain[:LONGEST_NAME].rstrip("-")}"' if len(plain) >= 3 else 'write it as "clusters-example-com"'
    if not _NAME.fullmatch(name) or ".." in name or _is_address(name):
        message = "has 3 to 63 lower-case letters, digits and inner hyphens, and is not an IP address"
        found.add(BUCKET_NAME, path, f"a bucket name {message} (this one has {len(name)} characters)", remedy, name)
        return found
    for affix in (*filter(name.startswith, _BEGINNINGS), *filter(name.endswith, _ENDS)):
        place = "begin" if affix in _BEGINNINGS else "end"
        found.add(BUCKET_NAME_RESERVED, path, f'names that {place} with "{affix}" are reserved for AWS',
                  "choose another name", name)  # fmt: skip
    if "." in name and not allow_dots:
        found.add(BUCKET_NAME_DOTS, path, "has dots, so its host name does not match the S3 certificate",
                  f"{remedy}, or set allow_dots to true", name)  # fmt: skip
    return found


def _is_address(name: str) -> bool:
    try:
        IPv4Address(name)
    except AddressValueError:
        return False
    return True


def _check_principals(field: str, principals: Sequence[Any], form: re.Pattern[str], found: Mistakes) -> None:
    for index, principal in enumerate(principals):
        if isinstance(principal, str) and not form.fullmatch(principal):
            found.add(PRINCIPAL_ARN, (field, index), "is not the ARN of a role, a user or an account",
                      'write it as "arn:aws:iam::<account>:role/<name>"', principal)  # fmt: skip


def _check_locked_out(bucket: StateBucketLike, found: Mistakes) -> None:
    if not bucket.allowed_principals:
        return
    for field, principals in (("reader_principals", bucket.reader_principals),
                              ("writer_principals", bucket.writer_principals)):  # fmt: skip
        for index, principal in enumerate(principals):
            if isinstance(principal, str) and not any(_like(principal, form) for form in bucket.allowed_principals):
                found.add(LOCKED_OUT, (field, index), "is not in allowed_principals, which denies access to all others",
                          "add it to allowed_principals", principal)  # fmt: skip


def _like(principal: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), principal) is not None
