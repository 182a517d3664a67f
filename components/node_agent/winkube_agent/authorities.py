"""The certificate authorities of a cluster whose own nodes make them, instead of the deployment.

Whoever holds the lock makes them before ``kubeadm init``, and one object of the bucket holds the whole set: its
conditional write decides, so that no kill and no other node ever leaves parts of two sets. Nothing is used before it is
that object. What programs outside of the cluster read are copies: the certificate, and an administrator's kubeconfig of
short life.
"""

import base64
import json
import os
import re
import time
from collections.abc import Mapping
from typing import Any, Optional

from .certificates import ends
from .errors import AUTHORITIES_LOST, FOREIGN_KEYS, AgentError, RefusalError
from .log import log, now_text
from .node import Node
from .steps import step
from .store import MARK, Store

SET, CERTIFICATE, ADMIN = "authorities.json", "ca.crt", "admin.conf"
SECRETBOX = "${SECRETBOX_KEY}"
"""The one word in a secret's content that is replaced: by the key of the Kubernetes secrets."""
TEXT = "text/plain; charset=utf-8"
_CERTIFICATE_DATA = re.compile(r"client-certificate-data:\s*([A-Za-z0-9+/=]+)")


class Authorities:
    """The set in the bucket, and this node's part in it."""

    def __init__(self, store: Store, node: Node) -> None:
        self.store = store
        self.node = node
        self.settings = node.document.authorities
        self._looked: Optional[float] = None

    @property
    def wanted(self) -> bool:
        """Whether the nodes of this cluster make its authorities."""
        return self.settings is not None

    def secrets(self) -> Optional[dict[str, str]]:
        """Path to content of every secret of the document; nothing while there is no set and no cluster.

        :raises AgentError: when there is a cluster and its set is gone (``WK-AGT-021``).
        """
        there = self._read()
        if there is None:
            if self.store.read(MARK):
                raise self._lost()
            return None
        return {str(one["path"]): _content(one, there) for one in self.node.document.secrets}

    def publish(self) -> None:
        """Make sure that there is a set, and that programs can read its certificate. The lock is held."""
        if self._read() is None:
            with step("authorities.make"):
                made = self._make()
            with step("authorities.publish"):
                body = json.dumps(made).encode()
                mine = self._write(SET, body, nonce=str(made["nonce"]))
            log("authorities", made_here=mine is not None)
        there = self._read()
        if there is None:
            raise self._lost()
        with step("authorities.copy"):
            certificate = str(there["files"][CERTIFICATE]).encode()
            copy = self.store.aws.read(self._key(CERTIFICATE))
            if copy is None or copy.body != certificate:
                self._write(CERTIFICATE, certificate, copy.etag if copy else None)

    def keep(self) -> None:
        """Renew the administrator's kubeconfig in the last third of its life."""
        if self.settings is None:
            return
        life, now = self.settings.admin_seconds, time.monotonic()
        if self._looked is not None and now - self._looked < life / 24:
            return
        there = self.store.aws.read(self._key(ADMIN))
        if there is None or seconds_left(there.body) < life / 3:
            with step("authorities.admin"):
                text = self.node.admin_kubeconfig(life)
                self._write(ADMIN, text.encode(), there.etag if there else None)
        self._looked = now

    def check_restore(self, backup: str) -> None:
        """Refuse a backup of another incarnation: its Secrets and tokens were made with other keys.

        :raises RefusalError: ``WK-AGT-022``.
        """
        if self.settings is None or backup.startswith(self.store.backups):
            return
        remedy = "restore it in the incarnation that made it: set incarnation of the stack to that number"
        raise RefusalError(FOREIGN_KEYS, "restore", "the backup belongs to other certificate authorities", remedy,
                           backup)  # fmt: skip

    def _make(self) -> dict[str, Any]:
        """A new set. What lies on the disk was never published, so nothing knows it."""
        paths = {_name(one): self.node.path(str(one["path"])) for one in self.node.document.secrets}
        paths = {name: path for name, path in paths.items() if self.node.pki in path.parents}
        for path in paths.values():
            path.unlink(missing_ok=True)
        self.node.make_authorities()
        files = {name: path.read_text(encoding="ascii") for name, path in paths.items()}
        key = base64.b64encode(os.urandom(32)).decode()
        nonce = base64.b16encode(os.urandom(16)).decode()
        return {"files": files, "secretbox": key, "at": now_text(), "by": self.store.me, "nonce": nonce}

    def _read(self) -> Optional[dict[str, Any]]:
        there = self.store.aws.read(self._key(SET))
        return None if there is None else dict(json.loads(there.body))

    def _write(self, name: str, body: bytes, etag: Optional[str] = None, nonce: str = "") -> Optional[str]:
        assert self.settings  # noqa: S101
        key = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": self.settings.key_arn, "ContentType": TEXT}
        return self.store.aws.write(self._key(name), body, etag, nonce=nonce, **key)

    def _key(self, name: str) -> str:
        assert self.settings  # noqa: S101
        return self.settings.prefix + name

    def _lost(self) -> AgentError:
        remedy = "bring the last version of the object back, or set pki of the stack to what made the cluster"
        return AgentError(AUTHORITIES_LOST, "authorities", "there is a cluster, but its authorities are gone", remedy,
                          self._key(SET))  # fmt: skip


def seconds_left(kubeconfig: bytes) -> float:
    """How long the client certificate of a kubeconfig is valid; nothing at all if it cannot be read."""
    found = _CERTIFICATE_DATA.search(kubeconfig.decode("ascii", errors="replace"))
    try:
        return ends(base64.b64decode(found[1]).decode("ascii")) - time.time() if found else 0.0
    except (ValueError, IndexError):
        return 0.0


def _name(one: Mapping[str, Any]) -> str:
    """Under which name a secret stands in the set."""
    return str(one["key"]).rsplit("/", 1)[-1]


def _content(one: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    template = one.get("content")
    return str(template).replace(SECRETBOX, str(made["secretbox"])) if template else str(made["files"][_name(one)])
