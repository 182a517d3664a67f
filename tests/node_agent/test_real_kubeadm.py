"""The real kubeadm takes the calls that the agent makes, as far as they can be made without a machine of its own."""

import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from winkube.control_plane.slot_documents import AUTHORITY_FILES
from winkube.kubeadm import paths
from winkube.kubeadm.config import ClusterConfig
from winkube.kubeadm.kubeadm_documents import init_documents
from winkube.kubeadm.rendering import render
from winkube.tables.releases import SELF_MANAGED_RELEASES

from tests.binaries import binary
from tests.node_agent.package import load
from tests.node_agent.test_parts import valid

pytestmark = pytest.mark.proof

document, node, cluster, certificates, authorities = (
    load(name) for name in ("document", "node", "cluster", "certificates", "authorities")
)

INIT = """
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: "${{PRIVATE_IP}}"}}
nodeRegistration: {{name: "${{INSTANCE_ID}}", criSocket: "unix:///run/containerd/containerd.sock"}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: {version}
controlPlaneEndpoint: "api.test.example.com:6443"
certificatesDir: "{pki}"
encryptionAlgorithm: ECDSA-P256
"""


def rendered_node(minor: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The agent's node with the documents that a deployment renders."""
    monkeypatch.setenv("WINKUBE_AGENT_ROOT", str(root))
    monkeypatch.setenv("WINKUBE_AGENT_KUBEADM", str(binary("kubeadm", minor=minor)))
    config = ClusterConfig(
        cluster_name="test", kubernetes_version=minor, endpoint="api.test.example.com:6443",
        encryption_algorithm="ECDSA-P256",
    )  # fmt: skip
    raw = valid()
    raw["kubeadm"]["init"] = render(init_documents(config)).replace(paths.PKI, f"{root}{paths.PKI}")
    facts = {"INSTANCE_ID": "i-0123456789abcdef0", "PRIVATE_IP": "10.0.0.7", "SLOT": "cp-0", "PROVIDER_ID": "aws:///x"}
    return node.Node(document.parse(raw), facts, cluster.Commands())


@pytest.fixture
def kubeadm(monkeypatch: pytest.MonkeyPatch) -> str:
    path = str(binary("kubeadm"))
    monkeypatch.setenv("WINKUBE_AGENT_KUBEADM", path)
    return path


def said(*call: str) -> str:
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


def test_clients_are_made_from_the_certificate_authorities(
    kubeadm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that has not joined gets its credentials for etcd and the API, beside what a join will make."""
    monkeypatch.setenv("WINKUBE_AGENT_ROOT", str(tmp_path))
    pki = tmp_path / "etc/kubernetes/pki"
    version = said(kubeadm, "version", "-o", "short").strip()
    raw = valid()
    raw["kubeadm"]["init"] = INIT.format(version=version, pki=pki)
    facts = {"INSTANCE_ID": "i-0123456789abcdef0", "PRIVATE_IP": "10.0.0.7", "SLOT": "cp-0"}
    one = node.Node(document.parse(raw), facts, cluster.Commands())
    one.write_documents()
    config = tmp_path / "var/lib/winkube/kubeadm-init.yaml"
    said(kubeadm, "config", "validate", f"--config={config}")
    for authority in ("ca", "etcd-ca"):
        said(kubeadm, "init", "phase", "certs", authority, f"--config={config}")
    one.ensure_clients()
    assert (pki / "etcd/healthcheck-client.key").exists()
    admin = (tmp_path / "var/lib/winkube/clients/admin.conf").read_text()
    assert "https://api.test.example.com:6443" in admin
    assert not (tmp_path / "etc/kubernetes/admin.conf").exists(), "it would look like a finished join"
    assert one.local(finished=False) == "none"
    left = certificates.days_left(pki)
    assert left["ca.crt"] == left["etcd/ca.crt"] == 3649


@pytest.mark.parametrize("minor", SELF_MANAGED_RELEASES)
def test_what_we_render_is_read_as_the_agent_fills_it_in(
    minor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before there is a token: for an empty one every init would end at once."""
    one = rendered_node(minor, tmp_path, monkeypatch)
    one.write_documents()
    config = tmp_path / "var/lib/winkube/kubeadm-init.yaml"
    said(str(binary("kubeadm", minor=minor)), "config", "validate", f"--config={config}")


@pytest.mark.parametrize("minor", SELF_MANAGED_RELEASES)
def test_authorities_and_an_administrator_are_made_before_a_cluster(
    minor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files that the nodes share, and a certificate of short life that an authority among them signed."""
    one = rendered_node(minor, tmp_path, monkeypatch)
    one.make_authorities()
    assert all((one.pki / file).read_text().startswith("-----BEGIN") for file in AUTHORITY_FILES)
    text = one.admin_kubeconfig(7200)
    assert 7000 < authorities.seconds_left(text.encode()) <= 7200
    config = yaml.safe_load(text)
    assert config["clusters"][0]["cluster"]["server"] == "https://api.test.example.com:6443"
    signed = x509.load_pem_x509_certificate(b64decode(config["users"][0]["user"]["client-certificate-data"]))
    signed.verify_directly_issued_by(x509.load_pem_x509_certificate((one.pki / "ca.crt").read_bytes()))
    assert signed.subject.rfc4514_string() == "CN=winkube-admin,O=kubeadm:cluster-admins"
    one.make_authorities()  # what is there in full stays


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        (["init"], ["--config", "--ignore-preflight-errors"]),
        (["join"], ["--config"]),
        (["reset"], ["--force", "--skip-phases"]),
        (["token", "create"], ["--ttl", "--usages", "--description", "--kubeconfig"]),
        *((["init", "phase", *phase], ["--config"]) for phase in node.FINISHING_PHASES),
        (["init", "phase", "certs", "etcd-healthcheck-client"], ["--config"]),
        (["init", "phase", "kubeconfig", "admin"], ["--config", "--kubeconfig-dir"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_kubeadm_knows_the_calls(kubeadm: str, command: list[str], flags: list[str]) -> None:
    """Every command and flag that the agent uses is one of kubeadm's."""
    text = said(kubeadm, *command, "--help")
    for flag in flags:
        assert flag in text, (command, flag)
    assert f"kubeadm {' '.join(command)}" in text


def test_reset_has_the_phase_that_the_agent_leaves_out(kubeadm: str) -> None:
    """A reset without removing the member: who is removed is decided under the join lock."""
    assert "remove-etcd-member" in said(kubeadm, "reset", "--help")
