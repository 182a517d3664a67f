"""A control plane as plain processes, from the static pods that the real kubeadm makes of our documents.

Certificates, kubeconfigs and manifests are kubeadm's own; the commands of the manifests are run as they are, but for
addresses and ports, which become free ones of the loopback interface, and paths, which lie below a folder.
"""

import base64
import json
import re
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from winkube.kubeadm import api_server, kubeadm_documents, paths
from winkube.kubeadm.config import ClusterConfig
from winkube.kubeadm.rendering import render

from tests.binaries import binary

from .places import FACTS, filled, moved

PATIENCE = 60
PORTS = ("6443", "2379", "2380", "2381", "10257", "10259")
KEY = base64.b64encode(bytes(range(32))).decode()


class Plane:
    """The files of one control plane, and the processes that run of it."""

    def __init__(self, cluster: ClusterConfig, root: Path) -> None:
        self.cluster, self.root = cluster, root
        self.minor = cluster.kubernetes_version
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._write()

    def _write(self) -> None:
        """Everything that is on the disk of a node before its first process starts."""
        config = self.root / "kubeadm.yaml"
        config.write_text(moved(filled(render(kubeadm_documents.init_documents(self.cluster))), self.root))
        files = dict(api_server.api_server_files(self.cluster))
        if self.cluster.secrets_encryption == "secretbox":
            keys = [api_server.EncryptionKey(name="k1", secret=KEY)]
            files[paths.ENCRYPTION] = api_server.encryption_configuration(self.cluster, keys)
        for path, document in files.items():
            self.write(path, render(document))
        self.place(paths.AUDIT_LOGS).mkdir(parents=True, exist_ok=True)
        self.manifests = self.root / "manifests"
        self.manifests.mkdir()
        self.kubeadm("certs", "all", "--config", config)
        self.kubeadm("kubeconfig", "all", "--config", config, "--kubeconfig-dir", self.place("/etc/kubernetes"))
        self.kubeadm("control-plane", "all", "--dry-run", "--config", config)
        self.kubeadm("etcd", "local", "--dry-run", "--config", config)
        for file in self.place("/etc/kubernetes").glob("*.conf"):
            server = f"server: https://127.0.0.1:{self.ports['6443']}"
            file.write_text(re.sub(r"server: https://\S+", server, file.read_text()))

    def place(self, path: str) -> Path:
        """Where a path of the node lies."""
        return Path(moved(path, self.root))

    def write(self, path: str, text: str) -> None:
        """Write a file of the node."""
        place = self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(moved(text, self.root))

    def kubeadm(self, *phase: str | Path) -> None:
        """Run a phase of ``kubeadm init``."""
        command = [binary("kubeadm", minor=self.minor), "init", "phase", *phase]
        environment = {"KUBEADM_INIT_DRYRUN_DIR": str(self.manifests), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr

    def command(self, name: str) -> list[str]:
        """The command of a static pod, with the ports of this test."""
        pod = yaml.safe_load((self.manifests / f"{name}.yaml").read_text())
        program, *flags = pod["spec"]["containers"][0]["command"]
        flags = [self._local(flag) for flag in flags]
        own = {
            "kube-apiserver": [f"--secure-port={self.ports['6443']}", "--bind-address=127.0.0.1"],
            "kube-controller-manager": [f"--secure-port={self.ports['10257']}"],
            "kube-scheduler": [f"--secure-port={self.ports['10259']}"],
        }.get(name, [])
        return [str(binary(program, minor=self.minor)), *flags, *own]

    def _local(self, flag: str) -> str:
        name, equals, value = flag.partition("=")
        if "advertise-address" in name:
            return flag
        for port, free in self.ports.items():
            value = re.sub(rf"(https?://[\d.]+):{port}\b", rf"\g<1>:{free}", value)
        value = value.replace(FACTS["${PRIVATE_IP}"], "127.0.0.1")
        if str(self.root) not in value:
            value = moved(value, self.root)  # kubeadm's own paths: the kubeconfigs
        return name + equals + ",".join(dict.fromkeys(value.split(",")))

    def start(self, name: str) -> None:
        """Start a component; its output goes to ``<name>.log``."""
        log = (self.root / f"{name}.log").open("wb")
        self.processes[name] = subprocess.Popen(self.command(name), stdout=log, stderr=log, cwd=self.root)

    def check(self) -> None:
        """Fail with the end of its log if a component has ended."""
        for name, process in self.processes.items():
            assert process.poll() is None, f"{name} ended: {self.log(name)[-3000:]}"

    def stop(self) -> None:
        """End all processes at once: nothing of them is kept."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()

    def log(self, name: str) -> str:
        """What a component has said."""
        return (self.root / f"{name}.log").read_text(errors="replace")

    def wait(self, name: str, path: str = "/readyz", port: str = "6443") -> None:
        """Wait until a component answers 200 on a path."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.check()
            if self.get(path, port=port)[0] == 200:
                return
            time.sleep(0.2)
        raise AssertionError(f"{name} did not answer on {path}: {self.log(name)[-3000:]}")

    def get(
        self, path: str, *, port: str = "6443", user: str | None = None, token: str | None = None
    ) -> tuple[int, Any]:
        """Status and body of a GET."""
        return self.request("GET", path, port=port, user=user, token=token)

    def post(
        self, path: str, body: Mapping[str, Any], *, user: str | None = "admin", token: str | None = None
    ) -> tuple[int, Any]:
        """Status and body of a POST."""
        return self.request("POST", path, body, user=user, token=token)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        port: str = "6443",
        user: str | None = None,
        token: str | None = None,
    ) -> tuple[int, Any]:
        """Status and body; 0 where nobody answers. ``user`` names a kubeconfig of kubeadm's."""
        request = urllib.request.Request(f"https://127.0.0.1:{self.ports[port]}{path}", method=method)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls(port, user), timeout=20) as answer:  # noqa: S310
                return answer.status, _read(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _read(error.read())
        except OSError:
            return 0, None

    def _tls(self, port: str, user: str | None) -> ssl.SSLContext:
        # Controllers make their own certificate for their own port; the API server's is checked.
        ca = self.place(paths.CLUSTER_CA) if port == "6443" else None
        context = ssl.create_default_context(cafile=ca) if ca else ssl._create_unverified_context()  # noqa: S323
        if user:
            entry = yaml.safe_load(
                self.place(f"/etc/kubernetes/{'super-' if user == 'admin' else ''}{user}.conf").read_text()
            )
            file = self.root / f"{user}.pem"
            data = entry["users"][0]["user"]
            parts = [base64.b64decode(data[f"client-{part}-data"]) for part in ("certificate", "key")]
            file.write_bytes(b"\n".join(parts))
            context.load_cert_chain(file)
        return context

    def etcd_value(self, key: str) -> bytes:
        """What lies in etcd under a key."""
        pki = self.place("/etc/kubernetes/pki")
        command = [
            binary("etcdctl"), f"--endpoints=https://127.0.0.1:{self.ports['2379']}", f"--cacert={pki}/etcd/ca.crt",
            f"--cert={pki}/etcd/healthcheck-client.crt", f"--key={pki}/etcd/healthcheck-client.key",
            "get", key, "--print-value-only",
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, check=True).stdout


@contextmanager
def running(cluster: ClusterConfig, root: Path, components: Sequence[str]) -> Iterator[Plane]:
    """A control plane with its API server ready, and further components started."""
    plane = Plane(cluster, root)
    try:
        plane.start("etcd")
        plane.start("kube-apiserver")
        plane.wait("kube-apiserver")
        for name in components:
            plane.start(name)
        yield plane
    finally:
        plane.stop()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
