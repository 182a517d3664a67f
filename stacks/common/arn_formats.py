"""What exists already is named by its ARN or id: the forms of these, as far as a stack file can be judged by them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from winkube.core.mistakes import Mistake, Path, Rule
from winkube.tables.regions import REGIONS

FORM = Rule(
    "WK-SET-008",
    "What exists already is named by its ARN or id, an ARN in the partition and the region of the stack.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html",
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a kind of resource is named."""

    what: str
    """The kind in words."""
    service: str
    """The service in its ARN; empty for what has an id instead."""
    resource: str
    """The pattern of the last part, or of the id."""
    example: str
    """The last part or the id as a person would write it."""
    regional: bool = True
    """Whether its region must be the stack's."""


KEY = Form("a KMS key", "kms", r"key/[A-Za-z0-9-]+", "key/<id>")
QUEUE = Form("an SQS queue", "sqs", r"[\w-]{1,80}(\.fifo)?", "<name>")
ROLE = Form("an IAM role", "iam", r"role/[\x21-\x7e]+", "role/<name>", regional=False)
SECURITY_GROUP = Form("a security group", "", r"sg-([0-9a-f]{8}|[0-9a-f]{17})", "sg-0123456789abcdef0")


def check_form(form: Form, text: str | None, region: str, path: Path) -> Iterable[Mistake]:
    """Whether a text names a resource of this kind (``WK-SET-008``). A region that is no region is not compared."""
    if text is None:
        return
    known = REGIONS.get(region)
    if not form.service:
        pattern, shape, what = form.resource, form.example, f"the id of {form.what}"
    else:
        partition, place = (known.partition, region) if known else ("aws[a-z-]*", "[a-z0-9-]+")
        place = place if form.regional else ""
        pattern = rf"arn:{partition}:{form.service}:{place}:\d{{12}}:{form.resource}"
        where = (region if known else "<region>") if form.regional else ""
        shape = f"arn:{known.partition if known else 'aws'}:{form.service}:{where}:<account>:{form.example}"
        what = f"the ARN of {form.what}" + (f" in {region}" if form.regional and known else "")
    if not re.fullmatch(pattern, text):
        yield Mistake(path, FORM, f"is not {what}", f'write it as "{shape}"', text)


def check_forms(given: Mapping[Path, tuple[Form, str | None]], region: str) -> Iterable[Mistake]:
    """The same for several places."""
    for path, (form, text) in given.items():
        yield from check_form(form, text, region, path)
