"""The key set and the discovery document, held against another implementation."""

import base64
import hashlib
import json

import pytest
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from winkube.control_plane.key_set import KEY_SET_PATH, discovery_document, key_id, key_set


def public_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo).decode()


def number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


@pytest.mark.parametrize("bits", [2048, 3072, 4096])
def test_a_token_signed_by_the_key_is_verified_by_the_set(bits: int) -> None:
    """Whoever has the set alone can check a signature."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    (row,) = json.loads(key_set(public_pem(key)))["keys"]
    again = rsa.RSAPublicNumbers(number(row["e"]), number(row["n"])).public_key()
    again.verify(key.sign(b"token", padding.PKCS1v15(), SHA256()), b"token", padding.PKCS1v15(), SHA256())
    assert (row["kty"], row["alg"], row["use"]) == ("RSA", "RS256", "sig")
    assert row["kid"] == key_id(public_pem(key))


def test_the_id_is_the_hash_of_the_whole_key() -> None:
    """As kube-apiserver computes it for the header of its tokens."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    der = key.public_key().public_bytes(pem.Encoding.DER, pem.PublicFormat.SubjectPublicKeyInfo)
    assert key_id(public_pem(key)) == base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (public_pem(ec.generate_private_key(ec.SECP256R1())), "no RSA key: IAM takes RS256 alone"),
        ("placeholder", "no public key in PEM"),
        ("", "no public key in PEM"),
        ("-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----\n", "no public key in PEM"),
        ("-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n", "no RSA key"),
        ("-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----\n", "no RSA key"),
    ],
)
def test_what_is_no_rsa_key_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        key_set(text)


def test_the_discovery_document_leads_to_the_set() -> None:
    said = json.loads(discovery_document("https://d1.cloudfront.net"))
    assert said["issuer"] == "https://d1.cloudfront.net"
    assert said["jwks_uri"] == f"https://d1.cloudfront.net/{KEY_SET_PATH}"
    assert said["id_token_signing_alg_values_supported"] == ["RS256"]
