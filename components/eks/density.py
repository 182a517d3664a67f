"""How many pods a node can hold by its addresses, and how much memory a Windows node keeps for itself.

Windows nodes use one network interface for pods, so the number of IPv4 addresses per interface decides. Sources:
EKS user guide, "Deploy Windows nodes on EKS clusters"; best practices guide, "Prefix mode for Windows" and "Avoiding
OOM errors"; VPC resource controller ``pkg/aws/vpc/limits.go``.
"""

from collections.abc import Mapping, Sequence

from ..tables.instance_types import instance_type

KUBELET_DEFAULT_MAX_PODS = 110
ADDRESSES_PER_PREFIX = 16
POD_ADDRESS_RESOURCE = "vpc.amazonaws.com/PrivateIPv4Address"
"""The extended resource of which a Windows pod takes one."""


def address_capacity(instance_type_name: str, *, prefix_delegation: bool = False) -> int | None:
    """Addresses for pods on a Windows node; None for a type without figures.

    With prefix delegation a type that is not Nitro keeps to single addresses, as the controller does.

    >>> address_capacity("m5.large"), address_capacity("m5.large", prefix_delegation=True)
    (9, 144)
    """
    facts = instance_type(instance_type_name)
    if facts is None or facts.ipv4_per_interface is None:
        return None
    addresses = facts.ipv4_per_interface - 1
    return addresses * ADDRESSES_PER_PREFIX if prefix_delegation and facts.nitro else addresses


def windows_pods(
    instance_types: Sequence[str], *, prefix_delegation: bool = False, max_pods: int | None = None
) -> int | None:
    """Pods that every node of a Windows group can hold, whichever of its types it gets; None without figures.

    The smallest type counts, and the kubelet's own limit: 110, or ``max_pods`` where it was given.

    >>> windows_pods(["m5.large", "t3.medium"]), windows_pods(["m5.4xlarge"], prefix_delegation=True)
    (5, 110)
    >>> windows_pods(["m5.4xlarge"], prefix_delegation=True, max_pods=250)
    250
    """
    capacities = [address_capacity(name, prefix_delegation=prefix_delegation) for name in instance_types]
    known = [capacity for capacity in capacities if capacity is not None]
    if not known or len(known) < len(capacities):
        return None
    return min(*known, max_pods or KUBELET_DEFAULT_MAX_PODS) if known else None


def prefixes_needed(instance_types: Sequence[str], nodes: int, *, max_pods: int | None = None) -> int | None:
    """The /28 prefixes that a Windows group may take from its subnets with prefix delegation; None without figures.

    The largest type counts, for a node takes prefixes for as many pods as it may run.

    >>> prefixes_needed(["m5.large"], 3), prefixes_needed(["t3.medium"], 3)
    (21, 15)
    """
    pods = [windows_pods([name], prefix_delegation=True, max_pods=max_pods) for name in instance_types]
    known = [number for number in pods if number is not None]
    if not known or len(known) < len(pods):
        return None
    return nodes * -(-max(known) // ADDRESSES_PER_PREFIX)


def windows_reservations(instance_types: Sequence[str]) -> Mapping[str, str]:
    """Kubelet flags that hold memory back for Windows itself, by the smallest type of the group.

    Windows has no out-of-memory killer: an overfull node pages to disk until it is not ready. The guide's advice is
    2 GiB; nodes of 64 GiB and more keep 4 GiB, for their processes and page tables grow with them.

    >>> windows_reservations(["m5.large"])["kube-reserved"]
    'memory=512Mi,ephemeral-storage=1Gi'
    """
    memories = [facts.memory_mib or 0 for name in instance_types if (facts := instance_type(name))]
    system = next(mib for least, mib in _SYSTEM_RESERVED_MIB if min(memories, default=0) >= least)
    return {
        "kube-reserved": "memory=512Mi,ephemeral-storage=1Gi",
        "system-reserved": f"memory={system}Mi,ephemeral-storage=1Gi",
        "eviction-hard": "memory.available<200Mi,nodefs.available<10%",
    }


# Memory of the node in MiB at least -> system reservation in MiB; 512 MiB for the kubelet come on top.
_SYSTEM_RESERVED_MIB = ((65536, 3584), (0, 1536))
