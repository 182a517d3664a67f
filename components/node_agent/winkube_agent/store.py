"""The objects by which the nodes of a control plane agree: lock, mark, join lock, token leader, restore, status.

All are written with conditions, so that S3 decides who was first. Nobody compares clocks of two machines: whether a
holder is silent is told by how long its object stayed the same under one's own eyes.
"""

import json
import time
from typing import Any, NamedTuple, Optional

from .aws import Aws, new_nonce
from .document import Document
from .errors import LEASE_LOST, AgentError, LeaseLostError
from .log import log, masked, now_text

MARK = "initialized"
"""The object that says that there is a cluster."""


class Record(NamedTuple):
    """A JSON object of the bucket, with its ETag."""

    value: dict[str, Any]
    etag: str

    @property
    def holder(self) -> str:
        """The instance that holds it; empty when it was given back."""
        return str(self.value.get("instance_id") or "")


class Store:
    """The bootstrap objects of one incarnation of a cluster."""

    def __init__(self, aws: Aws, document: Document, facts: dict[str, str]) -> None:
        self.aws = aws
        self.document = document
        self.facts = facts
        self.folder = f"{document.prefix}bootstrap/{document.incarnation}/"
        self.backups = f"{document.prefix}backups/etcd/{document.incarnation}/"
        self._seen: dict[str, tuple[str, float]] = {}

    @property
    def me(self) -> str:
        """This instance."""
        return self.facts["INSTANCE_ID"]

    def read(self, name: str) -> Optional[Record]:
        """A bootstrap object; nothing when there is none."""
        there = self.aws.read(self.folder + name)
        if there is None:
            return None
        try:
            value = json.loads(there.body)
        except ValueError:
            value = {"unreadable": True}
        if self._seen.get(name, ("", 0.0))[0] != there.etag:
            self._seen[name] = (there.etag, time.monotonic())
        return Record(value if isinstance(value, dict) else {"unreadable": True}, there.etag)

    def silent_seconds(self, name: str) -> float:
        """For how long this node has seen the object unchanged."""
        return time.monotonic() - self._seen[name][1] if name in self._seen else 0.0

    def write(self, name: str, value: dict[str, Any], etag: Optional[str] = None) -> Optional[str]:
        """Make the object, or replace the one with this ETag; the new ETag, or nothing if somebody was faster."""
        nonce = new_nonce()
        body = json.dumps({**masked(value), "at": now_text(), "nonce": nonce}, indent=1).encode()
        return self.aws.write(self.folder + name, body, etag, nonce=nonce)

    def mine(self, **more: Any) -> dict[str, Any]:
        """The value of an object that this node holds."""
        facts = self.facts
        holder = {"instance_id": self.me, "slot": facts["SLOT"], "private_ip": facts["PRIVATE_IP"]}
        return {**holder, "cluster": self.document.cluster, **more}

    def backup_exists(self) -> bool:
        """Whether any backup of etcd lies in the bucket."""
        return bool(self.aws.list(self.backups, 1))


class Lease:
    """An object that this node holds and renews. Every renewal changes its ETag, so a change by others is seen.

    :raises LeaseLostError: from :meth:`renew` and :meth:`check` as soon as it is not this node's any more.
    """

    def __init__(self, store: Store, name: str, etag: str, value: dict[str, Any]) -> None:
        self.store = store
        self.name = name
        self.etag = etag
        self.value = value
        self.renewed = time.monotonic()

    @classmethod
    def acquire(cls, store: Store, name: str, etag: Optional[str] = None, **more: Any) -> "Optional[Lease]":
        """Make the object, or replace the one with this ETag; nothing when somebody else was faster."""
        value = store.mine(**more)
        new = store.write(name, value, etag)
        return cls(store, name, new, value) if new else None

    @classmethod
    def resume(cls, store: Store, name: str) -> "Optional[Lease]":
        """The lease that this instance held before the agent was started again."""
        there = store.read(name)
        return cls(store, name, there.etag, there.value) if there and there.holder == store.me else None

    def renew(self) -> None:
        """Say that the holder lives.

        A bucket that does not answer is borne for two lease times: others take over from a running holder only after
        three.
        """
        try:
            new = self.store.write(self.name, self.value, self.etag)
        except AgentError:
            if time.monotonic() - self.renewed > 2 * self.store.document.deadlines.lease_seconds:
                raise self._lost("could not be renewed in time") from None
            return
        if new is None:
            raise self._lost("is held by another instance")
        self.etag, self.renewed = new, time.monotonic()

    def tick(self) -> None:
        """Renew when it is time; for loops that wait."""
        if time.monotonic() - self.renewed >= self.store.document.deadlines.heartbeat_seconds:
            self.renew()

    def check(self) -> None:
        """Make sure, before a step that cannot be undone, that nobody took over while this node was away."""
        there = self.store.read(self.name)
        if there is None or there.etag != self.etag or there.holder != self.store.me:
            raise self._lost("is held by another instance", there.holder if there else "nobody")

    def release(self) -> None:
        """Give it back: nobody holds it then."""
        if self.store.write(self.name, {"instance_id": "", "released_by": self.store.me}, self.etag) is None:
            log("lease was lost before its release", lease=self.name)

    def _lost(self, message: str, got: Optional[str] = None) -> LeaseLostError:
        remedy = "nothing: this node stops and looks again"
        return LeaseLostError(LEASE_LOST, f"lease {self.name}", message, remedy, got)
