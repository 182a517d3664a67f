"""Keys and certificates of one test cluster: an authority, the API server, and a client for each user."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLIENTS = {
    "admin": ("admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
}
"""File name to user and group."""
_VALID = (dt.timedelta(minutes=5), dt.timedelta(days=1))


def write_pki(folder: Path, addresses: list[str]) -> None:
    """Write ``ca``, ``apiserver``, one pair per client and the service account key ``sa`` as ``.crt`` and ``.key``."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = certificate(name("winkube-test-ca"), authority_key, None, None)
    write(folder, "ca", authority_key, authority)
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"]
    alternatives = [x509.DNSName(name) for name in names]
    alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in ("10.96.0.1", *addresses)]
    users = {"apiserver": ("kube-apiserver", None), **CLIENTS}
    for file, (user, group) in users.items():
        key = ec.generate_private_key(ec.SECP256R1())
        named = alternatives if file == "apiserver" else None
        write(folder, file, key, certificate(name(user, group), key, (authority, authority_key), named))
    service_accounts = ec.generate_private_key(ec.SECP256R1())
    write(folder, "sa", service_accounts, None)


def name(user: str, group: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None,
    alternatives: Sequence[x509.GeneralName] | None,
    valid: tuple[dt.timedelta, dt.timedelta] = _VALID,
) -> x509.Certificate:
    """A certificate of a key.

    :param issuer: signs it; its own key if there is none.
    :param alternatives: names of a server; a client has none.
    :param valid: how long it has been, and how long it will be.
    """
    now = dt.datetime.now(dt.UTC)
    signer = issuer[1] if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - valid[0])
        .not_valid_after(now + valid[1])
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(_usage(authority=issuer is None), critical=True)
    )
    if issuer:
        usage = ExtendedKeyUsageOID.SERVER_AUTH if alternatives else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def renewable(pki: Path, user: str, group: str) -> bytes:
    """Certificate and key of a client in one PEM, in the last tenth of its time, with ten minutes left."""
    authority = x509.load_pem_x509_certificate((pki / "ca.crt").read_bytes())
    signer = serialization.load_pem_private_key((pki / "ca.key").read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    valid = (dt.timedelta(hours=10), dt.timedelta(minutes=10))
    made = certificate(name(user, group), key, (authority, signer), None, valid)
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*forms)


def write(folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / f"{name}.key"
    secret.touch(mode=0o600)
    plain = serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    if certificate:
        (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    else:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        (folder / f"{name}.pub").write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))
