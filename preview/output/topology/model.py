"""A topology as plain data, passed between :mod:`~winkube.preview.output.topology.topology` and the drawings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from .groups import Group

ROLES = ("public", "private", "intra", "")
"""Roles of subnets, from the internet inwards; ``""`` if no route shows it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One box: a control plane, a group, a load balancer, a gateway, a bucket, …"""

    kind: str
    """``cluster``, ``windows``, ``linux``, ``fargate``, ``control-plane``, ``nodes``, ``balancer``, ``nat``,
    ``internet``, ``endpoints``, ``bucket``, ``zone`` or ``key``."""
    label: str
    """The kind in words: ``EKS control plane``, ``Windows Server 2022``."""
    title: str
    """Its name, or the number of resources in the box."""
    details: tuple[str, ...] = ()
    urn: str = ""
    """URN of the resource; ``""`` for several resources in a box, and for existing ones."""
    zones: tuple[int, ...] = ()
    """The columns of the VPC that it spans."""
    existing: bool = False
    """True if the plan only refers to it."""
    folded: int = 0
    """The number of resources without a box that belong to it."""
    cluster: str = ""
    """The name of the cluster that it is, or that it belongs to."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet, or several in one box."""

    title: str
    cidr: str = ""
    urn: str = ""
    existing: bool = False
    items: tuple[Item, ...] = ()
    """Items in this subnet only: NAT gateways."""
    folded: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """The subnets of one role in all zones, and the items that span them."""

    role: str
    """One of :data:`ROLES`; ``intra`` has no route out of the VPC."""
    subnets: tuple[Subnet | None, ...]
    """One for each zone of the VPC."""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Vpc:
    """A VPC of the plan, or an existing one."""

    title: str
    cidr: str
    urn: str
    zones: tuple[str, ...]
    tiers: tuple[Tier, ...]
    items: tuple[Item, ...] = ()
    """Items of the whole VPC: internet gateway, endpoints."""
    existing: bool = False
    folded: int = 0


@dataclass(frozen=True, slots=True)
class Region:
    """A region with its VPCs and the items outside of them."""

    name: str
    """``""`` if no provider, zone or setting names it."""
    vpcs: tuple[Vpc, ...]
    items: tuple[Item, ...]
    more_vpcs: int = 0
    """The number of VPCs left out of the drawing."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The topology of a plan."""

    regions: tuple[Region, ...] = ()
    groups: tuple[Group, ...] = ()
    """Every node group, also those that share a box."""
    more: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of other resources by type."""
    drawn: int = 0
    """The number of resources that have or share a box."""
    folded: int = 0
    """The number of resources that are counted with their owner."""


def shown_topology(topology: Topology, show: Callable[[str], str]) -> Topology:
    """The topology with ``show`` applied to every text, except the words that control the drawing."""
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
