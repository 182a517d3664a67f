"""The configuration of containerd on Linux nodes, and its unit. Pure.

containerd 2.3 reads version 4 of the file, 2.0 to 2.2 version 3; a drop-in of a higher version than the root file stops
2.3.0 to 2.3.4, so there is one file. https://github.com/containerd/containerd/blob/main/docs/cri/config.md
"""

from collections.abc import Mapping
from typing import Any

from .runtime_unit import runtime_unit

PATH = "/etc/containerd/config.toml"
SOCKET = "unix:///run/containerd/containerd.sock"
HOSTS = "/etc/containerd/certs.d"
"""The folder with one folder per registry that has a mirror."""
UNIT_PATH = "/etc/systemd/system/containerd.service"
UNIT = runtime_unit(
    """\
Description=containerd container runtime
Documentation=https://containerd.io
After=network.target local-fs.target dbus.service
""",
    """\
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/containerd
""",
)
_CRI = "io.containerd.cri.v1"


def config_version(containerd: str) -> int:
    """The version of the file that a containerd release reads without migrating it.

    >>> config_version("2.3.4"), config_version("2.2.7")
    (4, 3)
    """
    major, minor = (int(part) for part in containerd.split(".")[:2])
    return 4 if (major, minor) >= (2, 3) else 3


def configuration(containerd: str, pause_image: str) -> str:
    """``config.toml``: the complete settings, not a change of containerd's own.

    :param containerd: the release, which decides about the version of the file.
    :param pause_image: the image of the sandbox, kept from garbage collection.
    """
    runtimes = f"plugins.'{_CRI}.runtime'.containerd.runtimes.runc"
    tables: dict[str, Mapping[str, Any]] = {
        "": {"version": config_version(containerd), "oom_score": -999},
        f"plugins.'{_CRI}.images'.pinned_images": {"sandbox": pause_image},
        f"plugins.'{_CRI}.images'.registry": {"config_path": HOSTS},
        f"plugins.'{_CRI}.runtime'.containerd": {"default_runtime_name": "runc"},
        runtimes: {"runtime_type": "io.containerd.runc.v2"},
        f"{runtimes}.options": {"BinaryName": "/usr/local/sbin/runc", "SystemdCgroup": True},
        f"plugins.'{_CRI}.runtime'.cni": {"bin_dirs": ["/opt/cni/bin"], "conf_dir": "/etc/cni/net.d"},
    }
    return _toml(tables)


def hosts_toml(mirror: str) -> str:
    """``certs.d/<registry>/hosts.toml``: the mirror alone, so that no node asks the registry itself.

    A mirror with a path stands for the registry's ``/v2``: containerd calls that ``override_path``.
    """
    url = mirror.rstrip("/")
    lines = ['capabilities = ["pull", "resolve"]']
    if "/" in url.partition("://")[2]:
        lines.append("override_path = true")
    # Without "server", containerd would go on with the registry itself when the mirror has not got an image.
    return (
        "\n".join([f"server = {_text(url)}", *lines, "", f"[host.{_text(url)}]", *(f"  {one}" for one in lines)]) + "\n"
    )


def _toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    parts = [
        "\n".join([*([f"[{name}]"] if name else []), *(f"{key} = {_value(value)}" for key, value in table.items())])
        for name, table in tables.items()
    ]
    return "\n\n".join(parts) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"  # pyright: ignore[reportUnknownVariableType]
    return str(value) if isinstance(value, int) else _text(str(value))


def _text(value: str) -> str:
    """A literal string of TOML."""
    return f"'{value}'"
