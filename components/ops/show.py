"""A control plane for the eyes: tables, JSON, and progress."""

import io
import json
import sys
import time
from dataclasses import asdict
from typing import Any, Self

from rich.console import Console
from rich.table import Table

from .cluster import BACKUP_STALE_SECONDS, Backup, Cluster, Slot, words

WIDTH = 140
"""Wide enough for the name of a backup, which has its digest in it."""


def as_json(cluster: Cluster) -> str:
    """Everything that was seen, for programs."""
    slots = [{**asdict(slot), "fault": slot.fault} for slot in cluster.slots]
    newest = cluster.backups[0] if cluster.backups else None
    return json.dumps(
        {
            "name": cluster.name, "bucket": cluster.bucket, "incarnation": cluster.incarnation,
            "healthy": not cluster.faults, "slots": slots, "backups": len(cluster.backups),
            "newest_backup": newest and asdict(newest), "backup_age_seconds": cluster.backup_age_seconds,
        },
        indent=2, default=str,
    )  # fmt: skip


def as_table(cluster: Cluster) -> str:
    """Slots and backups, for people."""
    table = Table(title=f"{cluster.name}, incarnation {cluster.incarnation}", title_justify="left")
    for heading in ("slot", "machine", "version", "load balancer", "agent", "certificates", "template"):
        table.add_column(heading, overflow="fold")
    for slot in cluster.slots:
        table.add_row(*_cells(slot))
    age = cluster.backup_age_seconds
    late = age is None or age > BACKUP_STALE_SECONDS
    said = f"{len(cluster.backups)} backups, the newest {words(age)} old" if cluster.backups else "no backups"
    lines = [said + (" (LATE)" if late else ""), *cluster.faults]
    return _text(table) + "\n".join(lines)


def backups_table(cluster: Cluster) -> str:
    """The backups, the newest first."""
    if not cluster.backups:
        return f"{cluster.name} has no backups"
    table = Table(title=f"Backups of {cluster.name}", title_justify="left")
    for heading in ("taken (UTC)", "revision", "MiB", "name"):
        table.add_column(heading, no_wrap=True)
    for backup in cluster.backups:
        table.add_row(*_backup_cells(backup))
    return _text(table).rstrip("\n")


def _cells(slot: Slot) -> tuple[str, ...]:
    said = slot.said
    days = said.get("certificate_days")
    return (
        slot.name,
        slot.instance or slot.state,
        str(said.get("kubernetes_version", "?")),
        ", ".join(slot.targets) or "none",
        f"{said.get('phase', '?')}, {words(slot.silent_seconds)} ago" if said else "has never written",
        "?" if days is None else f"{_least(days)} d left",
        "changed: roll" if slot.outdated else "current",
    )


def _least(days: Any) -> Any:
    return min(days.values()) if isinstance(days, dict) and days else days  # pyright: ignore


def _backup_cells(backup: Backup) -> tuple[str, ...]:
    return f"{backup.taken:%Y-%m-%d %H:%M:%S}", str(backup.revision), f"{backup.size / 2**20:.1f}", backup.name


def _text(table: Table) -> str:
    console = Console(file=io.StringIO(), width=WIDTH)
    console.print(table)
    return console.file.getvalue()  # pyright: ignore


class Progress:
    """Says what happens, with the time since the start; on a terminal a spinner turns meanwhile."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._status = self._console.status("looking")
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if self._console.is_terminal:
            self._status.start()
        return self

    def __call__(self, text: str) -> None:
        """Say one thing."""
        self._console.print(f"{words(time.monotonic() - self._began):>7}  {text}", highlight=False, markup=False)
        self._status.update(text)

    def __exit__(self, *_: object) -> None:
        self._status.stop()
