"""The log: JSON lines on standard output, which journald keeps. No secret can be written by it.

Every text that leaves the agent (log, status, state) goes through :func:`mask`: values that were registered as secrets,
and everything that looks like a join token, a certificate key or a private key, are replaced.
"""

import json
import re
import sys
import time
from typing import Any

MASK = "[secret]"
_PATTERNS = (
    re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"),  # a bootstrap token
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"(?<=--certificate-key )[0-9a-f]{64}"),
    re.compile(r"(?<=certificateKey: )\S+"),
)
_secrets: set[str] = set()


def register(secret: str) -> str:
    """Never write this value from now on; a token's two halves are secrets of their own.

    :returns: the value.
    """
    for part in (secret, *secret.split(".")[1:]):
        if len(part) >= 8:
            _secrets.add(part)
    return secret


def mask(text: str) -> str:
    """The text without any secret."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    for pattern in _PATTERNS:
        text = pattern.sub(MASK, text)
    return text


def masked(value: Any) -> Any:
    """The same for everything inside a value that becomes JSON."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(str(key)): masked(part) for key, part in value.items()}  # pyright: ignore
    if isinstance(value, (list, tuple)):
        return [masked(part) for part in value]  # pyright: ignore
    return value


def now_text(seconds: "float | None" = None) -> str:
    """A time as people and machines read it, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def log(event: str, **fields: Any) -> None:
    """Write one line."""
    line = json.dumps({"time": now_text(), "event": event, **masked(fields)}, default=str, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
