"""Who of the members of etcd may be removed, and when a node may join. Pure, like :mod:`.decide`.

Nobody removes a member whose instance runs; nor an unnamed learner whose instance may still start it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Optional

from .cluster import Member

REMOVE = "remove-member"
CLEAN_SELF = "clean-self"
YIELD = "yield"
TRY_JOIN = "try-join"

GONE = ("terminated", "absent")
"""States in which an instance never comes back."""
GOING = (*GONE, "shutting-down", "stopping", "stopped")
"""States in which the instance of a slot no longer serves; its successor may clean up behind it."""


@dataclass(frozen=True)
class Peers:
    """What is known of the instances behind the members."""

    me: str
    address: str
    predecessors: frozenset[str]
    """Instances that had this node's slot before."""
    states: Mapping[str, str]
    """The state of each instance, as EC2 says."""
    instances: Mapping[str, str]
    """Which instance has, or had, which address."""


def instance_of(member: Member, peers: Peers) -> Optional[str]:
    """The instance behind a member: its name, or for one that was never started the owner of its address."""
    if member.name:
        return member.name
    owners = [peers.instances[address] for address in member.addresses if address in peers.instances]
    return owners[0] if len(set(owners)) == 1 else None


def is_own(member: Member, peers: Peers) -> bool:
    """Whether a member is of this very instance: an attempt to join that did not end."""
    return member.name == peers.me or (not member.name and peers.address in member.addresses)


def is_dead(member: Member, peers: Peers) -> bool:
    """Whether a member may be removed: EC2 says that its instance is gone, or it was this slot's and serves no more."""
    instance = instance_of(member, peers)
    if instance is None or instance == peers.me:
        return False
    state = peers.states.get(instance, "unknown")
    return state in GONE or (instance in peers.predecessors and state in GOING)


def next_under_lock(members: Iterable[Member], peers: Peers, local: str) -> tuple[str, Optional[Member]]:
    """The next step of a joining node that holds the join lock.

    A dead member is removed before the join: with the same address kubeadm would reuse its id on an empty disk, which
    breaks etcd; with another one etcd would refuse the learner.
    """
    members = tuple(members)
    own = next((one for one in members if is_own(one, peers)), None)
    if own is not None:  # before the reset: a voter that is switched off first may take the quorum with it
        others = [one for one in members if one != own and not one.learner]
        return (REMOVE, own) if others else (YIELD, own)
    if local != "none":
        return CLEAN_SELF, None
    for member in members:
        voters = [one for one in members if one != member and not one.learner]
        if is_dead(member, peers) and voters:
            return REMOVE, member
    blocking = next((one for one in members if one.learner), None)
    if blocking is not None:  # etcd takes one learner at a time, and only its own instance may clean this one
        return YIELD, blocking
    same = next((one for one in members if peers.address in one.addresses), None)
    if same is not None:  # EC2 will say soon that its instance is gone, as no two have one address
        return YIELD, same
    return TRY_JOIN, None
