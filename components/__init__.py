"""Kubernetes clusters with Windows worker nodes on AWS: components for Pulumi programs.

Every public name stands here; its module, and with it the SDK that it needs, is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.errors import WinkubeError
    from .eks.access import AccessPolicy
    from .eks.addon import EksAddon, EksAddonArgs
    from .eks.bootstrap import Proxy
    from .eks.cluster import AccessEntry, EksCluster, EksClusterArgs
    from .eks.group_options import WarmPool
    from .eks.node_groups import EksLinuxNodeGroup, EksLinuxNodeGroupArgs, EksWindowsNodeGroup, EksWindowsNodeGroupArgs
    from .eks.scheduling import Taint
    from .eks.target import EksTarget
    from .eks.windows_ipam import WindowsIpam, WindowsIpamArgs
    from .network.network import Network, NetworkArgs
    from .objects.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
    from .roles.role import EksClusterRole, EksClusterRoleArgs, NodeRole, NodeRoleArgs
    from .state_bucket.state_bucket import StateBucket, StateBucketArgs
    from .zone.zone import ApiRecord, ApiRecordArgs, ClusterZone, ClusterZoneArgs

_MODULES = {
    "AccessEntry": "eks.cluster",
    "AccessPolicy": "eks.access",
    "ApiRecord": "zone.zone",
    "ApiRecordArgs": "zone.zone",
    "ClusterZone": "zone.zone",
    "ClusterZoneArgs": "zone.zone",
    "EksAddon": "eks.addon",
    "EksAddonArgs": "eks.addon",
    "EksCluster": "eks.cluster",
    "EksClusterArgs": "eks.cluster",
    "EksClusterRole": "roles.role",
    "EksClusterRoleArgs": "roles.role",
    "EksLinuxNodeGroup": "eks.node_groups",
    "EksLinuxNodeGroupArgs": "eks.node_groups",
    "EksTarget": "eks.target",
    "EksWindowsNodeGroup": "eks.node_groups",
    "EksWindowsNodeGroupArgs": "eks.node_groups",
    "Network": "network.network",
    "NetworkArgs": "network.network",
    "NodeRole": "roles.role",
    "NodeRoleArgs": "roles.role",
    "Proxy": "eks.bootstrap",
    "StateBucket": "state_bucket.state_bucket",
    "StateBucketArgs": "state_bucket.state_bucket",
    "Taint": "eks.scheduling",
    "WarmPool": "eks.group_options",
    "WindowsIpam": "eks.windows_ipam",
    "WindowsIpamArgs": "eks.windows_ipam",
    "WindowsRuntimeClasses": "objects.runtime_classes",
    "WindowsRuntimeClassesArgs": "objects.runtime_classes",
    "WinkubeError": "core.errors",
}

__all__ = [
    "AccessEntry",
    "AccessPolicy",
    "ApiRecord",
    "ApiRecordArgs",
    "ClusterZone",
    "ClusterZoneArgs",
    "EksAddon",
    "EksAddonArgs",
    "EksCluster",
    "EksClusterArgs",
    "EksClusterRole",
    "EksClusterRoleArgs",
    "EksLinuxNodeGroup",
    "EksLinuxNodeGroupArgs",
    "EksTarget",
    "EksWindowsNodeGroup",
    "EksWindowsNodeGroupArgs",
    "Network",
    "NetworkArgs",
    "NodeRole",
    "NodeRoleArgs",
    "Proxy",
    "StateBucket",
    "StateBucketArgs",
    "Taint",
    "WarmPool",
    "WindowsIpam",
    "WindowsIpamArgs",
    "WindowsRuntimeClasses",
    "WindowsRuntimeClassesArgs",
    "WinkubeError",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, *globals()]
