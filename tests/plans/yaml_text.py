"""Data as YAML that is read in a diff: one line for what fits, operators of long expressions below each other.

Written by hand for two reasons: what fits into a line stands on one line, and it takes a tenth of PyYAML's time.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

WIDTH = 120


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value with a word on what it is."""

    tag: str
    value: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A value that may have a file of its own."""

    name: str
    """What its file would be called."""
    value: Any
    always: bool = False
    """Whether it has one, however short it is and though it is carried once."""


PathOf = Callable[[Piece], str | None]
"""The file of a piece, nothing for one that stands where it is carried."""
_NOT_PLAIN = re.compile(r"[-+]?[.\d][-+\w.:]*|true|false|null|yes|no|on|off|y|n|", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_/<$.(\\+](?:[\w ./\\@%+=;<>()$~*'\"|!?&^…–-]|,(?! )|:(?! |$))*")
_SIMPLE = re.compile(r"[\n\t -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")
_OPERATOR = re.compile(r" (?=(?:&&|\|\||\?|:) )")


def written(value: Any, path_of: PathOf = lambda _: None) -> str:
    """A value as a YAML document."""
    return "\n".join(_block(value, "", path_of)) + "\n"


def _block(value: Any, space: str, path_of: PathOf) -> Iterator[str]:
    """A value on lines of its own."""
    if isinstance(value, Tagged) and isinstance(value.value, dict | list):
        yield space + value.tag
        yield from _block(value.value, space, path_of)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _entry(f"{space}{_scalar(key)}:", inner, space + "  ", path_of)
    elif isinstance(value, list):
        for inner in value:
            yield from _item(inner, space, path_of)
    else:
        yield from _entry(space, value, space, path_of)


def _item(value: Any, space: str, path_of: PathOf) -> Iterator[str]:
    if isinstance(value, dict) and value and _flow(value, WIDTH - len(space) - 2, path_of) is None:
        first, *rest = _block(value, space + "  ", path_of)
        yield f"{space}- {first.strip()}"
        yield from rest
    else:
        yield from _entry(f"{space}-", value, space + "  ", path_of)


def _entry(head: str, value: Any, below: str, path_of: PathOf) -> Iterator[str]:
    """A value behind its key: on the same line, or on lines below."""
    while isinstance(value, Piece | Tagged):
        if isinstance(value, Piece) and (path := path_of(value)):
            yield f"{head} !file {path}"
            return
        if isinstance(value, Tagged):
            head = f"{head} {value.tag}"
            if value.value is None:
                yield head
                return
        value = value.value
    if isinstance(value, str):
        yield from _text(head, value, below)
    elif (line := _flow(value, WIDTH - len(head) - 1, path_of)) is not None:
        yield f"{head} {line}"
    else:
        yield head
        yield from _block(value, below, path_of)


def _text(head: str, text: str, below: str) -> Iterator[str]:
    """A text: of several lines as a block, with operators folded before them, else on one line."""
    if "\n" in text and _SIMPLE.fullmatch(text) and text[0] not in " \n\t":
        ends = len(text) - len(text.rstrip("\n"))
        yield f"{head} |{('-', '')[ends] if ends < 2 else '+'}"
        yield from (below + line if line else "" for line in text.removesuffix("\n").split("\n"))
        return
    line = f"{head} {_scalar(text)}"
    parts = _OPERATOR.split(text)
    if len(line) > WIDTH and len(parts) > 1 and not re.search(r"[^ -~]|^ |  | $", text):
        yield f"{head} >-"
        yield from (below + part for part in parts)
    else:
        yield line


def _flow(value: Any, limit: int, path_of: PathOf) -> str | None:
    """A value on one line, nothing where it does not fit."""
    if limit <= 0:
        return None
    if isinstance(value, Piece):
        path = path_of(value)
        return f"!file {path}" if path else _flow(value.value, limit, path_of)
    if isinstance(value, Tagged):
        if value.value is None:
            return value.tag
        inner = _flow(value.value, limit - len(value.tag) - 1, path_of)
        return None if inner is None else f"{value.tag} {inner}"
    if isinstance(value, dict | list):
        return _flow_of_many(value, limit, path_of)
    if isinstance(value, str) and "\n" in value:
        return None
    text = _scalar(value, flow=True)
    return text if len(text) <= limit else None


def _flow_of_many(value: Mapping[str, Any] | list[Any], limit: int, path_of: PathOf) -> str | None:
    parts: list[str] = []
    left = limit - 2
    for key, inner in value.items() if isinstance(value, Mapping) else ((None, inner) for inner in value):
        head = "" if key is None else f"{_scalar(key, flow=True)}: "
        text = _flow(inner, left - len(head), path_of)
        if text is None:
            return None
        parts.append(head + text)
        left -= len(parts[-1]) + 2
    if left < -2:
        return None
    return f"{{{', '.join(parts)}}}" if isinstance(value, Mapping) else f"[{', '.join(parts)}]"


@lru_cache(1 << 16, typed=True)
def _scalar(value: Any, *, flow: bool = False) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    quoted = not _PLAIN.fullmatch(value) or _NOT_PLAIN.fullmatch(value) or value.endswith(" ")
    return json.dumps(value, ensure_ascii=False) if quoted or (flow and "," in value) else value
