"""A real API server under the names of the program: what ``pulumi up`` would meet after the cloud was made.

The program's kubeconfig names an API that does not exist, and trusts an authority. Here the stand-in plug-ins give
the program an authority of ours, the API server of the test bed has a certificate of it for that name, and a proxy
(``HTTPS_PROXY``) leads every name to it. So the kubeconfig that the program renders is used as it is.
"""

import base64
import json
import socket
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cluster import pki
from tests.cluster.bed import Cluster
from tests.cluster.nodes import node_manifest

from .cloud import Cloud

EKS_HOST = "stand-in.eks.example.com"
API_NAMES = ("api.kubeadm-dev.example.com", "api.kubeadm-prod.example.com", EKS_HOST)
ADMINISTRATORS = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "kubeadm:cluster-admins"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "kubeadm:cluster-admins"}],
}
"""What kubeadm itself makes while the first node comes up."""


class Authority:
    """The authority of a cluster, in the place of the one that the program would make."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = pki.certificate(pki.name("kubernetes"), self.key, None, None)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def key_outputs(self) -> dict[str, str]:
        """What ``tls.PrivateKey`` gives."""
        forms, plain = serialization.PrivateFormat, serialization.NoEncryption()
        public = self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        made = {
            name: self.key.private_bytes(serialization.Encoding.PEM, form, plain).decode()
            for name, form in (("privateKeyPem", forms.TraditionalOpenSSL), ("privateKeyPemPkcs8", forms.PKCS8))
        }
        return {**made, "publicKeyPem": public.decode()}

    def pair(self, folder: Path, name: str, user: str, group: str | None, names: tuple[str, ...] = ()) -> None:
        """Write the key and certificate of a server with ``names``, or of a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives: list[x509.GeneralName] = [x509.DNSName(it) for it in names]
        made = pki.certificate(pki.name(user, group), key, (self.certificate, self.key), alternatives or None)
        pki.write(folder, name, key, made)


class NamedCluster(Cluster):
    """The test bed, which also answers under the names of the program and knows the clients of its authority."""

    def __init__(self, authority: Authority, **settings: Any) -> None:
        super().__init__(**settings)
        self._authority = authority

    def _api_server_flags(self, etcd: str) -> dict[str, Any]:
        own = self.folder / "named"
        self._authority.pair(own, "api", "kube-apiserver", None, API_NAMES)
        clients = own / "clients.crt"
        clients.write_text((self.pki / "ca.crt").read_text() + self._authority.pem)
        return {**super()._api_server_flags(etcd), "client-ca-file": clients,
                "tls-sni-cert-key": f"{own}/api.crt,{own}/api.key"}  # fmt: skip


class World:
    """A running test bed with its proxy, as the plug-ins are told of it."""

    def __init__(self, cluster: NamedCluster, authority: Authority, proxy: str, folder: Path) -> None:
        self.cluster, self.proxy, self.path = cluster, proxy, folder
        self._authority = authority
        authority.pair(folder, "eks", "winkube-admin", "kubeadm:cluster-admins")
        self._write_aws()

    def tell(self, cloud: Cloud) -> None:
        """Let the plug-ins of ``cloud`` give the program this cluster."""
        data = base64.b64encode(self._authority.pem.encode()).decode()
        eks = {"endpoint": f"https://{EKS_HOST}", "certificateAuthorities": [{"data": data}],
               "certificateAuthority": {"data": data}}  # fmt: skip
        named = {f"{name}-pki-ca-key": self._authority.key_outputs() for name in ("kubeadm-dev", "kubeadm-prod")}
        named |= {f"{name}-pki-ca": {"certPem": self._authority.pem} for name in ("kubeadm-dev", "kubeadm-prod")}
        cloud.set(outputs={"aws:eks/cluster:Cluster": eks, **named}, proxy=self.proxy)

    def environment(self) -> Mapping[str, str]:
        """For the real kubernetes provider: loopback addresses go past a proxy by themselves."""
        return {"HTTPS_PROXY": self.proxy}

    def _write_aws(self) -> None:
        """The command ``aws eks get-token``, with a certificate for token: the test bed has no webhook for tokens."""
        status = {"clientCertificateData": (self.path / "eks.crt").read_text(),
                  "clientKeyData": (self.path / "eks.key").read_text()}  # fmt: skip
        credential = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": status}
        command = self.path / "aws"
        command.write_text(f"#!{sys.executable}\nprint({json.dumps(credential)!r})\n")
        command.chmod(0o755)


@contextmanager
def world(folder: Path) -> Generator[World]:
    """Start the test bed; skips where its programs cannot be had."""
    authority = Authority()
    with NamedCluster(authority) as cluster, _proxy(cluster.port) as proxy:
        cluster.client.apply(ADMINISTRATORS)
        cluster.client.create(node_manifest("linux-1"))
        yield World(cluster, authority, proxy, folder)


@contextmanager
def _proxy(port: int) -> Generator[str]:
    """An HTTP proxy that leads every CONNECT to one port of the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, port), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_connect, args=(client, port), daemon=True).start()


def _connect(client: socket.socket, port: int) -> None:
    asked = b""
    while not asked.endswith(b"\r\n\r\n"):
        part = client.recv(1)
        if not part:
            client.close()
            return
        asked += part
    server = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    for one, other in ((client, server), (server, client)):
        threading.Thread(target=_pour, args=(one, other), daemon=True).start()


def _pour(source: socket.socket, target: socket.socket) -> None:
    try:
        while part := source.recv(65536):
            target.sendall(part)
    except OSError:
        pass
    finally:
        for end in (source, target):
            end.close()
