"""A Windows node as far as Wine carries it: what the boot code would write, with what the test has to redirect.

Wine has neither named pipes that gRPC could use, nor a service manager, nor symbolic links: :data:`REDIRECTED` and
:data:`LEFT_OUT` say everything that differs from what a node gets, and nothing else does.
"""

import json
import re
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from winkube.windows_boot import paths
from winkube.windows_boot.node import WindowsNode
from winkube.windows_boot.windows_node_document import node_document

from tests.binaries import binary
from tests.binaries.wine import Wine
from tests.cluster.client import Client
from tests.cluster.processes import Process, free_ports

TOKEN_ID, TOKEN_SECRET = "abcdef", "0123456789abcdef"
ZONE = "eu-west-1a"
REDIRECTED = ("containerRuntimeEndpoint", "port", "healthzPort")
"""Fields of the KubeletConfiguration that differ: TCP instead of a named pipe, and ports that are free here."""
LEFT_OUT = ("--windows-service=true",)
"""Flags that are not given: there is no service manager."""


def node_ip() -> str:
    """An address of this machine that is not loopback; a kubelet takes no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("198.51.100.1", 9))  # sends nothing
            return str(one.getsockname()[0])
        except OSError:
            pytest.skip("a kubelet needs an address that is not loopback, and this machine has none")


@dataclass
class Facts:
    """What only a node knows, and the boot code fills in."""

    instance_id: str
    private_ip: str
    token: str = f"{TOKEN_ID}.{TOKEN_SECRET}"
    zone: str = ZONE

    def fill(self, text: str) -> str:
        """As ``Expand-Placeholder`` does."""
        values = {
            "INSTANCE_ID": self.instance_id,
            "ZONE": self.zone,
            "PRIVATE_IP": self.private_ip,
            "PROVIDER_ID": f"aws:///{self.zone}/{self.instance_id}",
            "JOIN_TOKEN": self.token,
        }
        return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], text)


class RunningNode:
    """A real kubelet on a played server, with a stand-in runtime.

    :param document: the node document, as the boot code reads it.
    """

    def __init__(self, server: Wine, document: Mapping[str, Any], minor: str, facts: Facts, folder: Path) -> None:
        self.server, self.document, self.facts, self.folder = server, document, facts, folder
        self.program = binary("kubelet", minor=minor, os="windows")
        runtime_port, self.port, self.healthz_port = free_ports(3)
        self.endpoint = f"tcp://127.0.0.1:{runtime_port}"
        self.runtime_log = folder / f"runtime-{facts.instance_id}.log"
        self.runtime = Process(
            [*server.within, binary("stand-in-runtime"), f"127.0.0.1:{runtime_port}"], self.runtime_log
        )
        wait("stand-in runtime", lambda: _listens(self.runtime.pid, runtime_port), 30)
        self.kubelet: Process | None = None
        self.starts = 0
        self._write()

    @property
    def log(self) -> str:
        """What the kubelet said since its last start."""
        path = self.folder / f"{self.facts.instance_id}-{self.starts}.log"
        return path.read_text(errors="replace") if path.is_file() else ""

    @property
    def arguments(self) -> list[str]:
        """The rendered flags, placeholders filled in."""
        flags = [self.facts.fill(one) for one in self.document["kubelet"]["arguments"]]
        return [one for one in flags if one not in LEFT_OUT]

    def start(self, *more: str) -> None:
        """Start the kubelet, with more flags than the rendered ones."""
        self.starts += 1
        log = self.folder / f"{self.facts.instance_id}-{self.starts}.log"
        command = self.server.command(self.program, *self.arguments, *more)
        self.kubelet = Process(command, log, environment=self.server.environment)

    def join(self, client: Client) -> None:
        """Come by TLS bootstrap until the Node is Ready; stopped if it does not."""
        name = self.facts.instance_id
        try:
            self.start()
            client.wait("certificate", self.certificates, 180)
            self.stop_kubelet()
            self.put_link()
            self.start()
            client.wait("Ready node", lambda: ready(client, name), 180)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the kubelet, and the runtime with it."""
        self.stop_kubelet()
        self.runtime.stop()

    def stop_kubelet(self) -> None:
        """Stop the kubelet; what it wrote stays."""
        if self.kubelet:
            self.kubelet.stop()
            self.kubelet = None

    def wait_said(self, words: str, seconds: float = 90) -> None:
        """Wait until the kubelet said something."""
        wait(f"{words!r} in the kubelet's log", lambda: words in self.log, seconds, lambda: self.log[-3000:])

    def certificates(self) -> list[Path]:
        """The client certificates that the kubelet was given, oldest first; not one that it is still writing."""
        found = self.server.path(paths.KUBELET + r"\pki").glob("kubelet-client-2*.pem")
        return sorted(one for one in found if one.read_text().endswith("PRIVATE KEY-----\n"))

    def current_certificate(self) -> Path:
        """The link to the newest one."""
        return self.server.path(paths.KUBELET + r"\pki\kubelet-client-current.pem")

    def put_link(self) -> None:
        """Put the newest certificate where the link to it would be: Wine makes no symbolic links."""
        shutil.copyfile(self.certificates()[-1], self.current_certificate())

    def _write(self) -> None:
        for folder in self.document["directories"]["own"]:
            self.server.path(folder).mkdir(parents=True, exist_ok=True)
        for file in self.document["files"]:
            text = self.facts.fill(file["content"])
            if file["path"] == paths.KUBELET_CONFIGURATION:
                text = self._redirected(text)
            self.server.write(file["path"], text)
        bootstrap = self.document["kubelet"]["bootstrapKubeconfig"]
        self.server.write(bootstrap["path"], self.facts.fill(bootstrap["content"]))
        if any("image-credential-provider" in one for one in self.arguments):
            # The kubelet looks for the program when it starts, and runs it for images of ECR alone.
            provider = rf"{paths.CREDENTIAL_PROVIDERS}\ecr-credential-provider.exe"
            self.server.write(provider, binary("host-local", os="windows").read_bytes())

    def _redirected(self, text: str) -> str:
        values = dict(zip(REDIRECTED, (self.endpoint, self.port, self.healthz_port), strict=True))
        return json.dumps({**json.loads(text), **values})


class DescribedNode(RunningNode):
    """A node that a test describes."""

    def __init__(self, server: Wine, node: WindowsNode, facts: Facts, folder: Path) -> None:
        super().__init__(server, json.loads(node_document(node)), node.kubernetes_version, facts, folder)
        self.node = node


def ready(client: Client, name: str) -> bool:
    """Whether a Node is Ready."""
    conditions = client.get("v1", "Node", name)["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _listens(pid: int, port: int) -> bool:
    """Whether somebody listens on a port in the network of a process."""
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def wait(what: str, condition: Callable[[], Any], seconds: float, said: Callable[[], str] = lambda: "") -> Any:
    """Ask until the condition gives something true."""
    until = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        if time.monotonic() > until:
            raise TimeoutError(f"no {what} in {seconds:g} s\n{said()}")
        time.sleep(0.2)
