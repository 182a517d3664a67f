"""What to do next, from what is seen. Pure: every rule that protects a cluster stands here, and is tried in full.

1. Nobody makes a cluster where the mark ``initialized`` or any backup exists, or an API server answers.
2. Nobody takes the lock from a holder of whom EC2 does not say that it is gone.
3. A node that is finished is never reset, but to follow a restore that a person asked for.
"""

from dataclasses import dataclass
from typing import Optional

# Actions on the way into a cluster
DONE = "done"
WAIT = "wait"
CLAIM_LOCK = "claim-lock"
TAKE_OVER_LOCK = "take-over-lock"
INIT = "init"
FINISH_INIT = "finish-init"
PUBLISH = "publish"
RESET = "reset"
WAIT_LOCAL = "wait-local"
JOIN = "join"
FINISH_JOIN = "finish-join"
CLAIM_RESTORE = "claim-restore"
TAKE_OVER_RESTORE = "take-over-restore"
RESTORE = "restore"
PUBLISH_RESTORE = "publish-restore"
FOLLOW_RESTORE = "follow-restore"
# Refusals: the agent waits, and says what a person has to do
REFUSE_BACKUP = "refuse-backup"
REFUSE_NO_QUORUM = "refuse-no-quorum"
REFUSE_FOREIGN = "refuse-foreign"
REFUSE_RESTORE = "refuse-restore"


@dataclass(frozen=True)
class Lock:
    """Who holds a lock, as seen from here."""

    mine: bool
    gone: bool = False
    """EC2 says that the holder is terminated or was never there; False also when EC2 does not answer."""


@dataclass(frozen=True)
class Restore:
    """The explicit wish of a person to restore a backup."""

    state: str
    """``requested``, ``claimed`` or ``done``."""
    mine: bool = False
    gone: bool = False
    followed: bool = False
    """This node belongs to the cluster that the restore made, or never belonged to an older one."""


@dataclass(frozen=True)
class View:
    """What one node of a control plane sees."""

    made: str = ""
    """How far this node is, by its own memory (see :class:`~.state.State`)."""
    local: str = "none"
    """The control plane on this node: ``none``, ``partial`` (leftovers), ``starting`` (everything is there, it may
    still come up), ``broken`` (it did not within its time), ``complete`` (etcd and API server answer)."""
    mark: str = "none"
    """``initialized``: ``none``, ``mine``, ``other``."""
    lock: Optional[Lock] = None
    backup: bool = False
    api: str = "silent"
    """The API behind the endpoint: ``silent``, ``unready`` (answers, but does not serve), ``ready``."""
    restore: Optional[Restore] = None


FINISHED = ("initialized", "joined", "restored")


def next_action(view: View) -> str:
    """The next step of a node of the control plane towards being a healthy part of its one cluster."""
    if view.restore and (action := _restore(view, view.restore)):
        return action
    if view.made in FINISHED:
        return _finished(view)
    if view.mark == "mine":  # the mark was published, and the agent ended before it could remember
        return FINISH_INIT if view.local == "complete" else WAIT_LOCAL
    if view.mark == "none":
        return _first(view)
    return _later(view)


def _restore(view: View, restore: Restore) -> Optional[str]:
    """A restore that was asked for goes before everything else, but never beside a cluster that lives."""
    if restore.state == "requested":
        if view.api == "ready" or view.local == "complete":
            return REFUSE_RESTORE if view.made in FINISHED else None
        return CLAIM_RESTORE
    if restore.state == "claimed":
        if restore.mine and view.made == "restored":
            return PUBLISH_RESTORE if view.local == "complete" else WAIT_LOCAL
        if restore.mine:
            back = view.made != "restoring" and (view.api == "ready" or view.local == "complete")
            return REFUSE_RESTORE if back else RESTORE
        return TAKE_OVER_RESTORE if restore.gone and view.api != "ready" else WAIT
    if restore.mine or restore.followed:
        return None
    return FOLLOW_RESTORE


def _finished(view: View) -> str:
    """The node was a part of the cluster once: it is never made anew by itself."""
    if view.made == "initialized" and view.mark != "mine":
        mine = view.lock is not None and view.lock.mine
        if view.mark == "other" or not mine:
            return RESET  # it was held up while others took its place; nobody ever joined what it made
        return PUBLISH if view.local == "complete" else WAIT_LOCAL
    return DONE if view.local == "complete" else WAIT_LOCAL


def _first(view: View) -> str:
    """Nothing says that the cluster exists."""
    lock = view.lock
    if view.made == "joining" and view.local != "none":  # it is a member of a cluster whose mark is gone
        return FINISH_JOIN if view.local == "complete" else WAIT_LOCAL
    return _holding(view) if lock is not None and lock.mine else _not_holding(view, lock)


def _not_holding(view: View, lock: Optional[Lock]) -> str:
    """Nothing says that the cluster exists, and another one may be making it."""
    if view.local == "complete" and view.made != "initializing":
        return FINISH_JOIN  # a member that serves is never reset, whatever the bucket and the memory lost
    if view.local == "starting":
        return WAIT_LOCAL
    if view.local != "none":
        return RESET
    if lock is not None and not lock.gone:
        return WAIT
    if view.backup:
        return REFUSE_BACKUP
    if view.api != "silent":
        return REFUSE_FOREIGN
    return CLAIM_LOCK if lock is None else TAKE_OVER_LOCK


def _holding(view: View) -> str:
    """This node is the one that makes the cluster."""
    if view.local == "complete":
        return FINISH_INIT
    if view.local == "starting":
        return WAIT_LOCAL
    if view.backup:
        return REFUSE_BACKUP
    if view.local != "none":
        return RESET
    return REFUSE_FOREIGN if view.api != "silent" else INIT


def _later(view: View) -> str:
    """The cluster exists: join it, or wait until it is back."""
    if view.local == "complete":
        return RESET if view.made == "initializing" else FINISH_JOIN
    if view.local == "starting" and view.made != "initializing":
        return WAIT_LOCAL
    return JOIN if view.api == "ready" else REFUSE_NO_QUORUM


@dataclass(frozen=True)
class WorkerView:
    """What a worker sees."""

    made: str = ""
    local: str = "none"
    """The kubelet's identity: ``none``, ``partial``, ``complete``."""
    token: bool = False


def next_worker_action(view: WorkerView) -> str:
    """The next step of a worker."""
    if view.local == "complete":
        return DONE if view.made == "joined" else FINISH_JOIN
    if view.made == "joined":
        return WAIT_LOCAL
    if view.local == "partial":
        return RESET
    return JOIN if view.token else WAIT
