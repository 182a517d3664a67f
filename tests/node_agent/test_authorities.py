"""When an administrator's kubeconfig is renewed, and which backups a cluster with keys of its own takes."""

import datetime as dt
from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.node_agent.package import load
from tests.node_agent.test_parts import valid

authorities, aws, document, errors = (load(name) for name in ("authorities", "aws", "document", "errors"))
LIFE = 86400
SETTINGS = {"prefix": "clusterconfigs/test/pki/1/", "key_arn": "arn:aws:kms:eu-west-1:1:key/k", "admin_seconds": LIFE}


def kubeconfig(seconds: float) -> bytes:
    """One whose certificate is valid for so long."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "winkube-admin")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - dt.timedelta(days=400)).not_valid_after(now + dt.timedelta(seconds=seconds))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    data = b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return f"users:\n- user:\n    client-certificate-data: {data}\n".encode()


def keeper(there: bytes | None) -> tuple[Any, list[dict[str, Any]]]:
    """The authorities of a node whose bucket holds this kubeconfig, and what it writes."""
    written: list[dict[str, Any]] = []
    found = None if there is None else aws.Object(there, '"etag"')

    def write(key: str, body: bytes, etag: str | None = None, **more: str) -> str:
        written.append({"key": key, "body": body, "etag": etag, **more})
        return '"new"'

    raw = {**valid(), "authorities": SETTINGS}
    store = SimpleNamespace(
        aws=SimpleNamespace(read=lambda _: found, write=write), backups="clusterconfigs/test/backups/etcd/1/"
    )
    node = SimpleNamespace(document=document.parse(raw), admin_kubeconfig=lambda seconds: f"for {seconds}")
    return authorities.Authorities(store, node), written


@pytest.mark.parametrize(
    ("left", "renewed"), [(LIFE, False), (LIFE / 3 + 60, False), (LIFE / 3 - 60, True), (-60, True)]
)
def test_a_kubeconfig_is_renewed_in_its_last_third(left: float, renewed: bool) -> None:
    """Instead of the one that was read: another node that did the same has been faster otherwise."""
    kept, written = keeper(kubeconfig(left))
    kept.keep()
    kept.keep()  # nothing is asked again so soon
    assert len(written) == int(renewed)
    for one in written:
        assert (one["key"], one["body"], one["etag"]) == (f"{SETTINGS['prefix']}admin.conf", b"for 86400", '"etag"')
        assert (one["ServerSideEncryption"], one["SSEKMSKeyId"]) == ("aws:kms", SETTINGS["key_arn"])


@pytest.mark.parametrize("there", [None, b"", b"client-certificate-data: bm9uZQ==", b"client-certificate-data: ="])
def test_what_is_not_there_or_cannot_be_read_is_written(there: bytes | None) -> None:
    kept, written = keeper(there)
    kept.keep()
    assert [one["etag"] for one in written] == ['"etag"' if there is not None else None]


def test_a_backup_belongs_to_the_keys_of_its_incarnation() -> None:
    """WK-AGT-022."""
    kept, _ = keeper(None)
    kept.check_restore("clusterconfigs/test/backups/etcd/1/cp-0/x.db")
    with pytest.raises(errors.RefusalError) as refused:
        kept.check_restore("clusterconfigs/test/backups/etcd/7/cp-0/x.db")
    assert refused.value.rule.code == "WK-AGT-022"
    assert "set incarnation" in refused.value.remedy


def test_the_document_says_all_three() -> None:
    """WK-AGT-001."""
    with pytest.raises(errors.AgentError) as wrong:
        document.parse({**valid(), "authorities": {"prefix": 1}})
    for field in ("authorities.prefix", "authorities.key_arn", "authorities.admin_seconds"):
        assert field in str(wrong.value)
