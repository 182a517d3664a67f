"""User data of Linux nodes: cloud-init puts a loader in place that fetches the agent by its digest. Pure.

User data can be read by every process of the node, so it holds no secret; it stays below 4 KiB, so that it never has to
be compressed or split. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath

from ..core.mistakes import Mistakes, Path, Rule
from ..tables.regions import REGIONS

PROXY_PASSWORD = Rule(
    "WK-ART-009", "The proxy of nodes must not need a password, because every process can read user data."
)
USER_DATA_SIZE = Rule(
    "WK-ART-010",
    "User data can have at most 4 KiB.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html",
)
LOADER_VALUE = Rule("WK-ART-011", "Values for the loader must not contain spaces, quotes or dollar signs.")
LOADER_KEY = Rule("WK-ART-012", "The loader fetches only objects whose key ends with their SHA-256.")

MAXIMUM_BYTES = 4096
HOME = "/opt/winkube"
CONFIGURATION = "/etc/winkube"
SERVICE = "winkube-agent.service"
NO_PROXY = ("169.254.169.254", "localhost", "127.0.0.1")
"""Reached past every proxy: the metadata service is a part of the machine."""
_PLAIN = re.compile(r"[A-Za-z0-9._~:/@%+,*\[\]-]+")
_KEY = re.compile(r"[A-Za-z0-9._/-]+/[0-9a-f]{64}(\.json)?")
_UNIT = """\
[Unit]
Description=winkube node agent
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0
[Service]
EnvironmentFile={configuration}/loader.env
ExecStartPre=/bin/sh {home}/loader.sh
ExecStart=/usr/bin/python3 {home}/agent.pyz run
Restart=always
RestartSec=5
TimeoutStartSec=infinity
TimeoutStopSec=120
StandardOutput=journal+console
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, kw_only=True)
class NodeProxy:
    """The way to the world for nodes that have no other."""

    https: str
    """URL of the proxy for https; without a password, as every process of the node can read it."""
    http: str | None = None
    """URL of the proxy for http; the one for https by default."""
    no_proxy: Sequence[str] = ()
    """Hosts and networks that are reached without it, in addition to the metadata service and this machine."""

    def variables(self, more: Sequence[str] = ()) -> dict[str, str]:
        """Environment variables, as curl, Python and containerd read them."""
        past = list(dict.fromkeys([*NO_PROXY, *self.no_proxy, *more]))
        return {"https_proxy": self.https, "http_proxy": self.http or self.https, "no_proxy": ",".join(past)}


@dataclass(frozen=True, kw_only=True)
class LoaderSettings:
    """What a node has to know to fetch the rest."""

    region: str
    bucket: str
    agent_key: str
    """Ends with the SHA-256 of the zipapp."""
    document_key: str
    """Ends with the SHA-256 of the node document and ``.json``."""
    s3_endpoint: str | None = None
    """URL of another S3 endpoint, such as one of an interface endpoint; the region's own by default."""
    proxy: NodeProxy | None = None
    api_host: str | None = None
    """Host of the API: reached without the proxy, like every other host of the VPC that commands of the agent ask."""


def s3_endpoint(region: str) -> str:
    """The regional endpoint of S3.

    >>> s3_endpoint("eu-west-1"), s3_endpoint("cn-north-1")
    ('https://s3.eu-west-1.amazonaws.com', 'https://s3.cn-north-1.amazonaws.com.cn')
    """
    row = REGIONS.get(region)
    return f"https://s3.{region}.{row.dns_suffix if row else 'amazonaws.com'}"


@cache
def script() -> str:
    """The loader without its comments, which only cost room on a node."""
    lines = FilePath(__file__).with_name("loader.sh").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.strip() and not re.match(r"\s*#(?!!)", line)) + "\n"


def user_data(settings: LoaderSettings) -> str:
    """User data for cloud-init: the loader, what it has to know, and the service that runs it.

    :raises ValueError: for what :func:`check_loader` refuses.
    """
    if found := check_loader(settings):
        raise ValueError("; ".join(mistake.text() for mistake in found))
    return _render(settings)


def check_loader(settings: LoaderSettings, path: Path = ()) -> Mistakes:
    """Whether the loader can be told this (``WK-ART-009`` to ``WK-ART-012``)."""
    found = Mistakes()
    if settings.proxy is not None:
        found.take(check_proxy(settings.proxy), *path, "proxy")
    for name in ("agent_key", "document_key"):
        key = str(getattr(settings, name))
        if not _KEY.fullmatch(key) or key.endswith(".json") != (name == "document_key"):
            form = "<prefix>/<sha256>.json" if name == "document_key" else "<prefix>/<sha256>"
            found.add(LOADER_KEY, (*path, name), "is not a key that ends with a SHA-256", f'write it as "{form}"', key)
    for name, value in _environment(settings).items():
        if not _PLAIN.fullmatch(value):
            found.add(LOADER_VALUE, (*path, name.lower()), "is empty or contains spaces, quotes or dollar signs",
                      "use only letters, digits and the characters of URLs", value)  # fmt: skip
    if not found and (size := len(_render(settings).encode())) > MAXIMUM_BYTES:
        found.add(USER_DATA_SIZE, path, f"user data has {size} bytes, and {MAXIMUM_BYTES} are allowed",
                  "shorten no_proxy: use networks instead of hosts")  # fmt: skip
    return found


def check_proxy(proxy: NodeProxy) -> Mistakes:
    """Whether a proxy holds no password, which everybody on the node could read (``WK-ART-009``)."""
    found = Mistakes()
    for name in ("https", "http"):
        if "@" in (url := getattr(proxy, name) or ""):
            found.add(
                PROXY_PASSWORD,
                (name,),
                "contains a user name or password, which every process on a node could read",
                "allow the nodes by their network, and remove the credentials from the URL",
                f"…@{url.rpartition('@')[2]}",
            )
    return found


def _environment(settings: LoaderSettings) -> dict[str, str]:
    endpoint = settings.s3_endpoint or s3_endpoint(settings.region)
    return {
        "REGION": settings.region, "BUCKET": settings.bucket, "S3_ENDPOINT": endpoint.rstrip("/"),
        "AGENT": settings.agent_key, "DOCUMENT": settings.document_key,
        "HOME_DIRECTORY": HOME, "CONFIGURATION_DIRECTORY": CONFIGURATION,
        **({"AWS_ENDPOINT_URL_S3": endpoint.rstrip("/")} if settings.s3_endpoint else {}),
        **(settings.proxy.variables([settings.api_host] if settings.api_host else []) if settings.proxy else {}),
    }  # fmt: skip


def _render(settings: LoaderSettings) -> str:
    environment = "".join(f"{name}={value}\n" for name, value in _environment(settings).items())
    files = {
        f"{HOME}/loader.sh": script(),
        f"{CONFIGURATION}/loader.env": environment,
        f"/etc/systemd/system/{SERVICE}": _UNIT.format(home=HOME, configuration=CONFIGURATION),
    }
    lines = ["#cloud-config", "write_files:"]
    for name, content in files.items():
        lines += [f"- path: {name}", "  content: |", *(f"    {line}".rstrip() for line in content.splitlines())]
    commands = (["systemctl", "daemon-reload"], ["systemctl", "enable", "--now", "--no-block", SERVICE])
    lines += ["runcmd:", *(f"- {json.dumps(command)}" for command in commands)]
    return "\n".join(lines) + "\n"
