"""Finds texts that must not be in a property: the text of a missing value or of an Output, and secrets.

No finding contains a text that may be a secret.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from ..model import Secret, Severity
from ..text.user_data import readable

LEAK, PLAIN, EXPOSED = "text-leak", "plain-secret", "exposed-secret"

_NestedPath = tuple[Any, ...]
"""The path of a value as nested pairs, innermost key last: ``(outer, key)``; ``()`` at the top."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A text or a secret that must not be where it is."""

    check: str
    severity: Severity
    message: str
    remedy: str
    path: tuple[str | int, ...]


# -- text of a missing value --------------------------------------------------------------------------------

_OUTPUT_TEXTS = ("<pulumi.output.Output object at 0x", "Calling __str__ on an Output[T]", "<pulumi.output.Unknown")
_NONE_SEGMENT = re.compile(r"(?:^|[-:/._])None(?=$|[-:/._*])")
# In a longer text only what is certainly an address: a script may contain the word None.
_NONE_ADDRESS = re.compile(
    r"\b(?:arn:|s3://|https?://)(?:[^\s\"']*[:/.-])?None(?=[-:/.\"'*\s]|$)|\A\s*[{\[].*:\s*\[?\s*\"None\"", re.DOTALL
)
# Properties for which "None" is a valid value (Kubernetes 1.36 API reference).
_NONE_IS_A_VALUE = frozenset(
    ["cachingMode", "clusterIP", "clusterIPs", "dnsPolicy", "effect", "mountPropagation", "reinvocationPolicy",
     "sessionAffinity", "sideEffects", "strategy"]
)  # fmt: skip

# -- secrets ---------------------------------------------------------------------------------------------------

_SENSITIVE = (
    "password|passwd|passphrase|secret|secretkey|secretaccesskey|secretstring|secretbinary|privatekey|privatekeypem"
    "|keymaterial|presharedkey|token|apikey|authkey|credentials"
)
_SECRET_WORD = re.compile(_SENSITIVE)
_SECRET_NAME = re.compile(rf"(?:{_SENSITIVE})\Z")
# Tokens for idempotency or paging, and names of secrets that are stored elsewhere.
_HARMLESS_NAME = re.compile(
    r"(?:(?:creation|client|request|idempotency|continue|continuation|next|page|caller|lock|change|public|update"
    r"|version|offer|source)token|(?:existing|pull|tls|cert|certificate)secret)\Z"
)
# References, file names, masks, flags and units.
_HARMLESS_VALUE = re.compile(
    r"arn:[a-z-]+:|\{\{|\$\{|<[a-z_ -]+>$|placeholder|/[\w./-]+$|ssm:|\*+$|\d?$"
    r"|(?:true|false|null|none|seconds|minutes|hours|days)$"
)
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE KEY(?: BLOCK)?-----"
                                 r"|LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURSBLRVk|BQUklWQVRFIEtFW|BFQyBQUklWQVRFIEtFW"
                                 r"|BPUEVOU1NIIFBSSVZBVEUgS0VZ|BFTkNSWVBURUQgUFJJVkFURSBLRVk)")),
    ("an AWS access key", re.compile(r"(?<![A-Z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Z0-9])")),
    ("an AWS secret access key", re.compile(r"(?i:aws_?secret_?access_?key|secretkey)[\"']?\s*[=:]\s*[\"']?"
                                            r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")),
    ("a JSON web token", re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+")),
    ("a password in a script", re.compile(r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?(?:\"[^\"$\s]+\"|'[^']+')"
                                          r"|\bnet\s+user\s+\S+\s+(?![/\"'$%])\S+\s+/add\b")),
)  # fmt: skip
# A cheap test whether any of the above can match: most strings stop here.
_ANY_KIND = re.compile(
    r"PRIVATE KEY|LS0tLS1CRUdJTiB|A[KS]IA[A-Z2-7]{16}|eyJ[A-Za-z0-9_-]{10,}\.eyJ"
    r"|(?i:ConvertTo-SecureString|net\s+user\s|secret_?access_?key|secretkey)"
)
_BOOTSTRAP_TOKEN = re.compile(r"(?<![\w./:@-])[a-z0-9]{6}\.([a-z0-9]{16})(?![\w.-])")
_TOKEN_NEAR = re.compile(r"token|kubeadm", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{16}")
_SHORTEST_SECRET = 16
_LARGEST_DECODED = 1 << 20

_USER_DATA = frozenset(["userdata", "userdatabase64", "customdata"])
_TAGS = frozenset(["tags", "tagsall", "defaulttags", "labels", "annotations"])


def looks_secret(text: str, keys: Iterable[str] = ()) -> bool:
    """Whether a text looks like a secret, or one of its keys is named like one."""
    return any(map(_secret_name, keys)) or any(_secret_kinds(text, ""))


def traces(value: Any, name: str = "") -> list[Trace]:
    """Everything in a decoded value that must not be there. ``name`` is the name of the resource; it is checked too."""
    found: list[Trace] = []
    if name:
        _leaks(name, "", (), found)
        found = [replace(trace, message=f"the logical name {trace.message}") for trace in found]
    _walk(value, "", (), "", found)
    return found


def _walk(value: Any, key: str, path: _NestedPath, where: str, found: list[Trace]) -> None:
    kind = cast(Any, type(value))
    if kind is str:
        _string(value, key, path, where, found)
    elif kind is dict:
        _mapping(cast(dict[str, Any], value), path, where, found)
    elif kind is list:
        for index, inner in enumerate(cast(list[Any], value)):
            _walk(inner, key, (path, index), where, found)
    elif kind is Secret and where:
        _exposed(path, where, found)


def _mapping(value: dict[str, Any], path: _NestedPath, where: str, found: list[Trace]) -> None:
    for key, inner in value.items():
        inner_path = (path, key)
        if "None" in key or "utput" in key:
            _leaks(key, "", inner_path, found)
        _walk(inner, key, inner_path, where or _where(key), found)
    text = value.get("value")
    if type(text) is str:
        label = value.get("name", value.get("key"))
        if value.get("type") == "SecureString" and not _HARMLESS_VALUE.match(text):
            found.append(Trace(PLAIN, Severity.ERROR, "is a SecureString, but its value is in plain text", _REMEDY,
                               _path((path, "value"))))  # fmt: skip
        elif type(label) is str:
            _named_secret(label, text, (path, "value"), found)


def _where(key: str) -> str:
    lower = key.lower()
    if lower in _TAGS:
        return key
    return "user data" if lower in _USER_DATA else ""


def _exposed(path: _NestedPath, where: str, found: list[Trace]) -> None:
    remedy = "keep it in Secrets Manager or an SSM SecureString and read it from there"
    found.append(
        Trace(EXPOSED, Severity.ERROR, f"a secret value is in {where}, which is stored in plain text: everyone who "
              "may describe the resource can read it", remedy, _path(path))
    )  # fmt: skip


def _string(text: str, key: str, path: _NestedPath, where: str, found: list[Trace]) -> None:
    if where == "user data":
        for part in _decoded(text):
            _leaks(part, key, path, found, script=True)
            _secrets(part, key, path, found)
        return
    if "None" in text or "utput" in text:
        _leaks(text, key, path, found)
    if len(text) >= _SHORTEST_SECRET and _secrets(text, key, path, found):
        return
    _named_secret(key, text, path, found)
    if text[:1] in ("{", "[") and _SECRET_WORD.search(_squeezed(text)):
        _json(text, path, found)


# -- leaks -----------------------------------------------------------------------------------------------------


def _leaks(text: str, key: str, path: _NestedPath, found: list[Trace], *, script: bool = False) -> None:
    if any(sign in text for sign in _OUTPUT_TEXTS):
        found.append(
            Trace(LEAK, Severity.ERROR, "contains the text of an Output object instead of its value",
                  "build the string with pulumi.Output.concat, pulumi.Output.format or .apply", _path(path))
        )  # fmt: skip
    if "None" not in text or key in _NONE_IS_A_VALUE:
        return
    plain = not script and len(text) < 512 and not re.search(r"\s", text)
    if (_NONE_SEGMENT if plain else _NONE_ADDRESS).search(text):
        got = text if plain and not looks_secret(text, [key]) else "a text with None in place of a value"
        message = (
            f'contains the text "None", the result of str(None): {json.dumps(got)}' if plain else f"contains {got}"
        )
        remedy = "set the intended value, or leave the property out"
        found.append(Trace(LEAK, Severity.WARNING, message, remedy, _path(path)))


# -- secrets ---------------------------------------------------------------------------------------------------


@cache
def _secret_name(name: str) -> bool:
    plain = _squeezed(name)
    return _SECRET_NAME.search(plain) is not None and _HARMLESS_NAME.search(plain) is None


def _squeezed(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _secret_kinds(text: str, key: str) -> Iterator[str]:
    if _ANY_KIND.search(text):
        for kind, pattern in _KINDS:
            match = pattern.search(text)
            if match and "EXAMPLE" not in match[0]:
                yield kind
    for match in _BOOTSTRAP_TOKEN.finditer(text):
        near = _TOKEN_NEAR.search(text, max(0, match.start() - 60), match.start()) or _TOKEN_NEAR.search(key)
        # Sixteen hexadecimal digits alone may be a digest, sixteen letters the name of a program.
        mixed = not _HEX.fullmatch(match[1]) and not match[1].isalpha() and not match[1].isdigit()
        if near or mixed:
            yield "a kubeadm bootstrap token"
            return


def _secrets(text: str, key: str, path: _NestedPath, found: list[Trace]) -> bool:
    kinds = list(_secret_kinds(text, key))
    for kind in kinds:
        message = f"contains {kind} in plain text"
        found.append(Trace(PLAIN, Severity.ERROR, message, _REMEDY, _path(path)))
    return bool(kinds)


_REMEDY = "pass it as a secret (config.require_secret, pulumi.Output.secret), or keep it in Secrets Manager"


def _named_secret(name: str, value: str, path: _NestedPath, found: list[Trace]) -> None:
    if value and _secret_name(name) and not _HARMLESS_VALUE.match(value):
        message = f'"{name}" is named like a secret, but its value is in plain text'
        found.append(Trace(PLAIN, Severity.ERROR, message, _REMEDY, _path(path)))


def _json(text: str, path: _NestedPath, found: list[Trace]) -> None:
    """Find secrets by name in a JSON document that is passed as a string."""
    try:
        document = json.loads(text)
    except ValueError:
        return
    inner: list[Trace] = []
    _walk(document, "", path, "", inner)
    found += [trace for trace in inner if trace.check == PLAIN]


def _decoded(text: str) -> Iterator[str]:
    """User data as the machine reads it, without base64 and gzip; then the encoded parts of a MIME archive."""
    unpacked = readable(text, errors="replace")
    if unpacked is None:
        return
    text = unpacked
    yield text
    if "content-transfer-encoding: base64" in text[:_LARGEST_DECODED].lower():
        from email import message_from_string

        for part in message_from_string(text).walk():
            payload = part.get_payload(decode=True)
            if isinstance(payload, bytes) and part.get("content-transfer-encoding", "").lower() == "base64":
                yield payload.decode("utf-8", "replace")


def _path(path: _NestedPath) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    while path:
        path, key = path
        parts.append(key)
    return tuple(reversed(parts))
