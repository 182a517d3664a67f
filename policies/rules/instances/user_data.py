"""User data: no secrets, and nothing that is downloaded and not verified."""

import re
from collections.abc import Iterator

from ...frameworks import BEST_PRACTICES, best_practices
from ...model import Planned, Settings, resource_rule
from ...resource_types import LAUNCHED
from ...secret_patterns import SECRETS
from ...user_data import known_user_data

_DOWNLOAD = re.compile(
    r"(?i)(?:\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|Start-BitsTransfer)\b|\.DownloadFile\(|"
    r"\.DownloadString\()[^\n]*?https?://(?!169\.254\.|localhost|127\.)"
)
_VERIFIED = re.compile(r"(?i)Get-FileHash|sha(?:256|512)sum|Get-AuthenticodeSignature|gpg\s+--verify|cosign\s+verify")


@resource_rule(
    "user-data-without-secrets",
    "User data holds no secret",
    types=LAUNCHED,
    severity="critical",
    level="mandatory",
    references=[best_practices("Identity and access management")],
    steps="keep the secret in Secrets Manager or a SecureString parameter, and read it with the instance's role",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html",
    late=True,
)
def user_data_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everyone who may describe the instance, and every process on it, can read user data."""
    text = known_user_data(resource)
    for what, pattern in SECRETS.items():
        if text and pattern.search(text):
            yield f"user data holds {what}; everyone who may describe the instance can read it"


@resource_rule(
    "user-data-downloads-verified",
    "User data verifies what it downloads",
    types=LAUNCHED,
    references=[best_practices("Windows hardening")],
    steps="compare the file's hash (Get-FileHash, sha256sum) with a known one, or build the file into the image",
    url=f"{BEST_PRACTICES}/windows-hardening.html",
    late=True,
)
def user_data_downloads_verified(resource: Planned, settings: Settings) -> Iterator[str]:
    """What is downloaded at boot runs as administrator on every node."""
    text = known_user_data(resource)
    if text and _DOWNLOAD.search(text) and not _VERIFIED.search(text):
        yield "user data downloads files from the internet and does not verify them"
