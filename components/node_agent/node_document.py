"""The Linux node document: everything that a group of nodes is told, as one JSON object under its SHA-256. Pure.

It holds no secret: it lies in the bucket where every node of the group reads it. What differs from node to node stands
in it as a placeholder, and nothing else is templated on a node.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables.artefacts import Artefact, Role, Runtime, artefacts_for
from ..tables.releases import SELF_MANAGED_RELEASES
from .loader import NodeProxy
from .node_files import MODULES, RUNTIME_SERVICES, SYSCTLS, NodeFile, kubelet_files, proxy_files, runtime_files

VERSION = 1
ROLES: tuple[Role, ...] = ("control_plane", "worker")
PLACEHOLDERS = ("INSTANCE_ID", "ZONE", "PRIVATE_IP", "PROVIDER_ID", "JOIN_TOKEN", "SLOT")
"""The words that the agent replaces, in kubeadm's documents and in files."""

SLOTS = Rule("WK-ART-013", "A control-plane node has one of the slots of its control plane; a worker has none.")
PLACEHOLDER = Rule("WK-ART-014", "Text for a node may use only placeholders that the agent knows.")
FILES = Rule("WK-ART-015", "Every file of a node needs a unique absolute path.")
NO_SECRET = Rule("WK-ART-016", "A node document must not contain secrets, and a worker gets no CA files.")
TOKEN_TIMES = Rule("WK-ART-017", "A join token must be renewed at half of its lifetime or earlier.")
ENDPOINT = Rule("WK-ART-018", "The endpoint of the API is written as <host>:<port>.")
KUBEADM_TEXTS = Rule(
    "WK-ART-019", "A control-plane node needs init and join configuration; a worker needs only join configuration."
)

_PLACEHOLDER = re.compile(r"\$\{([A-Z_]+)\}")
_ENDPOINT = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}")
_SECRETS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"), "a private key"),
    (re.compile(r"(?<![a-z0-9.])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9.])"), "a join token"),
    (re.compile(r"client-key-data:"), "a client's key"),
    (re.compile(r"certificateKey: *[\"']?[0-9a-f]{64}"), "a certificate key"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSecret:
    """A file that lies in the state bucket, where this role alone can read it."""

    path: str
    key: str
    """Its object; its last part alone where the nodes make it (:class:`NodeAuthorities`)."""
    mode: int = 0o600
    content: str | None = None
    """Text around the key of the Kubernetes secrets, ``${SECRETBOX_KEY}``, where the nodes make that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAuthorities:
    """That the nodes of a control plane make the certificate authorities themselves, once, and where these lie."""

    prefix: str
    """``clusterconfigs/<cluster>/pki/<incarnation>/``."""
    key_arn: str
    """The cluster's key, which encrypts them."""
    admin_seconds: int = 86400
    """How long an administrator's certificate is valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCluster:
    """The cluster that a node belongs to."""

    name: str
    kubernetes_version: str
    """The patch, such as ``1.36.4``."""
    endpoint: str
    """``<host>:<port>`` of the API."""
    incarnation: int = 1
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/12"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeToken:
    """The parameter with the join token."""

    parameter: str
    key_arn: str | None = None
    ttl_seconds: int = 3600
    refresh_seconds: int = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBackup:
    """How often etcd is backed up, and which backups stay."""

    interval_seconds: int = 900
    keep_last: int = 96
    keep_hourly: int = 168
    keep_daily: int = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKubeadm:
    """What kubeadm reads on the node."""

    join: str
    """JoinConfiguration, with ``controlPlane`` on a control-plane node."""
    discovery: str
    """The kubeconfig for file discovery, with ``${JOIN_TOKEN}`` as its user's token."""
    init: str | None = None
    """InitConfiguration and the documents that go with it; control plane alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDocument:
    """Everything that a group of Linux nodes, or one slot of a control plane, is told."""

    role: Role
    group: str
    region: str
    cluster: NodeCluster
    bucket: str
    prefix: str
    """``clusterconfigs/<cluster>/``."""
    token: NodeToken
    kubeadm: NodeKubeadm
    runtime: Runtime = "containerd"
    slot: str | None = None
    slots: Sequence[str] = ()
    artefacts: Sequence[Artefact] = ()
    files: Sequence[NodeFile] = ()
    secrets: Sequence[NodeSecret] = ()
    authorities: NodeAuthorities | None = None
    modules: Sequence[str] = MODULES
    sysctls: Mapping[str, str] = field(default_factory=lambda: SYSCTLS)
    services: Sequence[str] = ()
    images: Sequence[str] = ()
    """Pulled before kubeadm runs; an absolute path is an archive of images that is imported."""
    proxy: NodeProxy | None = None
    backup: NodeBackup | None = None
    deadlines: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds by the names of the agent's deadlines; the agent has a default for each."""

    def value(self) -> dict[str, Any]:
        """As the agent reads it."""
        cluster, token, backup = self.cluster, self.token, self.backup
        retention = backup and {"keep_last": backup.keep_last, "keep_hourly": backup.keep_hourly,
                                "keep_daily": backup.keep_daily}  # fmt: skip
        made = self.authorities
        authorities = (
            {"prefix": made.prefix, "key_arn": made.key_arn, "admin_seconds": made.admin_seconds} if made else {}
        )
        return {
            **({"authorities": authorities} if authorities else {}),
            "version": VERSION, "role": self.role, "group": self.group, "slot": self.slot,
            "slots": list(self.slots) or None, "region": self.region,
            "cluster": {
                "name": cluster.name, "kubernetes_version": cluster.kubernetes_version, "endpoint": cluster.endpoint,
                "incarnation": cluster.incarnation, "pod_cidr": cluster.pod_cidr, "service_cidr": cluster.service_cidr,
            },
            "bucket": {"name": self.bucket, "prefix": self.prefix},
            "token": {"parameter": token.parameter, "key_arn": token.key_arn, "ttl_seconds": token.ttl_seconds,
                      "refresh_seconds": token.refresh_seconds},
            "runtime": self.runtime,
            "artefacts": [one.document() for one in self.artefacts],
            "files": [{"path": one.path, "mode": f"{one.mode:04o}", "content": one.content} for one in self.files],
            "secrets": [
                {"path": one.path, "mode": f"{one.mode:04o}", "key": one.key,
                 **({"content": one.content} if one.content is not None else {})}
                for one in self.secrets
            ],
            "modules": list(self.modules), "sysctls": dict(self.sysctls), "services": list(self.services),
            "images": list(self.images),
            "proxy": self.proxy and self.proxy.variables((cluster.pod_cidr, cluster.service_cidr)),
            "kubeadm": {"init": self.kubeadm.init, "join": self.kubeadm.join, "discovery": self.kubeadm.discovery},
            "backup": backup and {"interval_seconds": backup.interval_seconds, "retention": retention},
            "deadlines": dict(self.deadlines),
        }  # fmt: skip

    def text(self) -> str:
        """Canonical JSON: the same document is the same text, whatever made it."""
        return json.dumps(self.value(), sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"

    def sha256(self) -> str:
        """The digest under which the document lies in the state bucket."""
        return hashlib.sha256(self.text().encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxNode:
    """What decides the document of a group, or of one slot; the rest follows from the release and the tables."""

    role: Role
    group: str
    region: str
    minor: str
    cluster: NodeCluster
    bucket: str
    prefix: str
    """``clusterconfigs/<cluster>/``."""
    token: NodeToken
    kubeadm: NodeKubeadm
    architecture: str = "x86_64"
    runtime: Runtime = "containerd"
    slot: str | None = None
    slots: Sequence[str] = ()
    files: Sequence[NodeFile] = ()
    """Those of kubeadm and of the cluster; the document adds those of runtime, kubelet, proxy and mirrors."""
    secrets: Sequence[NodeSecret] = ()
    authorities: NodeAuthorities | None = None
    images: Sequence[str] = ()
    """Pulled beforehand, after the pause image."""
    pause_image: str | None = None
    """Instead of the release's own, for a private registry."""
    proxy: NodeProxy | None = None
    mirror: str | None = None
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    backup: NodeBackup | None = None
    deadlines: Mapping[str, float] = field(default_factory=dict[str, float])


def linux_node_document(node: LinuxNode) -> NodeDocument:
    """The document of a group, with everything that follows from minor, architecture and runtime."""
    release = SELF_MANAGED_RELEASES[node.minor]
    pause = node.pause_image or release.pause_image
    return NodeDocument(
        role=node.role,
        group=node.group,
        slot=node.slot,
        slots=node.slots,
        region=node.region,
        cluster=node.cluster,
        bucket=node.bucket,
        prefix=node.prefix,
        token=node.token,
        kubeadm=node.kubeadm,
        runtime=node.runtime,
        secrets=node.secrets,
        authorities=node.authorities,
        proxy=node.proxy,
        backup=node.backup,
        deadlines=node.deadlines,
        services=(RUNTIME_SERVICES[node.runtime], "kubelet.service"),
        images=(pause, *node.images),
        artefacts=artefacts_for(
            node.minor,
            architecture="arm64" if node.architecture == "arm64" else "x86_64",
            runtime=node.runtime,
            role=node.role,
            artefact_digests=node.artefact_digests,
            mirror=node.mirror,
        ),
        files=(
            *runtime_files(node.runtime, release.containerd, pause, node.registry_mirrors),
            *kubelet_files(node.runtime),
            *proxy_files(node.proxy, node.runtime, (node.cluster.pod_cidr, node.cluster.service_cidr)),
            *node.files,
        ),
    )


def check_document(document: NodeDocument, path: Path = ()) -> Mistakes:
    """What the agent could not work with, and what must not lie in the bucket (``WK-ART-013`` to ``WK-ART-019``)."""
    found = Mistakes()
    plane = document.role == "control_plane"
    if plane and document.slot not in document.slots:
        found.add(SLOTS, (*path, "slot"), "is not a slot of the control plane",
                  f"set slot to one of slots: {one_of(list(document.slots) or ['cp-0'])}", document.slot)  # fmt: skip
    if not plane and (document.slot is not None or document.slots):
        found.add(SLOTS, (*path, "slot"), "a worker has no slot", "remove slot and slots", document.slot)
    if plane != (document.kubeadm.init is not None):
        remedy = "set kubeadm.init" if plane else "remove kubeadm.init"
        found.add(KUBEADM_TEXTS, (*path, "kubeadm", "init"),
                  "a control-plane node creates or joins the cluster, and a worker only joins it", remedy)  # fmt: skip
    if not _ENDPOINT.fullmatch(document.cluster.endpoint):
        found.add(ENDPOINT, (*path, "cluster", "endpoint"), "is not <host>:<port>",
                  'write it as "api.prod.example.com:6443", without a scheme', document.cluster.endpoint)  # fmt: skip
    token = document.token
    if token.refresh_seconds > token.ttl_seconds / 2:
        found.add(TOKEN_TIMES, (*path, "token", "refresh_seconds"), f"is more than half of {token.ttl_seconds} s",
                  f"set refresh_seconds to {token.ttl_seconds // 2} or less", token.refresh_seconds)  # fmt: skip
    found.take(_check_files(document, plane), *path)
    found.take(_check_texts(document), *path)
    return found


def _check_files(document: NodeDocument, plane: bool) -> Mistakes:
    found = Mistakes()
    seen: set[str] = set()
    for kind, rows in (("files", document.files), ("secrets", document.secrets)):
        for index, row in enumerate(rows):
            if not re.fullmatch(r"(/[A-Za-z0-9@+._-]+)+", row.path) or "/../" in f"{row.path}/":
                found.add(FILES, (kind, index, "path"), "is not an absolute path without special characters",
                          'write it as "/etc/…"', row.path)  # fmt: skip
            if row.path in seen:
                found.add(FILES, (kind, index, "path"), "is listed twice", "keep one of them", row.path)
            seen.add(row.path)
    if document.secrets and not plane:
        found.add(NO_SECRET, ("secrets",), "a worker may read no secret other than the join token",
                  "remove secrets", [one.path for one in document.secrets])  # fmt: skip
    if document.authorities is not None and not plane:
        found.add(NO_SECRET, ("authorities",), "a worker does not create certificate authorities", "remove authorities",
                  document.authorities.prefix)  # fmt: skip
    for index, one in enumerate(document.secrets):
        if one.content is not None and document.authorities is None:
            found.add(NO_SECRET, ("secrets", index, "content"), "the content of a secret belongs in its S3 object",
                      "remove content, or let the nodes create the certificate authorities", one.path)  # fmt: skip
    return found


def _check_texts(document: NodeDocument) -> Mistakes:
    found = Mistakes()
    kubeadm = document.kubeadm
    texts: list[tuple[Path, str]] = [(("kubeadm", name), getattr(kubeadm, name) or "")
                                     for name in ("init", "join", "discovery")]  # fmt: skip
    for kind, rows in (("files", document.files), ("secrets", document.secrets)):
        texts += [((kind, index, "content"), one.content or "") for index, one in enumerate(rows)]
    for place, text in texts:
        for name in sorted(set(_PLACEHOLDER.findall(text)) - set(PLACEHOLDERS)):
            if place[0] == "kubeadm":  # files may use the shell's and systemd's own
                close = nearest(name, PLACEHOLDERS)
                found.add(PLACEHOLDER, place, f"the placeholder is not {one_of(PLACEHOLDERS)}",
                          f'write ${{{close}}}' if close else "write the value itself", f"${{{name}}}")  # fmt: skip
        for pattern, what in _SECRETS:
            if pattern.search(text):
                found.add(NO_SECRET, place, f"contains {what}, which every node of the group could read",
                          "put it into the state bucket and list it in secrets, or use ${JOIN_TOKEN}")  # fmt: skip
    return found
