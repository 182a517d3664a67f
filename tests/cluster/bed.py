"""One cluster: etcd, API server, controller manager, scheduler and kwok, in a folder of its own."""

import contextlib
import fcntl
import json
import shutil
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import urllib3

from tests.binaries import DEFAULT_MINOR, binary

from .client import ApiError, Client
from .pki import write_pki
from .processes import Process, free_ports
from .stages import write_stages

_PREFIX = "winkube-cluster-"
SELDOM = {"GOGC": "400"}


class StartError(RuntimeError):
    """A part of the cluster did not come up; the text ends with what it said last."""


class Cluster:
    """A running control plane. Use it as a context manager, or :meth:`start` and :meth:`stop` it.

    :param minor: whose programs run.
    :param nodes: whether kwok simulates the nodes that carry :data:`tests.cluster.nodes.SIMULATED`.
    :param api_server: flags of the API server that add to or replace those of the bed, without dashes.
    :param controller_manager: the same for the controller manager.
    :param scheduler: fields of the KubeSchedulerConfiguration.
    :param addresses: further addresses of the API server's certificate.
    :param lease_seconds: how long a simulated node is believed without a word; it says one four times as often.
    :param environment: of all programs; by default they collect garbage seldom, for a bed does not last.
    """

    def __init__(
        self,
        minor: str = DEFAULT_MINOR,
        *,
        nodes: bool = True,
        api_server: Mapping[str, str] | None = None,
        controller_manager: Mapping[str, str] | None = None,
        scheduler: Mapping[str, Any] | None = None,
        addresses: Sequence[str] = (),
        environment: Mapping[str, str] = SELDOM,
        lease_seconds: int = 40,
    ) -> None:
        self.minor = minor
        self.processes: dict[str, Process] = {}
        self._nodes = nodes
        self._flags = dict(api_server or {}), dict(controller_manager or {})
        self._scheduler = dict(scheduler or {})
        self._addresses = addresses
        self._environment = environment
        self._lease_seconds = lease_seconds
        # Before anything is started: a program that is missing skips the test, and a build may take minutes.
        names = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", *(["kwok"] if nodes else []))
        self._programs = {name: binary(name, minor=minor) for name in names}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> Self:
        """Start everything; return when pods can be made and would be scheduled."""
        self.folder = own_folder()
        self._lock = (self.folder / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the processes, last started first, and remove the folder."""
        for process in reversed(self.processes.values()):
            process.stop()
        self.processes.clear()
        self._lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kubeconfig(self, user: str = "admin") -> Path:
        """Path of a kubeconfig: ``admin``, ``controller-manager`` or ``scheduler``."""
        return self.folder / f"{user}.conf"

    @property
    def pki(self) -> Path:
        """The folder of certificates, see :func:`tests.cluster.pki.write_pki`."""
        return self.folder / "pki"

    def _start(self) -> None:
        write_pki(self.pki, ["127.0.0.1", *self._addresses])
        etcd_port, peer_port, self.port = free_ports(3)
        self.server = f"https://127.0.0.1:{self.port}"
        for user in ("admin", "controller-manager", "scheduler"):
            self.kubeconfig(user).write_text(json.dumps(self._kubeconfig(user)))
        own = "http://127.0.0.1"
        self._run(
            "etcd",
            {
                "data-dir": f"{self.folder}/etcd",
                "listen-client-urls": f"{own}:{etcd_port}",
                "advertise-client-urls": f"{own}:{etcd_port}",
                "listen-peer-urls": f"{own}:{peer_port}",
                "initial-advertise-peer-urls": f"{own}:{peer_port}",
                "initial-cluster": f"default={own}:{peer_port}",
                "unsafe-no-fsync": "true",
                "log-level": "warn",
            },
        )
        self._run("kube-apiserver", self._api_server_flags(f"{own}:{etcd_port}"))
        self.client = Client(self.server, self.pki)
        self._wait("kube-apiserver", lambda: self.client.request("GET", "/readyz") == "ok")
        # The controller manager ends when it loses the API server.
        self._run("kube-controller-manager", self._controller_manager_flags(), restart=True)
        self._run("kube-scheduler", {"config": self._scheduler_file(), "secure-port": "0"}, restart=True)
        if self._nodes:
            write_stages(self.folder / "stages.yaml")
            self._run(
                "kwok",
                {
                    "kubeconfig": self.kubeconfig(),
                    "config": self.folder / "stages.yaml",
                    "manage-all-nodes": "false",
                    "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=simulated",
                    "node-lease-duration-seconds": str(self._lease_seconds),
                },
                restart=True,
            )
        self._wait("kube-controller-manager", lambda: self.client.get("v1", "ServiceAccount", "default"))

    def _run(self, name: str, flags: Mapping[str, Any], *, restart: bool = False) -> None:
        command = [self._programs[name], *(f"--{flag}={value}" for flag, value in flags.items())]
        log = self.folder / f"{name}.log"
        self.processes[name] = Process(command, log, restart=restart, environment=self._environment)

    def _wait(self, name: str, condition: Any, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        process = self.processes[name]
        while True:
            with contextlib.suppress(ApiError, urllib3.exceptions.HTTPError):
                if condition():
                    return
            if not process.alive or time.monotonic() > until:
                raise StartError(f"{name} did not become ready:\n{process.last_words()}")
            time.sleep(0.05)

    def _api_server_flags(self, etcd: str) -> dict[str, Any]:
        pki = self.pki
        return {
            "etcd-servers": etcd,
            "bind-address": "127.0.0.1",
            # The reconciler would refuse a loopback address, and a machine without a network has no other.
            "advertise-address": "192.0.2.1",
            "endpoint-reconciler-type": "none",
            "secure-port": self.port,
            "tls-cert-file": pki / "apiserver.crt",
            "tls-private-key-file": pki / "apiserver.key",
            "client-ca-file": pki / "ca.crt",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": pki / "sa.pub",
            "service-account-signing-key-file": pki / "sa.key",
            "service-cluster-ip-range": "10.96.0.0/12",
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "enable-bootstrap-token-auth": "true",
            # Nobody here is to be kept waiting for the sake of others.
            "enable-priority-and-fairness": "false",
            "allow-privileged": "true",
            **self._flags[0],
        }

    def _controller_manager_flags(self) -> dict[str, Any]:
        config = self.kubeconfig("controller-manager")
        return {
            "kubeconfig": config,
            "secure-port": "0",
            "leader-elect": "false",
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
            "controllers": "*,bootstrapsigner,tokencleaner",
            "use-service-account-credentials": "true",
            "service-account-private-key-file": self.pki / "sa.key",
            "root-ca-file": self.pki / "ca.crt",
            "cluster-signing-cert-file": self.pki / "ca.crt",
            "cluster-signing-key-file": self.pki / "ca.key",
            "allocate-node-cidrs": "true",
            "cluster-cidr": "10.244.0.0/16",
            **self._flags[1],
        }

    def _scheduler_file(self) -> Path:
        file = self.folder / "scheduler.yaml"
        connection = {"kubeconfig": str(self.kubeconfig("scheduler")), **self._scheduler.get("clientConnection", {})}
        file.write_text(
            json.dumps(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "leaderElection": {"leaderElect": False},
                    **self._scheduler,
                    "clientConnection": connection,
                }
            )
        )
        return file

    def _kubeconfig(self, user: str) -> dict[str, Any]:
        pki = self.pki
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "test", "cluster": {"server": self.server, "certificate-authority": str(pki / "ca.crt")}}
            ],
            "users": [
                {
                    "name": user,
                    "user": {"client-certificate": f"{pki}/{user}.crt", "client-key": f"{pki}/{user}.key"},
                }
            ],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "current-context": "test",
        }


def own_folder() -> Path:
    """A new folder; those of runs that were killed are removed (their processes ended with them)."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (left / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_PREFIX))


@contextlib.contextmanager
def cluster_of(minor: str = DEFAULT_MINOR, **settings: Any) -> Generator[Cluster]:
    """A cluster for the length of a block; the settings are those of :class:`Cluster`."""
    with Cluster(minor, **settings) as cluster:
        yield cluster
