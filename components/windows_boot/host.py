"""What is set on a Windows Server before it runs containers: features, registry, firewall, ports. Data, no code.

Sources: kubernetes-sigs/image-builder ``images/capi/ansible/windows/roles`` (registry rows, port range, updates,
Defender), at ``ae63061`` of 2026-07-22; Kubernetes "Networking on Windows" and "Windows debugging tips" (SMB names).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..network.ports import Ports
from .paths import BINARIES, CNI_BINARIES, CONTAINERD, CONTAINERD_DATA, KUBELET

FEATURES = ("Containers",)
"""Hyper-V is not among them: containers are isolated as processes, and most instance types cannot nest machines."""
BITLOCKER_FEATURE = "BitLocker"


@dataclass(frozen=True, slots=True)
class RegistryValue:
    """One value of the registry, below ``HKEY_LOCAL_MACHINE``."""

    path: str
    name: str
    value: int
    """A DWORD."""


_OVERRIDES = r"HKLM:\SYSTEM\CurrentControlSet\Policies\Microsoft\FeatureManagement\Overrides"
_UPDATES = r"HKLM:\SOFTWARE\Policies\Microsoft\Windows\WindowsUpdate\AU"

_EVERY_RELEASE = (
    # Names of SMB shares resolve in containers of containerd (windows-gmsa #30); read when a pod's network is made.
    RegistryValue(r"HKLM:\SYSTEM\CurrentControlSet\Services\hns\State", "EnableCompartmentNamespace", 1),
    # Patches come with a new image, never by a restart of their own in the middle of the night.
    RegistryValue(_UPDATES, "NoAutoUpdate", 1),
    RegistryValue(_UPDATES, "AUOptions", 2),
)
REGISTRY: Mapping[str, Sequence[RegistryValue]] = {
    # The fix of the patch of April 2025, which broke the network of containers.
    "2022": (*_EVERY_RELEASE, RegistryValue(_OVERRIDES, "1114842764", 0)),
    # The filter behind the virtual switch waits less for its own locks.
    "2025": (*_EVERY_RELEASE, RegistryValue(_OVERRIDES, "520997518", 1)),
}
"""Values per release of Windows Server. A row that a later patch makes superfluous stays harmless."""


@dataclass(frozen=True, slots=True)
class FirewallRule:
    """One port that the node's own firewall lets in; the security group decides from where."""

    name: str
    protocol: str
    port: int


FIREWALL = (
    FirewallRule("winkube-vxlan", "UDP", Ports.vxlan),
    FirewallRule("winkube-kubelet", "TCP", Ports.kubelet),
)

DYNAMIC_PORTS = (34000, 31536)
"""First port and number of ports for outgoing connections; above the NodePorts, which HNS keeps for itself."""

DEFENDER_PATHS = (CONTAINERD_DATA, KUBELET)
DEFENDER_PROCESSES = (
    rf"{CONTAINERD}\containerd.exe",
    rf"{CONTAINERD}\containerd-shim-runhcs-v1.exe",
    rf"{BINARIES}\kubelet.exe",
    rf"{BINARIES}\kube-proxy.exe",
    rf"{BINARIES}\flanneld.exe",
    rf"{CNI_BINARIES}\win-overlay.exe",
)
"""What the virus scanner leaves alone: unpacking an image under its eyes takes several times as long."""
