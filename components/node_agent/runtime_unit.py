"""The systemd unit of a container runtime: what containerd and CRI-O share. Pure."""

_LIMITS = """\
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
"""


def runtime_unit(unit: str, service: str) -> str:
    """The unit from the lines of its ``[Unit]`` section and the commands of its ``[Service]`` section."""
    return f"[Unit]\n{unit}\n[Service]\n{service}{_LIMITS}"
