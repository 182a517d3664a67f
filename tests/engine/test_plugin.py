"""The stand-in plug-ins by themselves: started by their launchers, asked over real gRPC."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc
from winkube.preview.model import SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN, UNKNOWN_TEXT, Secret, decode

from .cloud import Cloud
from .plugin import FOLDER, IMAGE, struct, version
from .real import write_launcher

pytestmark = pytest.mark.verify

START = "urn:pulumi:dev::demo::"
VPC, KEY = f"{START}aws:ec2/vpc:Vpc::main", f"{START}tls:index/privateKey:PrivateKey::ca-key"
Start = Callable[[str], Any]


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path / "cloud")


@pytest.fixture
def start(tmp_path: Path, cloud: Cloud) -> Iterator[Start]:
    """Start a plug-in as the engine does: its program, and what it prints is its port."""
    with ExitStack() as ends:

        def run(package: str) -> Any:
            file = tmp_path / f"resource-{package}-v1.2.3" / f"pulumi-resource-{package}"
            write_launcher(file, package)
            command, environment = [str(file), "127.0.0.1:1"], {**os.environ, FOLDER: str(cloud.folder)}
            child = ends.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
            ends.callback(child.terminate)
            assert child.stdout is not None
            channel = ends.enter_context(grpc.insecure_channel(f"127.0.0.1:{int(child.stdout.readline())}"))
            return provider_pb2_grpc.ResourceProviderStub(channel)

        yield run


def test_a_resource_lives_and_ends(start: Start, cloud: Cloud) -> None:
    """Create, Read, Diff, Update and Delete agree with each other; a preview makes nothing."""
    aws = start("aws")
    assert aws.GetPluginInfo(empty_pb2.Empty()).version == version("aws")
    inputs = struct({"cidrBlock": "10.0.0.0/16", "tags": {SIGNATURE_KEY: SECRET_SIGNATURE, "value": {"a": "b"}}})
    assert aws.Check(provider_pb2.CheckRequest(urn=VPC, news=inputs)).inputs == inputs

    planned = aws.Create(provider_pb2.CreateRequest(urn=VPC, properties=inputs, preview=True))
    assert (planned.id, decode(planned.properties)["arn"], cloud.things()) == ("", UNKNOWN, {})

    made = aws.Create(provider_pb2.CreateRequest(urn=VPC, properties=inputs))
    state = decode(made.properties)
    assert state["arn"].startswith("arn:aws:")
    assert state["tags"] == Secret({"a": "b"})
    read = aws.Read(provider_pb2.ReadRequest(urn=VPC, id=made.id, properties=made.properties, inputs=inputs))
    assert (read.id, read.properties, read.inputs) == (made.id, made.properties, inputs)

    news = struct({"cidrBlock": "10.0.0.0/16", "tags": {"a": "c"}})
    asked = {"urn": VPC, "id": made.id, "olds": made.properties, "old_inputs": inputs, "news": news}
    assert list(aws.Diff(provider_pb2.DiffRequest(**asked)).diffs) == ["tags"]
    unchanged = aws.Diff(provider_pb2.DiffRequest(**{**asked, "news": inputs}))
    assert unchanged.changes == provider_pb2.DiffResponse.DIFF_NONE
    updated = decode(aws.Update(provider_pb2.UpdateRequest(**asked)).properties)
    assert (updated["tags"], updated["arn"]) == ({"a": "c"}, state["arn"])

    aws.Delete(provider_pb2.DeleteRequest(urn=VPC, id=made.id))
    assert not aws.Read(provider_pb2.ReadRequest(urn=VPC, id=made.id)).id


def test_what_is_not_known_yet_counts_as_a_change(start: Start) -> None:
    olds, news = struct({"vpcId": UNKNOWN_TEXT}), struct({"vpcId": UNKNOWN_TEXT})
    diff = start("aws").Diff(provider_pb2.DiffRequest(urn=VPC, old_inputs=olds, news=news))
    assert list(diff.diffs) == ["vpcId"]


def test_a_function_is_answered_or_refused_by_name(start: Start) -> None:
    """An answer that nobody wrote must not pass for an empty one."""
    aws = start("aws")
    token = "aws:ssm/getParameter:getParameter"
    answer = aws.Invoke(provider_pb2.InvokeRequest(tok=token, args=struct({"name": "/aws/service/x"})))
    assert decode(getattr(answer, "return"))["value"] == IMAGE
    with pytest.raises(grpc.RpcError, match="has no answer to aws:ec2/getVpc:getVpc"):
        aws.Invoke(provider_pb2.InvokeRequest(tok="aws:ec2/getVpc:getVpc"))


def test_keys_and_certificates_are_real(start: Start) -> None:
    """A certificate is signed by the key that was made before it; a preview knows neither."""
    tls = start("tls")
    inputs = struct({"algorithm": "ECDSA", "ecdsaCurve": "P256"})
    planned = tls.Create(provider_pb2.CreateRequest(urn=KEY, properties=inputs, preview=True))
    assert decode(planned.properties)["privateKeyPem"] is UNKNOWN
    key = decode(tls.Create(provider_pb2.CreateRequest(urn=KEY, properties=inputs)).properties)
    wanted = {
        "privateKeyPem": key["privateKeyPem"], "subject": {"commonName": "kubernetes"}, "isCaCertificate": True,
        "allowedUses": ["cert_signing"], "validityPeriodHours": 24,
    }  # fmt: skip
    urn = f"{START}tls:index/selfSignedCert:SelfSignedCert::ca"
    made = decode(tls.Create(provider_pb2.CreateRequest(urn=urn, properties=struct(wanted))).properties)
    certificate = x509.load_pem_x509_certificate(made["certPem"].encode())
    public = certificate.public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    certificate.verify_directly_issued_by(certificate)
    assert key["publicKeyPem"].encode() == public_pem(public)


def public_pem(public: ec.EllipticCurvePublicKey) -> bytes:
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
