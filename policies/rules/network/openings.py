"""What is open to the whole internet: read from security groups and network ACLs alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...model import Option

PORTS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65535}, "uniqueItems": True}
ADMIN_PORTS = Option([22, 3389, 5985, 5986], "administration ports: SSH, RDP, WinRM", PORTS)
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


def described(opening: Opening, found: Sequence[int], kind: str) -> str:
    """An opening with the kind of port that it opens: ``opens port 22 to the internet (administration port)``."""
    if opening.first == opening.last:
        return f"{opening} ({kind} port)"
    return f"{opening} ({kind} ports: {', '.join(map(str, found))})"
