"""Backups of etcd: made on every node of the control plane in turn, verified, kept by age; and restored on demand."""

import calendar
import hashlib
import json
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Optional

from .aws import MAX_UPLOAD, Aws
from .cluster import Commands, Etcd
from .document import Retention
from .errors import BACKUP, SNAPSHOT, AgentError, CommandError
from .log import log, now_text
from .steps import step

_KEY = re.compile(r"(?P<time>\d{8}T\d{6}Z)-r(?P<revision>\d+)-(?P<digest>[0-9a-f]{64})\.db")
BUMP_REVISION = 1_000_000_000
"""Watches of the time before the restore must not see revisions again: https://etcd.io/docs/v3.6/op-guide/recovery/"""


class Backup(NamedTuple):
    """A backup in the bucket; its name says when, at which revision and with which digest it was made."""

    key: str
    taken: float
    revision: int
    sha256: str


def backup_of(key: str) -> Optional[Backup]:
    """A backup from its key; nothing for a key that the agent did not make."""
    match = _KEY.fullmatch(key.rsplit("/", 1)[-1])
    if not match:
        return None
    taken = float(calendar.timegm(time.strptime(match["time"], "%Y%m%dT%H%M%SZ")))
    return Backup(key, taken, int(match["revision"]), match["digest"])


def backup_name(taken: float, revision: int, digest: str) -> str:
    """The last part of the key of a backup; names sort by time."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(taken))}-r{revision}-{digest}.db"


def is_due(now: float, last: Optional[float], interval: float, slot: int, slots: int) -> bool:
    """Whether a backup is due: each slot has its own second of the interval, so that they do not meet.

    A node that never made one, or missed its turn, does not wait for the next.
    """
    if last is None or now - last >= interval:
        return True
    offset = interval * slot / max(slots, 1)
    return (now - offset) // interval > (last - offset) // interval and now - last >= interval / 2


def expired(backups: Iterable[Backup], policy: Retention) -> list[Backup]:
    """Which backups the policy no longer keeps.

    The newest ``keep_last`` stay, and the last of each of the newest hours and days. The newest of all, and the one
    with the highest revision, always stay: they are the last good ones.
    """
    newest = sorted(backups, key=lambda one: (one.taken, one.revision), reverse=True)
    kept = set(newest[: max(1, policy.keep_last)])
    kept.update(sorted(newest, key=lambda one: one.revision)[-1:])
    for seconds, count in ((3600, policy.keep_hourly), (86400, policy.keep_daily)):
        periods: dict[int, Backup] = {}
        for one in newest:
            periods.setdefault(int(one.taken // seconds), one)
        kept.update(list(periods.values())[: int(count)])
    return [one for one in reversed(newest) if one not in kept]


def snapshot_status(commands: Commands, path: Path) -> dict[str, Any]:
    """What etcd says about a snapshot: revision, keys, size.

    :raises AgentError: when it is not one, or is empty (``WK-AGT-011``).
    """
    try:
        status = json.loads(commands.run("etcdutl", "snapshot", "status", str(path), "--write-out=json", seconds=300))
    except (CommandError, ValueError) as error:
        raise unreadable(path.name, "etcd cannot read the snapshot", str(error)) from error
    if int(status.get("totalKey", 0)) < 1:
        raise unreadable(path.name, "the snapshot holds no key", str(status.get("totalKey")))
    return dict(status)


def unreadable(path: str, message: str, got: Optional[str]) -> AgentError:
    """A snapshot that cannot be used."""
    return AgentError(SNAPSHOT, f"snapshot {path}", message, "choose another backup", got)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


def make(aws: Aws, etcd: Etcd, address: str, prefix: str, policy: Retention, folder: Path, seconds: float) -> Backup:
    """Take a snapshot of this member, verify it, upload it, and only then delete what the policy no longer keeps.

    :raises AgentError: when it is no good; nothing is deleted then.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "snapshot.db"
    try:
        with step("backup.save"):
            etcd.ask([address], "snapshot", "save", str(path), seconds=seconds)
        status = snapshot_status(etcd.commands, path)
        if path.stat().st_size > MAX_UPLOAD:
            remedy = "compact and defragment etcd"
            raise AgentError(BACKUP, "backup", "the snapshot is too large to upload", remedy, path.stat().st_size)
        taken, revision, sha256 = time.time(), int(status["revision"]), digest_of(path)
        new = Backup(prefix + backup_name(taken, revision, sha256), taken, revision, sha256)
        with step("backup.upload"):
            aws.upload(new.key, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    there = [one for one in (backup_of(listed.key) for listed in aws.list(prefix)) if one]
    if new.key not in {one.key for one in there}:
        raise AgentError(BACKUP, "backup", "the upload is not in the bucket", "read the bucket's policy", new.key)
    if any(one.revision > new.revision for one in there):
        log("backup kept all", reason="an older backup has a higher revision", revision=new.revision)
        return new
    with step("backup.retention"):
        for one in expired(there, policy):
            aws.delete(one.key)
            log("backup deleted", key=one.key)
    return new


def fetch(aws: Aws, commands: Commands, key: str, sha256: str, folder: Path) -> Path:
    """A backup from the bucket, checked: by its digest, and by etcd.

    :raises AgentError: when it is missing or not what it should be (``WK-AGT-011``).
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "restore.db"
    if not aws.download(key, path):
        raise unreadable(key, "is not in the bucket", None)
    found = digest_of(path)
    if found != sha256:
        raise unreadable(key, f"has another digest than {sha256}", found)
    snapshot_status(commands, path)
    return path


def restore(commands: Commands, snapshot: Path, data: Path, name: str, peer_url: str, seconds: float = 600) -> None:
    """Make the data of a new cluster of one member from a snapshot; it appears in ``data`` as a whole or not at all."""
    made = data.with_name(f"{data.name}.restoring")
    shutil.rmtree(made, ignore_errors=True)
    commands.run(
        "etcdutl", "snapshot", "restore", str(snapshot), f"--data-dir={made}", f"--name={name}",
        f"--initial-cluster={name}={peer_url}", f"--initial-advertise-peer-urls={peer_url}",
        f"--bump-revision={BUMP_REVISION}", "--mark-compacted", seconds=seconds,
    )  # fmt: skip
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    for part in sorted(made.iterdir()):
        shutil.move(str(part), str(data / part.name))  # the folder itself may be a volume's mount point
    made.rmdir()


def age_text(last: Optional[Backup]) -> dict[str, Any]:
    """The newest backup, for the status."""
    if last is None:
        return {"newest": None}
    age = round(time.time() - last.taken)
    return {"newest": last.key, "at": now_text(last.taken), "age_seconds": age, "revision": last.revision}
