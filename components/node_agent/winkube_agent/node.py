"""The node as the agent works on it: paths, files, kubeadm, and what of a control plane is there."""

import os
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Optional

from .cluster import Commands, Etcd, Tick
from .document import Document, fill
from .errors import CommandError
from .log import log, register
from .state import write_atomically

ROOT = "WINKUBE_AGENT_ROOT"
"""Another root for all paths, for tests."""
AUTHORITY_PHASES = ("ca", "front-proxy-ca", "etcd-ca", "sa")
"""The phases of ``kubeadm init phase certs`` that make authorities and the key of ServiceAccounts."""
ADMIN_NAME, ADMIN_GROUP = "winkube-admin", "kubeadm:cluster-admins"
"""An administrator by RBAC, so that it can be taken away; ``system:masters`` could not."""
MARK_CONTROL_PLANE = ("mark-control-plane",)
FINISHING_PHASES = (("upload-config", "all"), MARK_CONTROL_PLANE, ("bootstrap-token",),
                    ("kubelet-finalize", "all"), ("addon", "all"))  # fmt: skip
"""What ``kubeadm init`` does after the API server answers; each may be done again."""
IGNORE_DATA = "--ignore-preflight-errors=DirAvailable--var-lib-etcd"


class Node:
    """This machine: effects alone, the decisions are elsewhere."""

    def __init__(self, document: Document, facts: dict[str, str], commands: Commands) -> None:
        self.document = document
        self.facts = facts
        self.commands = commands
        self.root = Path(os.environ.get(ROOT, "/"))
        self.deadlines = document.deadlines
        self.home = self.path("/var/lib/winkube")
        self.pki = self.path("/etc/kubernetes/pki")
        self.etcd_data = self.path("/var/lib/etcd")
        self.etcd = Etcd(commands, self.pki / "etcd", 5)
        self._began = time.monotonic()

    def path(self, absolute: str) -> Path:
        """A path of the node."""
        return self.root / absolute.lstrip("/")

    @property
    def address(self) -> str:
        """The address of this node."""
        return self.facts["PRIVATE_IP"]

    def write_documents(self, token: str = "") -> None:
        """The kubeadm documents of this node, filled in."""
        facts = {**self.facts, "JOIN_TOKEN": token}
        if self.document.init:
            write_atomically(self._init, fill(self.document.init, facts))
        if token:
            register(token)
            write_atomically(self._join, fill(self.document.join, facts))
            write_atomically(self._discovery, fill(self.document.discovery, facts))

    def init(self, tick: Tick, *, over_data: bool = False) -> None:
        """Make a cluster."""
        self.write_documents()
        extra = [IGNORE_DATA] if over_data else []
        seconds = self.deadlines.init_seconds
        self.commands.run("kubeadm", "init", f"--config={self._init}", *extra, seconds=seconds, tick=tick)

    def finish_init(self) -> None:
        """The last phases of ``kubeadm init``, for one that may have been killed in between."""
        self.write_documents()
        for phase in FINISHING_PHASES:
            self._phase(*phase)

    def finish_join(self) -> None:
        """The last steps of ``kubeadm join``, for one that may have been killed in between.

        They are the labels and taints of a control plane, which no kubelet gives itself, and the end of the
        credentials that the kubelet started with.
        """
        if self.document.init:
            self.write_documents()
            self._phase(*MARK_CONTROL_PLANE)
        self._bootstrap.unlink(missing_ok=True)

    def join(self, token: str, tick: Optional[Tick] = None) -> None:
        """Join a cluster; the documents that hold the token are deleted behind it."""
        self.write_documents(token)
        try:
            seconds = self.deadlines.join_seconds
            self.commands.run("kubeadm", "join", f"--config={self._join}", seconds=seconds, tick=tick)
        finally:
            self.forget_token()

    def forget_token(self) -> None:
        """Delete the documents that hold a token, also those that a kill left."""
        for path in (self._join, self._discovery):
            path.unlink(missing_ok=True)

    def reset(self, keep_data_as: str = "") -> None:
        """Undo what kubeadm did on this node. Membership is not its business: that is decided under the join lock.

        :param keep_data_as: the data of etcd is moved to this name in the home of the agent, instead of deleted.
        """
        self.commands.run("kubeadm", "reset", "--force", "--skip-phases=remove-etcd-member", seconds=180)
        kept = self.home / keep_data_as
        for part in sorted(self.etcd_data.glob("*")) if self.etcd_data.exists() else []:
            if keep_data_as:
                kept.mkdir(parents=True, exist_ok=True, mode=0o700)
                shutil.move(str(part), str(kept / part.name))
            elif part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink()
        self._began = time.monotonic()

    def make_authorities(self) -> None:
        """The certificate authorities of a new cluster, where kubeadm looks for them."""
        self.write_documents()
        for phase in AUTHORITY_PHASES:
            self._phase("certs", phase)

    def admin_kubeconfig(self, seconds: float) -> str:
        """A kubeconfig of an administrator, signed by the authority on this node: a secret."""
        self.write_documents()
        return self.commands.run(
            "kubeadm", "kubeconfig", "user", f"--config={self._init}", f"--client-name={ADMIN_NAME}",
            f"--org={ADMIN_GROUP}", f"--validity-period={int(seconds)}s", seconds=60,
        )  # fmt: skip

    def ensure_clients(self) -> None:
        """Credentials of this node for etcd and the API, from the certificate authorities that it has."""
        self.write_documents()
        config = f"--config={self._init}"
        if not (self.pki / "etcd/healthcheck-client.crt").exists():
            self.commands.run("kubeadm", "init", "phase", "certs", "etcd-healthcheck-client", config, seconds=60)
        if not self._admin.exists():
            folder = f"--kubeconfig-dir={self._admin.parent}"
            self.commands.run("kubeadm", "init", "phase", "kubeconfig", "admin", config, folder, seconds=60)

    def kubectl(self, *arguments: str) -> str:
        """kubectl as an administrator, against the API server of this node if it has one."""
        own = self.path("/etc/kubernetes/admin.conf")
        config = own if own.exists() else self._admin
        server = [f"--server=https://{self.address}:{self._port}"] if own.exists() else []
        return self.commands.run("kubectl", f"--kubeconfig={config}", *server, *arguments, seconds=60)

    def new_token(self, seconds: float) -> str:
        """A new join token; kubeadm makes it, so that it stands in no list of processes."""
        own = self.path("/etc/kubernetes/admin.conf")
        out = self.commands.run(
            "kubeadm", "token", "create", f"--kubeconfig={own}", f"--ttl={int(seconds)}s", "--usages=authentication",
            "--description=winkube join token", seconds=60,
        )  # fmt: skip
        return register(out.strip().splitlines()[-1].strip())

    def local(self, *, finished: bool) -> str:
        """What of a control plane is on this node (see :class:`~.decide.View`)."""
        files = [self.path(f"/etc/kubernetes/{name}") for name in ("admin.conf", "kubelet.conf")]
        manifest = self.path("/etc/kubernetes/manifests/etcd.yaml")
        data = self.etcd_data.exists() and any(self.etcd_data.iterdir())
        if not any(path.exists() for path in (*files, manifest, self._bootstrap)) and not data:
            return "none"
        if not all(path.exists() for path in (*files, manifest)):
            return "partial"
        serves = self.etcd.healthy(self.address) and self.api_state(f"{self.address}:{self._port}") == "ready"
        if serves and self.worker_local() == "complete":
            self._began = time.monotonic()
            return "complete"
        seconds = self.deadlines.local_seconds if finished else self.deadlines.resume_seconds
        return "starting" if time.monotonic() - self._began < seconds else "broken"

    def worker_local(self) -> str:
        """What of a worker is on this node.

        The kubelet is itself when kubeadm has deleted the file it started with, or when it has a certificate of its
        own: it writes its kubeconfig before it gets one.
        """
        own, started = self.path("/etc/kubernetes/kubelet.conf").exists(), self._bootstrap.exists()
        if own and (not started or self.path("/var/lib/kubelet/pki/kubelet-client-current.pem").exists()):
            return "complete"
        return "partial" if own or started else "none"

    def api_state(self, endpoint: str) -> str:
        """How the API behind an endpoint answers to whoever knows nothing but the certificate authority.

        Any answer under the cluster's own authority is an API server; it is ready unless it says otherwise.
        """
        try:
            context = ssl.create_default_context(cafile=str(self.pki / "ca.crt"))
            https = urllib.request.HTTPSHandler(context=context)
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)
            with opener.open(f"https://{endpoint}/readyz", timeout=self.deadlines.request_seconds):
                return "ready"
        except urllib.error.HTTPError as error:
            return "ready" if error.code in (401, 403) else "unready"
        except (OSError, ValueError):
            return "silent"

    def harden(self) -> None:
        """Nobody without a credential reads the cluster's discovery information: nodes have it as a file."""
        name = "kubeadm:bootstrap-signer-clusterinfo"
        self.kubectl("--namespace=kube-public", "delete", "rolebinding", name, "--ignore-not-found")

    def forget_node(self, name: str) -> None:
        """Delete the Node of an instance that is gone; the cloud controller does so too, if it runs."""
        try:
            self.kubectl("delete", "node", name, "--ignore-not-found", "--wait=false")
        except CommandError as error:
            log("node not deleted", node=name, problem=str(error))

    def _phase(self, *names: str) -> None:
        self.commands.run("kubeadm", "init", "phase", *names, f"--config={self._init}", seconds=120)

    @property
    def _bootstrap(self) -> Path:
        return self.path("/etc/kubernetes/bootstrap-kubelet.conf")

    @property
    def _init(self) -> Path:
        return self.home / "kubeadm-init.yaml"

    @property
    def _join(self) -> Path:
        return self.home / "kubeadm-join.yaml"

    @property
    def _admin(self) -> Path:
        return self.home / "clients/admin.conf"

    @property
    def _discovery(self) -> Path:
        named = re.search(r"kubeConfigPath:\s*[\"']?([^\s\"']+)", self.document.join)
        return self.path(named[1] if named else "/etc/winkube/discovery.conf")

    @property
    def _port(self) -> str:
        return self.document.endpoint.rsplit(":", 1)[1]
