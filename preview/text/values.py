"""Decoded values as text and JSON can show them."""

import json
import re
from collections.abc import Iterable
from typing import Any

from ..model import UNKNOWN, Reference, Secret

UNKNOWN_MARK, SECRET_MARK = "[unknown]", "[secret]"
"""What stands for a value that is not known before the deployment, and for one that is never shown."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def plain(value: Any) -> Any:
    """A decoded value as JSON can say it; secrets and unknowns become marks, whole numbers lose their ``.0``."""
    if value is UNKNOWN:
        return UNKNOWN_MARK
    if isinstance(value, Secret):
        return SECRET_MARK
    if isinstance(value, Reference):
        return value.urn
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def visible(text: str) -> str:
    """A text with its control and direction characters spelled out, so that it is what it looks like.

    >>> visible("a\\u202eb\\n")
    'a\\\\u202eb\\\\u000a'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def brief(value: Any, limit: int = 100) -> str:
    """A value that JSON can say on one line, cut where it is long."""
    marked = value in (SECRET_MARK, UNKNOWN_MARK) if isinstance(value, str) else False
    text = value if marked else json.dumps(value, ensure_ascii=False)
    return cut(visible(text), limit)


def path_text(path: Iterable[str | int]) -> str:
    """A property's path in the provider's spelling.

    >>> path_text(("taints", 0, "effect"))
    'taints[0].effect'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
