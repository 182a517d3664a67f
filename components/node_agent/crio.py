"""The configuration of CRI-O, the other runtime of Linux nodes, and its unit. Pure.

CRI-O reads drop-ins of ``/etc/crio/crio.conf.d`` and the registries of containers-common:
https://github.com/cri-o/cri-o/blob/main/docs/crio.conf.5.md
"""

from collections.abc import Mapping

from .runtime_unit import runtime_unit

PATH = "/etc/crio/crio.conf.d/10-winkube.conf"
SOCKET = "unix:///var/run/crio/crio.sock"
REGISTRIES_PATH = "/etc/containers/registries.conf.d/10-winkube.conf"
UNIT_PATH = "/etc/systemd/system/crio.service"
UNIT = runtime_unit(
    """\
Description=CRI-O container runtime
Documentation=https://cri-o.io
Wants=network-online.target
After=network-online.target
""",
    """\
ExecStart=/usr/local/bin/crio
ExecReload=/bin/kill -s HUP $MAINPID
""",
)


def configuration(pause_image: str) -> str:
    """The drop-in: systemd's cgroups, the sandbox image, and the programs of CRI-O's own bundle."""
    return f"""\
[crio.image]
pause_image = "{pause_image}"

[crio.runtime]
cgroup_manager = "systemd"
conmon_cgroup = "pod"
default_runtime = "crun"
pinns_path = "/usr/local/bin/pinns"

[crio.runtime.runtimes.crun]
runtime_path = "/usr/local/bin/crun"
monitor_path = "/usr/local/bin/conmon"

[crio.runtime.runtimes.runc]
runtime_path = "/usr/local/bin/runc"
monitor_path = "/usr/local/bin/conmon"

[crio.network]
network_dir = "/etc/cni/net.d/"
plugin_dirs = ["/opt/cni/bin/"]
"""


def registries(mirrors: Mapping[str, str]) -> str:
    """The mirrors of registries. CRI-O falls back to the registry itself, unlike containerd as winkube sets it up."""
    parts: list[str] = []
    for registry, mirror in sorted(mirrors.items()):
        scheme, _, location = mirror.rstrip("/").partition("://")
        parts.append(
            f'[[registry]]\nprefix = "{registry}"\nlocation = "{registry}"\n\n'
            f'[[registry.mirror]]\nlocation = "{location}"\ninsecure = {"true" if scheme == "http" else "false"}\n'
        )
    return "\n".join(parts)
