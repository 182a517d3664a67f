"""The loop: look, decide, do one step; when there is nothing to do, keep token, backups and status; leave when told.

One process without threads. A kill at any point is met by starting again: everything that matters is on the disk, in
the bucket or in etcd, and is looked at anew before each step.
"""

import fcntl
import os
import random
import time
from pathlib import Path
from typing import Any, Optional

from . import backup, decide
from .aws import Aws
from .certificates import days_left
from .cluster import Commands
from .control_plane import ControlPlane
from .document import Document
from .errors import BACKUP_OLD, TOKEN, UNAVAILABLE, AgentError, LeaseLostError, RefusalError, UnavailableError
from .facts import Metadata
from .join import Joiner, release
from .leave import leave
from .log import log
from .machine import Machine
from .node import ROOT, Node
from .state import State
from .status import Status
from .store import Store
from .worker import Worker

PHASES = {decide.WAIT: "wait", decide.REFUSE_NO_QUORUM: "wait", decide.JOIN: "join", decide.FINISH_JOIN: "join",
          decide.DONE: "ready", decide.REFUSE_RESTORE: "ready", decide.WAIT_LOCAL: "start"}  # fmt: skip
"""What a person reads for an action; every other one is part of making a cluster."""


class Agent:
    """The agent of one node."""

    def __init__(self, document: Document, *, exclusive: bool = False) -> None:
        self.document = document
        self.deadlines = document.deadlines
        self.root = Path(os.environ.get(ROOT, "/"))
        home = self.root / "var/lib/winkube"
        home.mkdir(parents=True, exist_ok=True)
        self.commands = Commands(keep=[_alone(home / "agent.lock")] if exclusive else [])
        self.metadata = Metadata()
        self.facts = self.metadata.facts(document.slot)
        self.aws = Aws(document.region, document.bucket, self.deadlines)
        self.store = Store(self.aws, document, self.facts)
        self.state = State(home / "state.json", self.facts["INSTANCE_ID"])
        plane = document.control_plane
        self.status = Status(document, self.facts, home / "status.json", self.store if plane else None)
        self.node = Node(document, self.facts, self.commands)
        self.plane = ControlPlane(self.node, self.store, self.state, self.status, self._again) if plane else None
        own = self.plane.authorities if self.plane else None
        made = own.secrets if own and own.wanted else None
        self.machine = Machine(document.raw, self.facts, self.aws.fetch, self.root, made=made)
        self.worker = None if plane else Worker(self.node, self.store, self.state, self.status)
        self.failures = 0
        self.waiting_since: Optional[float] = None
        self.prepared = self.released = False
        self.asked_leave = self.settled_until = 0.0
        self.last_backup: Optional[backup.Backup] = None
        self.backup_tried: Optional[float] = None

    def run(self) -> None:
        """For ever: one pass after the other."""
        log("start", instance_id=self.store.me, slot=self.document.slot, role=self.document.role, made=self.state.made)
        while True:
            pause = self.once()
            self.status.write()
            time.sleep(pause)

    def once(self) -> float:
        """One pass; how long to wait before the next."""
        try:
            if self._leaving():
                return self._leave()
            if time.monotonic() < self.settled_until:
                return self.deadlines.leave_check_seconds
            if not self.prepared:
                self.status.enter("machine")
                self.node.forget_token()
                self.machine.prepare()
                self.prepared = True
            elif self.machine.lacks_secrets:  # another node makes them; without them no API is known as the cluster's
                self.machine.secrets()
            pause = self._plane_pass(self.plane) if self.plane else self._worker_pass()
        except (UnavailableError, RefusalError, LeaseLostError) as error:
            self._failed(error)
            return self._poll()
        except AgentError as error:
            return self._back_off(error)
        except Exception as error:  # the loop outlives what nobody thought of
            log("unexpected", problem=f"{type(error).__name__}: {error}")
            return self._back_off(error)
        self.failures = 0
        return pause

    def _plane_pass(self, plane: ControlPlane) -> float:
        self.status.learn()
        view = plane.observe()
        action = decide.next_action(view)
        if action != decide.DONE:
            log("decided", action=action, made=view.made, local=view.local, mark=view.mark, api=view.api)
        self.status.enter(PHASES.get(action, "init"), action)
        self.status.show(made=view.made, api=view.api)
        self.status.write()
        if action not in (decide.REFUSE_NO_QUORUM, decide.WAIT_LOCAL):
            self.waiting_since = None
        if action == decide.DONE:
            self._settled(plane)
            self.settled_until = time.monotonic() + self.deadlines.status_seconds
            return self.deadlines.leave_check_seconds
        if action == decide.REFUSE_RESTORE and view.made in decide.FINISHED:
            self._settled(plane)
        if action == decide.JOIN:
            return 0 if Joiner(plane).join() else self._poll()
        if action == decide.FINISH_JOIN:
            Joiner(plane).finish()
        elif action == decide.REFUSE_NO_QUORUM and self._waited() < self.deadlines.api_seconds:
            return self._poll()  # a load balancer takes minutes until it sends anything to a new target
        else:
            plane.perform(action, view)
        return self._poll() if action in (decide.WAIT, decide.WAIT_LOCAL) else 0

    def _worker_pass(self) -> float:
        assert self.worker  # noqa: S101
        action = self.worker.advance()
        if action == decide.DONE:
            self.status.enter("ready", action)
        self.status.fail(None)
        return self.deadlines.leave_check_seconds if action == decide.DONE else 0

    def _settled(self, plane: ControlPlane) -> None:
        """A part of a healthy cluster: keep token, backup and status."""
        if not self.released:
            release(self.store)
            self.released = True
        problem: Optional[AgentError] = None
        for duty in (plane.tokens.keep, plane.authorities.keep, self._backup, self._look):
            try:
                duty()
            except AgentError as error:  # noqa: PERF203 - the others are done all the same
                log("duty failed", problem=str(error))
                problem = problem or error
        self.status.fail(problem or self._backup_is_old())

    def _backup(self) -> None:
        interval = self.document.backup_seconds
        if interval is None:
            return
        prefix = f"{self.store.backups}{self.document.slot}/"
        if self.backup_tried is None:
            there = [one for one in (backup.backup_of(listed.key) for listed in self.aws.list(prefix)) if one]
            self.last_backup = max(there, key=lambda one: one.taken, default=None)
        slots = self.document.slots
        last = self.last_backup.taken if self.last_backup else None
        if self.backup_tried is not None and time.monotonic() - self.backup_tried < min(interval / 4, 60):
            return
        self.backup_tried = time.monotonic()
        if backup.is_due(time.time(), last, interval, slots.index(str(self.document.slot)), len(slots)):
            self.last_backup = self.make_backup()

    def make_backup(self) -> backup.Backup:
        """Make a backup now."""
        prefix = f"{self.store.backups}{self.document.slot}/"
        folder, seconds = self.node.home / f"backup-{os.getpid()}", self.deadlines.snapshot_seconds
        return backup.make(
            self.aws, self.node.etcd, self.node.address, prefix, self.document.retention, folder, seconds
        )

    def _backup_is_old(self) -> Optional[AgentError]:
        interval, last = self.document.backup_seconds, self.last_backup
        if interval is None or (last and time.time() - last.taken < 3 * interval):
            return None
        remedy = "read the log of this node's agent; look for backups of the other slots"
        return AgentError(BACKUP_OLD, "backup", "is too old", remedy, last.key if last else "none")

    def _look(self) -> None:
        """What a person wants to see of a control plane."""
        etcd = self.node.etcd
        members: list[dict[str, Any]] = []
        for one in etcd.members(self.node.address):
            healthy = any(etcd.healthy(address) for address in one.addresses)
            members.append({"name": one.name, "id": one.hex, "learner": one.learner, "healthy": healthy})
        status = etcd.status(self.node.address)
        shown: dict[str, Any] = {"version": status.get("version"), "size_bytes": status.get("dbSize")}
        self.status.show(members=members, etcd=shown, backup=backup.age_text(self.last_backup),
                         certificate_days=days_left(self.node.pki))  # fmt: skip

    def _again(self) -> None:
        """What ``kubeadm reset`` may have taken away."""
        self.machine.files()
        self.machine.secrets()

    def _leaving(self) -> bool:
        now = time.monotonic()
        if self.asked_leave and now - self.asked_leave < self.deadlines.leave_check_seconds:
            return False
        self.asked_leave = now
        try:
            return self.metadata.leaving()
        except AgentError as error:
            log("lifecycle state not read", problem=str(error))
            return False

    def _leave(self) -> float:
        self.asked_leave = 0.0
        if self.status.phase != "left":
            self.status.enter("leaving")
            leave(self.node, self.store, self.state)
            self.status.enter("left")
        return self.deadlines.leave_check_seconds

    def _waited(self) -> float:
        now = time.monotonic()
        self.waiting_since = now if self.waiting_since is None else self.waiting_since
        return now - self.waiting_since

    def _failed(self, error: Exception) -> None:
        log("problem", problem=str(error))
        self.status.fail(error)

    def _back_off(self, error: Exception) -> float:
        self._failed(error)
        if not isinstance(error, AgentError):
            remedy = "report it, with the log of the agent"
            self.status.fail(AgentError(UNAVAILABLE, "agent", "unexpected", remedy, type(error).__name__))
        self.failures += 1
        growing = self.deadlines.backoff_seconds * 2 ** min(self.failures - 1, 8)
        # Nodes that start before their control plane wait for the token: that is no failure, and it ends suddenly.
        waits = isinstance(error, AgentError) and error.rule is TOKEN
        limit = self.deadlines.backoff_limit_seconds
        limit = min(limit, self.deadlines.token_wait_seconds) if waits else limit
        return min(limit, growing) * random.uniform(0.5, 1.0)  # noqa: S311

    def _poll(self) -> float:
        return self.deadlines.poll_seconds * random.uniform(0.8, 1.2)  # noqa: S311


def _alone(path: Path) -> int:
    """Wait until no other agent, and no command that one left behind, is at work; the descriptor of the lock."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log("waiting", reason="another agent, or a command that it started, still runs")
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.set_inheritable(handle, True)
    return handle
