"""User data of Windows nodes: an EC2Launch v2 task whose loader fetches boot code and document, each by its digest.

The YAML form, because only there a script is not detached and exit code 3010 means "restart, then run me again". It
runs at every start: an instance that comes out of a warm pool, or was stopped, goes through the same steps.
Source: EC2 user guide, "Task definitions for EC2Launch v2 startup tasks" (executeScript).
"""

import base64
import json
from dataclasses import dataclass

from ..core.mistakes import Mistakes, Path, Rule
from ..ec2.proxy import Proxy, powershell_quoted
from .bundle import LOADER, script

USER_DATA_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2-task-definitions.html"
USER_DATA_SIZE = Rule(
    "WK-WIN-001",
    "User data of a Windows node can have at most 4096 bytes; code and data are in the bucket.",
    USER_DATA_PAGE,
)

USER_DATA_LIMIT = 4096
_HEAD = """\
version: 1.1
tasks:
- task: executeScript
  inputs:
  - frequency: always
    type: powershell
    runAs: localSystem
    detach: false
    content: |-
"""
_INDENT = " " * 6


@dataclass(frozen=True, kw_only=True)
class BootSource:
    """Where a node finds its boot code and its document."""

    region: str
    """The region of the bucket."""
    bucket: str
    bundle_key: str
    """Key of the bundle, such as ``clusterconfigs/prod/boot/<sha256>``."""
    bundle_sha256: str
    document_key: str
    """Key of the node document, such as ``clusterconfigs/prod/nodes/web/<sha256>.json``."""
    document_sha256: str


def windows_user_data(source: BootSource, proxy: Proxy | None = None) -> str:
    """User data as plain text: one line of data in front of the loader, which is a file as it stands.

    It holds no secret: whatever reaches the metadata service can read it.
    """
    data = {
        "region": source.region,
        "bucket": source.bucket,
        "bundleKey": source.bundle_key,
        "bundleSha256": source.bundle_sha256,
        "documentKey": source.document_key,
        "documentSha256": source.document_sha256,
        "proxy": proxy.https if proxy else None,
    }
    text = json.dumps(data, separators=(",", ":"), sort_keys=True)
    lines = [f"$Boot = {powershell_quoted(text)}", *script(LOADER).splitlines()]
    return _HEAD + "".join(f"{_INDENT}{line}".rstrip() + "\n" for line in lines)


def encoded(text: str) -> str:
    """User data as a launch template takes it.

    :raises ValueError: when it is too long, which ``check_user_data`` says in better words beforehand.
    """
    data = text.encode()
    if len(data) > USER_DATA_LIMIT:
        raise ValueError(f"user data has {len(data)} bytes, and {USER_DATA_LIMIT} are the limit")
    return base64.b64encode(data).decode()


def check_user_data(text: str, path: Path = ("user_data",)) -> Mistakes:
    """Whether user data keeps to its limit (``WK-WIN-001``): names of bucket, cluster and group count."""
    found = Mistakes()
    size = len(text.encode())
    if size > USER_DATA_LIMIT:
        found.add(USER_DATA_SIZE, path, f"user data can have at most {USER_DATA_LIMIT} bytes", f"shorten the names of "
                  f"bucket, cluster or group by {size - USER_DATA_LIMIT} characters", size)  # fmt: skip
    return found
