"""One node of the control plane: sees, lets :mod:`.decide` decide, and does it."""

from collections.abc import Callable
from typing import Any, Optional

from . import backup, decide
from .authorities import Authorities
from .aws import new_nonce
from .decide import FINISHED, Lock, Restore, View
from .errors import (
    BACKUP_WITHOUT_MARK,
    FOREIGN_API,
    HOLDER_SILENT,
    LEASE_LOST,
    LOCAL_DOWN,
    NO_QUORUM,
    RESTORE_ALIVE,
    SNAPSHOT,
    AgentError,
    LeaseLostError,
    RefusalError,
)
from .join_token import TokenKeeper
from .log import log
from .membership import GONE
from .node import Node
from .state import State
from .status import Status
from .steps import step
from .store import MARK, Lease, Record, Store

LOCK, RESTORE, JOIN_LOCK = "lock", "restore", "join-lock"
RESTORE_REMEDY = "bring its instances back, or let a backup be restored: winkube cluster restore"


class ControlPlane:
    """The way of one node into its cluster, and out of a restore."""

    def __init__(self, node: Node, store: Store, state: State, status: Status, prepare: Callable[[], None]) -> None:
        self.node = node
        self.store = store
        self.state = state
        self.status = status
        self.prepare = prepare
        self.authorities = Authorities(store, node)
        self.tokens = TokenKeeper(store, node)
        self.seen: dict[str, Optional[Record]] = {}

    def observe(self) -> View:
        """What is true now, as far as it matters for the next step."""
        for name in (RESTORE, MARK, LOCK):
            self.seen[name] = self.store.read(name)
        mark, lock = self.seen[MARK], self.seen[LOCK]
        made = self.state.made
        local = self.node.local(finished=made in FINISHED)
        return View(
            made=made,
            local=local,
            mark="none" if mark is None else "mine" if mark.holder == self.store.me else "other",
            lock=Lock(lock.holder == self.store.me, mark is None and self.gone(lock.holder)) if lock else None,
            backup=mark is None and self.store.backup_exists(),
            api="ready" if local == "complete" else self.node.api_state(self.node.document.endpoint),
            restore=self._restore_view(made, local),
        )

    def perform(self, action: str, view: View) -> None:
        """Do one step.

        :raises AgentError: what went wrong, or what a person has to decide.
        """
        work: dict[str, Callable[[], None]] = {
            decide.CLAIM_LOCK: lambda: self._claim("init.claim-lock", None),
            decide.TAKE_OVER_LOCK: lambda: self._claim("init.take-over-lock", self.seen[LOCK]),
            decide.INIT: self._init,
            decide.FINISH_INIT: self._finish_init,
            decide.PUBLISH: self._publish,
            decide.RESET: self._reset,
            decide.CLAIM_RESTORE: self._claim_restore,
            decide.TAKE_OVER_RESTORE: self._claim_restore,
            decide.RESTORE: lambda: self._restore(view),
            decide.PUBLISH_RESTORE: self._publish_restore,
            decide.FOLLOW_RESTORE: self._follow_restore,
        }
        if action in work:
            work[action]()
        else:
            self._refuse(action, view)

    def _claim(self, name: str, there: Optional[Record]) -> None:
        with step(name):
            lease = Lease.acquire(self.store, LOCK, there.etag if there else None)
        log("lock", won=lease is not None)

    def _init(self) -> None:
        lease = self._lease(LOCK)
        if self.authorities.wanted:
            self.authorities.publish()
        self.prepare()
        self.authorities.keep()
        with step("init.begin"):
            self.state.set(made="initializing", restore_id=self.current_restore)
        lease.check()
        if self.store.read(MARK) or self.store.backup_exists():
            raise LeaseLostError(LEASE_LOST, "init", "a cluster appeared meanwhile", "nothing: this node looks again")
        with step("init.kubeadm"):
            self.node.init(lease.tick)
        with step("init.made"):
            self.state.set(made="initialized")

    def _finish_init(self) -> None:
        with step("init.finish"):
            self.node.finish_init()
        with step("init.made"):
            self.state.set(made="initialized")

    def _publish(self) -> None:
        self._secure()
        self._lease(LOCK).check()
        with step("init.publish"):
            version = self.node.document.kubernetes_version
            published = self.store.write(MARK, self.store.mine(kubernetes_version=version))
        if published is None:
            raise LeaseLostError(LEASE_LOST, MARK, "was written by another instance", "nothing: this node looks again")

    def _secure(self) -> None:
        with step("init.harden"):
            self.node.harden()
        try:
            self.tokens.keep()
        except AgentError as error:  # the keeper tries again later; a control plane without workers is one already
            log("no token yet", problem=str(error))

    def _reset(self) -> None:
        with step("reset"):
            self.node.reset()
            self.state.set(made="")
        self.prepare()

    def _claim_restore(self) -> None:
        there = self.seen[RESTORE]
        wish = self._wish()
        self._fetch(wish)
        with step("restore.claim"):
            self.store.write(RESTORE, self.store.mine(**wish, state="claimed"), there.etag if there else None)

    def _restore(self, view: View) -> None:
        lease, wish = self._lease(RESTORE), self._wish()
        again = view.local not in ("none", "complete")
        if view.made != "restoring":
            lease.check()
            with step("restore.reset"):
                self.node.reset(keep_data_as=f"etcd-before-{wish['id']}")
            with step("restore.begin"):
                self.state.set(made="restoring", restore_id=wish["id"])
        elif again:
            with step("restore.again"):
                self.node.reset()
        if view.local != "complete" or view.made != "restoring":
            self.prepare()
            snapshot = self._fetch(wish)
            with step("restore.data"):
                url = f"https://{self.node.address}:2380"
                backup.restore(self.node.commands, snapshot, self.node.etcd_data, self.store.me, url)
            lease.check()
            with step("restore.kubeadm"):
                self.node.init(lease.tick, over_data=True)
        with step("restore.finish"):
            self.node.finish_init()
        with step("restore.made"):
            self.state.set(made="restored")

    def _publish_restore(self) -> None:
        self._secure()
        lease, wish, mark = self._lease(RESTORE), self._wish(), self.seen[MARK]
        lease.check()
        with step("restore.publish"):
            value = self.store.mine(kubernetes_version=self.node.document.kubernetes_version, restored=wish)
            self.store.write(MARK, value, mark.etag if mark else None)
        with step("restore.done"):
            self.store.write(RESTORE, self.store.mine(**wish, state="done"), lease.etag)

    def _follow_restore(self) -> None:
        identity = self.current_restore
        with step("restore.follow"):
            self.node.reset(keep_data_as=f"etcd-before-{identity}")
        with step("restore.followed"):
            self.state.set(made="", restore_id=identity)
        self.prepare()

    def _wish(self) -> dict[str, Any]:
        """What the restore object asks for; it gets an identity when it is claimed, if the person gave none."""
        there = self.seen[RESTORE]
        value = there.value if there else {}
        key, digest = str(value.get("key", "")), str(value.get("sha256", "")).replace("sha256:", "")
        if not key or len(digest) != 64:
            remedy = 'write {"key": <key of a backup>, "sha256": <its digest>}'
            raise RefusalError(SNAPSHOT, "restore", "the object does not name a backup and its digest", remedy, key)
        self.authorities.check_restore(key)
        return {"key": key, "sha256": digest, "id": str(value.get("id") or new_nonce())}

    def _fetch(self, wish: dict[str, Any]) -> Any:
        folder = self.node.home / "restore"
        return backup.fetch(self.store.aws, self.node.commands, wish["key"], wish["sha256"], folder)

    @property
    def current_restore(self) -> str:
        """The identity of the restore that was asked for last."""
        there = self.seen.get(RESTORE)
        return str(there.value.get("id") or there.etag.strip('"')) if there else ""

    def _restore_view(self, made: str, local: str) -> Optional[Restore]:
        there = self.seen[RESTORE]
        if there is None:
            return None
        state = str(there.value.get("state") or "requested")
        mine = state != "requested" and there.holder == self.store.me
        followed = self.state.restore_id == self.current_restore or (not made and local == "none")
        gone = state == "claimed" and not mine and self.gone(there.holder)
        return Restore(state, mine, gone, followed)

    def gone(self, instance: str) -> bool:
        """Whether EC2 says that an instance never comes back."""
        if not instance or instance == self.store.me:
            return False
        return self.store.aws.instance_states(self.store.me, [instance])[instance] in GONE

    def _lease(self, name: str) -> Lease:
        lease = Lease.resume(self.store, name)
        if lease is None:
            raise LeaseLostError(LEASE_LOST, f"lease {name}", "is not this node's", "nothing: this node looks again")
        return lease

    def _refuse(self, action: str, view: View) -> None:
        """Actions that are none: say why nothing happens."""
        lock, mark = self.seen[LOCK], self.seen[MARK]
        holder = lock.holder if lock else ""
        endpoint = self.node.document.endpoint
        if action == decide.WAIT and self.store.silent_seconds(LOCK) > 3 * self.node.document.deadlines.lease_seconds:
            remedy = f"look at instance {holder}; if it does not come back, terminate it, and another one takes over"
            raise RefusalError(HOLDER_SILENT, "lock", "its holder has said nothing for long", remedy, holder)
        if action == decide.WAIT_LOCAL and view.local != "starting":
            remedy = "read the logs of kubelet and etcd on this node; if it cannot be mended, terminate the instance"
            raise RefusalError(LOCAL_DOWN, "control plane", "does not answer on this node", remedy, view.local)
        if action == decide.REFUSE_BACKUP:
            raise RefusalError(BACKUP_WITHOUT_MARK, "init", "there are backups, but no cluster", RESTORE_REMEDY)
        if action == decide.REFUSE_FOREIGN:
            remedy = "end the API server there, or give the cluster another endpoint or bucket"
            raise RefusalError(FOREIGN_API, endpoint, "an API server answers that this bucket does not know", remedy)
        if action == decide.REFUSE_NO_QUORUM:
            made = str(mark.value.get("at", "")) if mark else ""
            text = f"the cluster was made at {made}, but its API does not serve"
            raise RefusalError(NO_QUORUM, endpoint, text, RESTORE_REMEDY, view.api)
        if action == decide.REFUSE_RESTORE:
            remedy = "delete the restore object, or terminate all instances of the control plane first"
            raise RefusalError(RESTORE_ALIVE, "restore", "the cluster lives", remedy)
