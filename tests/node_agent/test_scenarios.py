"""Agents as processes, through everything that happens to a control plane.

The failure modes of the design (control-plane facts, 10.2), and what holds the agent to them:

| failure | test |
| --- | --- |
| two nodes init | ``test_three_agents_at_once``, ``test_a_lost_answer_is_no_lost_lock`` |
| lock holder dies before init ends | ``test_the_lock_of_a_vanished_holder_is_taken_over`` |
| init done, mark not written | ``test_kill_at_every_step[init.publish]`` (and every other step) |
| all control plane gone, new instances | ``test_a_lost_control_plane_is_not_made_anew`` |
| join dies mid-way | ``test_a_join_that_dies_is_cleaned_up_and_repeated``, ``test_kill_at_every_step[join.*]`` |
| over-eager member cleaning | ``test_the_learner_of_a_running_instance_stays``, ``test_decide.py``, :meth:`Bed.check` |
| replacement with the same address | ``test_a_replaced_instance_with_the_same_address`` |
| parallel joins | ``test_two_replaced_at_once``, ``test_three_agents_at_once`` |
| hairpin, slow registration of the balancer | ``test_a_balancer_that_is_late`` (the rest: its settings) |
| token expired | ``test_a_worker_joins_when_the_token_is_fresh`` |
| token stolen | ``test_the_token_is_rotated_and_the_lead_goes_over`` (short life, one parameter); rest: policies |
| quorum lost | ``test_a_restore_brings_the_cluster_back`` |
| certificates expire | ``test_the_status_says_what_a_person_needs`` |
| NXDOMAIN, user data size, CA key of workers, order of add-ons | not the agent's: records, loader, policies, objects |
"""

import base64
import json
import re
import signal
import time
from pathlib import Path

import pytest

from tests.node_agent import standin
from tests.node_agent.bed import AGENT, KEY_ARN, Bed, Fault, Machine

pytestmark = pytest.mark.verify

SOURCE = "\n".join(path.read_text() for path in sorted((AGENT / "winkube_agent").glob("*.py")))
STEPS = sorted(set(re.findall(r'step\(\s*"([a-z.-]+)"', SOURCE)) | set(re.findall(r'_claim\("([a-z.-]+)"', SOURCE)))

FILES = [name for pair in standin.AUTHORITIES.values() for name in pair]


def of(*prefixes: str, without: tuple[str, ...] = ()) -> list[str]:
    return [one for one in STEPS if one.startswith(prefixes) and one not in without]


def all_ready(bed: Bed, *machines: Machine) -> None:
    bed.wait(lambda: all(one.ready() and not one.status.get("error") for one in machines))


def killed_at(bed: Bed, machine: Machine, name: str, **environment: str) -> None:
    """Kill the agent before a step, then after it; afterwards start it for good."""
    for border in (name, f"{name}!"):
        machine.start(WINKUBE_AGENT_KILL_AT=border, **environment)
        bed.wait(machine.ended)
        assert border[:-1] in " ".join(machine.steps()) or border == name, machine.log
        machine.stop()
    machine.start()


def test_three_agents_at_once(bed: Bed) -> None:
    """Three agents started together make one cluster of three members, and one makes it."""
    machines = [bed.machine(slot).start() for slot in bed.slots]
    all_ready(bed, *machines)
    assert bed.voters() == {one.name for one in machines}
    assert len(bed.journal("init-start")) == 1
    assert not bed.journal("too-many-learners")
    assert bed.cluster()["binding"] is False
    bed.check()


@pytest.mark.parametrize("name", of("init.", "token.", without=("init.take-over-lock", "init.finish")))
def test_kill_at_every_step_of_an_init(make_bed, name: str) -> None:
    """A kill before and after any step of an init, then a start: one cluster, published once."""
    bed = make_bed(1)
    machine = bed.machine("cp-0")
    killed_at(bed, machine, name)
    all_ready(bed, machine)
    assert len({one["cluster"] for one in bed.journal("init-done")}) == 1
    assert bed.voters() == {machine.name}
    assert bed.object("bootstrap/1/initialized")["instance_id"] == machine.name
    bed.check()


@pytest.mark.parametrize("point", ["init:certs", "init:manifests", "init:serves"])
def test_a_kill_within_kubeadm_init(make_bed, point: str) -> None:
    """kubeadm and the agent die together in the middle: what serves is finished, what does not is made anew."""
    bed = make_bed(1)
    machine = bed.machine("cp-0").start(STANDIN_DIE=point)
    bed.wait(machine.ended)
    machine.stop()
    machine.start(WINKUBE_AGENT_KILL_AT="init.finish!" if point == "init:serves" else "")
    if point == "init:serves":
        bed.wait(machine.ended)
        machine.stop()
        machine.start()
    all_ready(bed, machine)
    assert len(bed.journal("init-serves")) == 1
    assert bed.cluster()["config"] is True
    bed.check()


@pytest.mark.parametrize("name", of("join.", without=("join.remove-member", "join.clean")))
def test_kill_at_every_step_of_a_join(bed: Bed, name: str) -> None:
    """A kill before and after any step of a join, then a start: one more member that votes."""
    first = bed.established(1)[0]
    machine = bed.machine("cp-1")
    killed_at(bed, machine, name)
    all_ready(bed, machine)
    assert bed.voters() == {first.name, machine.name}
    bed.wait(lambda: bed.object("bootstrap/1/join-lock")["instance_id"] == "")
    bed.check()


@pytest.mark.parametrize("place", ["preflight", "learner", "started", "promoted", "kubeconfig"])
def test_a_join_that_dies_is_cleaned_up_and_repeated(bed: Bed, place: str) -> None:
    """kubeadm and the agent die in the middle of a join, and the agent once more while it cleans up."""
    first = bed.established(1)[0]
    machine = bed.machine("cp-1").start(STANDIN_DIE=f"join:{place}")
    bed.wait(machine.ended)
    machine.stop()
    killed_at(bed, machine, "join.clean")
    all_ready(bed, machine)
    assert bed.voters() == {first.name, machine.name}
    assert len(bed.cluster()["members"]) == 2
    bed.check()


@pytest.mark.parametrize("slot", ["cp-1", None])
def test_a_join_that_dies_behind_the_kubelet_is_finished(bed: Bed, slot: str | None) -> None:
    """The kubelet is itself when kubeadm and the agent die: nothing that serves is taken down, the rest is done."""
    bed.established(1)
    machine = bed.machine(slot).start(STANDIN_DIE="join:kubelet")
    bed.wait(machine.ended)
    machine.stop()
    machine.start()
    all_ready(bed, machine)
    assert not [one for one in bed.journal("reset") if one["node"] == machine.name]
    assert (machine.name in bed.cluster()["marked"]) == bool(slot), "kubeadm alone labels and taints a control plane"
    assert not (machine.root / "etc/kubernetes/bootstrap-kubelet.conf").exists(), "it holds the token"
    bed.check()


def test_a_kubelet_without_an_identity_is_no_worker(bed: Bed) -> None:
    """The kubelet writes its kubeconfig before it has a certificate: a kill in between is cleaned up."""
    bed.established(1)
    worker = bed.machine().start(STANDIN_DIE="join:kubeconfig")
    bed.wait(worker.ended)
    worker.stop()
    worker.start()
    bed.wait(worker.ready)
    assert [one["event"] for one in bed.journal() if one["node"] == worker.name][-2:] == ["reset", "join-done"]
    bed.check()


def test_kill_while_a_dead_member_is_removed(bed: Bed) -> None:
    """A kill around the removal of a dead member: it is removed once, and the successor joins."""
    *others, gone = bed.established(3)
    gone.terminate()
    machine = bed.machine(gone.slot)
    killed_at(bed, machine, "join.remove-member")
    all_ready(bed, machine)
    assert bed.voters() == {machine.name, *(one.name for one in others)}
    assert [one["name"] for one in bed.journal("member-remove")] == [gone.name]
    bed.check()


def test_a_replaced_instance_with_the_same_address(bed: Bed) -> None:
    """The address comes back with an empty disk: the dead member is removed before the join, and its Node."""
    *others, gone = bed.established(3)
    gone.terminate()
    machine = bed.machine(gone.slot, gone.address).start()
    all_ready(bed, machine)
    assert bed.voters() == {machine.name, *(one.name for one in others)}
    assert gone.name not in bed.cluster()["nodes"]
    bed.check()


def test_two_replaced_at_once(bed: Bed) -> None:
    """Two of five are replaced at the same time: one after the other joins."""
    bed.slots[:] = [f"cp-{number}" for number in range(5)]
    machines = bed.established(5)
    for gone in machines[3:]:
        gone.terminate()
    new = [bed.machine(gone.slot).start() for gone in machines[3:]]
    all_ready(bed, *new)
    assert bed.voters() == {one.name for one in [*machines[:3], *new]}
    assert not bed.journal("too-many-learners")
    bed.check()


def test_a_slot_is_replaced_while_its_instance_shuts_down(bed: Bed) -> None:
    """The successor removes its predecessor that is shutting down, but never one that runs."""
    *_, gone = bed.established(3)
    machine = bed.machine(gone.slot).start()
    bed.wait(lambda: "join.kubeadm" in machine.steps() or machine.error == "WK-AGT-014")
    assert not bed.journal("member-remove")
    all_ready(bed, machine)
    assert gone.name in bed.voters()
    bed.check()


@pytest.mark.parametrize("name", ["init.begin", "init.kubeadm", "init.take-over-lock"])
def test_the_lock_of_a_vanished_holder_is_taken_over(bed: Bed, name: str) -> None:
    """The holder dies before or within its init, and EC2 says so: another one makes the cluster."""
    holder = bed.machine("cp-0").start(WINKUBE_AGENT_KILL_AT="init.kubeadm" if "over" in name else name)
    bed.wait(holder.ended)
    second = bed.machine("cp-1").start(WINKUBE_AGENT_KILL_AT=f"{name}!" if "over" in name else "")
    bed.wait(lambda: second.status.get("phase") == "wait")
    assert bed.object("bootstrap/1/lock")["instance_id"] == holder.name
    time.sleep(0.5)
    assert second.status["phase"] == "wait", "a holder that runs keeps its lock"
    holder.terminate()
    if "over" in name:
        bed.wait(second.ended)
        second.stop()
        second.start()
    all_ready(bed, second)
    assert bed.voters() == {second.name}
    bed.check()


def test_a_holder_that_vanished_after_its_init(bed: Bed) -> None:
    """The mark is there, the only member is not: nobody makes a second cluster."""
    holder = bed.machine("cp-0").start()
    bed.wait(lambda: bed.keys("backups/etcd/1/cp-0/"))
    holder.terminate()
    others = [bed.machine(slot).start() for slot in ("cp-0", "cp-1")]
    bed.wait(lambda: all(one.error == "WK-AGT-008" for one in others))
    assert len(bed.journal("init-start")) == 1
    bed.check()


def test_a_lost_control_plane_is_not_made_anew(bed: Bed) -> None:
    """Everything is gone and new instances start: they refuse, name the way out, and keep every backup."""
    machines = bed.established(3)
    bed.put_object(backup_key("cp-0"), b"backup")
    for gone in machines:
        gone.terminate()
    new = [bed.machine(slot).start() for slot in bed.slots]
    bed.wait(lambda: all(one.error == "WK-AGT-008" for one in new))
    assert "restore" in new[0].status["error"]["remedy"]
    bed.s3.delete_object(Bucket=bed.bucket, Key=bed.key("bootstrap/1/initialized"))
    bed.s3.delete_object(Bucket=bed.bucket, Key=bed.key("bootstrap/1/lock"))
    bed.wait(lambda: all(one.error == "WK-AGT-007" for one in new))
    assert not bed.journal("init-start")
    assert len(bed.keys("backups/")) == 1
    bed.check()


def test_an_api_server_of_others_is_left_alone(bed: Bed) -> None:
    """An API server answers at the endpoint, the bucket is empty: no second cluster behind one endpoint."""
    bed.established(1)
    for name in ("lock", "initialized"):
        bed.s3.delete_object(Bucket=bed.bucket, Key=bed.key(f"bootstrap/1/{name}"))
    machine = bed.machine("cp-1").start()
    bed.wait(lambda: machine.error == "WK-AGT-009")
    assert not bed.journal("init-start")
    bed.check()


def backup_key(slot: str, content: bytes = b"", revision: int = 100) -> str:
    import hashlib

    digest = hashlib.sha256(content).hexdigest()
    return f"backups/etcd/1/{slot}/20260101T000000Z-r{revision}-{digest}.db"


def lost_with_backup(bed: Bed, survivors: int = 1) -> tuple[list[Machine], dict[str, str]]:
    """A cluster without its quorum, and the wish to restore its backup."""
    machines = bed.established(3)
    content = json.dumps({"keys": 100, "revision": 100}).encode()
    key = backup_key("cp-0", content)
    bed.put_object(key, content)
    for gone in machines[survivors:]:
        gone.terminate()
    return machines, {"key": bed.key(key), "sha256": key.rsplit("-", 1)[-1].removesuffix(".db")}


def test_a_restore_brings_the_cluster_back(bed: Bed) -> None:
    """Quorum lost: the restore object is followed once, by one; the survivor keeps its data aside and rejoins."""
    machines, wish = lost_with_backup(bed)
    new = [bed.machine(slot).start() for slot in bed.slots[1:]]
    survivor = machines[0].start()
    bed.wait(lambda: all(one.error == "WK-AGT-008" for one in new))
    bed.wait(lambda: survivor.error == "WK-AGT-015")
    bed.put_object("bootstrap/1/restore", wish)
    all_ready(bed, survivor, *new)
    assert bed.voters() == {survivor.name, *(one.name for one in new)}
    assert bed.cluster()["keys"] == 100
    assert bed.cluster()["revision"] == 100 + 10**9
    assert bed.object("bootstrap/1/restore")["state"] == "done"
    kept = [*(survivor.root / "var/lib/winkube").glob("etcd-before-*/member.json")]
    assert kept, "the data of the survivor were thrown away"
    survivor.stop()
    all_ready(bed, survivor.start())
    bed.check(restores=1)


@pytest.mark.parametrize("name", of("restore.", without=("restore.follow", "restore.followed", "restore.again")))
def test_kill_at_every_step_of_a_restore(bed: Bed, name: str) -> None:
    """A kill before and after any step of a restore, then a start: it is carried out to its end, and published."""
    _, wish = lost_with_backup(bed, survivors=0)
    machine = bed.machine("cp-1")
    bed.put_object("bootstrap/1/restore", wish)
    killed_at(bed, machine, name)
    all_ready(bed, machine)
    assert bed.cluster()["keys"] == 100
    assert bed.object("bootstrap/1/restore")["state"] == "done"
    assert bed.object("bootstrap/1/initialized")["instance_id"] == machine.name
    served = len(bed.journal("init-serves"))
    assert served == 1
    bed.check(restores=served)


@pytest.mark.parametrize("point", ["init:certs", "init:serves"])
def test_a_kill_within_the_init_of_a_restore(bed: Bed, point: str) -> None:
    """kubeadm and the agent die over the restored data: the restore is finished, or repeated from the backup."""
    _, wish = lost_with_backup(bed, survivors=0)
    machine = bed.machine("cp-1").start(STANDIN_DIE=point)
    bed.put_object("bootstrap/1/restore", wish)
    bed.wait(machine.ended)
    machine.stop()
    if point == "init:certs":
        killed_at(bed, machine, "restore.again")
    else:
        machine.start()
    all_ready(bed, machine)
    assert bed.cluster()["keys"] == 100
    bed.check(restores=1)


@pytest.mark.parametrize("name", ["restore.follow", "restore.followed"])
def test_kill_while_a_survivor_follows_a_restore(bed: Bed, name: str) -> None:
    """A kill around the steps by which a survivor gives up its old cluster: it still joins the restored one."""
    machines, wish = lost_with_backup(bed)
    new = bed.machine("cp-1").start()
    bed.put_object("bootstrap/1/restore", wish)
    all_ready(bed, new)
    killed_at(bed, machines[0], name)
    all_ready(bed, machines[0])
    assert bed.voters() == {new.name, machines[0].name}
    bed.check(restores=1)


def test_a_restorer_that_vanished_is_replaced(bed: Bed) -> None:
    """Who claimed the restore is terminated in the middle: another one takes it over."""
    _, wish = lost_with_backup(bed, survivors=0)
    bed.put_object("bootstrap/1/restore", wish)
    first = bed.machine("cp-0").start(WINKUBE_AGENT_KILL_AT="restore.kubeadm")
    bed.wait(first.ended)
    second = bed.machine("cp-1").start()
    bed.wait(lambda: second.status.get("phase") == "wait")
    first.terminate()
    all_ready(bed, second)
    bed.check(restores=1)


def test_a_wrong_backup_is_not_restored(bed: Bed) -> None:
    """A digest that does not fit, or an object that names none: nothing is claimed, nothing is made."""
    _, wish = lost_with_backup(bed, survivors=0)
    bed.put_object("bootstrap/1/restore", {**wish, "sha256": "0" * 64})
    machine = bed.machine("cp-0").start()
    bed.wait(lambda: machine.error == "WK-AGT-011")
    bed.put_object("bootstrap/1/restore", {"snapshot": "newest"})
    bed.wait(lambda: "does not name a backup" in str(machine.status.get("error")))
    assert not bed.journal("init-start")
    assert "state" not in bed.object("bootstrap/1/restore")
    bed.check()


def test_a_restore_beside_a_living_cluster_is_refused(bed: Bed) -> None:
    """The cluster lives: its nodes say that it does, and go on."""
    machine = bed.established(1)[0]
    bed.put_object("bootstrap/1/restore", {"key": "k", "sha256": "0" * 64})
    machine.start()
    bed.wait(lambda: machine.error == "WK-AGT-010")
    assert not bed.journal("reset")
    bed.check()


def test_s3_and_ssm_answer_500_for_a_while(bed: Bed) -> None:
    """Everything fails, then only now and then, then it heals: one cluster comes out of it."""
    faults = [Fault("500", "s3", count=25), Fault("500", "ssm", count=8), Fault("500", "ec2", count=8)]
    bed.proxy.faults += faults
    machines = [bed.machine(slot).start() for slot in bed.slots[:2]]
    all_ready(bed, *machines)
    assert all(one.hits for one in faults[:2])
    assert bed.voters() == {one.name for one in machines}
    assert len(bed.journal("init-start")) == 1
    bed.check()


def test_s3_does_not_answer_for_a_while(bed: Bed) -> None:
    """Requests hang longer than their deadline: they are given up and repeated."""
    bed.overrides["deadlines"] = {**bed.deadlines, "request_seconds": 0.15}
    bed.proxy.faults.append(Fault("hang", "s3", "bootstrap", count=6))
    bed.proxy.faults.append(Fault("hang", "ssm", count=1))
    machine = bed.machine("cp-0").start()
    all_ready(bed, machine)
    assert any(one.get("problem") == "ReadTimeoutError" for one in machine.events())
    bed.check()


@pytest.mark.parametrize("name", ["lock", "initialized", "join-lock", "token-leader"])
def test_a_lost_answer_is_no_lost_lock(bed: Bed, name: str) -> None:
    """The write is done, but its answer is a 500: the repetition is refused, and yet the object is ours."""
    bed.proxy.faults.append(Fault("lost", "s3", f"PUT /{bed.bucket}/{bed.key(f'bootstrap/1/{name}')}", count=1))
    machines = [bed.machine(slot).start() for slot in bed.slots[:2]]
    all_ready(bed, *machines)
    assert bed.proxy.faults[0].hits == 1
    assert len(bed.journal("init-start")) == 1
    bed.check()


def test_a_missing_object_may_look_forbidden(make_bed) -> None:
    """S3 answers 403 for a key that is not there, to whoever may list only below a prefix: it is not there."""
    bed = make_bed(1)
    bed.proxy.faults.append(Fault("403", "s3", "GET"))
    machine = bed.machine("cp-0").start()
    all_ready(bed, machine)
    bed.check()


def test_the_learner_of_a_running_instance_stays(bed: Bed) -> None:
    """A learner that blocks all joins is not removed while its instance runs; its own agent cleans it up."""
    first = bed.established(1)[0]
    stuck = bed.machine("cp-1").start(STANDIN_DIE="join:learner")
    bed.wait(stuck.ended)
    other = bed.machine("cp-2").start()
    bed.wait(lambda: other.error == "WK-AGT-014")
    assert not bed.journal("member-remove")
    stuck.stop()
    stuck.start()
    all_ready(bed, stuck, other)
    assert bed.voters() == {first.name, stuck.name, other.name}
    bed.check()


def test_the_learner_of_a_vanished_instance_is_removed(bed: Bed) -> None:
    """The same learner, but EC2 says that its instance is gone: it is found by its address, and removed."""
    first = bed.established(1)[0]
    stuck = bed.machine("cp-1").start(STANDIN_DIE="join:learner")
    bed.wait(stuck.ended)
    stuck.terminate()
    other = bed.machine("cp-2").start()
    all_ready(bed, other)
    assert bed.voters() == {first.name, other.name}
    assert len(bed.cluster()["members"]) == 2
    bed.check()


def test_a_paused_holder_notices_that_it_lost_the_lease(bed: Bed) -> None:
    """The holder of the join lock sleeps past its lease: another one joins, and the sleeper acts only in its turn."""
    bed.established(1)
    sleeper = bed.machine("cp-1").start(WINKUBE_AGENT_PAUSE_AT="join.begin")
    bed.wait(lambda: any(one["event"] == "paused" for one in sleeper.events()))
    other = bed.machine("cp-2").start()
    bed.wait(lambda: other.ready())
    before = len(bed.journal("join-done"))
    sleeper.signal(signal.SIGCONT)
    bed.wait(lambda: any("WK-AGT-012" in str(one.get("problem")) for one in sleeper.events()))
    assert before == 1
    sleeper.stop()
    all_ready(bed, sleeper.start(), other)
    assert len(bed.cluster()["members"]) == 3
    bed.check()


def test_a_paused_initializer_does_not_make_a_second_cluster(bed: Bed) -> None:
    """EC2 calls the holder of the lock terminated while it sleeps; awake again, it finds the lock gone, and joins."""
    sleeper = bed.machine("cp-0").start(WINKUBE_AGENT_PAUSE_AT="init.begin")
    bed.wait(lambda: any(one["event"] == "paused" for one in sleeper.events()))
    bed.ec2.terminate_instances(InstanceIds=[sleeper.name])
    other = bed.machine("cp-1").start()
    all_ready(bed, other)
    sleeper.signal(signal.SIGCONT)
    bed.wait(lambda: any("WK-AGT-012" in str(one.get("problem")) for one in sleeper.events()))
    bed.wait(sleeper.ready)
    assert len(bed.journal("init-start")) == 1
    bed.check()


def test_an_overtaken_initializer_gives_up_what_it_made(bed: Bed) -> None:
    """It slept between its init and the mark, and another one made the cluster: its own, which nobody knows, goes."""
    sleeper = bed.machine("cp-0").start(WINKUBE_AGENT_PAUSE_AT="init.made")
    bed.wait(lambda: any(one["event"] == "paused" for one in sleeper.events()))
    bed.die(sleeper)  # asleep, its API server does not answer either
    bed.ec2.terminate_instances(InstanceIds=[sleeper.name])
    other = bed.machine("cp-1").start()
    all_ready(bed, other)
    with standin.world(bed.folder) as it:
        it.nodes[sleeper.name]["up"] = True
    sleeper.signal(signal.SIGCONT)
    bed.wait(lambda: "reset" in sleeper.steps())
    sleeper.stop()
    killed_at(bed, sleeper, "join.begin")
    bed.wait(sleeper.ready)
    assert bed.voters() == {other.name, sleeper.name}
    bed.check()


def test_the_token_is_rotated_and_the_lead_goes_over(bed: Bed) -> None:
    """One leader writes a new token at each half of its life; when the leader is gone, another one does."""
    bed.overrides["token"] = {"parameter": bed.parameter, "ttl_seconds": 3600, "refresh_seconds": 0.8}
    first, second = bed.established(2)
    bed.overrides["backup"] = None
    for one in (first, second):
        (one.root / "etc/winkube/node.json").write_text(json.dumps(bed.document(one.slot)))
    first.start()
    bed.wait(lambda: len(bed.journal("token")) >= 2)
    second.start()
    bed.wait(second.ready)
    time.sleep(1)
    assert {one["by"] for one in bed.journal("token")} == {first.name}
    with standin.world(bed.folder) as it:  # a third member keeps the quorum when the leader goes
        it.clusters["c"]["members"] = [one for one in it.clusters["c"]["members"] if one["name"] == second.name]
        it.clusters["c"]["leader"] = it.clusters["c"]["members"][0]["id"]
    first.terminate()
    bed.wait(lambda: bed.journal("token")[-1]["by"] == second.name)
    bed.wait(lambda: bed.object("bootstrap/1/token-leader")["instance_id"] == second.name)
    value = bed.ssm.get_parameter(Name=bed.parameter, WithDecryption=True)["Parameter"]
    assert value["Type"] == "SecureString"
    assert value["Value"] in bed.cluster()["tokens"]
    bed.check()


def test_a_worker_joins_when_the_token_is_fresh(bed: Bed) -> None:
    """No token, then an expired one, then a fresh one: the worker reads it anew each time, and resets in between."""
    first = bed.established(1)[0]
    bed.put_token("pending")
    worker = bed.machine().start()
    bed.wait(lambda: worker.error == "WK-AGT-013")
    bed.put_token("expire.d000000000000000")
    bed.wait(lambda: len(bed.journal("join-unauthorized")) >= 2)
    assert "secret" in worker.status["error"]["text"], "the token in kubeadm's message is masked"
    first.start()
    bed.wait(worker.ready)
    assert {"wait", "join"} <= set(worker.status["phase_seconds"]), "waiting is no part of the machine's own time"
    assert worker.name in bed.cluster()["nodes"]
    assert not any(service == "s3" for service, text in bed.proxy.calls if worker.name in text)
    worker.stop()
    killed_at(bed, bed.machine(), "join.kubeadm")
    bed.wait(lambda: len(bed.journal("join-done")) >= 2)
    bed.check()


def test_backups_are_made_and_never_the_last_one_deleted(make_bed) -> None:
    """Backups come in their time, the policy deletes old ones, and a bad snapshot neither counts nor deletes."""
    bed = make_bed(1)
    bed.overrides["backup"] = {"interval_seconds": 1, "retention": {"keep_last": 2, "keep_hourly": 0, "keep_daily": 0}}
    machine = bed.established(1)[0].start()
    bed.wait(lambda: sum(one["event"] == "backup deleted" for one in machine.events()) >= 2)
    assert 2 <= len(bed.keys("backups/etcd/1/cp-0/")) <= 3
    bed.proxy.faults.append(Fault("500", "s3", "PUT /" + bed.bucket + "/" + bed.key("backups")))
    bed.wait(lambda: machine.status["error"] is not None)
    assert len(bed.keys("backups/etcd/1/cp-0/")) >= 2
    bed.proxy.faults.clear()
    all_ready(bed, machine)
    with standin.world(bed.folder) as it:  # a cluster that is suddenly empty must not push out what is good
        it.clusters["c"]["revision"] = 1
    bed.wait(lambda: any(one["event"] == "backup kept all" for one in machine.events()))
    assert any("-r100-" in key for key in bed.keys("backups/etcd/1/cp-0/"))
    bed.check()


@pytest.mark.parametrize("name", of("backup."))
def test_kill_at_every_step_of_a_backup(make_bed, name: str) -> None:
    """A kill around any step of a backup: the next one is made, and nothing is lost."""
    bed = make_bed(1)
    machine = bed.established(1)[0]
    policy = {"keep_last": 1, "keep_hourly": 0, "keep_daily": 0}
    bed.overrides["backup"] = {"interval_seconds": 0.5, "retention": policy}
    (machine.root / "etc/winkube/node.json").write_text(json.dumps(bed.document("cp-0")))
    killed_at(bed, machine, name)
    bed.wait(lambda: machine.ready() and bed.keys("backups/etcd/1/cp-0/"))
    bed.check()


def leaving_group(bed: Bed, machine: Machine) -> None:
    """An Auto Scaling group with a hook, to which the instance belongs."""
    name = f"group-{machine.name}"
    bed.autoscaling.create_auto_scaling_group(AutoScalingGroupName=name, MinSize=0, MaxSize=1, InstanceId=machine.name,
                                              AvailabilityZones=["eu-west-1a"])  # fmt: skip
    bed.autoscaling.attach_instances(AutoScalingGroupName=name, InstanceIds=[machine.name])
    bed.autoscaling.put_lifecycle_hook(
        AutoScalingGroupName=name, LifecycleHookName="leave",
        LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
    )  # fmt: skip


def test_an_instance_leaves_by_its_lifecycle_hook(bed: Bed) -> None:
    """The group terminates the leader: leadership moves, member and Node go, the action is completed."""
    machines = bed.established(3)
    leader = machines[0].start()
    leaving_group(bed, leader)
    bed.wait(leader.ready)
    leader.lifecycle = "Terminated"
    bed.wait(lambda: bed.proxy.completed)
    assert bed.voters() == {one.name for one in machines[1:]}
    assert bed.journal("move-leader")
    assert leader.name not in bed.cluster()["nodes"]
    assert leader.name in bed.proxy.completed[0]
    assert "CONTINUE" in bed.proxy.completed[0]
    bed.check()


def test_the_status_of_a_slot_is_its_newest_machines(bed: Bed) -> None:
    """A machine that takes its time to leave does not write over its successor, which the next one must know of."""
    *_, leaver = bed.established(3)
    leaving_group(bed, leaver.start())
    bed.wait(leaver.ready)
    successor = bed.machine(leaver.slot).start()
    leaver.lifecycle = "Terminated"
    all_ready(bed, successor)
    bed.wait(lambda: leaver.status.get("phase") == "left")

    def shown() -> str:
        return (bed.object(f"bootstrap/1/status/{leaver.slot}.json") or {})["instance_id"]

    bed.wait(lambda: shown() == successor.name)
    for _ in range(10):
        time.sleep(bed.deadlines["status_seconds"] / 4)
        assert shown() == successor.name
    bed.check()


@pytest.mark.parametrize("name", of("leave."))
def test_kill_at_every_step_of_leaving(bed: Bed, name: str) -> None:
    """A kill around any step of leaving: the others have their quorum, and the action is completed."""
    machines = bed.established(3)
    leaver = machines[0]
    leaving_group(bed, leaver)
    leaver.lifecycle = "Terminated"
    killed_at(bed, leaver, name) if name != "leave.node" else leaver.start()
    bed.wait(lambda: bed.proxy.completed)
    assert bed.voters() == {one.name for one in machines[1:]}
    bed.check()


def test_the_last_member_never_leaves(bed: Bed) -> None:
    """Only one member is left: its data are the cluster, so it stays in etcd; the instance may go all the same."""
    machine = bed.established(1)[0].start()
    leaving_group(bed, machine)
    machine.lifecycle = "Terminated"
    bed.wait(lambda: bed.proxy.completed)
    assert any("WK-AGT-017" in str(one.get("problem")) for one in machine.events())
    assert not bed.journal("member-remove")
    bed.check()


def test_a_finished_node_waits_for_its_quorum(bed: Bed) -> None:
    """Two of three are off: the third one resets nothing and says what is wrong; with them back, all is well."""
    machines = bed.established(3)
    for one in machines[1:]:
        bed.die(one)
    machines[0].start()
    bed.wait(lambda: machines[0].error == "WK-AGT-015")
    with standin.world(bed.folder) as it:
        for one in it.nodes.values():
            one["up"] = True
    all_ready(bed, machines[0])
    assert not bed.journal("reset")
    bed.check()


def test_a_balancer_that_is_late(bed: Bed) -> None:
    """The endpoint does not answer for the first minutes: nothing is reported before its time, and nothing is made."""
    bed.deadlines["api_seconds"] = 60
    first = bed.established(1)[0]
    bed.die(first)
    machine = bed.machine("cp-1").start()
    bed.wait(lambda: machine.status.get("phase") == "wait")
    time.sleep(0.5)
    assert machine.status.get("error") is None
    with standin.world(bed.folder) as it:
        it.nodes[first.name]["up"] = True
    all_ready(bed, machine)
    bed.check()


def test_the_status_says_what_a_person_needs(make_bed) -> None:
    """Phases with their time and budget, members, backup, certificates and version; in the bucket and on the disk."""
    bed = make_bed(1)
    machine = bed.machine("cp-0").start()
    bed.wait(lambda: machine.ready() and (machine.status.get("backup") or {}).get("newest"))
    bed.wait(lambda: (bed.object("bootstrap/1/status/cp-0.json") or {}).get("backup"))
    status = bed.object("bootstrap/1/status/cp-0.json")
    assert status["phase"] == "ready"
    assert status["members"] == [{"name": machine.name, "id": "8000000000000007", "learner": False, "healthy": True}]
    assert status["certificate_days"]["ca.crt"] == 99 or status["certificate_days"]["ca.crt"] == 100
    assert {"machine", "init"} <= set(status["phase_seconds"])
    assert status["kubernetes_version"] == "1.36.4"
    assert status["etcd"]["version"] == "3.6.8"
    assert status["error"] is None
    assert Path(machine.root / "var/lib/winkube/state.json").stat().st_mode & 0o777 == 0o600
    bed.check()


def test_people_ask_for_a_backup_a_token_and_the_status(make_bed) -> None:
    """The commands beside the service do one thing, say so in the log, and end with 0; a mistake ends with 1."""
    bed = make_bed(1)
    bed.overrides["backup"] = {"interval_seconds": 9000}
    machine = bed.established(1)[0]
    assert machine.command("status").returncode == 1, "the agent never ran here"
    done = machine.command("backup")
    assert (done.returncode, len(bed.keys("backups/etcd/1/cp-0/"))) == (0, 1), done.stdout
    assert machine.command("token").returncode == 0
    assert bed.object("bootstrap/1/token-leader")["instance_id"] == machine.name
    machine.start()
    bed.wait(machine.ready)
    assert json.loads(machine.command("status").stdout)["phase"] == "ready"
    bed.die(machine)
    failed = machine.command("backup")
    assert failed.returncode == 1
    assert "WK-AGT-006" in failed.stdout
    (machine.root / "etc/winkube/node.json").write_text("{}")
    assert "WK-AGT-001" in machine.command("token").stdout
    bed.check()


def made_once(bed: Bed, *machines: Machine) -> None:
    """All nodes have the one published set, encrypted with the cluster's key; nothing of it is told anywhere."""
    published = bed.object("pki/1/authorities.json")
    for machine in machines:
        etc = machine.root / "etc/kubernetes"
        found = {name.replace("/", "-"): (etc / "pki" / name).read_text() for name in FILES}
        assert found == published["files"]
        assert (etc / "winkube/encryption.yaml").read_text() == f"secret: {published['secretbox']}\n"
        assert (etc / "pki/ca.key").stat().st_mode & 0o777 == 0o600
    assert {one["authority"] for one in bed.journal("init-start")} == {published["files"]["ca.key"]}
    for name in ("authorities.json", "ca.crt", "admin.conf"):
        head = bed.s3.head_object(Bucket=bed.bucket, Key=bed.key(f"pki/1/{name}"))
        assert (head["ServerSideEncryption"], head["SSEKMSKeyId"]) == ("aws:kms", KEY_ARN)
        assert head["ContentType"].startswith("text/plain")
    assert bed.text("pki/1/ca.crt") == published["files"]["ca.crt"]
    key = base64.b64encode(published["files"]["ca.key"].encode()).decode()
    assert f"client-key-data: {key}" in bed.text("pki/1/admin.conf"), "of another authority"
    halves = [text.split("\n")[1] for name, text in published["files"].items() if name.endswith(".key")]
    for machine in bed.machines.values():
        told = [machine.log, *(path.read_text() for path in (machine.root / "var/lib/winkube").glob("*.json"))]
        assert not [one for one in (published["secretbox"], *halves) for text in told if one in text]


def test_nodes_make_the_authorities_once(bed: Bed) -> None:
    """Three agents started together, and no authority anywhere: one of them makes all, the others fetch them."""
    bed.makes_authorities()
    machines = [bed.machine(slot).start() for slot in bed.slots]
    all_ready(bed, *machines)
    assert bed.voters() == {one.name for one in machines}
    assert len(bed.journal("authority")) == 4
    made_once(bed, *machines)
    (administrator,) = bed.journal("administrator")
    wanted = {"name": "winkube-admin", "org": "kubeadm:cluster-admins", "validity": "86400s"}
    assert wanted.items() <= administrator.items()
    bed.check()


@pytest.mark.parametrize("name", of("authorities."))
def test_kill_at_every_step_of_the_authorities(make_bed, name: str) -> None:
    """A kill before and after any step, then a start: one set, and what was published before is never changed."""
    bed = make_bed(1)
    bed.makes_authorities()
    machine = bed.machine("cp-0")
    seen: list[object] = []
    for border in (name, f"{name}!"):
        machine.start(WINKUBE_AGENT_KILL_AT=border)
        bed.wait(machine.ended)
        machine.stop()
        seen.append(bed.object("pki/1/authorities.json"))
        assert not bed.journal("init-start"), "used before it was published"
    machine.start()
    all_ready(bed, machine)
    published = bed.object("pki/1/authorities.json")
    assert all(one in (None, published) for one in seen)
    made_once(bed, machine)
    bed.check()


@pytest.mark.parametrize("point", ["certs:ca.crt", "certs:sa.pub"])
def test_a_kill_while_kubeadm_makes_an_authority(make_bed, point: str) -> None:
    """A key without its certificate is no authority: all are made anew, as none was published."""
    bed = make_bed(1)
    bed.makes_authorities()
    machine = bed.machine("cp-0").start(STANDIN_DIE=point)
    bed.wait(machine.ended)
    machine.stop()
    machine.start()
    all_ready(bed, machine)
    made_once(bed, machine)
    bed.check()


@pytest.mark.parametrize("name", ["authorities.publish", "authorities.publish!", "authorities.copy"])
def test_who_takes_over_takes_the_set_that_is_there(bed: Bed, name: str) -> None:
    """The holder dies around the publication, for good: another one takes its set, or makes the only one."""
    bed.makes_authorities()
    holder = bed.machine("cp-0").start(WINKUBE_AGENT_KILL_AT=name)
    bed.wait(holder.ended)
    before = bed.object("pki/1/authorities.json")
    assert (before is None) == (name == "authorities.publish")
    holder.terminate()
    machines = [bed.machine(slot).start() for slot in ("cp-1", "cp-2")]
    all_ready(bed, *machines)
    assert before in (None, bed.object("pki/1/authorities.json"))
    made_once(bed, *machines)
    bed.check()


def test_an_overtaken_holder_does_not_publish_a_second_set(bed: Bed) -> None:
    """It slept with its own set in its hands while another one made the cluster: S3 refuses it, and it joins."""
    bed.makes_authorities()
    sleeper = bed.machine("cp-0").start(WINKUBE_AGENT_PAUSE_AT="authorities.publish")
    bed.wait(lambda: any(one["event"] == "paused" for one in sleeper.events()))
    bed.ec2.terminate_instances(InstanceIds=[sleeper.name])
    other = bed.machine("cp-1").start()
    all_ready(bed, other)
    sleeper.signal(signal.SIGCONT)
    bed.wait(sleeper.ready)
    assert len(bed.journal("init-start")) == 1
    made_once(bed, other, sleeper)
    bed.check()


def test_a_lost_answer_of_the_publication(make_bed) -> None:
    """S3 wrote the set and answered 500: it is this node's all the same."""
    bed = make_bed(1)
    bed.makes_authorities()
    fault = Fault("lost", "s3", "PUT /" + bed.bucket + "/" + bed.key("pki/1/authorities.json"), count=1)
    bed.proxy.faults.append(fault)
    machine = bed.machine("cp-0").start()
    all_ready(bed, machine)
    assert fault.hits == 1
    made_once(bed, machine)
    bed.check()


def test_an_administrator_s_kubeconfig_is_renewed(make_bed) -> None:
    """What is there cannot be read, or ends soon: a part of the cluster writes a new one, and leaves a fresh one."""
    bed = make_bed(1)
    bed.makes_authorities()
    machine = bed.machine("cp-0").start()
    all_ready(bed, machine)
    machine.stop()
    bed.put_object("pki/1/admin.conf", b"client-certificate-data: bm9uZQ==\n")
    machine.start()
    bed.wait(lambda: "client-key-data" in bed.text("pki/1/admin.conf"))
    machine.stop()
    machine.start()
    all_ready(bed, machine)
    assert len(bed.journal("administrator")) == 2
    bed.check()


def test_a_cluster_whose_authorities_are_gone_is_told_of(bed: Bed) -> None:
    """Somebody deleted the set: a new node joins nothing and makes nothing, and says what to bring back."""
    bed.makes_authorities()
    first = bed.machine("cp-0").start()
    all_ready(bed, first)
    key, kept = bed.key("pki/1/authorities.json"), bed.text("pki/1/authorities.json")
    bed.s3.delete_object(Bucket=bed.bucket, Key=key)
    second = bed.machine("cp-1").start()
    bed.wait(lambda: second.error == "WK-AGT-021")
    assert bed.object("pki/1/authorities.json") is None
    bed.s3.put_object(Bucket=bed.bucket, Key=key, Body=kept.encode())
    all_ready(bed, second)
    assert bed.voters() == {first.name, second.name}
    bed.check()


def test_a_backup_of_other_authorities_is_not_restored(make_bed) -> None:
    """Its Secrets could not be read with the keys of this incarnation: nothing is reset for it."""
    bed = make_bed(1)
    bed.makes_authorities()
    wish = {"key": bed.key("backups/etcd/7/cp-0/x.db"), "sha256": "0" * 64}
    bed.put_object("bootstrap/1/restore", wish)
    machine = bed.machine("cp-0").start()
    bed.wait(lambda: machine.error == "WK-AGT-022")
    assert not bed.journal("reset")
    bed.check()


def test_every_step_is_killed_somewhere() -> None:
    """A new step of the agent cannot be forgotten: each belongs to a test that kills the agent there."""
    elsewhere = {"reset"}  # between two states that the tests of an overtaken initializer and of joins go through
    covered = {*of("init.", "authorities.", "token.", "join.", "restore.", "backup.", "leave."), *elsewhere}
    assert set(STEPS) == covered
