"""Beds for agents; AWS is emulated once for all of them."""

import datetime as dt
import ipaddress
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from moto.server import ThreadedMotoServer

from tests.node_agent.bed import Bed


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104
    server.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that signs itself, for every address of the beds; its key lies beside it."""
    path = tmp_path_factory.mktemp("pki") / "api.crt"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kubernetes")])
    now = dt.datetime.now(dt.UTC)
    addresses = ["127.0.9.9", *(f"127.0.1.{number}" for number in range(1, 30))]
    names = [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now).not_valid_after(now + dt.timedelta(days=100, minutes=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.with_suffix(".key").write_bytes(private)
    return path


@pytest.fixture
def make_bed(tmp_path: Path, moto: str, certificate: Path) -> Iterator[Callable[..., Bed]]:
    """Makes the bed of a test; its invariants are checked by the test itself."""
    beds: list[Bed] = []

    def make(slots: int = 3) -> Bed:
        beds.append(Bed(tmp_path, moto, certificate, slots))
        return beds[-1]

    yield make
    for bed in beds:
        bed.close()


@pytest.fixture
def bed(make_bed: Callable[..., Bed]) -> Bed:
    """A bed of three slots."""
    return make_bed()
