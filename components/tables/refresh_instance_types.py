"""Writes instance_types.json anew from published packages: ``python -m winkube.tables.refresh_instance_types``.

A maintainer's tool, not used at run time. It reads the answer of ``DescribeInstanceTypes`` that moto carries
(``moto/ec2/resources/instance_types.json.gz``) and the names that cfn-lint carries for every region; types that
only cfn-lint knows are kept by name, without figures.
"""

import gzip
import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("instance_types.json")
ACCELERATORS = {"GpuInfo": "gpu", "InferenceAcceleratorInfo": "inferentia", "NeuronInfo": "neuron", "FpgaInfo": "fpga",
                "MediaAcceleratorInfo": "media"}  # fmt: skip
# Families of which no region is described any more; what their names say is in the EC2 guide.
ACCELERATORS_BY_NAME = {"dl1": "gaudi", "f1": "fpga", "g2": "gpu", "g3": "gpu", "g3s": "gpu", "g4ad": "gpu",
                        "p2": "gpu", "p3": "gpu"}  # fmt: skip


def family_entry(family: str, described: Mapping[str, Any], sizes: list[str]) -> dict[str, Any]:
    """One family as it stands in the file."""
    known = {size: described[f"{family}.{size}"] for size in sizes if f"{family}.{size}" in described}
    entry: dict[str, Any] = {
        "architecture": next(("arm64" for facts in known.values() if "arm64" in architectures(facts)), "x86_64"),
        "hypervisor": next((facts["Hypervisor"] for facts in known.values() if "Hypervisor" in facts), None),
        "sizes": {size: figures(known[size]) if size in known else None for size in sizes},
    }
    accelerator = next(
        (kind for facts in known.values() for key, kind in ACCELERATORS.items() if key in facts),
        ACCELERATORS_BY_NAME.get(family),
    )
    return entry | ({"accelerator": accelerator} if accelerator else {})


def architectures(facts: Mapping[str, Any]) -> list[str]:
    """The architectures of a described type."""
    return facts["ProcessorInfo"]["SupportedArchitectures"]


def figures(facts: Mapping[str, Any]) -> list[int]:
    """vCPUs, cores, memory in MiB, IPv4 addresses per interface."""
    cpu = facts["VCpuInfo"]
    return [cpu["DefaultVCpus"], cpu.get("DefaultCores", cpu["DefaultVCpus"]), facts["MemoryInfo"]["SizeInMiB"],
            facts["NetworkInfo"]["Ipv4AddressesPerInterface"]]  # fmt: skip


def main() -> None:
    """Read both packages and write the file."""
    described: dict[str, Any] = json.loads(
        gzip.decompress(files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes())
    )
    regions: dict[str, Any] = json.loads(
        files("cfnlint")
        .joinpath("data/schemas/extensions/aws_ec2_instance/instancetype_enum.json")
        .read_text(encoding="utf-8")
    )
    lists: list[list[str]] = [region["enum"] for key, region in regions.items() if key != "description"]
    names = set(described) | set(chain.from_iterable(lists))
    families: dict[str, list[str]] = {}
    for name in sorted(name for name in names if not name.startswith("mac")):
        family, size = name.split(".", 1)
        families.setdefault(family, []).append(size)
    lines = [
        f'    "{family}": {json.dumps(family_entry(family, described, sizes))}' for family, sizes in families.items()
    ]
    source = f"moto {version('moto')} (DescribeInstanceTypes), cfn-lint {version('cfn-lint')} (names per region)"
    TARGET.write_text(
        f'{{\n  "source": {json.dumps(source)},\n  "date": {json.dumps(sys.argv[1])},\n'
        f'  "columns": ["vcpus", "cores", "memory_mib", "ipv4_per_interface"],\n'
        '  "families": {\n' + ",\n".join(lines) + "\n  }\n}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
