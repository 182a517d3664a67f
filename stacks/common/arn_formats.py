"""The formats of the ARNs and ids by which a stack file names resources that exist already, and their check."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from winkube.core.mistakes import Mistake, Path, Rule
from winkube.tables.regions import REGIONS

ARN_FORMAT = Rule(
    "WK-SET-008",
    "An existing resource is named by its ARN or id. An ARN has the partition and the region of the stack.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html",
)


@dataclass(frozen=True, slots=True)
class ArnFormat:
    """The format of the ARN, or of the id, of one kind of resource."""

    what: str
    """The kind in words."""
    service: str
    """The service in its ARN; empty for a kind that is named by an id."""
    resource: str
    """The pattern of the last part, or of the id."""
    example: str
    """The last part, or the id, as in an error message."""
    regional: bool = True
    """Whether its region must be the region of the stack."""


KEY = ArnFormat("a KMS key", "kms", r"key/[A-Za-z0-9-]+", "key/<id>")
QUEUE = ArnFormat("an SQS queue", "sqs", r"[\w-]{1,80}(\.fifo)?", "<name>")
ROLE = ArnFormat("an IAM role", "iam", r"role/[\x21-\x7e]+", "role/<name>", regional=False)
SECURITY_GROUP = ArnFormat("a security group", "", r"sg-([0-9a-f]{8}|[0-9a-f]{17})", "sg-0123456789abcdef0")


def check_arn_format(arn_format: ArnFormat, text: str | None, region: str, path: Path) -> Iterable[Mistake]:
    """Whether a text has the format of its kind (``WK-SET-008``). The region is not compared when it is unknown."""
    if text is None:
        return
    known = REGIONS.get(region)
    if not arn_format.service:
        pattern, expected, what = arn_format.resource, arn_format.example, f"the id of {arn_format.what}"
    else:
        partition, location = (known.partition, region) if known else ("aws[a-z-]*", "[a-z0-9-]+")
        location = location if arn_format.regional else ""
        pattern = rf"arn:{partition}:{arn_format.service}:{location}:\d{{12}}:{arn_format.resource}"
        where = (region if known else "<region>") if arn_format.regional else ""
        expected = (
            f"arn:{known.partition if known else 'aws'}:{arn_format.service}:{where}:<account>:{arn_format.example}"
        )
        what = f"the ARN of {arn_format.what}" + (f" in {region}" if arn_format.regional and known else "")
    if not re.fullmatch(pattern, text):
        yield Mistake(path, ARN_FORMAT, f"is not {what}", f'write it as "{expected}"', text)


def check_arn_formats(given: Mapping[Path, tuple[ArnFormat, str | None]], region: str) -> Iterable[Mistake]:
    """Check several settings, each by its path."""
    for path, (arn_format, text) in given.items():
        yield from check_arn_format(arn_format, text, region, path)
