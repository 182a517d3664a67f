"""The decisions, tried in full: every state that a node can see, and the rules that no action may break."""

import itertools
import re
from collections.abc import Iterator

import pytest

from tests.node_agent.package import load

decide = load("decide")
cluster, membership = load("cluster"), load("membership")
Lock, Restore, View, Member, Peers = decide.Lock, decide.Restore, decide.View, cluster.Member, membership.Peers

MADE = ("", "initializing", "initialized", "joining", "joined", "restoring", "restored")
LOCAL = ("none", "partial", "starting", "broken", "complete")
LOCKS = (None, Lock(mine=True), Lock(mine=False), Lock(mine=False, gone=True))
RESTORES = (
    None,
    *(Restore("requested", followed=followed) for followed in (False, True)),
    *(Restore("claimed", *who) for who in itertools.product((False, True), (False, True), (False, True))),
    *(Restore("done", mine=mine, followed=followed) for mine in (False, True) for followed in (False, True)),
)
INITS = {decide.INIT, decide.CLAIM_LOCK, decide.TAKE_OVER_LOCK}
RESTORING = {decide.CLAIM_RESTORE, decide.TAKE_OVER_RESTORE, decide.RESTORE}


def views() -> Iterator[tuple["View", str]]:
    for made, local, mark, lock, backup, api, restore in itertools.product(
        MADE, LOCAL, ("none", "mine", "other"), LOCKS, (False, True), ("silent", "unready", "ready"), RESTORES
    ):
        view = View(made, local, mark, lock, backup, api, restore)
        yield view, decide.next_action(view)


ALL = list(views())


def test_all_states_are_tried() -> None:
    """Every combination gets an action that somebody knows how to do."""
    known = {value for name, value in vars(decide).items() if name.isupper() and isinstance(value, str)}
    assert len(ALL) == 7 * 5 * 3 * 4 * 2 * 3 * 15
    assert {action for _, action in ALL} <= known


def test_no_init_where_a_cluster_exists() -> None:
    """No step towards an init with a mark, a backup, an API server that answers, or a lock of somebody who lives."""
    for view, action in ALL:
        if action in INITS:
            assert view.mark == "none", view
            assert not view.backup, view
            assert view.api == "silent", view
            assert view.local == "none", view
            assert view.made not in decide.FINISHED, view
    assert all(view.lock == Lock(mine=True) for view, action in ALL if action == decide.INIT)
    assert all(view.lock and view.lock.gone for view, action in ALL if action == decide.TAKE_OVER_LOCK)
    assert all(view.lock is None for view, action in ALL if action == decide.CLAIM_LOCK)


def test_a_mark_is_published_only_by_the_holder_that_serves() -> None:
    """Only what this node made, and what answers, is published, and only while the lock is its own."""
    for view, action in ALL:
        if action == decide.PUBLISH:
            assert (view.made, view.local, view.mark) == ("initialized", "complete", "none"), view
            assert view.lock == Lock(mine=True), view
        if action == decide.PUBLISH_RESTORE:
            assert (view.made, view.local) == ("restored", "complete"), view
            assert view.restore.mine, view


def test_a_member_that_serves_is_never_reset_by_itself() -> None:
    """What serves is reset only to follow a restore, or when its init was overtaken before anybody knew of it."""
    for view, action in ALL:
        if action in (decide.RESET, decide.JOIN) and view.local == "complete":
            assert view.made in ("initializing", "initialized"), view
            assert view.mark != "mine", view
            assert view.mark == "other" or not (view.lock and view.lock.mine), view
        if action == decide.FOLLOW_RESTORE:
            assert view.restore.state == "done", view
            assert not view.restore.mine, view
        if action in (decide.RESET, decide.JOIN, *INITS):
            assert view.made not in ("joined", "restored"), view
        if action == decide.RESET:
            assert view.made != "joining", "its member may vote: it is removed under the join lock first"


def test_a_restore_never_stands_beside_a_living_cluster() -> None:
    """A restore is claimed only when the API is down; data are replaced only then, or when they are its own."""
    for view, action in ALL:
        if action in RESTORING:
            own = view.made == "restoring" and view.restore.mine
            assert view.api != "ready" or own, view
            assert view.local != "complete" or own or action == decide.TAKE_OVER_RESTORE, view
        if action == decide.TAKE_OVER_RESTORE:
            assert view.restore.gone, view


def test_a_healthy_member_is_left_in_peace() -> None:
    """A finished node that serves is done, as long as no restore is asked for."""
    for view, action in ALL:
        if view.restore is None and view.local == "complete" and view.made in ("joined", "restored"):
            assert action == decide.DONE, view
        if view.restore is None and view.made == "initialized" and view.local == "complete" and view.mark == "mine":
            assert action == decide.DONE, view


def test_nobody_joins_before_there_is_a_cluster() -> None:
    """A control-plane node waits for the mark of another one, a worker for the token that is written with it."""
    joins = [view for view, action in ALL if action == decide.JOIN]
    assert joins
    assert all((view.mark, view.api) == ("other", "ready") for view in joins)
    for made, local in itertools.product(("", "joining", "joined"), ("none", "partial", "complete")):
        assert decide.next_worker_action(decide.WorkerView(made, local, token=False)) != decide.JOIN


def test_every_way_ends() -> None:
    """From every state that a first node can be in, the actions lead to the end, without a circle."""
    view, seen = View(), []
    for _ in range(12):
        action = decide.next_action(view)
        seen.append(action)
        follow = {
            decide.CLAIM_LOCK: {"lock": Lock(mine=True)},
            decide.INIT: {"made": "initialized", "local": "complete", "api": "ready"},
            decide.PUBLISH: {"mark": "mine"},
        }
        if action == decide.DONE:
            break
        view = View(**{**vars(view), **follow[action]})
    assert seen == [decide.CLAIM_LOCK, decide.INIT, decide.PUBLISH, decide.DONE]


ME, ADDRESS = "i-me", "10.0.0.1"
STATES = ("running", "shutting-down", "stopped", "terminated", "absent", "unknown")


def peers(states: dict[str, str], predecessors: tuple[str, ...] = ()) -> "Peers":
    instances = {"10.0.0.1": ME, "10.0.0.2": "i-a", "10.0.0.3": "i-b", "10.0.0.4": "i-c"}
    return Peers(ME, ADDRESS, frozenset(predecessors), states, instances)


def rows() -> list["Member | None"]:
    return [
        None,
        Member(1, "i-a", ("10.0.0.2",), learner=False),
        Member(1, "i-a", ("10.0.0.2",), learner=True),
        Member(1, "", ("10.0.0.2",), learner=True),
        Member(1, "i-a", (ADDRESS,), learner=False),
        Member(1, "", ("10.0.0.99",), learner=True),
    ]


def test_only_the_dead_are_removed() -> None:
    """All of two members, their states, and whose slot it was: removed is who is gone, or the slot's who goes."""
    other = Member(2, "i-b", ("10.0.0.3",), learner=False)
    own = [None, Member(3, ME, (ADDRESS,), learner=True), Member(3, "", (ADDRESS,), learner=True)]
    tried = 0
    for first, state, old, mine, local in itertools.product(
        rows(), STATES, (False, True), own, ("none", "partial", "complete")
    ):
        known = peers({"i-a": state, "i-b": "running", ME: "running"}, ("i-a",) if old else ())
        members = [one for one in (first, other, mine) if one]
        action, member = membership.next_under_lock(members, known, local)
        tried += 1
        if action == membership.CLEAN_SELF:
            assert local != "none"
            assert mine is None, "a voter that is switched off before it is removed may take the quorum with it"
        if action in (membership.TRY_JOIN, membership.YIELD):
            assert local == "none"
        if action == membership.REMOVE:
            assert member is mine or (member is first and state != "running" and state != "unknown")
            if member is first:
                assert state in ("terminated", "absent") or (old and state in ("shutting-down", "stopped"))
                assert member.addresses != ("10.0.0.99",), "nobody knows whose it is"
        if action == membership.TRY_JOIN:
            left = [one for one in members if one is not other]
            assert not any(ADDRESS in one.addresses or one.learner for one in left), "kubeadm would break etcd"
    assert tried == 6 * 6 * 2 * 3 * 3


def test_a_dead_member_is_removed_before_the_join() -> None:
    """Also that of the slot's former machine, whose address comes back on an empty disk."""
    alive = Member(2, "i-b", ("10.0.0.3",), learner=False)
    for address in ("10.0.0.2", ADDRESS):
        dead = Member(1, "i-a", (address,), learner=False)
        known = peers({"i-a": "terminated", "i-b": "running", ME: "running"})
        assert membership.next_under_lock([dead, alive], known, "none") == (membership.REMOVE, dead)
    assert membership.next_under_lock([alive], known, "none") == (membership.TRY_JOIN, None)


def test_the_last_voter_is_never_removed() -> None:
    """A single member stays, whatever EC2 says of it: without it there is no cluster to join."""
    only = Member(1, "i-a", ("10.0.0.2",), learner=False)
    action, _ = membership.next_under_lock([only], peers({"i-a": "terminated", ME: "running"}), "none")
    assert action == membership.TRY_JOIN


def test_a_worker_joins_with_a_token_and_resets_leftovers() -> None:
    """All states of a worker: it joins only clean and with a token, and a joined one is never reset."""
    locals_ = ("none", "partial", "complete")
    for made, local, token in itertools.product(("", "joining", "joined"), locals_, (False, True)):
        action = decide.next_worker_action(decide.WorkerView(made, local, token))
        if action == decide.JOIN:
            assert (local, token) == ("none", True)
            assert made != "joined"
        if made == "joined":
            assert action in (decide.DONE, decide.WAIT_LOCAL)
        if action == decide.RESET:
            assert local == "partial"


RULES = [value for value in vars(load("errors")).values() if isinstance(value, load("errors").Rule)]


@pytest.mark.parametrize("rule", RULES)
def test_rules_have_codes(rule) -> None:
    """Every rule of the agent has a code of its own."""
    codes = [one.code for one in RULES]
    assert re.fullmatch(r"WK-AGT-\d{3}", rule.code)
    assert codes.count(rule.code) == 1
