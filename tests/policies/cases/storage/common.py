"""What several of these cases are made of."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import BUCKET_POLICY

from ..base import allow, planned, urn

BUCKET = "aws:s3/bucket:Bucket"
OF_BUCKET = {"bucket": urn(BUCKET, "b")}
TLS = {
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": "*",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
PUBLIC_READ = allow("s3:GetObject", Principal="*")


def bucket(**props: Any) -> Any:
    return planned(BUCKET, props, "b")


def bucket_policy(text: Any) -> Any:
    return planned(BUCKET_POLICY, {"bucket": UNKNOWN, "policy": text}, **OF_BUCKET)
