"""The issuer of ServiceAccount tokens as the world sees it: its key set and its discovery document. Pure.

IAM trusts a cluster's ServiceAccounts by these two texts alone, so both are rendered from the public key before any
node exists. Sources: RFC 7517 and 7518 (JSON Web Key, RSA), RFC 8017 (the key's own form), the upstream guide
(aws/amazon-eks-pod-identity-webhook, ``SELF_HOSTED_SETUP.md``: ``kid`` is the hash of the whole public key).
"""

import json
from base64 import b64decode, urlsafe_b64encode
from binascii import Error
from hashlib import sha256

DISCOVERY_PATH = ".well-known/openid-configuration"
KEY_SET_PATH = "openid/v1/jwks"
_RSA = bytes.fromhex("2a864886f70d010101")
"""The object identifier of RSA keys, 1.2.840.113549.1.1.1."""
_SEQUENCE, _INTEGER, _BITS, _IDENTIFIER = 0x30, 0x02, 0x03, 0x06


def key_set(public_key_pem: str) -> str:
    """The JSON Web Key Set of an RSA public key.

    :raises ValueError: when the text is no RSA public key in PEM ("PUBLIC KEY").
    """
    der = _der(public_key_pem)
    modulus, exponent = _rsa_numbers(der)
    key = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": key_id(public_key_pem), "n": modulus, "e": exponent}
    return json.dumps({"keys": [key]}, indent=2)


def key_id(public_key_pem: str) -> str:
    """The name of the key in the header of each token, as kube-apiserver computes it."""
    return _text(sha256(_der(public_key_pem)).digest())


def discovery_document(issuer: str) -> str:
    """The OpenID discovery document of an issuer.

    >>> json.loads(discovery_document("https://example.com"))["jwks_uri"]
    'https://example.com/openid/v1/jwks'
    """
    return json.dumps(
        {
            "issuer": issuer,
            "jwks_uri": key_set_url(issuer),
            "authorization_endpoint": "urn:kubernetes:programmatic_authorization",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "claims_supported": ["sub", "iss"],
        },
        indent=2,
    )


def key_set_url(issuer: str) -> str:
    """Where the key set of an issuer lies."""
    return f"{issuer}/{KEY_SET_PATH}"


def _text(number: bytes) -> str:
    return urlsafe_b64encode(number).rstrip(b"=").decode()


def _der(pem: str) -> bytes:
    begin, end = "-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"
    if begin not in pem or end not in pem:
        raise ValueError("the key of the ServiceAccounts is no public key in PEM")
    body = pem.partition(begin)[2].partition(end)[0]
    try:
        return b64decode("".join(body.split()), validate=True)
    except Error as error:
        raise ValueError(f"the key of the ServiceAccounts is no public key in PEM: {error}") from None


def _rsa_numbers(der: bytes) -> tuple[str, str]:
    try:
        outer, _ = _element(der, _SEQUENCE)
        algorithm, bits = _element(outer, _SEQUENCE)
        identifier, _ = _element(algorithm, _IDENTIFIER)
        wrapped, _ = _element(bits, _BITS)
        key, _ = _element(wrapped[1:], _SEQUENCE)
        modulus, rest = _element(key, _INTEGER)
        exponent, _ = _element(rest, _INTEGER)
    except (IndexError, ValueError):
        raise ValueError("the key of the ServiceAccounts is no RSA key: IAM takes RS256 alone") from None
    if identifier != _RSA:
        raise ValueError("the key of the ServiceAccounts is no RSA key: IAM takes RS256 alone")
    return _text(modulus.lstrip(b"\0")), _text(exponent.lstrip(b"\0"))


def _element(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first element of DER, which has this tag, and what follows it."""
    if data[0] != tag:
        raise ValueError
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start], "big")
    if len(data) < start + length:
        raise ValueError
    return data[start : start + length], data[start + length :]
