"""The test bed: network, servers, machines; everything dies with the process that makes it.

Runs in namespaces of its own (network, mounts, processes), so nothing of it is left on the host after any end.
"""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.client import ApiError, Client

from .cloud import ACCOUNT, Cloud
from .images import Image, Registry, images, mirror
from .machine import BRIDGE, Machine, remove_cgroups
from .servers import Balancer, Metadata, Mirror, authority, make_certificate, wait
from .stack import BUCKET, Group, Stack, evaluate_stack
from .template import folder, template

MIRROR_PORT = 8080
LIFECYCLE_STATE = "autoscaling/target-lifecycle-state"
"""Where the metadata service says what the group wants of an instance."""
HOSTS = ("registry.k8s.io", "ghcr.io", "mcr.microsoft.com")
INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
"""Machines share this limit of the host, whatever their own setting says: runtimes and kubelets need many."""
BUSY = 3
"""The exit code while another boot runs on this machine."""


def prepare(minor: str) -> tuple[list[Image], dict[str, Path], dict[str, str]]:
    """What is made once per machine: the root of machines, programs, images, and the files of the mirror."""
    folder().mkdir(parents=True, exist_ok=True)
    template()
    made = images(minor, authority(folder() / "authority").read_bytes())
    return (made, *mirror(minor))


class Bed:
    """One emulated region with one cluster."""

    def __init__(self, stack: str = "kubeadm-dev", minor: str = "1.36", slots: int = 1) -> None:
        self.began = time.monotonic()
        self.work = folder() / "run"
        made, files, digests = prepare(minor)
        self._instances = INSTANCES.read_text()
        INSTANCES.write_text(str(max(int(self._instances), 8192)))
        self._lock = (folder() / "run.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another boot runs on this machine: its clusters would share names with ours", file=sys.stderr)
            raise SystemExit(BUSY) from None
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        remove_cgroups()
        registry = Registry()
        self.authority = authority(folder() / "authority")
        for image in made:
            registry.add(image)
        network = str(yaml.safe_load((Path(__file__).parents[2] / f"Pulumi.{stack}.yaml").read_text())["config"][
            "winkube:network"]["cidr"]).rsplit(".", 2)[0]  # fmt: skip
        self.gateway, self.balancer_address = f"{network}.0.1", f"{network}.15.250"
        base = f"http://{self.gateway}:{MIRROR_PORT}"
        self._name, self.minor = stack, minor
        self._settings = {"slots": slots, "mirror": f"{base}/files", "artefactDigests": digests,
                          "registryMirrors": dict.fromkeys(HOSTS, base)}  # fmt: skip
        self.stack: Stack = evaluate_stack(stack, self.work, self._settings)
        self.say("stack evaluated", objects=len(self.stack.objects))
        self._make_network()
        self.mirror = Mirror(files, registry)
        self.mirror.serve(self.gateway, MIRROR_PORT)
        self.cloud = Cloud(self.stack, network, self._health, self._execute)
        self.cloud.fill()
        names = [
            f"{one}.{self.stack.region}.amazonaws.com" for one in ("s3", "ssm", "ec2", "autoscaling", "kms", "sts")
        ]
        names += [f"{BUCKET}.s3.{self.stack.region}.amazonaws.com"]
        make_certificate(self.work, self.authority, names)
        self.hosts = "127.0.0.1 localhost\n" + f"{self.balancer_address} {self.stack.api}\n"
        self.hosts += "".join(f"{self.gateway} {one}\n" for one in names)
        self.balancer = Balancer(self.work, self.gateway, self.balancer_address, 5000)
        self.machines: dict[str, Machine] = {}
        self.groups: list[Group] = []
        self.lock = threading.RLock()
        self.slots: dict[str, str] = {}
        """Slot to its instance of now."""
        hosts = self.work / "hosts"
        hosts.write_text(self.hosts)
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
        self._client: Client | None = None
        self.cloud_is_up = True
        self.say("cloud is there")

    def say(self, what: str, **more: Any) -> None:
        """A line with the seconds since the start."""
        text = " ".join(f"{key}={value}" for key, value in more.items())
        print(f"{time.monotonic() - self.began:7.1f}  {what} {text}".rstrip(), file=sys.stderr, flush=True)

    def _make_network(self) -> None:
        for command in (
            ("link", "set", "lo", "up"),
            ("link", "add", BRIDGE, "type", "bridge"),
            ("addr", "add", f"{self.gateway}/20", "dev", BRIDGE),
            ("addr", "add", f"{self.balancer_address}/20", "dev", BRIDGE),
            ("link", "set", BRIDGE, "up"),
        ):
            subprocess.run(["ip", *command], check=True)
        # Names of networks, which would outlive this process in the host's folder.
        Path("/run/netns").mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)

    def launch(self, *names: str) -> None:
        """Make groups of the stack with one instance each, and start all of these at once.

        From then on a machine starts for every new instance, and ends with its instance.
        """
        first = not self.groups
        with self.lock:
            groups = [self.stack.group(name) for name in names]
            for group in groups:
                self.cloud.launch(group)
            self.groups += groups
            self.sync()
        if first:
            threading.Thread(target=self._follow, daemon=True).start()

    def change(self, **settings: Any) -> None:
        """Deploy the stack once more, with other settings of its cluster."""
        self._settings |= settings
        stack = evaluate_stack(self._name, self.work, self._settings)
        with self.lock:
            self.cloud.change(stack)
            self.stack = stack
            self.groups = [next(one for one in stack.groups if one.name == group.name) for group in self.groups]

    def _follow(self) -> None:
        while True:
            time.sleep(1)
            if self.cloud_is_up:
                try:
                    self.sync()
                except Exception as error:  # an outage began meanwhile
                    self.say("not followed", error=repr(error)[:300])

    def sync(self) -> None:
        """Make the machines what the instances of the groups are."""
        with self.lock:
            ended = self.cloud.ended()
            for instance, machine in list(self.machines.items()):
                told = machine.metadata.values[LIFECYCLE_STATE] == "Terminated"
                if instance in self.cloud.emulation.leaving and not told:
                    self.balancer.targets.pop(instance, None)
                    self.balancer.apply()
                    machine.metadata.values[LIFECYCLE_STATE] = "Terminated"
                    self.say("machine told to leave", instance=instance)
                elif instance in ended:
                    self.end(instance)
            self._start_machines()

    def end(self, instance: str) -> None:
        """Take a machine away, with its disk."""
        with self.lock:
            self.machines.pop(instance).destroy()
            if self.balancer.targets.pop(instance, None):
                self.balancer.apply()
            self.say("machine ended", instance=instance)

    @contextlib.contextmanager
    def silent_cloud(self) -> Iterator[None]:
        """An outage of the AWS API."""
        with self.lock:
            self.cloud_is_up = False
            self.cloud.down()
        try:
            yield
        finally:
            self.cloud.up()
            self.cloud_is_up = True

    def _health(self, instance: str) -> str:
        return self.balancer.health(instance) if instance in self.machines else "unused"

    def _execute(self, instance: str, command: str) -> None:
        self.machines[instance].run("sh", "-c", command, seconds=300)

    def _start_machines(self) -> None:
        made: list[Machine] = []
        there = [(one, *found) for one in self.groups for found in self.cloud.instances(one)]
        for group, instance, address in there:
            if instance in self.machines:
                continue
            values = {
                "instance-id": instance, "local-ipv4": address, "placement/availability-zone": self.cloud.zone,
                "placement/region": self.stack.region, LIFECYCLE_STATE: "InService",
            }  # fmt: skip
            identity = {"region": self.stack.region, "instanceId": instance, "availabilityZone": self.cloud.zone,
                        "accountId": ACCOUNT, "privateIp": address}  # fmt: skip
            authorities = (template() / "etc/ssl/certs/ca-certificates.crt").read_text()
            files = {
                "etc/hosts": self.hosts,
                "etc/resolv.conf": f"nameserver {self.gateway}\n",
                "etc/ssl/certs/ca-certificates.crt": authorities + self.authority.read_text(),
            }
            machine = Machine(self.work, instance, address, group.user_data, Metadata(values, identity), files)
            self.machines[instance] = machine
            if group.slot:
                self.slots[group.slot] = instance
                self.balancer.targets[instance] = address
            made.append(machine)
        if made:
            self.balancer.apply()
        for machine in made:
            machine.start()
            self.say("machine started", instance=machine.instance, address=machine.address)

    def status(self) -> dict[str, Any]:
        """The status documents in the bucket."""
        found: dict[str, Any] = {}
        for key in self.cloud.listed():
            if "/status/" in key:
                found[key.rpartition("/")[2].removesuffix(".json")] = json.loads(self.cloud.read(key) or b"{}")
        return found

    @property
    def kubeconfig(self) -> Path:
        """That of the administrator, once there is a client."""
        return self.work / "admin.conf"

    @property
    def client(self) -> Client:
        """The API by the balancer's name, as an administrator (the file that kubeadm wrote)."""
        if self._client is None:
            for instance in self.slots.values():
                path = self.machines[instance].root / "etc/kubernetes/admin.conf"
                if path.exists():
                    self.kubeconfig.write_text(path.read_text())
                    values = yaml.safe_load(path.read_text())
                    pki = self.work / "admin"
                    pki.mkdir(exist_ok=True)
                    user, cluster = values["users"][0]["user"], values["clusters"][0]["cluster"]
                    (pki / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
                    (pki / "admin.crt").write_bytes(base64.b64decode(user["client-certificate-data"]))
                    (pki / "admin.key").write_bytes(base64.b64decode(user["client-key-data"]))
                    self._client = Client(f"https://{self.stack.api}:6443", pki)
                    break
            else:
                raise ApiError(503, "no control plane yet")
        return self._client

    def wait(self, what: str, condition: Any, seconds: float) -> Any:
        """Wait, and say when."""

        def ask() -> Any:
            try:
                return condition()
            except Exception:  # the API may not be there yet
                return None

        found = wait(what, ask, seconds)
        self.say(what)
        return found

    def ready(self) -> list[str]:
        """Names of the nodes that are Ready."""
        found: list[str] = []
        for node in self.client.list("v1", "Node"):
            conditions = {one["type"]: one["status"] for one in node["status"].get("conditions", [])}
            if conditions.get("Ready") == "True":
                found.append(node["metadata"]["name"])
        return found

    def apply_objects(self) -> list[str]:
        """The stack's Kubernetes objects by server-side apply; what was refused."""
        refused: list[str] = []
        for manifest in self.stack.manifests:
            try:
                self.client.apply(manifest)
            except ApiError as error:
                refused.append(f"{manifest['kind']} {manifest['metadata']['name']}: {error}")
        self.say("objects applied", count=len(self.stack.manifests), refused=len(refused))
        return refused

    def stand_in_for_approver(self) -> None:
        """What the CSR approver does, as its image is not here."""

        def work() -> None:
            while True:
                try:
                    self._approve()
                except Exception:  # the API comes and goes
                    time.sleep(1)
                time.sleep(1)

        threading.Thread(target=work, daemon=True).start()

    def _approve(self) -> None:
        for csr in self.client.list("certificates.k8s.io/v1", "CertificateSigningRequest"):
            if csr["spec"]["signerName"] != "kubernetes.io/kubelet-serving" or csr["status"].get("conditions"):
                continue
            csr["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "Test", "message": "test"}]
            path = self.client.path("certificates.k8s.io/v1", "CertificateSigningRequest", csr["metadata"]["name"])
            self.client.request("PUT", f"{path}/approval", csr)

    def close(self) -> None:
        """End everything and remove it."""
        self.groups = []
        with self.lock:
            for instance in list(self.machines):
                self.end(instance)
        INSTANCES.write_text(self._instances)
        self.balancer.stop()
        self.cloud.server.stop()
        remove_cgroups()
        if not os.environ.get("WINKUBE_BOOT_KEEP"):
            shutil.rmtree(self.work, ignore_errors=True)
