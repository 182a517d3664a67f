"""What machines go through, one after the other on one cluster; a writer checks that nothing it wrote is lost."""

import argparse
import calendar
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from winkube.kubernetes.manifests import CONTROL_PLANE_LABEL

from .bed import Bed
from .cloud import ENVIRONMENT
from .machine import Machine
from .stack import ROOT
from .windows import windows_joins

AGENT = "winkube-agent"
VXLAN_PORT, NETWORK_ID = 4789, 4096
REFUSED = "refuse-no-quorum"
ONCE = {"init.kubeadm", "join.kubeadm", "reset"}
"""Steps that an agent does not do again on a node that is a part of its cluster."""
KUBEADM = (["kubeadm", "init"], ["kubeadm", "join"], ["kubeadm", "token"])
OWN, THEIRS = ("machine", "init"), ("images", "kubeadm-init", "kubeadm-token")
"""Phases of the agent, and what in them is kubeadm or the unpacking of images."""
OUTAGE_SECONDS = 120
SHORT_CERTIFICATE = """\
cd /etc/kubernetes/pki
openssl x509 -x509toreq -in apiserver.crt -signkey apiserver.key -copy_extensions copyall -out /tmp/apiserver.csr
openssl x509 -req -in /tmp/apiserver.csr -CA ca.crt -CAkey ca.key -days 3 -copy_extensions copyall -out apiserver.crt
"""
SHELL = "registry.k8s.io/test/shell:1"


def run(options: argparse.Namespace) -> int:
    """Boot, and then the scenarios; 0 when all went well."""
    bed = Bed(options.stack, options.minor, options.slots)
    try:
        if options.kills:
            with killed_agents(bed):
                first_boot(bed, options.slots)
        else:
            first_boot(bed, options.slots)
        if "up" in options.scenarios:
            stay(bed)
        everything = [one for one in SCENARIOS if one not in SEVERAL or options.slots > 2]
        names = everything if "all" in options.scenarios else [one for one in options.scenarios if one in SCENARIOS]
        writer = Writer(bed)
        for name in names:
            began = time.monotonic()
            SCENARIOS[name](bed, writer)
            bed.say(f"PASSED {name}", seconds=round(time.monotonic() - began, 1))
        writer.stop()
    except BaseException as error:
        bed.say("FAILED", error=repr(error)[:500])
        if not isinstance(error, KeyboardInterrupt):
            report(bed)
        raise
    finally:
        bed.close()
    return 0


def stay(bed: Bed) -> None:
    """Leave the cluster running until somebody interrupts."""
    for instance in bed.slots.values():
        kubectl = "env KUBECONFIG=/etc/kubernetes/admin.conf kubectl get nodes"
        print(f"nsenter -t {bed.machines[instance].init} -a {kubectl}", file=sys.stderr)
    print("interrupt to end", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


def first_boot(bed: Bed, slots: int) -> None:
    """All slots and one worker at once, until every node is Ready."""
    bed.stand_in_for_approver()
    bed.launch(*(f"cp-{number}" for number in range(slots)), "linux")
    began = time.monotonic()
    bed.wait("API behind the balancer's name", lambda: bed.client.list("v1", "Namespace"), 600)
    refused = bed.apply_objects()
    assert not refused, refused
    bed.wait("nodes Ready", lambda: len(bed.ready()) == slots + 1, 600)
    total = time.monotonic() - began
    bed.say("first boot", seconds=round(total, 1))
    bed.wait("every control plane is marked", lambda: _marked(bed), 60)
    bed.wait("every agent settled", lambda: all(_is_part(machine) for machine in bed.machines.values()), 300)
    for machine in bed.machines.values():
        bed.say("phases", instance=machine.instance, **phases(machine))
    (first,) = [machine for machine in bed.machines.values() if ("init.publish", "step done") in
                {(one.get("step"), one["event"]) for one in agent_log(machine)}]  # fmt: skip
    joins = sorted(each for name in bed.slots.values() for each in _joins(bed.machines[name]))
    assert len(joins) >= slots - 1, joins
    assert all(end <= begin for (_, end), (begin, _) in pairwise(joins)), joins
    spent = phases(first)
    # An agent that was killed in between tells of its last life alone.
    if spent.keys() >= {*OWN, *THEIRS} and spent["init"] > spent["kubeadm-init"]:
        own = own_seconds(spent)
        bed.say("our own share", seconds=round(own, 1), percent=round(100 * own / total, 1))


class Writer:
    """Writes through the API all the time, and knows what was acknowledged."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.acknowledged: dict[str, float] = {}
        self.refused = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        number = 0
        while not self._over.wait(0.2):
            number += 1
            name = f"written-{number}"
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
            try:
                self.bed.client.apply(manifest)
                self.acknowledged[name] = time.time()
            except Exception:  # not acknowledged, so nothing was promised
                self.refused += 1

    def check(self, before: float | None = None) -> None:
        """Everything that was acknowledged (before a moment) is there."""
        wanted = {name for name, at in list(self.acknowledged.items()) if before is None or at < before}
        there = {one["metadata"]["name"] for one in self.bed.client.list("v1", "ConfigMap", "default")}
        lost = sorted(wanted - there)
        assert wanted, "nothing was acknowledged, so nothing was tried"
        assert not lost, f"{len(lost)} of {len(wanted)} acknowledged keys are lost: {lost[:5]}"
        self.bed.say("acknowledged keys are there", keys=len(wanted), refused=self.refused)

    def stop(self) -> None:
        """End."""
        self._over.set()
        self._thread.join(40)


@contextlib.contextmanager
def killed_agents(bed: Bed) -> Iterator[None]:
    """Kill every agent once at the beginning of each of its steps."""
    seen: set[tuple[str, str]] = set()
    over = threading.Event()

    def follow(machine: Machine) -> None:
        while not over.is_set():
            with contextlib.suppress(Exception):  # a machine that only starts has no log yet
                for line in machine.lines("journalctl", "-f", "-n", "all", "-o", "cat", "-u", AGENT):
                    said = json.loads(line) if line.startswith("{") else {}
                    step = (machine.instance, str(said.get("step")))
                    if said.get("event") == "step" and step not in seen and not over.is_set():
                        seen.add(step)
                        machine.run("systemctl", "kill", "--signal=SIGKILL", "--kill-whom=main", AGENT)
                        bed.say("agent killed", instance=machine.instance, step=step[1])
            time.sleep(0.2)

    def work() -> None:
        followed: set[str] = set()
        while not over.wait(0.2):
            for machine in list(bed.machines.values()):
                if machine.instance not in followed:
                    followed.add(machine.instance)
                    threading.Thread(target=follow, args=(machine,), daemon=True).start()

    threading.Thread(target=work, daemon=True).start()
    yield
    bed.wait("kills at the steps that count", lambda: {step for _, step in list(seen)} >= ONCE - {"reset"}, 60)
    over.set()
    bed.say("agents were killed at their steps", kills=len(seen))


def packets(bed: Bed, writer: Writer) -> None:
    """Pods on two machines talk, and what is on the wire between them is VXLAN of the id and port of the stack."""
    nodes = [one["metadata"]["name"] for one in bed.client.list("v1", "Node")][:2]
    for number, node in enumerate(nodes):
        bed.client.apply(_pod(f"talker-{number}", node))
    for number in range(len(nodes)):
        bed.wait(f"pod {number} runs", lambda name=f"talker-{number}": _phase(bed, name) == "Running", 180)
    address = bed.client.get("v1", "Pod", "talker-1")["status"]["podIP"]
    plane = bed.machines[next(iter(bed.slots.values()))]
    with Sniffer() as sniffer:
        said = plane.run("env", "KUBECONFIG=/etc/kubernetes/admin.conf", "kubectl", "exec", "talker-0", "--", "ping",
                         "-c", "5", "-W", "2", address)  # fmt: skip
    assert " 0% packet loss" in said, said

    def asked() -> bool:
        """Whether the API answers by its name: a boot may be quicker than the DNS pods, which nothing waits for."""
        said = plane.run("env", "KUBECONFIG=/etc/kubernetes/admin.conf", "kubectl", "exec", "talker-1", "--", "curl",
                         "-sk", "--max-time", "20", "https://kubernetes.default.svc.cluster.local/readyz")  # fmt: skip
        return said == "ok"

    bed.wait("API by its name, from a pod", asked, 120)
    assert sniffer.ids == {NETWORK_ID}, sniffer.ids
    bed.say("VXLAN seen", packets=sniffer.count, ids=sniffer.ids, port=VXLAN_PORT)
    writer.check()


def reboot(bed: Bed, writer: Writer) -> None:
    """Each machine is switched off and on again with its disk."""
    for machine in list(bed.machines.values()):
        machine.stop()
        bed.say("switched off", instance=machine.instance)
        time.sleep(2)
        machine.start()
        bed.wait("API again", lambda: bed.client.list("v1", "Namespace"), 300)
        bed.wait("all Ready again", lambda it=machine: len(bed.ready()) == len(bed.machines) and _fresh(bed, it), 300)
    writer.check()


def agent_killed(bed: Bed, writer: Writer) -> None:
    """An agent that is killed in a settled cluster comes back, and does nothing again that is done."""
    for machine in bed.machines.values():
        machine.run("systemctl", "kill", "--signal=SIGKILL", AGENT)
    time.sleep(20)
    for machine in bed.machines.values():
        logged = agent_log(machine)
        starts = [number for number, one in enumerate(logged) if one["event"] == "start"]
        assert not _steps(logged[starts[-1] :]) & ONCE
    writer.check()


def token(bed: Bed, writer: Writer) -> None:
    """A new token is made by hand; one more worker joins with it."""
    plane = bed.machines[next(iter(bed.slots.values()))]
    old = bed.cloud.token()
    plane.run("python3", "/opt/winkube/agent.pyz", "token")
    new = bed.cloud.token()
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", new)
    assert new != old
    plane.run("kubeadm", "token", "delete", old.partition(".")[0])
    _grow(bed, "linux")
    bed.wait("worker with the new token", lambda: len(bed.ready()) == len(bed.machines), 300)
    writer.check()


def wrong_byte(bed: Bed, writer: Writer) -> None:
    """With one wrong byte on the mirror nothing is started, and the log says which file it is."""
    spoilt = next(one for one in bed.mirror.files if one.endswith("/kubelet"))
    bed.mirror.spoilt.add(spoilt)
    machine = _grow(bed, "linux")
    bed.wait("refused file", lambda: any("WK-ART-020" in str(one.get("problem")) for one in agent_log(machine)), 120)
    assert not (machine.root / "usr/local/bin/kubelet").exists()
    told = next(str(one["problem"]) for one in agent_log(machine) if "WK-ART-020" in str(one.get("problem")))
    assert "kubelet-" in told, told
    assert spoilt in told, told
    bed.mirror.spoilt.clear()
    bed.wait("worker with the right file", lambda: len(bed.ready()) == len(bed.machines), 300)
    writer.check()


def outage(bed: Bed, writer: Writer) -> None:
    """The AWS API is silent for two minutes: the cluster serves on, and what starts meanwhile joins after it."""
    machine = _grow(bed, "linux")
    logged = {instance: len(agent_log(one)) for instance, one in bed.machines.items()}
    served = len(writer.acknowledged)
    with bed.silent_cloud():
        time.sleep(OUTAGE_SECONDS)
        served = len(writer.acknowledged) - served
        assert served > OUTAGE_SECONDS, f"only {served} keys were acknowledged while AWS was silent"
        assert machine.instance not in bed.ready()
    back = time.time()
    bed.say("AWS is back", served=served)
    bed.wait("status of every slot", lambda: all(_said_at(bed, slot) > back for slot in bed.slots), 240)
    bed.wait("machine of the outage", lambda: len(bed.ready()) == len(bed.machines), 400)
    for instance in bed.slots.values():
        assert not _steps(agent_log(bed.machines[instance])[logged[instance] :]) & ONCE
    writer.check()


def certificate(bed: Bed, writer: Writer) -> None:
    """A certificate that ends soon is told of, and what the runbook says renews it."""
    slot, instance = next(iter(bed.slots.items()))
    plane = bed.machines[instance]
    plane.run("sh", "-ec", SHORT_CERTIFICATE)
    bed.wait("certificate told of", lambda: _days(bed, slot) <= 3, 180)
    shown = winkube(bed, "status", codes=(0, 1))
    assert re.search(r"\b[23] d left", shown), shown
    page = (ROOT / "docs/runbooks/certificates.md").read_text()
    commands = next(one for one in re.findall(r"```sh[^\n]*\n(.*?)```", page, re.DOTALL) if "certs renew all" in one)
    plane.run("sh", "-ec", commands, seconds=300)
    bed.wait("renewed certificate", lambda: _days(bed, slot) > 300, 240)
    bed.wait("API of the machine", lambda: bed.balancer.health(instance) == "healthy", 180)
    writer.check()


def windows(bed: Bed, writer: Writer) -> None:
    """A Windows kubelet joins, and Windows pods come to it and to its fleet."""
    windows_joins(bed)
    writer.check()


def replace(bed: Bed, writer: Writer) -> None:
    """A control-plane machine is lost with its disk; its group makes another one in the same slot."""
    slot, instance = next(reversed(bed.slots.items()))
    _lose(bed, instance)
    bed.wait("new machine in the slot", lambda: _taken_over(bed, slot, instance), 600)
    _settled(bed)
    writer.check()


def roll(bed: Bed, writer: Writer) -> None:
    """The launch templates change, and ``winkube cluster roll`` replaces one machine after the other."""
    before = dict(bed.slots)
    bed.change(backupIntervalMinutes=5)
    shown = winkube(bed, "status", codes=(0, 1))
    assert shown.count("changed: roll") == len(before), shown
    winkube(bed, "roll", seconds=1800)
    assert not set(before.values()) & set(bed.slots.values()), (before, bed.slots)
    for instance in bed.slots.values():
        document = json.loads(bed.machines[instance].run("cat", "/etc/winkube/node.json"))
        assert document["backup"]["interval_seconds"] == 300, document["backup"]
    _settled(bed)
    shown = winkube(bed, "status")
    assert shown.count("current") == len(before), shown
    writer.check()


def restore(bed: Bed, writer: Writer) -> None:
    """Most of the control plane is lost; its successors wait, and a backup brings the cluster back."""
    slots = list(bed.slots.items())
    plane = bed.machines[slots[0][1]]
    bed.wait("keys to lose", lambda: len(writer.acknowledged) > 30, 120)
    saved = time.time()
    plane.run("python3", "/opt/winkube/agent.pyz", "backup")
    lost = slots[1:] or slots
    for _, instance in lost:
        _lose(bed, instance)
    slot, instance = lost[0]
    bed.wait("new machine in the slot", lambda: bed.slots[slot] != instance, 60)
    machine = bed.machines[bed.slots[slot]]
    bed.wait("no second init", lambda: any(one.get("action") == REFUSED for one in agent_log(machine)), 300)
    winkube(bed, "restore", "--yes", bed.stack.name)
    bed.wait("API after the restore", lambda: bed.client.list("v1", "Namespace"), 600)
    bed.wait("all control planes Ready", lambda: set(bed.slots.values()) <= set(bed.ready()), 600)
    _settled(bed)
    writer.check(before=saved)


SCENARIOS: dict[str, Callable[[Bed, Writer], None]] = {
    "packets": packets,
    "agent-killed": agent_killed,
    "token": token,
    "wrong-byte": wrong_byte,
    "outage": outage,
    "certificate": certificate,
    "windows": windows,
    "reboot": reboot,
    "replace": replace,
    "roll": roll,
    "restore": restore,
}
SEVERAL = ("replace", "roll")
"""Need a quorum without one of the slots: the last machine of a control plane takes the cluster with it."""


class Sniffer:
    """Reads the bridge while it is open: ids of the VXLAN packets to the port of the stack."""

    def __enter__(self) -> "Sniffer":
        self.count = 0
        self.ids: set[int] = set()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        # Unbound: a bridge does not see what goes from one of its ports to another.
        self._socket.settimeout(0.2)
        self._open = True
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._thread.join()
        self._socket.close()

    def _work(self) -> None:
        while self._open:
            try:
                frame = self._socket.recv(2048)
            except TimeoutError:
                continue
            header = 14 + (frame[14] & 15) * 4 if len(frame) > 42 and frame[12:14] == b"\x08\x00" else 0
            if header and frame[23] == 17 and struct.unpack("!H", frame[header + 2 : header + 4])[0] == VXLAN_PORT:
                self.count += 1
                self.ids.add(int.from_bytes(frame[header + 12 : header + 15], "big"))


def phases(machine: Machine) -> dict[str, Any]:
    """Seconds of the agent's phases and of kubeadm."""
    found: dict[str, Any] = {}
    for one in agent_log(machine):
        if one["event"] in ("phase", "phase done"):
            found[str(one["phase"])] = one["seconds"]
        elif one["event"] == "command" and one["command"][:2] in KUBEADM and one["command"][2] != "phase":
            found[f"kubeadm-{one['command'][1]}"] = one["seconds"]
    return found


def own_seconds(spent: dict[str, Any]) -> float:
    """What the agent of the machine that made the cluster took, apart from kubeadm and the unpacking of images.

    That is downloads and their digests, files, secrets, starting services, and what frames ``kubeadm init`` and
    ``kubeadm token create``.
    """
    return sum(spent[one] for one in OWN) - sum(spent[one] for one in THEIRS)


def agent_log(machine: Machine) -> list[dict[str, Any]]:
    """What the agent of a machine logged, from its first start on."""
    said = machine.run("journalctl", "-u", AGENT, "-o", "cat", "--no-pager", check=False)
    found: list[dict[str, Any]] = []
    for line in said.splitlines():
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
    return found


def report(bed: Bed) -> None:
    """Everything that helps to see what went wrong."""
    with contextlib.suppress(Exception):
        print(json.dumps(bed.status(), indent=1)[:4000], file=sys.stderr)
    for machine in bed.machines.values():
        print(f"=== {machine.instance}", file=sys.stderr)
        for units, count in (([AGENT], 60), (["kubelet", "containerd"], 60)):
            with contextlib.suppress(Exception):
                options = [word for unit in units for word in ("-u", unit)]
                print(machine.run("journalctl", "-o", "cat", "--no-pager", "-n", str(count), *options), file=sys.stderr)


def winkube(bed: Bed, command: str, *more: str, seconds: float = 300, codes: tuple[int, ...] = (0,)) -> str:
    """``winkube cluster <command>``, as a person gives it; what it showed."""
    call = [sys.executable, "-m", "winkube.preview.cli.main", "cluster", command, bed.stack.name,
            "--region", bed.stack.region, *more]  # fmt: skip
    done = subprocess.run(call, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
                          timeout=seconds, check=False)  # fmt: skip
    for line in done.stderr.splitlines():
        bed.say(f"winkube cluster {command}: {line}")
    assert done.returncode in codes, (done.returncode, done.stdout)
    return done.stdout


def _is_part(machine: Machine) -> bool:
    """Whether the agent knows that its node is a part of the cluster; nodes are Ready before that."""
    return json.loads((machine.root / "var/lib/winkube/status.json").read_text())["phase"] == "ready"


def _lose(bed: Bed, instance: str) -> None:
    with bed.lock:
        bed.end(instance)
        bed.cloud.emulation.lose(instance)


def _grow(bed: Bed, name: str) -> Machine:
    """One more machine in a group."""
    group = bed.stack.group(name)
    with bed.lock:
        there = set(bed.machines)
        count = len(list(bed.cloud.instances(group))) + 1
        bed.cloud.client("autoscaling").set_desired_capacity(AutoScalingGroupName=group.name, DesiredCapacity=count)
        bed.sync()
        (new,) = set(bed.machines) - there
    return bed.machines[new]


def _taken_over(bed: Bed, slot: str, instance: str) -> bool:
    return bed.slots[slot] != instance and bed.slots[slot] in bed.ready()


def _settled(bed: Bed) -> None:
    """Every slot has one member that votes, and there is no Node without a machine."""
    plane = bed.machines[next(iter(bed.slots.values()))]

    def voters() -> bool:
        members = json.loads(_etcdctl(plane, "member", "list", "-w", "json"))["members"]
        names = [one.get("name") for one in members if not one.get("isLearner")]
        return len(names) == len(members) and set(names) == set(bed.slots.values())

    bed.wait("a member per slot", voters, 120)
    bed.wait("every control plane is marked", lambda: _marked(bed), 120)
    bed.wait("a machine per Node", lambda: len(bed.client.list("v1", "Node")) == len(bed.machines), 300)


def _marked(bed: Bed) -> bool:
    """Whether every control plane has its label and its taint, which no kubelet gives itself."""
    nodes = {one["metadata"]["name"]: one for one in bed.client.list("v1", "Node")}
    planes = [nodes[instance] for instance in bed.slots.values()]
    return all(
        CONTROL_PLANE_LABEL in one["metadata"]["labels"]
        and CONTROL_PLANE_LABEL in {taint["key"] for taint in one["spec"].get("taints", [])}
        for one in planes
    )


def _steps(logged: list[dict[str, Any]]) -> set[Any]:
    return {one.get("step") for one in logged if one["event"] == "step"}


def _joins(machine: Machine) -> list[tuple[str, str]]:
    """When joins of the control plane began and ended."""
    said = [one for one in agent_log(machine) if one.get("step") == "join.kubeadm"]
    begun = [one["time"] for one in said if one["event"] == "step"]
    return list(zip(begun, [one["time"] for one in said if one["event"] == "step done"], strict=False))


def _said_at(bed: Bed, slot: str) -> float:
    """When the agent of a slot wrote its status."""
    return calendar.timegm(time.strptime(bed.status()[slot]["at"][:19], "%Y-%m-%dT%H:%M:%S"))


def _days(bed: Bed, slot: str) -> int:
    return bed.status()[slot]["certificate_days"]["apiserver.crt"]


def _etcdctl(machine: Machine, *arguments: str) -> str:
    pki = "/etc/kubernetes/pki/etcd"
    client = [f"--cert={pki}/healthcheck-client.crt", f"--key={pki}/healthcheck-client.key"]
    return machine.run("etcdctl", "--endpoints=https://127.0.0.1:2379", f"--cacert={pki}/ca.crt", *client, *arguments)


def _pod(name: str, node: str) -> dict[str, Any]:
    container = {"name": "shell", "image": SHELL, "command": ["sleep", "3600"]}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": node, "tolerations": [{"operator": "Exists"}], "containers": [container],
                 "terminationGracePeriodSeconds": 0},
    }  # fmt: skip


def _phase(bed: Bed, name: str) -> str:
    return bed.client.get("v1", "Pod", name)["status"].get("phase", "")


def _fresh(bed: Bed, machine: Machine) -> bool:
    """Whether the kubelet of a machine spoke since it was started."""
    lease = bed.client.get("coordination.k8s.io/v1", "Lease", machine.instance, "kube-node-lease")
    renewed = time.strptime(lease["spec"]["renewTime"][:19], "%Y-%m-%dT%H:%M:%S")
    return calendar.timegm(renewed) > machine.started
