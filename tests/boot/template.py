"""The root of all machines: Debian with what an image of EC2 has, made once per version outside of the work tree."""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

SUITE = "bookworm"
ARCHIVE = os.environ.get("WINKUBE_DEBIAN_ARCHIVE", "http://deb.debian.org/debian")
PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "cloud-init", "python3", "ca-certificates", "curl", "iproute2", "iptables",
    "ipset", "kmod", "ethtool", "conntrack", "socat", "util-linux", "mount", "procps", "iputils-ping", "xz-utils",
    "nftables", "openssl",
    # debootstrap does not resolve the virtual package that cryptography asks for.
    "python3-cffi-backend",
)  # fmt: skip
CLOUD = """\
datasource_list: [NoCloud, None]
network: {config: disabled}
locale: false
preserve_hostname: true
# User data is executed as everywhere; what else cloud-init does for a machine of EC2 has nothing to do here.
cloud_init_modules: [write-files]
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-user]
"""
BUILT_IN = ("kernel/net/bridge/br_netfilter.ko", "kernel/fs/overlayfs/overlay.ko", "kernel/drivers/net/vxlan/vxlan.ko")
"""Modules that a container cannot load: its modprobe is told that they are a part of the kernel."""
INIT = """\
#!/bin/sh
# What a machine has and a container lacks, before systemd starts.
for one in /sys/fs/cgroup /sys/fs/cgroup/*; do mountpoint -q "$one" && mount -o remount,bind,rw "$one"; done
mkdir -p /run/private
# Settings of the whole kernel: each machine gets its own.
for one in kernel/panic kernel/panic_on_oops vm/overcommit_memory vm/panic_on_oom fs/inotify/max_user_instances \
  fs/inotify/max_user_watches; do
  file=/run/private/$(echo "$one" | tr / .)
  cat "/proc/sys/$one" > "$file" && mount --bind "$file" "/proc/sys/$one"
done
[ -e /dev/kmsg ] || ln -s /dev/null /dev/kmsg
exec /lib/systemd/systemd
"""


def folder() -> Path:
    """Everything of the boot that outlives a run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winkube" / "boot"


def template_folder() -> Path:
    """Where the root lies, made or not."""
    parts = repr((SUITE, PACKAGES, CLOUD, INIT, BUILT_IN, platform.release()))
    return folder() / f"root-{SUITE}-{hashlib.sha256(parts.encode()).hexdigest()[:10]}"


def template() -> Path:
    """The unpacked root; made when it is not there (about two minutes)."""
    target = template_folder()
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / "root.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            new = target.with_name(f".{target.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            _run("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(new), ARCHIVE)
            _complete(new)
            new.rename(target)
    return target


def _complete(root: Path) -> None:
    (root / "etc/cloud/cloud.cfg.d/99-machine.cfg").write_text(CLOUD)
    (root / "etc/machine-id").write_text("")
    (root / "sbin/machine").write_text(INIT)
    (root / "sbin/machine").chmod(0o755)
    modules = root / "lib/modules" / platform.release()
    modules.mkdir(parents=True, exist_ok=True)
    (modules / "modules.builtin").write_text("".join(f"{one}\n" for one in BUILT_IN))
    (modules / "modules.order").touch()
    _run("chroot", str(root), "depmod", platform.release())
    # Nothing of this host is the business of a machine.
    for unit in (
        "apt-daily.timer",
        "apt-daily-upgrade.timer",
        "e2scrub_all.timer",
        "fstrim.timer",
        "console-getty.service",
        "e2scrub_reap.service",
        "modprobe@.service",
    ):
        (root / "etc/systemd/system" / unit).unlink(missing_ok=True)
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")
    for part in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"):
        shutil.rmtree(root / part, ignore_errors=True)
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr)[-3000:]}")
