"""What the stand-in plug-ins have made: a file per resource, and a journal of the calls."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Thing:
    """One resource as it is in the world. Tests change its file: that is drift."""

    urn: str
    id: str
    inputs: Mapping[str, Any]
    """As the protocol spells them, secrets included."""
    outputs: Mapping[str, Any]


class Cloud:
    """The folder behind the plug-ins; each process that opens it sees the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._things = folder / "things"
        self._journal = folder / "journal"
        self._things.mkdir(parents=True, exist_ok=True)

    def put(self, thing: Thing) -> None:
        self._file(thing.urn).write_text(json.dumps(asdict(thing)), encoding="utf-8")

    def get(self, urn: str) -> Thing | None:
        file = self._file(urn)
        return Thing(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def remove(self, urn: str) -> None:
        self._file(urn).unlink(missing_ok=True)

    def things(self) -> dict[str, Thing]:
        """Everything there is, by URN."""
        found = (Thing(**json.loads(file.read_text(encoding="utf-8"))) for file in self._things.iterdir())
        return {thing.urn: thing for thing in found}

    def note(self, method: str, urn: str, **more: Any) -> None:
        """Write down a call. One line at a time is whole, whoever else writes."""
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"method": method, "urn": urn, **more}) + "\n")

    def journal(self) -> Iterator[Mapping[str, Any]]:
        """The calls so far, oldest first."""
        if self._journal.exists():
            yield from map(json.loads, self._journal.read_text(encoding="utf-8").splitlines())

    def settings(self) -> Mapping[str, Any]:
        """What the test wants of the plug-ins: ``outputs`` by type or by name of a resource, and a ``proxy``."""
        file = self.folder / "settings.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def set(self, **settings: Any) -> None:
        (self.folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def _file(self, urn: str) -> Path:
        return self._things / f"{sha256(urn.encode()).hexdigest()}.json"
