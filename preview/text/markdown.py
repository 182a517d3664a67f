"""Escapes text for Markdown: no text can break out of its code span, fence, table cell or line."""

import re
from collections.abc import Iterable

from .values import visible


def escape(text: str) -> str:
    """Text that Markdown shows as it is, and that mentions no user.

    >>> escape("<b> @all #1 `x`")
    '&#60;b&#62; &#64;all &#35;1 &#96;x&#96;'
    """
    return re.sub(r"[\\`*_\[\]<>&|@#~!{}()]", lambda found: f"&#{ord(found[0])};", visible(text))


def code(text: str) -> str:
    """Text as a code span."""
    text = visible(text)
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(lines: Iterable[str], language: str = "diff") -> list[str]:
    """Lines in a fenced code block."""
    shown = [visible(line) for line in lines]
    ticks = "`" * max(3, max((len(run) for line in shown for run in re.findall("`+", line)), default=0) + 1)
    return [f"{ticks}{language}", *shown, ticks]
