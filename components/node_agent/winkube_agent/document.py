"""The node document: read, checked and filled in with the facts of this node.

The document is the same for all nodes of a group, so that it can be known by its digest; what differs from node to
node stands in it as one of :data:`PLACEHOLDERS`. Nothing else is templated on a node.
"""

import json
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Optional

from .errors import DOCUMENT, AgentError

VERSION = 1
ROLES = ("control_plane", "worker")
PLACEHOLDERS = ("INSTANCE_ID", "ZONE", "PRIVATE_IP", "PROVIDER_ID", "JOIN_TOKEN", "SLOT")
_PLACEHOLDER = re.compile(r"\$\{([A-Z_]+)\}")


@dataclass(frozen=True)
class Deadlines:
    """How long the agent waits, in seconds; every one can be set in the document."""

    poll_seconds: float = 5
    lease_seconds: float = 60
    heartbeat_seconds: float = 10
    resume_seconds: float = 90
    """For the control plane of this node to answer after a start that was not finished."""
    local_seconds: float = 300
    """For the control plane of this node to answer after a start of a finished one, before it is reported."""
    api_seconds: float = 600
    """For the API to be reached through its endpoint, before it is reported: load balancers take minutes."""
    init_seconds: float = 900
    join_seconds: float = 900
    command_seconds: float = 60
    snapshot_seconds: float = 600
    request_seconds: float = 5
    request_attempts: int = 5
    retry_seconds: float = 0.3
    backoff_seconds: float = 5
    backoff_limit_seconds: float = 120
    token_wait_seconds: float = 15
    """At most, before a node without a token looks for one again."""
    status_seconds: float = 60
    leader_check_seconds: float = 60
    leave_check_seconds: float = 5


@dataclass(frozen=True)
class Retention:
    """Which backups are kept: the newest ones, and the last one of each hour and of each day."""

    keep_last: int = 96
    keep_hourly: int = 168
    keep_daily: int = 90


@dataclass(frozen=True)
class AuthoritySettings:
    """Where certificate authorities that the nodes make lie in the bucket, and how long an administrator's lives."""

    prefix: str
    key_arn: str
    admin_seconds: float


@dataclass(frozen=True)
class Document:
    """The parts of the node document that the agent decides by; ``raw`` is all of it, for the machine."""

    raw: dict[str, Any]
    role: str
    group: str
    slot: Optional[str]
    slots: tuple[str, ...]
    region: str
    cluster: str
    kubernetes_version: str
    endpoint: str
    incarnation: int
    bucket: str
    prefix: str
    token_parameter: str
    token_key: Optional[str]
    token_ttl_seconds: float
    token_refresh_seconds: float
    init: Optional[str]
    join: str
    discovery: str
    secrets: tuple[dict[str, Any], ...]
    authorities: Optional[AuthoritySettings]
    """Nothing where the deployment makes them."""
    backup_seconds: Optional[float]
    retention: Retention
    deadlines: Deadlines = field(default_factory=Deadlines)

    @property
    def control_plane(self) -> bool:
        """Whether this node is one of the control plane."""
        return self.role == "control_plane"


def read(path: Path) -> Document:
    """The document of this node.

    :raises AgentError: with every field that is wrong (``WK-AGT-001``).
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise wrong(str(path), "cannot be read", str(error.strerror)) from error
    except ValueError as error:
        raise wrong(str(path), "is not JSON", str(error)) from error
    return parse(raw)


def parse(raw: Any) -> Document:
    """The document from its JSON value; all mistakes are told at once."""
    found: list[str] = []

    def get(path: str, kind: Any, default: Any = ...) -> Any:
        value: Any = raw
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None  # pyright: ignore
        if value is None and default is not ...:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            kinds: tuple[Any, ...] = kind if isinstance(kind, tuple) else (kind,)  # pyright: ignore
            found.append(f"{path} must be {' or '.join(one.__name__ for one in kinds)}")
            return kinds[0]()
        return value  # pyright: ignore[reportUnknownVariableType]

    number = (int, float)
    role = get("role", str)
    plane = role == "control_plane"
    if get("version", int) != VERSION:
        found.append(f"version must be {VERSION}")
    if role not in ROLES:
        found.append(f"role must be {' or '.join(ROLES)}")
    values: dict[str, Any] = {
        "raw": raw, "role": role, "group": get("group", str), "region": get("region", str),
        "slot": get("slot", str) if plane else get("slot", str, None),
        "slots": tuple(get("slots", list, [])), "cluster": get("cluster.name", str),
        "kubernetes_version": get("cluster.kubernetes_version", str), "endpoint": get("cluster.endpoint", str),
        "incarnation": get("cluster.incarnation", int), "bucket": get("bucket.name", str),
        "prefix": get("bucket.prefix", str), "token_parameter": get("token.parameter", str),
        "token_key": get("token.key_arn", str, None), "token_ttl_seconds": get("token.ttl_seconds", number, 3600),
        "token_refresh_seconds": get("token.refresh_seconds", number, 1800),
        "init": get("kubeadm.init", str) if plane else None, "join": get("kubeadm.join", str),
        "discovery": get("kubeadm.discovery", str), "secrets": tuple(get("secrets", list, [])),
        "authorities": AuthoritySettings(
            get("authorities.prefix", str), get("authorities.key_arn", str), get("authorities.admin_seconds", number)
        ) if plane and get("authorities", dict, None) else None,
        "backup_seconds": get("backup.interval_seconds", number, 900) if plane and get("backup", dict, None) else None,
        "retention": _numbers(Retention, get("backup.retention", dict, {}), "backup.retention", found),
        "deadlines": _numbers(Deadlines, get("deadlines", dict, {}), "deadlines", found),
    }  # fmt: skip
    rules = (
        (not plane or values["slot"] in values["slots"], "slot must be one of slots"),
        (values["token_refresh_seconds"] <= values["token_ttl_seconds"] / 2,
         "token.refresh_seconds must not be more than half of token.ttl_seconds"),
        (re.fullmatch(r"[^/:\s]+:\d+", values["endpoint"]), 'cluster.endpoint must be "<host>:<port>"'),
        (values["prefix"].endswith("/"), "bucket.prefix must end with a slash"),
        (values["retention"].keep_last >= 1, "backup.retention.keep_last must be 1 or more"),
    )  # fmt: skip
    found += [text for kept, text in rules if not kept]
    for text in (values["init"] or "", values["join"], values["discovery"]):
        for name in sorted(set(_PLACEHOLDER.findall(text)) - set(PLACEHOLDERS)):
            found.append(f"kubeadm: ${{{name}}} is not one of the placeholders {', '.join(PLACEHOLDERS)}")
    if found:
        raise wrong("node document", "; ".join(found))
    return Document(**values)


def fill(text: str, facts: dict[str, str]) -> str:
    """The text with the placeholders replaced by the facts of this node."""
    return _PLACEHOLDER.sub(lambda match: facts.get(match[1], match[0]), text)


def wrong(path: str, message: str, got: Optional[str] = None) -> AgentError:
    """A document that cannot be used."""
    return AgentError(DOCUMENT, path, message, "deploy the stack again, which writes the document anew", got)


def _numbers(kind: Any, values: dict[str, Any], path: str, found: list[str]) -> Any:
    """A class of numbers from a part of the document; what it does not know is for somebody else."""
    known = {one.name for one in fields(kind)}
    numbers: dict[str, Any] = {}
    for name, value in values.items():
        if name in known:
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
                numbers[name] = value
            else:
                found.append(f"{path}.{name} must be a number, 0 or more")
    return kind(**numbers)
