"""Markdown that stays what it was meant to be: nothing leaves its span, its fence, its cell or its line."""

import re
from collections.abc import Iterable

from .values import visible


def escape(text: str) -> str:
    """Text that Markdown leaves alone, and that calls nobody by name.

    >>> escape("<b> @all #1 `x`")
    '&#60;b&#62; &#64;all &#35;1 &#96;x&#96;'
    """
    return re.sub(r"[\\`*_\[\]<>&|@#~!{}()]", lambda found: f"&#{ord(found[0])};", visible(text))


def code(text: str) -> str:
    """Text as a code span that it cannot leave."""
    text = visible(text)
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(lines: Iterable[str], language: str = "diff") -> list[str]:
    """Lines in a fence that they cannot leave."""
    shown = [visible(line) for line in lines]
    ticks = "`" * max(3, max((len(run) for line in shown for run in re.findall("`+", line)), default=0) + 1)
    return [f"{ticks}{language}", *shown, ticks]
