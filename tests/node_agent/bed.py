"""A test bed for agents as processes: AWS behind a proxy that can fail, metadata, an API endpoint, machines on disk."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3

from tests.node_agent import standin

AGENT = Path(__file__).resolve().parents[2] / "components/node_agent"
REGION = "eu-west-1"
CLUSTER = "test"
TOKEN = re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b")
OWN_HEADERS = ("content-length", "transfer-encoding", "connection", "server", "date")
KEY_ARN = "arn:aws:kms:eu-west-1:111122223333:key/1d6f6b63-7f2b-5f1c-b3e5-3be3fe2e3e4b"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


class Server(ThreadingHTTPServer):
    """A server that does not speak, and does not wait for its clients."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients of these tests are killed in the middle of everything."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def answer(self, code: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def serve(handler: type[Handler], host: str = "127.0.0.1") -> Server:
    server = Server((host, 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


class Fault:
    """What goes wrong with some requests: ``500``, ``lost`` (done, but the answer is a 500), ``hang``, ``403``."""

    def __init__(self, kind: str, service: str, matches: str = "", count: int = 10**9) -> None:
        self.kind, self.service, self.matches, self.count = kind, service, matches, count
        self.hits = 0


class Proxy:
    """Between the agents and AWS: S3 decides one write after the other, faults come in, Auto Scaling answers."""

    def __init__(self, target: str) -> None:
        host, port = target.removeprefix("http://").split(":")
        self.faults: list[Fault] = []
        self.completed: list[str] = []
        self.calls: list[tuple[str, str]] = []
        lock = threading.Lock()
        proxy = self

        class Forward(Handler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                scope = re.search(r"/([a-z0-9]+)/aws4_request", self.headers.get("Authorization", ""))
                service = scope[1] if scope else ""
                text = f"{self.command} {self.path} {self.headers.get('X-Amz-Target', '')} {body[:300]!r}"
                proxy.calls.append((service, text))
                fault = proxy.fault(service, text)
                if fault and fault.kind == "hang":
                    time.sleep(1.5)
                if fault and fault.kind == "500":
                    return self.answer(500, b"<Error><Code>InternalError</Code></Error>")
                if service == "autoscaling" and b"Action=CompleteLifecycleAction" in body:
                    proxy.completed.append(body.decode())
                    return self.answer(200, b"<CompleteLifecycleActionResponse><CompleteLifecycleActionResult/>"
                                            b"</CompleteLifecycleActionResponse>")  # fmt: skip
                with lock:
                    upstream = http.client.HTTPConnection(host, int(port), timeout=20)
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
                    upstream.request(self.command, self.path, body, headers)
                    answer = upstream.getresponse()
                    content = answer.read()
                    upstream.close()
                if fault and fault.kind == "lost":
                    return self.answer(500, b"<Error><Code>InternalError</Code></Error>")
                if fault and fault.kind == "403" and answer.status == 404:
                    return self.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
                kept = {name: value for name, value in answer.getheaders() if name.lower() not in OWN_HEADERS}
                return self.answer(answer.status, content, kept)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

        self.server = serve(Forward)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def fault(self, service: str, text: str) -> Fault | None:
        for fault in self.faults:
            if fault.service == service and fault.matches in text and fault.hits < fault.count:
                fault.hits += 1
                return fault
        return None


class Machine:
    """One EC2 instance: its disk, its metadata, and the agent on it."""

    def __init__(self, bed: "Bed", name: str, address: str, slot: str | None) -> None:
        self.bed, self.name, self.address, self.slot = bed, name, address, slot
        self.root = bed.folder / name
        self.lifecycle = ""
        self.process: subprocess.Popen[bytes] | None = None
        self.log_path = self.root / "agent.log"
        (self.root / "etc/winkube").mkdir(parents=True)
        (self.root / "etc/winkube/node.json").write_text(json.dumps(bed.document(slot)))

    def environment(self, **more: str) -> dict[str, str]:
        commands = self.bed.folder / "bin"
        return {
            **CREDENTIALS, "PATH": f"{commands}:/usr/bin:/bin", "AWS_ENDPOINT_URL": self.bed.proxy.url,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{self.bed.metadata.server_port}/{self.name}",
            "AWS_EC2_METADATA_DISABLED": "true", "WINKUBE_AGENT_ROOT": str(self.root),
            "STANDIN_BED": str(self.bed.folder), "STANDIN_NODE": self.name, "PYTHONPATH": str(AGENT), **more,
        }  # fmt: skip

    def start(self, **environment: str) -> "Machine":
        """Start the service; a test may name the step at which it ends."""
        env = self.environment(**environment)
        with self.log_path.open("ab") as log:
            call = [sys.executable, "-m", "winkube_agent", "run"]
            self.process = subprocess.Popen(call, env=env, stdout=log, stderr=log, start_new_session=True)
        return self

    def command(self, name: str) -> "subprocess.CompletedProcess[str]":
        """A command for people, run beside the service."""
        call = [sys.executable, "-m", "winkube_agent", name]
        return subprocess.run(call, env=self.environment(), capture_output=True, text=True, timeout=30, check=False)

    def signal(self, sign: int) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, sign)

    def stop(self) -> None:
        """End the agent, as a reboot would; whatever it started ends too, and nothing else."""
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait(10)
            self.process = None

    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def terminate(self) -> None:
        """The instance is terminated: its processes and its disk are gone, and EC2 says so."""
        self.stop()
        self.bed.die(self)
        self.bed.ec2.terminate_instances(InstanceIds=[self.name])

    @property
    def log(self) -> str:
        return self.log_path.read_text() if self.log_path.exists() else ""

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    def steps(self) -> list[str]:
        return [one["step"] for one in self.events() if one["event"] == "step"]

    @property
    def state(self) -> dict[str, Any]:
        try:
            return json.loads((self.root / "var/lib/winkube/state.json").read_text())
        except OSError:
            return {}

    @property
    def status(self) -> dict[str, Any]:
        try:
            return json.loads((self.root / "var/lib/winkube/status.json").read_text())
        except OSError:
            return {}

    @property
    def error(self) -> str:
        return str((self.status.get("error") or {}).get("code"))

    def ready(self) -> bool:
        return self.status.get("phase") == "ready"


class Bed:
    """All of it; :meth:`check` holds the invariants against the journal of the stand-ins."""

    def __init__(self, folder: Path, moto: str, certificate: Path, slots: int = 3) -> None:
        self.folder, self.certificate = folder, certificate
        self.slots = [f"cp-{number}" for number in range(slots)]
        self.bucket, self.parameter = f"state-{uuid.uuid4().hex}", f"/winkube/{uuid.uuid4().hex}/join-token"
        self.machines: dict[str, Machine] = {}
        self.overrides: dict[str, Any] = {}
        self.deadlines: dict[str, float] = {
            "poll_seconds": 0.1, "lease_seconds": 1, "heartbeat_seconds": 0.2, "resume_seconds": 0.5,
            "local_seconds": 1, "api_seconds": 0.5, "request_seconds": 0.3, "request_attempts": 3,
            "retry_seconds": 0.02, "backoff_seconds": 0.1, "backoff_limit_seconds": 0.3, "status_seconds": 0.4,
            "leader_check_seconds": 0.2, "leave_check_seconds": 0.1,
        }  # fmt: skip
        (folder / "world.json").write_text(json.dumps({"nodes": {}, "clusters": {}, "next": 2**63 + 7}))
        (folder / "journal.jsonl").touch()
        (folder / "api.crt").write_bytes(certificate.read_bytes())
        (folder / "bin").mkdir()
        for name in ("kubeadm", "kubectl", "etcdctl", "etcdutl", "systemctl"):
            script = folder / "bin" / name
            script.symlink_to(folder / "standin")
        text = Path(standin.__file__).read_text()
        (folder / "standin").write_text(f"#!{sys.executable} -IS\n{text}")
        (folder / "standin").chmod(0o755)
        self.proxy = Proxy(moto)
        self.metadata = self._metadata()
        self.api = self._api()
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        self.s3, self.ssm, self.ec2, self.autoscaling = (
            boto3.client(name, region_name=REGION, endpoint_url=moto, **keys)
            for name in ("s3", "ssm", "ec2", "autoscaling")
        )
        self.s3.create_bucket(Bucket=self.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.s3.put_object(Bucket=self.bucket, Key=self.key("pki/1/ca.crt"), Body=certificate.read_bytes())
        self.s3.put_object(Bucket=self.bucket, Key=self.key("pki/1/ca.key"), Body=b"private")

    def close(self) -> None:
        for machine in self.machines.values():
            machine.signal(signal.SIGCONT)
            machine.stop()
        for server in (self.proxy.server, self.metadata, self.api):
            server.shutdown()
            server.server_close()

    def key(self, name: str) -> str:
        return f"clusterconfigs/{CLUSTER}/{name}"

    def document(self, slot: str | None) -> dict[str, Any]:
        plane = slot is not None
        pki = "/etc/kubernetes/pki"
        join = "kind: JoinConfiguration\ndiscovery:\n  file:\n    kubeConfigPath: /etc/winkube/discovery.conf\n"
        return {
            "version": 1, "role": "control_plane" if plane else "worker", "group": "control-plane" if plane else "w",
            "slot": slot, "slots": self.slots if plane else None, "region": REGION,
            "cluster": {"name": CLUSTER, "kubernetes_version": "1.36.4", "incarnation": 1,
                        "endpoint": f"127.0.9.9:{self.api.server_port}", "pod_cidr": "", "service_cidr": ""},
            "bucket": {"name": self.bucket, "prefix": self.key("")},
            "token": {"parameter": self.parameter, "key_arn": None, "ttl_seconds": 3600, "refresh_seconds": 1800},
            "runtime": "containerd", "artefacts": [], "modules": [], "sysctls": {}, "services": [], "images": [],
            "files": [], "proxy": None,
            "secrets": [{"path": f"{pki}/ca.crt", "mode": "0644", "key": self.key("pki/1/ca.crt")},
                        {"path": f"{pki}/ca.key", "mode": "0600", "key": self.key("pki/1/ca.key")}] if plane else [],
            "kubeadm": {"init": "name: ${INSTANCE_ID}\n" if plane else None,
                        "join": join + ("controlPlane: {address: ${PRIVATE_IP}}\n" if plane else ""),
                        "discovery": "user:\n  token: ${JOIN_TOKEN}\n"},
            "backup": {"interval_seconds": 900, "retention": {}} if plane else None,
            "deadlines": self.deadlines, **self.overrides,
        }  # fmt: skip

    def makes_authorities(self) -> None:
        """The nodes make the certificate authorities, and the bucket has none yet."""
        for name in ("ca.crt", "ca.key"):
            self.s3.delete_object(Bucket=self.bucket, Key=self.key(f"pki/1/{name}"))
        pki, rows = "/etc/kubernetes/pki", [name for pair in standin.AUTHORITIES.values() for name in pair]
        self.overrides["authorities"] = {"prefix": self.key("pki/1/"), "key_arn": KEY_ARN, "admin_seconds": 86400}
        self.overrides["secrets"] = [
            *({"path": f"{pki}/{name}", "mode": "0600", "key": self.key(f"pki/1/{name.replace('/', '-')}")}
              for name in rows),
            {"path": "/etc/kubernetes/winkube/encryption.yaml", "mode": "0600",
             "key": self.key("pki/1/encryption.yaml"), "content": "secret: ${SECRETBOX_KEY}\n"},
        ]  # fmt: skip

    def machine(self, slot: str | None = None, address: str = "") -> Machine:
        """A new instance, of a slot or a worker."""
        image = "ami-12c6146b"
        started = self.ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)
        name = started["Instances"][0]["InstanceId"]
        address = address or f"127.0.1.{len(self.machines) + 1}"
        machine = self.machines[name] = Machine(self, name, address, slot)
        with standin.world(self.folder) as it:
            it.nodes[name] = {"ip": address, "slot": slot, "root": str(machine.root), "up": True}
        return machine

    def die(self, machine: Machine) -> None:
        """The machine is off."""
        with standin.world(self.folder) as it:
            it.nodes[machine.name]["up"] = False

    def established(self, count: int) -> list[Machine]:
        """A healthy cluster of this many nodes whose agents do not run."""
        machines = [self.machine(slot) for slot in self.slots[:count]]
        with standin.world(self.folder) as it:
            members = []
            for machine in machines:
                for name in ("manifests/etcd.yaml", "manifests/apiserver.yaml", "admin.conf", "kubelet.conf",
                             "pki/etcd/healthcheck-client.key", "pki/ca.key"):  # fmt: skip
                    standin.put(machine.root / "etc/kubernetes" / name)
                standin.put(machine.root / "etc/kubernetes/pki/ca.crt", self.certificate.read_text())
                number = it.values["next"]
                it.values["next"] += 1
                members.append({"id": number, "name": machine.name, "ip": machine.address, "learner": False})
                standin.put(machine.root / "var/lib/etcd/member.json", json.dumps({"cluster": "c", "id": number}))
                made = "joined" if members[1:] else "initialized"
                standin.put(machine.root / "var/lib/winkube/state.json",
                            json.dumps({"instance_id": machine.name, "made": made}))  # fmt: skip
            it.clusters["c"] = {"id": "c", "keys": 100, "revision": 100, "config": True, "members": members,
                                "tokens": {"abcdef.0123456789abcdef": time.time() + 3600}, "binding": False,
                                "nodes": [one.name for one in machines], "marked": [one.name for one in machines],
                                "leader": members[0]["id"], "restored": False}  # fmt: skip
        for machine in machines:
            value = {"instance_id": machine.name, "private_ip": machine.address, "slot": machine.slot}
            self.put_object(f"bootstrap/1/status/{machine.slot}.json", value)
        first = {"instance_id": machines[0].name, "private_ip": machines[0].address, "slot": machines[0].slot}
        self.put_object("bootstrap/1/lock", first)
        self.put_object("bootstrap/1/initialized", first)
        self.put_token("abcdef.0123456789abcdef")
        return machines

    def put_token(self, value: str) -> None:
        self.ssm.put_parameter(Name=self.parameter, Value=value, Type="SecureString", Overwrite=True)

    def put_object(self, name: str, value: Any) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.s3.put_object(Bucket=self.bucket, Key=self.key(name), Body=body)

    def object(self, name: str) -> dict[str, Any] | None:
        try:
            return json.loads(self.s3.get_object(Bucket=self.bucket, Key=self.key(name))["Body"].read())
        except self.s3.exceptions.NoSuchKey:
            return None

    def text(self, name: str) -> str:
        return self.s3.get_object(Bucket=self.bucket, Key=self.key(name))["Body"].read().decode()

    def keys(self, prefix: str) -> list[str]:
        page = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=self.key(prefix))
        return [one["Key"] for one in page.get("Contents", [])]

    def journal(self, event: str = "") -> list[dict[str, Any]]:
        lines = (self.folder / "journal.jsonl").read_text().splitlines()
        return [one for one in map(json.loads, lines) if not event or one["event"] == event]

    def cluster(self) -> dict[str, Any]:
        with standin.world(self.folder) as it:
            return dict(it.served() or {})

    def voters(self) -> set[str]:
        return {one["name"] for one in self.cluster().get("members", []) if not one["learner"]}

    def wait(self, what: Callable[[], Any], seconds: float = 60) -> None:
        """Until something is true; with the logs of all agents if it never is."""
        until = time.monotonic() + seconds
        while not what():
            if time.monotonic() > until:
                logs = "\n".join(f"--- {one.name} {one.slot}\n{one.log[-3500:]}" for one in self.machines.values())
                raise AssertionError(f"never came true\n{logs}\n{self.journal()}")
            time.sleep(0.03)

    def check(self, *, restores: int = 0) -> None:
        """What must hold after every scenario."""
        made = [one for one in self.journal("init-done") if not one.get("restored")]
        served = {one["cluster"] for one in self.journal("init-serves") if not one["restored"]}
        published = self.object("bootstrap/1/initialized")
        with standin.world(self.folder) as it:
            living = {one["id"] for one in it.clusters.values() if any(it.quorum(one) for _ in it.alive(one))}
        assert len(living) <= 1, "two clusters live"
        assert len(served) <= 1 + len(self.journal("reset")), (made, published)
        assert len([one for one in self.journal("init-serves") if one["restored"]]) == restores
        for one in self.journal("member-remove"):
            assert one["own"] or not one["running"], f"the member of a running instance was removed: {one}"
        assert not self.journal("reused-dead-member")
        assert not self.journal("foreign-authority"), "there are two sets of certificate authorities"
        secrets = {token for one in self._clusters() for token in one["tokens"]}
        for machine in self.machines.values():
            files = [machine.log_path, *(machine.root / "var/lib/winkube").glob("*.json")]
            for path in files:
                text = path.read_text() if path.exists() else ""
                assert not TOKEN.search(text), (path, TOKEN.findall(text))
                assert not [one for one in secrets if one.split(".")[1] in text], path
            if machine.ready() and not machine.ended():
                assert not (machine.root / "etc/winkube/discovery.conf").exists(), "it holds the token"
        for key in self.keys("bootstrap/"):
            text = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read().decode()
            assert not TOKEN.search(text), key

    def _clusters(self) -> list[dict[str, Any]]:
        with standin.world(self.folder) as it:
            return list(it.clusters.values())

    def _metadata(self) -> Server:
        bed = self

        class Metadata(Handler):
            def do_PUT(self) -> None:
                self.answer(200, b"imds-token")

            def do_GET(self) -> None:
                _, name, *rest = self.path.split("/")
                machine = bed.machines[name]
                values = {"instance-id": name, "local-ipv4": machine.address,
                          "placement/availability-zone": f"{REGION}a",
                          "autoscaling/target-lifecycle-state": machine.lifecycle}  # fmt: skip
                value = values.get("/".join(rest).removeprefix("latest/meta-data/"))
                if self.headers.get("X-aws-ec2-metadata-token") != "imds-token":
                    self.answer(401)
                else:
                    self.answer(200 if value else 404, (value or "").encode())

        return serve(Metadata)

    def _api(self) -> Server:
        """API servers and the balancer before them: the address that was called says which one is meant."""
        bed = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.certificate.with_suffix(".key"))

        class Api(Handler):
            def setup(self) -> None:
                address = self.request.getsockname()[0]
                with standin.world(bed.folder) as it:
                    node = it.by_address(address)
                    self.found = it.behind_endpoint() if address == "127.0.9.9" else it.api(node) if node else "silent"
                if self.found == "silent":
                    raise ConnectionError
                self.request = context.wrap_socket(self.request, server_side=True)
                super().setup()

            def do_GET(self) -> None:
                self.close_connection = True
                self.answer(200 if self.found == "ready" else 500, b"ok")

        server = serve(Api, "0.0.0.0")  # noqa: S104
        assert server.socket.family == socket.AF_INET
        return server
