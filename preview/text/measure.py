"""How wide a text is in a drawing, and how to shorten or wrap one that is too wide.

A drawing cannot measure a font, so the widths are the greatest of DejaVu Sans, Liberation Sans (as wide as
Arial and Helvetica) and what browsers take for ``sans-serif``, measured in Chromium 156 on Debian 12. A text in a
narrower font is then shorter than calculated, never longer.
"""

import unicodedata
from collections.abc import Iterable

_CLASSES = {
    0.30: "'ijl",
    0.35: " ,./:;I\\|",
    0.40: "!()-[]ft",
    0.45: "r",
    0.50: '"*J`',
    0.55: "csz",
    0.60: "?_kvxy–·",
    0.65: "$0123456789FLTabdeghnopqu{}",
    0.70: "BEPSZ",
    0.75: "ACKNRUVXY",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~×",
    0.90: "M",
    0.95: "%",
    1.05: "Wm@…",
}
_WIDTHS = {character: width for width, characters in _CLASSES.items() for character in characters}
_BOLD = 1.15
_WIDE, _PICTURE, _OTHER = 1.05, 1.35, 0.95
ELLIPSIS = "…"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The greatest width of a text, in the unit of ``size``, the font size."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def _em(character: str) -> float:
    found = _WIDTHS.get(character)
    if found is not None:
        return found
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if ord(character) >= 0x1F000:
        return _PICTURE
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER


def shortened(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """The text if it fits; otherwise as much of it as fits, and an ellipsis.

    >>> shortened("net-private-eu-central-1a", 100, 12)
    'net-private-e…'
    """
    if len(text) * 0.3 * size <= room and width(text, size, bold=bold) <= room:
        return text
    factor = size * (_BOLD if bold else 1)
    left = room - _em(ELLIPSIS) * factor
    kept: list[str] = []
    for character in text:
        left -= _em(character) * factor
        if left < 0:
            break
        kept.append(character)
    while kept and (kept[-1] in " ·,-\u200d" or unicodedata.category(kept[-1]) in ("Mn", "Me")):
        kept.pop()
    return "".join(kept) + ELLIPSIS


def wrapped(parts: Iterable[str], room: float, size: float, lines: int, joint: str = " · ") -> list[str]:
    """Parts in at most ``lines`` lines, broken between parts only. Text that does not fit ends in an ellipsis.

    >>> wrapped(["m6i.large", "1–3 nodes", "on demand"], 140, 11, 2)
    ['m6i.large · 1–3 nodes', 'on demand']
    """
    found: list[str] = []
    for part in parts:
        longer = f"{found[-1]}{joint}{part}" if found else part
        if found and (len(found) == lines or width(longer, size) <= room):
            found[-1] = longer
        else:
            found.append(part)
    return [shortened(line, room, size) for line in found]
