"""A topology as plain data, passed between :mod:`~winkube.preview.output.topology.topology` and the drawings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from .groups import Group

ROLES = ("public", "private", "intra", "")
"""Roles of subnets from the internet inwards; ``""`` where no route tells."""


@dataclass(frozen=True, slots=True)
class Item:
    """One box: a control plane, a group, a load balancer, a gateway, a bucket, …"""

    kind: str
    """``cluster``, ``windows``, ``linux``, ``fargate``, ``control-plane``, ``nodes``, ``balancer``, ``nat``,
    ``internet``, ``endpoints``, ``bucket``, ``zone`` or ``key``."""
    label: str
    """What it is, in words: ``EKS control plane``, ``Windows Server 2022``."""
    title: str
    """Its name; for several ones in one box their number."""
    details: tuple[str, ...] = ()
    urn: str = ""
    """The resource; ``""`` for several in one box and for what exists already."""
    zones: tuple[int, ...] = ()
    """Columns of the VPC that it reaches over."""
    existing: bool = False
    """True for what the plan only refers to."""
    folded: int = 0
    """How many resources without a box of their own belong to it."""
    cluster: str = ""
    """The cluster that it is or belongs to."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet, or several that share a place."""

    title: str
    cidr: str = ""
    urn: str = ""
    existing: bool = False
    items: tuple[Item, ...] = ()
    """What stands in this subnet alone: NAT gateways."""
    folded: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """The subnets of one role across the zones, and what reaches over them."""

    role: str
    """One of :data:`ROLES`; ``intra`` has no way out of the VPC."""
    subnets: tuple[Subnet | None, ...]
    """One per zone of the VPC."""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Vpc:
    """A VPC, made by the plan or existing."""

    title: str
    cidr: str
    urn: str
    zones: tuple[str, ...]
    tiers: tuple[Tier, ...]
    items: tuple[Item, ...] = ()
    """What stands at the VPC as a whole: internet gateway, endpoints."""
    existing: bool = False
    folded: int = 0


@dataclass(frozen=True, slots=True)
class Region:
    """A region with its VPCs and what stands outside of them."""

    name: str
    """``""`` where no provider, zone or setting names it."""
    vpcs: tuple[Vpc, ...]
    items: tuple[Item, ...]
    more_vpcs: int = 0
    """How many VPCs were left out of the drawing."""


@dataclass(frozen=True, slots=True)
class Topology:
    """What will stand where."""

    regions: tuple[Region, ...] = ()
    groups: tuple[Group, ...] = ()
    """Every group, those in shared boxes too."""
    more: Mapping[str, int] = field(default_factory=dict[str, int])
    """Resources that are neither drawn nor counted with something drawn, by type."""
    drawn: int = 0
    """How many resources have a box, or share one."""
    folded: int = 0
    """How many are counted with what they belong to."""


def shown_topology(topology: Topology, show: Callable[[str], str]) -> Topology:
    """The topology with every text as ``show`` gives it; the words that steer the drawing stay."""
    return _shown(topology, show)


_STEERING = frozenset({"kind", "role"})


def _shown(value: Any, show: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return show(value)
    if isinstance(value, tuple):
        return tuple(_shown(inner, show) for inner in value)
    if isinstance(value, Mapping):
        return {show(key): inner for key, inner in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _shown(getattr(value, f.name), show) for f in fields(value) if f.name not in _STEERING}
        return replace(value, **changed)
    return value
