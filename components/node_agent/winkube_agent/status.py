"""The status of this node, for people: on its disk, and for a control plane in the bucket."""

import json
import time
from pathlib import Path
from typing import Any, Optional

from .document import Document
from .errors import AgentError
from .log import log, masked, now_text
from .state import write_atomically
from .store import Store

BUDGETS = {"machine": 120, "init": 90, "join": 90, "wait": 240}
"""Seconds that a phase should take, so that the API is usable after 6 minutes and nodes are ready after 7."""
LEAVING = ("leaving", "left")
"""The phases in which the slot's next machine may have begun to report."""
KEEP_PREDECESSORS = 20


class Status:
    """Collects what a person wants to know, and writes it when it changed or is old."""

    def __init__(self, document: Document, facts: dict[str, str], path: Path, store: Optional[Store]) -> None:
        self.document = document
        self.path = path
        self.store = store
        self.name = f"status/{facts['SLOT'] or facts['INSTANCE_ID']}.json"
        self.began = time.monotonic()
        self.phase = ""
        self.entered = self.began
        self.seconds: dict[str, float] = {}
        self.written = 0.0
        self.known = store is None
        self.predecessors: list[dict[str, str]] = []
        self.values: dict[str, Any] = {
            "instance_id": facts["INSTANCE_ID"], "slot": facts["SLOT"], "private_ip": facts["PRIVATE_IP"],
            "zone": facts["ZONE"], "cluster": document.cluster, "role": document.role,
            "kubernetes_version": document.kubernetes_version,
        }  # fmt: skip

    def enter(self, phase: str, detail: str = "") -> None:
        """Begin a phase; the time of the one before is kept and held against its budget."""
        if phase != self.phase:
            now = time.monotonic()
            if self.phase:
                self.seconds[self.phase] = round(self.seconds.get(self.phase, 0) + now - self.entered, 1)
                budget = BUDGETS.get(self.phase)
                log("phase done", phase=self.phase, seconds=self.seconds[self.phase], budget_seconds=budget,
                    since_start_seconds=round(now - self.began, 1))  # fmt: skip
            self.phase, self.entered = phase, now
            self.values["since"] = now_text()
            self.written = 0.0
        self.values["detail"] = detail

    def fail(self, error: Optional[Exception]) -> None:
        """Show what is wrong and what to do; nothing clears it."""
        text = str(error) if error else None
        before: dict[str, Any] = self.values.get("error") or {}
        if before.get("text") != text:
            self.written = 0.0
        code = error.rule.code if isinstance(error, AgentError) else None
        remedy = error.remedy if isinstance(error, AgentError) else None
        self.values["error"] = {"text": text, "code": code, "remedy": remedy, "at": now_text()} if error else None

    def show(self, **values: Any) -> None:
        """Add to what is shown."""
        self.values.update(values)

    def learn(self) -> None:
        """Read what the slot's previous instance wrote, before it is overwritten: its member may have to be removed."""
        if self.known or self.store is None:
            return
        there = self.store.read(self.name)
        before: dict[str, Any] = there.value if there else {}
        mine = self.values["instance_id"]
        found = [one for one in before.get("predecessors", []) if one.get("instance_id") != mine]
        if before.get("instance_id") not in (None, mine):
            found.append({name: str(before.get(name, "")) for name in ("instance_id", "private_ip")})
        self.predecessors = found[-KEEP_PREDECESSORS:]
        self.known = True

    def write(self, *, force: bool = False) -> None:
        """Write it, if it changed or is old. A bucket that does not answer stops nothing."""
        now = time.monotonic()
        if not force and self.written and now - self.written < self.document.deadlines.status_seconds:
            return
        write_atomically(self.path, self._text() + "\n", 0o644)
        try:
            self.publish()
        except AgentError as error:
            log("status not written", problem=str(error))
        self.written = now

    def publish(self) -> None:
        """Write it to the bucket, not before what lies there was read; a node that leaves not over its successor's."""
        if not (self.store and self.known):
            return
        if self.phase not in LEAVING:
            self.store.aws.overwrite(self.store.folder + self.name, self._text().encode())
            return
        there = self.store.read(self.name)
        if there and there.value.get("instance_id") == self.store.me:
            self.store.write(self.name, self._shown(), there.etag)

    def _text(self) -> str:
        return json.dumps(masked(self._shown()), indent=2)

    def _shown(self) -> dict[str, Any]:
        running = {self.phase: round(time.monotonic() - self.entered, 1)} if self.phase else {}
        return {
            "phase": self.phase, **self.values, "predecessors": self.predecessors, "at": now_text(),
            "phase_seconds": {**self.seconds, **running}, "budget_seconds": BUDGETS,
        }  # fmt: skip
