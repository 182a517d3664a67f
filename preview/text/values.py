"""Shows decoded values and property paths as JSON data and text."""

import json
import re
from collections.abc import Iterable
from typing import Any

from ..model import UNKNOWN, Reference, Secret

UNKNOWN_MARK, SECRET_MARK = "[unknown]", "[secret]"
"""Marks of a value that is not known before the deployment, and of a secret."""
_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    + "]"
)
"""Control, direction and invisible characters, and what XML forbids. Joiners stay: scripts need them."""


def to_json_value(value: Any) -> Any:
    """A decoded value as JSON data: secrets and unknown values become marks, whole numbers become integers."""
    if value is UNKNOWN:
        return UNKNOWN_MARK
    if isinstance(value, Secret):
        return SECRET_MARK
    if isinstance(value, Reference):
        return value.urn
    if isinstance(value, dict):
        return {key: to_json_value(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [to_json_value(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def visible(text: str, keep: str = "") -> str:
    r"""A text with every control, direction or invisible character spelled out.

    :param keep: characters that stay as they are, such as a line feed.

    >>> visible("a\x1bb"), visible("a\nb", keep="\n"), visible("\u202ecod.exe")
    ('a⟨U+001B⟩b', 'a\nb', '⟨U+202E⟩cod.exe')
    """
    if text.isprintable():  # the usual case, and the cheaper question
        return text
    return _STEERING.sub(lambda found: found[0] if found[0] in keep else f"⟨U+{ord(found[0]):04X}⟩", text)


def camel_case(name: str) -> str:
    """A Python name as providers and documents spell it.

    >>> camel_case("delete_before_replace")
    'deleteBeforeReplace'
    """
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def brief(value: Any, limit: int = 100) -> str:
    """JSON data on one line, shortened to ``limit`` characters."""
    marked = value in (SECRET_MARK, UNKNOWN_MARK) if isinstance(value, str) else False
    text = value if marked else json.dumps(value, ensure_ascii=False)
    return cut(visible(text), limit)


def property_path(path: Iterable[str | int]) -> str:
    """The path of a property in the spelling of the provider.

    >>> property_path(("taints", 0, "effect"))
    'taints[0].effect'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
