"""What is open to the whole internet: read from security groups and network ACLs alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...model import Option

PORTS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65535}, "uniqueItems": True}
ADMIN_PORTS = Option([22, 3389, 5985, 5986], "ports of remote administration: SSH, RDP, WinRM", PORTS)
WORLD = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class Opening:
    """Ports that are open to the whole internet."""

    first: int
    last: int
    place: str

    def has(self, ports: Sequence[int]) -> list[int]:
        """Those of the ports that are open."""
        return [port for port in ports if self.first <= port <= self.last]

    def __str__(self) -> str:
        place = f"{self.place} opens " if self.place else "opens "
        if (self.first, self.last) == (0, 65535):
            return f"{place}all ports to the internet"
        ports = f"port {self.first}" if self.first == self.last else f"ports {self.first} to {self.last}"
        return f"{place}{ports} to the internet"


def among(opening: Opening, found: Sequence[int], what: str) -> str:
    """The end of a sentence about an opening: which of its ports make it one of the rule."""
    if opening.first == opening.last:
        return f": a port of {what}"
    return f", ports of {what} among them: {', '.join(map(str, found))}"
