"""When a certificate ends, read from its DER without any library."""

import calendar
import ssl
import time
from pathlib import Path
from typing import Optional

SEQUENCE, VERSION, UTC_TIME = 0x30, 0xA0, 0x17
WATCHED = ("apiserver.crt", "apiserver-kubelet-client.crt", "front-proxy-client.crt", "etcd/server.crt",
           "etcd/peer.crt", "ca.crt", "front-proxy-ca.crt", "etcd/ca.crt")  # fmt: skip


def ends(pem: str) -> float:
    """The end of a certificate's validity, in seconds since 1970.

    :raises ValueError: when this is not a certificate.
    """
    der = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE-----") :].split("-----END")[0] + _END)
    _, certificate, _ = _element(der, 0)
    _, signed, _ = _element(der, certificate)
    at = signed
    kind, _, after = _element(der, at)
    if kind == VERSION:
        at = after
    for _ in range(3):  # serial number, algorithm, issuer
        _, _, at = _element(der, at)
    _, validity, _ = _element(der, at)
    _, _, second = _element(der, validity)
    kind, begin, end = _element(der, second)
    text = der[begin:end].decode("ascii")
    # https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5.1: two digits below 50 are of this century
    century = ("20" if int(text[:2]) < 50 else "19") if kind == UTC_TIME else ""
    return float(calendar.timegm(time.strptime(century + text, "%Y%m%d%H%M%SZ")))


def days_left(pki: Path, now: Optional[float] = None) -> dict[str, int]:
    """Full days until each certificate of a control plane ends."""
    found: dict[str, int] = {}
    for name in WATCHED:
        try:
            end = ends((pki / name).read_text(encoding="ascii"))
        except (OSError, ValueError, IndexError):
            continue
        found[name] = int((end - (time.time() if now is None else now)) // 86400)
    return found


_END = "-----END CERTIFICATE-----\n"


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Kind, begin and end of the element at a position."""
    kind, length, begin = der[at], der[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7F
        length = int.from_bytes(der[begin : begin + count], "big")
        begin += count
    if begin + length > len(der):
        raise ValueError("the certificate is cut off")
    return kind, begin, begin + length
