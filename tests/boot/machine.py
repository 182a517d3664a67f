"""A machine: a systemd container with its own network, an overlay over the template, and the user data of its group."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .servers import Metadata, wait
from .template import template

BRIDGE = "wk0"
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = "winkube-boot"
KUBELET_ON_THIS_HOST = """\
[Service]
ExecStart=
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS \
--config-dir=/etc/kubelet-on-this-host
"""
KUBELET_CONFIGURATION = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
FULL = 0.3
"""Share of a disk that must be free, else kubelets would drive pods from machines that are none of it."""
KUBEADM_ON_V1 = """\
#!/bin/sh
# kubeadm's own check refuses a host with cgroup v1.
case "$1-$2" in
  init-phase* | join-phase*) exec /usr/local/bin/kubeadm "$@" ;;
  init-* | join-*) exec /usr/local/bin/kubeadm "$@" --ignore-preflight-errors=SystemVerification ;;
  *) exec /usr/local/bin/kubeadm "$@" ;;
esac
"""
CONTAINERD_WITHOUT_OOM = """\
[Service]
ExecStart=
ExecStart=/usr/local/bin/containerd --config /etc/containerd-on-this-host.toml
"""
CONTAINERD_CONFIGURATION = """\
version = 4
imports = ["/etc/containerd/config.toml"]
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
"""


def on_cgroup_v1() -> bool:
    """Whether this host mounts the controllers of cgroup v1."""
    return not (CGROUPS / "cgroup.controllers").exists()


def may_lower_oom_score() -> bool:
    """CAP_SYS_RESOURCE, which runc needs for what pods ask for."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("CapEff"))
    return bool(int(line.split()[1], 16) >> 24 & 1)


class Machine:
    """One instance."""

    def __init__(
        self, folder: Path, instance: str, address: str, user_data: str, metadata: Metadata, files: dict[str, str]
    ) -> None:
        self.folder = folder / instance
        self.instance = instance
        self.address = address
        self.metadata = metadata
        self.root = self.folder / "root"
        self.console = self.folder / "console.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._prepare(user_data, files)

    def _prepare(self, user_data: str, files: dict[str, str]) -> None:
        upper, work = self.folder / "upper", self.folder / "work"
        for part in (upper, work, self.root, self.folder / "containerd", self.folder / "etcd"):
            part.mkdir(parents=True)
        options = f"lowerdir={template()},upperdir={upper},workdir={work}"
        _run("mount", "-t", "overlay", "overlay", "-o", options, str(self.root))
        seed = "var/lib/cloud/seed/nocloud"
        files = {
            f"{seed}/user-data": user_data,
            f"{seed}/meta-data": f"instance-id: {self.instance}\n",
            "etc/hostname": f"ip-{self.address.replace('.', '-')}\n",
            **files,
            **_host_files(),
        }
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.write_text(content)
            target.chmod(0o755 if content.startswith("#!") else 0o644)
        self.server = self.metadata.serve(plug(self.instance, self.address))

    def start(self) -> None:
        """Switch on."""
        # Control groups of the run before would be there as on no machine: cAdvisor waits for their containers.
        remove_cgroups(self.instance)
        groups = _own_cgroups(self.instance)

        def enter() -> None:
            for group in groups:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        command = [
            "systemd-nspawn", "--quiet", f"--directory={self.root}", f"--machine={self.instance}", "--register=no",
            "--keep-unit", f"--network-namespace-path=/run/netns/{self.instance}", "--capability=all",
            "--system-call-filter=@known", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
            f"--hostname=ip-{self.address.replace('.', '-')}", f"--bind={self.folder}/containerd:/var/lib/containerd",
            f"--bind={self.folder}/etcd:/var/lib/etcd", "--console=pipe", "--kill-signal=SIGRTMIN+3", "/sbin/machine",
        ]  # fmt: skip
        self.started = time.time()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.console.open("ab"), stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"], "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "yes"}, preexec_fn=enter,
            start_new_session=True,
        )  # fmt: skip

    @property
    def init(self) -> int:
        """The machine's first process, as this host counts."""
        assert self.process
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def run(self, *command: str, seconds: float = 60, check: bool = True) -> str:
        """A command in the machine; what it said."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p", "-C", "--", *command],
            capture_output=True, text=True, check=False, timeout=seconds,
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(f"{self.instance}: {' '.join(command[:6])}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def lines(self, *command: str) -> Iterator[str]:
        """What a command that stays says in the machine, line by line."""
        call = ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p", "-C", "--", *command]
        with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            assert running.stdout
            yield from running.stdout

    def stop(self, seconds: float = 120) -> None:
        """Switch off in order, as EC2 does: the login manager asks those that want to know before, such as kubelets."""
        if self.process and self.process.poll() is None:
            self.run("systemctl", "poweroff")
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Pull the plug."""
        if self.process and self.process.poll() is None:
            try:
                os.kill(self.init, signal.SIGKILL)
            except (OSError, IndexError):
                self.process.kill()
            self.process.wait(30)

    def destroy(self) -> None:
        """Terminate: with its disk and its network."""
        self.kill()
        self.server.shutdown()
        self.server.server_close()
        unplug(self.instance)
        wait("unmounted root", lambda: subprocess.run(["umount", "-R", str(self.root)], check=False,
                                                      capture_output=True).returncode == 0, 10)  # fmt: skip
        shutil.rmtree(self.folder, ignore_errors=True)
        remove_cgroups(self.instance)


def plug(name: str, address: str) -> Path:
    """A network of its own for an instance, on the bridge; its file."""
    veth, gateway = f"v{name[-8:]}", ".".join([*address.split(".")[:3], "1"])
    _run("ip", "netns", "add", name)
    _run("ip", "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "link", "set", veth, "master", BRIDGE, "up")
    inside = ("ip", "-n", name)
    _run(*inside, "link", "set", "lo", "up")
    _run(*inside, "addr", "add", "169.254.169.254/32", "dev", "lo")
    _run(*inside, "addr", "add", f"{address}/20", "dev", "eth0")
    _run(*inside, "link", "set", "eth0", "up")
    _run(*inside, "route", "add", "default", "via", gateway)
    return Path("/run/netns") / name


def unplug(name: str) -> None:
    """Take the network of an instance away."""
    for command in (("link", "del", f"v{name[-8:]}"), ("netns", "del", name)):
        subprocess.run(["ip", *command], check=False, capture_output=True)


def remove_cgroups(instance: str = "") -> None:
    """What machines left behind, also those of a run that was killed."""
    for hierarchy in CGROUPS.iterdir() if on_cgroup_v1() else [CGROUPS]:
        top = hierarchy / OWN_CGROUP / instance
        for group in sorted(top.rglob("*"), reverse=True) if top.is_dir() else []:
            if group.is_dir():
                _try_remove(group)
        _try_remove(top)


def _try_remove(group: Path) -> None:
    with contextlib.suppress(OSError):
        group.rmdir()


def _own_cgroups(instance: str) -> list[Path]:
    if not on_cgroup_v1():
        for group in (CGROUPS, CGROUPS / OWN_CGROUP):
            group.mkdir(exist_ok=True)
            there = (group / "cgroup.controllers").read_text().split()
            (group / "cgroup.subtree_control").write_text(" ".join(f"+{one}" for one in there))
        own = CGROUPS / OWN_CGROUP / instance
        own.mkdir(exist_ok=True)
        return [own]
    made: list[Path] = []
    for hierarchy in [one for one in CGROUPS.iterdir() if (one / "cgroup.procs").exists()]:
        group = hierarchy / OWN_CGROUP / instance
        if (hierarchy / "cpuset.cpus").exists():
            (hierarchy / "cgroup.clone_children").write_text("1")
        group.mkdir(parents=True, exist_ok=True)
        for part in (group.parent, group):
            for name in ("cpuset.cpus", "cpuset.mems"):
                if (part / name).exists() and not (part / name).read_text().strip():
                    (part / name).write_text((part.parent / name).read_text())
        made.append(group)
    return made


def _host_files() -> dict[str, str]:
    """What the kernel of this host needs, and no machine of EC2."""
    found: dict[str, str] = {}
    kubelet: dict[str, Any] = {}
    if on_cgroup_v1():
        kubelet["failCgroupV1"] = False
        found["usr/local/sbin/kubeadm"] = KUBEADM_ON_V1
    disk = shutil.disk_usage(template())
    if disk.free < FULL * disk.total:
        kubelet["evictionHard"] = {"memory.available": "100Mi", "nodefs.available": "1Gi", "imagefs.available": "1Gi"}
    if kubelet:
        found["etc/systemd/system/kubelet.service.d/99-this-host.conf"] = KUBELET_ON_THIS_HOST
        found["etc/kubelet-on-this-host/10-this-host.conf"] = json.dumps({**KUBELET_CONFIGURATION, **kubelet})
    if not may_lower_oom_score():
        found["etc/systemd/system/containerd.service.d/99-this-host.conf"] = CONTAINERD_WITHOUT_OOM
        found["etc/containerd-on-this-host.toml"] = CONTAINERD_CONFIGURATION
    return found


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
