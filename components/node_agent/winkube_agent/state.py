"""What the node remembers over a restart: one small file, replaced as a whole."""

import json
import os
from pathlib import Path
from typing import Any

from .log import masked

FIELDS = ("made", "restore_id", "token", "backup", "phases")


class State:
    """The state of this node.

    ``made`` says how far this node is a part of a cluster: nothing, ``initializing``, ``initialized``, ``joining``,
    ``joined``, ``restoring``, ``restored``. It is written *before* what it says begins (the forms with -ing) and
    right after it ended.
    """

    def __init__(self, path: Path, instance_id: str) -> None:
        self.path = path
        self.instance_id = instance_id
        self.values: dict[str, Any] = {}
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            values = {}
        # An image made of a running node carries the state of another instance.
        if isinstance(values, dict) and values.get("instance_id") == instance_id:  # pyright: ignore
            self.values = values  # pyright: ignore

    @property
    def made(self) -> str:
        """How far this node is a part of a cluster."""
        return str(self.values.get("made") or "")

    @property
    def restore_id(self) -> str:
        """The restore that this node followed last."""
        return str(self.values.get("restore_id") or "")

    def set(self, **values: Any) -> None:
        """Remember, so that a kill leaves either the old state or the new one."""
        self.values.update(values)
        write_atomically(self.path, json.dumps(masked({**self.values, "instance_id": self.instance_id}), indent=1))


def write_atomically(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file as a whole; it is on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
