"""The slots of a control plane: their names, and the zone of each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

SLOT_COUNTS = (1, 3, 5)
"""Odd: an even member more makes etcd slower and survives no failure more."""
GROUP = "control-plane"
"""The group of the slots in the keys of node documents."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of a control-plane node, which keeps its name while its machine is replaced."""

    name: str
    zone: str
    index: int
    """Which of the zones, and so which of the subnets."""


def slot_name(number: int) -> str:
    """``cp-0`` and so on."""
    return f"cp-{number}"


def plan_slots(count: int, zones: Sequence[str]) -> tuple[Slot, ...]:
    """The slots, spread over the zones in turn: adding one moves none of the others.

    >>> [slot.zone for slot in plan_slots(3, ["a", "b"])]
    ['a', 'b', 'a']
    """
    return tuple(Slot(slot_name(n), zones[n % len(zones)], n % len(zones)) for n in range(count))
