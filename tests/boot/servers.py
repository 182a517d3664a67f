"""What stands around the machines: mirror, registry, metadata service, AWS API behind TLS, balancer of the API."""

import csv
import ctypes
import json
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .images import Registry

CLONE_NEWNET = 0x40000000
CHECK = "check check-ssl verify none inter 2s rise 2 fall 2 on-marked-down shutdown-sessions"
TOKEN = "metadata-token-of-the-test"
REQUEST = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Quiet(BaseHTTPRequestHandler):
    """Answers without a log."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def answer(self, status: int, body: bytes = b"", kind: str = "text/plain", **headers: str) -> None:
        """One answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_file(self, path: Path, spoilt: bool = False) -> None:
        """A file; with one wrong byte in the middle when that is asked for."""
        size = path.stat().st_size
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.flush()
        with path.open("rb") as file:
            if not spoilt:
                self.connection.sendfile(file)
                return
            data = bytearray(file.read())
        data[size // 2] ^= 1
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """Does not ask for the name of its address: there is nobody to answer, and that takes ten seconds."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that goes away in the middle: it asks again."""

    def server_bind(self) -> None:
        """Bind."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class Mirror:
    """Artefacts under ``/files/<host>/<path>``, images under ``/v2``."""

    def __init__(self, files: Mapping[str, Path], registry: Registry) -> None:
        self.files = files
        self.registry = registry
        self.spoilt: set[str] = set()
        """Paths whose content is served with one wrong byte."""
        self.asked: list[str] = []

    def serve(self, address: str, port: int) -> ThreadingHTTPServer:
        """Start to answer."""
        mirror = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                mirror.get(self)

            do_HEAD = do_GET  # noqa: N815

        return _started(Server((address, port), Handler))

    def get(self, handler: Quiet) -> None:
        """Answer one request."""
        path = handler.path.partition("?")[0]
        self.asked.append(path)
        if path.startswith("/files/") and path.removeprefix("/files/") in self.files:
            name = path.removeprefix("/files/")
            handler.send_file(self.files[name], name in self.spoilt)
        elif path in ("/v2", "/v2/"):
            handler.answer(200, b"{}", "application/json")
        elif "/manifests/" in path:
            name, _, reference = path.removeprefix("/v2/").partition("/manifests/")
            key = f"{name}{'@' if reference.startswith('sha256:') else ':'}{reference}"
            body = self.registry.manifests.get(key)
            if body is None:
                handler.answer(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}', "application/json")
                return
            handler.answer(200, body, "application/vnd.oci.image.manifest.v1+json")
        elif "/blobs/" in path and self.registry.blob(path.rpartition("/")[2]).exists():
            handler.send_file(self.registry.blob(path.rpartition("/")[2]))
        else:
            handler.answer(404)


class Metadata:
    """The metadata service of one instance, version 2 alone, in the network of its machine."""

    def __init__(self, values: Mapping[str, str], identity: Mapping[str, str]) -> None:
        self.values = dict(values)
        expires = datetime.now(UTC) + timedelta(hours=6)
        self.values["iam/security-credentials/"] = "node"
        self.values["iam/security-credentials/node"] = json.dumps(
            {"Code": "Success", "LastUpdated": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "Type": "AWS-HMAC",
             "AccessKeyId": "ASIATEST", "SecretAccessKey": "secret", "Token": "token",
             "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}, indent=2
        )  # fmt: skip
        self.identity = json.dumps(identity).encode()

    def serve(self, namespace: Path) -> ThreadingHTTPServer:
        """Start to answer at the usual address."""
        metadata = self

        class Handler(Quiet):
            def do_PUT(self) -> None:
                life = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
                if self.path == "/latest/api/token" and life:
                    self.answer(200, TOKEN.encode(), X_aws_ec2_metadata_token_ttl_seconds=life)
                else:
                    self.answer(400)

            def do_GET(self) -> None:
                metadata.get(self)

        made: list[ThreadingHTTPServer] = []

        def work() -> None:
            with namespace.open() as file:
                if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            made.append(_started(Server(("169.254.169.254", 80), Handler)))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return made[0]

    def get(self, handler: Quiet) -> None:
        """Answer one request."""
        if handler.headers.get("X-aws-ec2-metadata-token") != TOKEN:
            handler.answer(401)
            return
        path = handler.path.removeprefix("/latest/")
        value = self.values.get(path.removeprefix("meta-data/"))
        if path == "dynamic/instance-identity/document":
            handler.answer(200, self.identity, "application/json")
        elif value is None:
            handler.answer(404)
        else:
            handler.answer(200, value.encode())


def authority(folder: Path) -> Path:
    """The certificate of an authority, made once: images carry it."""
    if not (folder / "ca.crt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _quiet(*REQUEST, "-days", "3650", "-keyout", str(folder / "ca.key"), "-out", str(folder / "ca.crt"),
               "-subj", "/CN=test authority")  # fmt: skip
    return folder / "ca.crt"


def make_certificate(folder: Path, signed_by: Path, names: list[str]) -> None:
    """A certificate for these names with its key, as ``server.pem``."""
    alternative = ",".join(f"DNS:{name}" for name in names)
    _quiet(*REQUEST, "-days", "2", "-keyout", str(folder / "server.key"), "-out", str(folder / "server.crt"),
           "-subj", "/CN=aws", "-addext", f"subjectAltName={alternative}",
           "-addext", "basicConstraints=critical,CA:false", "-CA", str(signed_by),
           "-CAkey", str(signed_by.with_suffix(".key")))  # fmt: skip
    (folder / "server.pem").write_text((folder / "server.crt").read_text() + (folder / "server.key").read_text())


class Balancer:
    """HAProxy: TLS for the AWS API, and the API's network load balancer with the health check of the stack."""

    def __init__(self, folder: Path, gateway: str, api: str, moto: int) -> None:
        self.folder = folder
        self.gateway = gateway
        self.api = api
        self.moto = moto
        self.targets: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def apply(self) -> None:
        """Start with the targets of now."""
        servers = "\n".join(f"  server {name} {address}:6443 {CHECK}" for name, address in self.targets.items())
        (self.folder / "haproxy.cfg").write_text(
            f"""\
global
  maxconn 4000
  stats socket {self.folder}/haproxy.sock mode 600
defaults
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend aws
  mode http
  bind {self.gateway}:443 ssl crt {self.folder}/server.pem
  default_backend moto
backend moto
  mode http
  server moto 127.0.0.1:{self.moto}
frontend api
  mode tcp
  bind {self.api}:6443
  default_backend api
backend api
  mode tcp
  option httpchk GET /readyz
  http-check expect status 200
{servers}
"""
        )
        self.stop()
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", str(self.folder / "haproxy.cfg")],
            stdout=(self.folder / "haproxy.log").open("ab"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def health(self, target: str) -> str:
        """What the health check of a target says, in the words of a load balancer of AWS."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self.folder / "haproxy.sock"))
            asking.sendall(b"show stat\n")
            said = asking.makefile().read()
        rows = csv.DictReader(said.removeprefix("# ").splitlines())
        status = next((row["status"] for row in rows if row["pxname"] == "api" and row["svname"] == target), None)
        if status is None:
            return "unused"
        return "healthy" if status == "UP" else "initial" if status.startswith(("UP ", "no check")) else "unhealthy"

    def stop(self) -> None:
        """End it."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def wait(what: str, condition: Callable[[], Any], seconds: float, every: float = 0.5) -> Any:
    """Ask until the answer is something true."""
    until = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        if time.monotonic() > until:
            raise TimeoutError(f"no {what} in {seconds:g} s")
        time.sleep(every)


def _started(server: ThreadingHTTPServer) -> ThreadingHTTPServer:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _quiet(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr}")
