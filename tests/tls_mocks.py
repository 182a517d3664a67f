"""What the tls provider would compute, computed: real keys and certificates, for evaluations as an update.

The keys of a name are made once per process: two evaluations of a program then agree, as two previews of one state do.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CURVES = {"P224": ec.SECP224R1, "P256": ec.SECP256R1, "P384": ec.SECP384R1, "P521": ec.SECP521R1}
OIDS = {"commonName": NameOID.COMMON_NAME, "organization": NameOID.ORGANIZATION_NAME}
EXTENDED = {"client_auth": ExtendedKeyUsageOID.CLIENT_AUTH, "server_auth": ExtendedKeyUsageOID.SERVER_AUTH}


@cache
def made_key(name: str, algorithm: str, curve: str, bits: int) -> Any:
    """The private key of a resource."""
    if algorithm == "RSA":
        return rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return ec.generate_private_key(CURVES[curve]()) if algorithm == "ECDSA" else ed25519.Ed25519PrivateKey.generate()


def private_key(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """``tls.PrivateKey``."""
    key = made_key(name, inputs["algorithm"], inputs.get("ecdsaCurve", "P224"), int(inputs.get("rsaBits", 2048)))
    traditional = pem.PrivateFormat.TraditionalOpenSSL
    first = pem.PrivateFormat.PKCS8 if inputs["algorithm"] == "ED25519" else traditional
    public = key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
    return {
        "privateKeyPem": key.private_bytes(pem.Encoding.PEM, first, pem.NoEncryption()).decode(),
        "privateKeyPemPkcs8": key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption()).decode(),
        "publicKeyPem": public.decode(),
    }


def cert_request(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """``tls.CertRequest``."""
    key: Any = pem.load_pem_private_key(inputs["privateKeyPem"].encode(), None)
    request = x509.CertificateSigningRequestBuilder().subject_name(subject(inputs)).sign(key, hashes.SHA256())
    return {"certRequestPem": request.public_bytes(pem.Encoding.PEM).decode()}


def self_signed_cert(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """``tls.SelfSignedCert``."""
    key: Any = pem.load_pem_private_key(inputs["privateKeyPem"].encode(), None)
    return certificate(inputs, subject(inputs), key.public_key(), subject(inputs), key)


def locally_signed_cert(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """``tls.LocallySignedCert``."""
    request = x509.load_pem_x509_csr(inputs["certRequestPem"].encode())
    authority = x509.load_pem_x509_certificate(inputs["caCertPem"].encode())
    key: Any = pem.load_pem_private_key(inputs["caPrivateKeyPem"].encode(), None)
    return certificate(inputs, request.subject, request.public_key(), authority.subject, key)


def subject(inputs: Mapping[str, Any]) -> x509.Name:
    """The name in a request."""
    return x509.Name([x509.NameAttribute(OIDS[key], value) for key, value in inputs["subject"].items()])


def certificate(inputs: Mapping[str, Any], name: x509.Name, public: Any, issuer: x509.Name, key: Any) -> dict[str, Any]:
    """A signed certificate with the uses that the inputs say."""
    start = datetime.now(UTC) - timedelta(minutes=1)
    uses = set(inputs["allowedUses"])
    known = {use: use in uses for use in ("digital_signature", "key_encipherment", "crl_sign")}
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(hours=int(inputs["validityPeriodHours"])))
        .add_extension(x509.BasicConstraints(ca=bool(inputs.get("isCaCertificate")), path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=known["digital_signature"], key_encipherment=known["key_encipherment"],
                key_cert_sign="cert_signing" in uses, crl_sign="crl_signing" in uses, content_commitment=False,
                data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
            ),
            critical=True,
        )
    )  # fmt: skip
    extended = [EXTENDED[use] for use in sorted(uses & set(EXTENDED))]
    if extended:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    made = builder.sign(key, hashes.SHA256())
    return {"certPem": made.public_bytes(pem.Encoding.PEM).decode()}


TLS = {
    "tls:index/privateKey:PrivateKey": private_key,
    "tls:index/certRequest:CertRequest": cert_request,
    "tls:index/selfSignedCert:SelfSignedCert": self_signed_cert,
    "tls:index/locallySignedCert:LocallySignedCert": locally_signed_cert,
}
"""For ``mocks`` of an evaluation."""
