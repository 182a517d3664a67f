"""EC2 instance types: names, architecture, size, and what a Windows node can make of them.

The figures lie in ``instance_types.json`` (source and date inside; written by ``refresh_instance_types``).
Exact pod limits come from ``IPv4 addresses per interface``, as the VPC resource controller computes them
(amazon-vpc-resource-controller-k8s, ``pkg/aws/vpc/limits.go``).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One instance type. A figure is None where the published tables only know the name."""

    name: str
    family: str
    size: str
    architecture: str
    """``x86_64`` or ``arm64``."""
    nitro: bool | None
    """Whether it runs on Nitro; bare metal counts, as for the VPC resource controller."""
    accelerator: str | None
    """``gpu``, ``inferentia``, ``neuron``, ``gaudi``, ``fpga``, ``media`` or None."""
    vcpus: int | None
    cores: int | None
    memory_mib: int | None
    ipv4_per_interface: int | None


WINDOWS_UNTESTED_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "c3": (), "c4": (), "d2": (), "i2": (), "m4": ("16xlarge",), "m6a": (), "r3": (),
}  # fmt: skip
"""Families that the EKS guide named as unfit for Windows until April 2023, with the sizes it excepted; the AWS CDK
still refuses them (aws-cdk ``aws-eks/lib/managed-nodegroup.ts``). No longer documented: worth a warning, no more."""


@cache
def _table() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("instance_types.json").read_bytes())


@cache
def instance_type(name: str) -> InstanceType | None:
    """The facts of a type, or None where the table has no such name.

    >>> facts = instance_type("m5.large")
    >>> facts.architecture, facts.vcpus, facts.ipv4_per_interface, facts.nitro
    ('x86_64', 2, 10, True)
    """
    family, _, size = name.partition(".")
    entry = _table()["families"].get(family)
    if entry is None or size not in entry["sizes"]:
        return None
    vcpus, cores, memory_mib, ipv4 = entry["sizes"][size] or (None, None, None, None)
    hypervisor = "nitro" if size.startswith("metal") else entry["hypervisor"]
    return InstanceType(
        name, family, size, entry["architecture"], None if hypervisor is None else hypervisor == "nitro",
        entry.get("accelerator"), vcpus, cores, memory_mib, ipv4,
    )  # fmt: skip


@cache
def instance_type_names() -> tuple[str, ...]:
    """Every name in the table, sorted."""
    families = _table()["families"]
    return tuple(sorted(f"{family}.{size}" for family, entry in families.items() for size in entry["sizes"]))


def architecture(instance_type_name: str) -> str | None:
    """``x86_64``, ``arm64``, or None for an unknown name.

    >>> architecture("t4g.medium"), architecture("m5.large"), architecture("m5.tiny")
    ('arm64', 'x86_64', None)
    """
    facts = instance_type(instance_type_name)
    return facts.architecture if facts else None


def sizes_of(family: str) -> tuple[str, ...]:
    """The sizes of a family, smallest first; empty for an unknown family."""
    entry = _table()["families"].get(family)
    if entry is None:
        return ()
    figures: Mapping[str, list[int] | None] = entry["sizes"]

    def order(size: str) -> tuple[int, int, str]:
        vcpus, _, memory_mib, _ = figures[size] or (0, 0, 0, 0)
        return vcpus, memory_mib, size

    return tuple(sorted(figures, key=order))


def untested_on_windows(instance_type_name: str) -> bool:
    """Whether AWS once named the type as unfit for Windows nodes.

    >>> untested_on_windows("m4.large"), untested_on_windows("m4.16xlarge"), untested_on_windows("m5.large")
    (True, False, False)
    """
    family, _, size = instance_type_name.partition(".")
    return family in WINDOWS_UNTESTED_FAMILIES and size not in WINDOWS_UNTESTED_FAMILIES[family]
