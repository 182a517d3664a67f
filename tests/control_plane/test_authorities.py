"""The authorities: real certificates, made by what stands in for the provider."""

import base64
from functools import cache
from typing import Any

import pulumi
import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from winkube.control_plane.authorities import ClusterAuthorities, ClusterAuthoritiesArgs, secretbox_key
from winkube.control_plane.slot_documents import AUTHORITY_FILES
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan, Resource, Secret, unwrap_secrets

from tests.tls_mocks import TLS

from .planes import CLUSTER, usual


@cache
def made(algorithm: str = "ECDSA-P256", mode: str = "update") -> Plan:
    def build() -> None:
        parts = ClusterAuthorities("pki", ClusterAuthoritiesArgs(encryption_algorithm=algorithm))
        for file, content in parts.files.items():
            pulumi.export(file, content)
        pulumi.export("secretbox", parts.secretbox_key)
        pulumi.export("admin", parts.admin_certificate)
        pulumi.export("admin-key", parts.admin_key)

    return evaluate_function(build, mode=mode, mocks=TLS)


def certificate(name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(unwrap_secrets(made().outputs[name]).encode())


def named(plan: Plan, name: str) -> Resource:
    (found,) = [resource for resource in plan.resources if resource.name == name]
    return found


@pytest.mark.parametrize("file", ["ca.crt", "front-proxy-ca.crt", "etcd/ca.crt"])
def test_the_authorities_sign_and_nothing_else(file: str) -> None:
    made_of = certificate(file)
    assert made_of.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert made_of.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    assert (made_of.not_valid_after_utc - made_of.not_valid_before_utc).days == 3650


def test_three_authorities_and_one_key_pair_are_shared() -> None:
    """All that nodes share, and nothing of a single node."""
    pairs = {f"{name}.{end}" for name in ("ca", "front-proxy-ca", "etcd/ca") for end in ("crt", "key")}
    files = set(made().outputs) - {"secretbox", "admin", "admin-key"}
    assert files == pairs | {"sa.key", "sa.pub"} == set(AUTHORITY_FILES)


def test_the_administrator_is_one_by_rbac_and_for_a_day() -> None:
    """In a group whose binding can be deleted, never in ``system:masters``."""
    admin = certificate("admin")
    admin.verify_directly_issued_by(certificate("ca.crt"))
    assert [part.value for part in admin.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == [
        "kubeadm:cluster-admins"
    ]
    assert (admin.not_valid_after_utc - admin.not_valid_before_utc).total_seconds() == 24 * 3600
    uses = admin.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(uses) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_every_private_key_is_a_secret() -> None:
    outputs = made().outputs
    for name in ("ca.key", "front-proxy-ca.key", "etcd/ca.key", "sa.key", "admin-key", "secretbox"):
        assert isinstance(outputs[name], Secret), name
    for name in ("ca.crt", "sa.pub", "admin"):
        assert isinstance(outputs[name], str), name


@pytest.mark.parametrize(
    "algorithm", ["ECDSA-P256", "ECDSA-P384", "RSA-2048", pytest.param("RSA-4096", marks=pytest.mark.verify)]
)
def test_the_key_of_service_accounts_is_rsa_whatever_the_others_are(algorithm: str) -> None:
    """IAM takes RS256 alone."""
    plan = made(algorithm)
    kind, _, size = algorithm.partition("-")
    accounts = named(plan, "pki-sa-key").inputs
    assert (accounts["algorithm"], accounts["rsaBits"]) == ("RSA", 2048)
    authority = named(plan, "pki-ca-key").inputs
    assert authority["algorithm"] == kind
    assert authority.get("ecdsaCurve", authority.get("rsaBits")) == (size if kind == "ECDSA" else int(size))


def test_the_key_of_secrets_has_32_bytes_of_its_own() -> None:
    key = unwrap_secrets(made().outputs["secretbox"])
    assert len(base64.b64decode(key)) == 32
    assert secretbox_key("a") != secretbox_key("b")
    assert key == unwrap_secrets(made().outputs["secretbox"])


def test_a_preview_knows_none_of_it() -> None:
    from winkube.preview.model import UNKNOWN

    outputs = made(mode="preview").outputs
    assert all(value is UNKNOWN or (isinstance(value, Secret) and value.value is UNKNOWN) for value in outputs.values())


def test_the_kubeconfig_is_the_administrator_s() -> None:
    """Endpoint, authority, certificate and key belong together."""
    (component,) = [r for r in usual().resources if r.type == "winkube:index:LinuxControlPlane"]
    secret = component.outputs["kubeconfig"]
    assert isinstance(secret, Secret)
    config: dict[str, Any] = yaml.safe_load(secret.value)
    (cluster,), (user,) = config["clusters"], config["users"]
    assert cluster["cluster"]["server"] == f"https://api.{CLUSTER}:6443"
    authority = x509.load_pem_x509_certificate(base64.b64decode(cluster["cluster"]["certificate-authority-data"]))
    admin = x509.load_pem_x509_certificate(base64.b64decode(user["user"]["client-certificate-data"]))
    admin.verify_directly_issued_by(authority)
    assert b"PRIVATE KEY" in base64.b64decode(user["user"]["client-key-data"])
