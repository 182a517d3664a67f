"""Removes secrets from all output.

A secret value is shown as a mark. The same text may also occur where it is not marked as a secret: on the other side
of a comparison, in a message, in a script. So every text is searched for every known secret before it is shown.
"""

import base64
import json
import re
from collections.abc import Iterable
from typing import Any

from ..model import SECRET_SIGNATURE, UNKNOWN, Plan, Secret
from .user_data import readable
from .values import SECRET_MARK, to_json_value

_SHORTEST = 6
"""Shorter secrets (``1``, ``true``) are hidden where they are marked, but not searched for."""
_SIGNATURE = SECRET_SIGNATURE.encode()


class Redactor:
    """Removes the secrets of some plans from values and texts."""

    def __init__(self, *plans: Plan) -> None:
        texts: set[str] = set()
        for plan in plans:
            for value in _marked(plan):
                _collect(value, texts, secret=False)
        spellings = {spelling for text in texts for spelling in _spellings(text)}
        found = sorted((text for text in spellings if len(text) >= _SHORTEST), key=lambda text: (-len(text), text))
        self._pattern = re.compile("|".join(map(re.escape, found))) if found else None

    def text(self, text: str) -> str:
        """A text without the secrets in it."""
        return self._pattern.sub(SECRET_MARK, text) if self._pattern else text

    def value(self, value: Any) -> Any:
        """A decoded value as JSON data, without secrets."""
        shown = to_json_value(value)
        return self._scrubbed(shown) if self._pattern else shown

    def _scrubbed(self, value: Any) -> Any:
        if isinstance(value, str):
            return SECRET_MARK if self._packed(value) else self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self._scrubbed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._scrubbed(inner) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and self.text(str(value)) != str(value):
            return SECRET_MARK
        return value

    def _packed(self, text: str) -> bool:
        """Whether compressed user data holds a secret."""
        if not self._pattern or not text.startswith("H4sI"):
            return False
        unpacked = readable(text)
        return unpacked is None or self._pattern.search(unpacked) is not None


def _marked(plan: Plan) -> Iterable[Any]:
    """The values of a plan that may hold a secret. Resources without secrets are not decoded."""
    yield plan.outputs
    for invoke in plan.invokes:
        yield dict(invoke.arguments)
    for resource in plan.resources:
        if _SIGNATURE in resource.raw_inputs.SerializeToString():
            yield resource.inputs
        if resource.raw_outputs is not None and _SIGNATURE in resource.raw_outputs.SerializeToString():
            yield resource.outputs


def _collect(value: Any, texts: set[str], *, secret: bool) -> None:
    if isinstance(value, Secret):
        _collect(value.value, texts, secret=True)
    elif isinstance(value, dict):
        for inner in value.values():
            _collect(inner, texts, secret=secret)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, texts, secret=secret)
    elif secret and value is not UNKNOWN and value is not None and not isinstance(value, bool):
        texts.add(str(to_json_value(value)))


def _spellings(text: str) -> Iterable[str]:
    """The forms in which a text may occur in other texts: plain, in JSON, in base64 at any offset, line by line."""
    yield text
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    data = text.encode("utf-8", "surrogatepass")
    for offset, skipped in ((0, 0), (1, 2), (2, 3)):
        # The first and the last digit may hold bits of the text around it.
        encoded = base64.b64encode(b"\0" * offset + data).decode()
        yield encoded[skipped:] if encoded[-1] != "=" else encoded.rstrip("=")[skipped:-1]
    if "\n" in text or "\r" in text:
        yield from (line.strip() for line in text.splitlines())
