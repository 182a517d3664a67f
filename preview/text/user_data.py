"""Decodes user data: base64 and gzip."""

import base64
import binascii
import zlib

_LARGEST_TEXT = 1 << 20
"""Decompression stops at this size."""


def readable(text: str, errors: str = "strict") -> str | None:
    """User data as the machine reads it, without base64 and gzip; None if it is not text.

    :param errors: how to decode bytes that are not UTF-8, as in ``bytes.decode``.

    >>> readable("PHBvd2Vyc2hlbGw+")
    '<powershell>'
    """
    try:
        data = base64.b64decode(text, validate=True) if len(text) >= 8 else b""
    except (binascii.Error, ValueError):
        data = b""
    if not data:
        return text
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, _LARGEST_TEXT)
        except zlib.error:
            return None
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError:
        return None
