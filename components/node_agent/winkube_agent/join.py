"""The join of one more node of the control plane: under a lock, after the members of dead instances are removed."""

from typing import Any, Optional

from . import membership
from .cluster import Member
from .control_plane import JOIN_LOCK, ControlPlane
from .errors import LEASE_LOST, LOCAL_DOWN, NO_QUORUM, STUCK_LEARNER, CommandError, LeaseLostError, RefusalError
from .join_token import missing, read_token
from .log import log
from .membership import Peers
from .steps import step
from .store import MARK, Lease, Store

TAKE_OVER_AFTER = 3
"""Lease times for which a running holder must be silent; it ends itself after two (:class:`~.store.Lease`)."""


class Joiner:
    """Joins this node to the cluster that the mark names."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.node = plane.node
        self.store = plane.store

    def join(self) -> bool:
        """Join, if it is this node's turn; False when another one holds the lock.

        :raises AgentError: when the join failed; what it left is cleaned up, and the lock given back.
        """
        lease = self._turn()
        if lease is None:
            return False
        failed: Optional[CommandError] = None
        self.node.ensure_clients()
        while True:
            lease.tick()
            members, addresses = self._members()
            peers = self._peers(members)
            action, member = membership.next_under_lock(members, peers, self.node.local(finished=False))
            log("under lock", action=action, member=member.name or member.hex if member else None)
            if action == membership.CLEAN_SELF:
                self._clean(lease)
            elif action == membership.REMOVE and member:
                self._remove(lease, member, [one for one in addresses if one not in member.addresses])
            elif action == membership.YIELD and member:
                lease.release()
                raise self._stuck(member)
            elif failed:
                lease.release()
                raise failed
            else:
                failed = self._try(lease)
                if failed is None:
                    return True

    def finish(self) -> None:
        """Check that this node's member votes, do what a kill may have left undone, and remember that it joined."""
        own = [one for one in self.node.etcd.members(self.node.address) if one.name == self.store.me]
        if not own or own[0].learner:
            remedy = "wait: kubeadm promotes it; after its time this node joins anew"
            raise RefusalError(LOCAL_DOWN, "etcd", "the member of this node does not vote", remedy, self.store.me)
        self.node.finish_join()
        with step("join.joined"):
            self.plane.state.set(made="joined", restore_id=self.plane.current_restore)
        release(self.store)

    def _turn(self) -> Optional[Lease]:
        """The join lock: taken when it is free, or when its holder is gone, or silent for too long."""
        there = self.store.read(JOIN_LOCK)
        if there and there.holder == self.store.me:
            return Lease.resume(self.store, JOIN_LOCK)
        if there and there.holder:
            limit = TAKE_OVER_AFTER * self.node.deadlines.lease_seconds
            if not self.plane.gone(there.holder) and self.store.silent_seconds(JOIN_LOCK) <= limit:
                return None
            log("join lock taken over", holder=there.holder)
        with step("join.lock"):
            return Lease.acquire(self.store, JOIN_LOCK, there.etag if there else None)

    def _try(self, lease: Lease) -> Optional[CommandError]:
        """One try; the mistake if kubeadm failed."""
        token = read_token(self.store, self.node.document)
        if token is None:
            lease.release()
            raise missing(self.node.document.token_parameter)
        self.plane.prepare()
        self.plane.status.publish()  # a learner that never starts has no name: others know whose it is by its address
        with step("join.begin"):
            self.plane.state.set(made="joining", restore_id=self.plane.current_restore)
        lease.check()
        try:
            with step("join.kubeadm"):
                self.node.join(token, lease.tick)
        except CommandError as error:  # what it left is cleaned up by the next steps under the lock
            log("join failed", problem=str(error))
            return error
        return None

    def _clean(self, lease: Lease) -> None:
        lease.check()
        with step("join.clean"):
            self.node.reset()
        self.plane.prepare()
        self.node.ensure_clients()

    def _remove(self, lease: Lease, member: Member, addresses: list[str]) -> None:
        """Remove a member; who holds the lock, and that its instance is gone, is made sure of once more."""
        peers = self._peers([member])
        if not (membership.is_own(member, peers) or membership.is_dead(member, peers)):
            raise LeaseLostError(LEASE_LOST, "member", "lives again", "nothing: this node looks again", member.name)
        lease.check()
        with step("join.remove-member"):
            self.node.etcd.remove(addresses, member)
        if member.name and member.name != self.store.me:
            self.node.forget_node(member.name)

    def _statuses(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for slot in self.node.document.slots:
            there = self.store.read(f"status/{slot}.json")
            if there:
                found += [there.value, *there.value.get("predecessors", [])]
        return found

    def _members(self) -> tuple[tuple[Member, ...], list[str]]:
        """The members, and the addresses of those that answer for the cluster."""
        mark = self.store.read(MARK)
        known = [*([mark.value] if mark else []), *self._statuses()]
        addresses = list(dict.fromkeys(str(one["private_ip"]) for one in known if one.get("private_ip")))
        for address in addresses:
            if address == self.node.address:
                continue
            try:
                members = self.node.etcd.members(address)
            except CommandError:
                continue
            voters = [one for member in members if not member.learner for one in member.addresses]
            return members, list(dict.fromkeys([address, *voters]))
        remedy = "wait until the members of etcd answer; if most of them are gone, restore a backup"
        raise RefusalError(NO_QUORUM, "etcd", "no member lists the members", remedy, ", ".join(addresses))

    def _peers(self, members: "tuple[Member, ...] | list[Member]") -> Peers:
        me = self.store.me
        owners: dict[str, str] = {}
        for one in self._statuses():  # the newest owner of an address comes first, and predecessors never replace it
            owners.setdefault(str(one.get("private_ip")), str(one.get("instance_id")))
        owners[self.node.address] = me
        predecessors = frozenset(one["instance_id"] for one in self.plane.status.predecessors)
        named = {one.name for one in members if one.name} | set(owners.values()) | predecessors
        states = self.store.aws.instance_states(me, named)
        return Peers(me, self.node.address, predecessors, states, owners)

    def _stuck(self, member: Member) -> RefusalError:
        remedy = "wait until its instance joins anew or leaves; if its agent is dead, terminate the instance"
        what = "another node is joining, or left a learner" if member.learner else "a member has this node's address"
        return RefusalError(STUCK_LEARNER, "etcd", what, remedy, member.name or ", ".join(member.addresses))


def release(store: Store) -> None:
    """Give the join lock back if this instance holds it, also from before a restart of the agent."""
    lease = Lease.resume(store, JOIN_LOCK)
    if lease:
        with step("join.release"):
            lease.release()
