"""Kubernetes clusters with Windows worker nodes on AWS: components for Pulumi programs.

Every public name stands here; its module, and with it the SDK that it needs, is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addons.addons import AddonChoice, EksAddons, EksAddonsArgs
    from .addons.fluent_bit import FluentBitWindows, FluentBitWindowsArgs
    from .addons.gmsa import GmsaCredentialSpec, GmsaCredentialSpecArgs, GmsaUser
    from .addons.irsa import IrsaRole, IrsaRoleArgs
    from .addons.karpenter import (
        KarpenterWindowsNodes,
        KarpenterWindowsNodesArgs,
        KarpenterWindowsRole,
        KarpenterWindowsRoleArgs,
    )
    from .addons.storage import NtfsStorageClass, NtfsStorageClassArgs, SmbStorageClass, SmbStorageClassArgs
    from .core.errors import WinkubeError
    from .eks.access import AccessPolicy
    from .eks.addon import EksAddon, EksAddonArgs
    from .eks.cluster import AccessEntry, EksCluster, EksClusterArgs
    from .eks.fargate import EksFargateProfile, EksFargateProfileArgs, FargateSelector
    from .eks.group_options import WarmPool
    from .eks.neighbours import cluster_role_name, target_of_aws_cluster, target_of_pulumi_eks
    from .eks.node_groups import EksLinuxNodeGroup, EksLinuxNodeGroupArgs, EksWindowsNodeGroup, EksWindowsNodeGroupArgs
    from .eks.port_rules import PodPort
    from .eks.proxy import Proxy
    from .eks.security_groups import EksSecurityGroups, EksSecurityGroupsArgs
    from .eks.target import EksTarget
    from .eks.windows_image import EksWindowsImage, EksWindowsImageArgs
    from .eks.windows_ipam import WindowsIpam, WindowsIpamArgs
    from .network.network import Network, NetworkArgs
    from .node_images.plan import FastLaunch
    from .objects.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
    from .roles.role import EksClusterRole, EksClusterRoleArgs, NodeRole, NodeRoleArgs
    from .scheduling.labels import Taint
    from .state_bucket.state_bucket import StateBucket, StateBucketArgs
    from .zone.zone import ApiRecord, ApiRecordArgs, ClusterZone, ClusterZoneArgs

_MODULES = {
    "AccessEntry": "eks.cluster",
    "AccessPolicy": "eks.access",
    "AddonChoice": "addons.addons",
    "ApiRecord": "zone.zone",
    "ApiRecordArgs": "zone.zone",
    "ClusterZone": "zone.zone",
    "ClusterZoneArgs": "zone.zone",
    "EksAddon": "eks.addon",
    "EksAddonArgs": "eks.addon",
    "EksAddons": "addons.addons",
    "EksAddonsArgs": "addons.addons",
    "EksCluster": "eks.cluster",
    "EksClusterArgs": "eks.cluster",
    "EksClusterRole": "roles.role",
    "EksClusterRoleArgs": "roles.role",
    "EksFargateProfile": "eks.fargate",
    "EksFargateProfileArgs": "eks.fargate",
    "EksLinuxNodeGroup": "eks.node_groups",
    "EksLinuxNodeGroupArgs": "eks.node_groups",
    "EksSecurityGroups": "eks.security_groups",
    "EksSecurityGroupsArgs": "eks.security_groups",
    "EksTarget": "eks.target",
    "EksWindowsImage": "eks.windows_image",
    "EksWindowsImageArgs": "eks.windows_image",
    "EksWindowsNodeGroup": "eks.node_groups",
    "EksWindowsNodeGroupArgs": "eks.node_groups",
    "FargateSelector": "eks.fargate",
    "FastLaunch": "node_images.plan",
    "FluentBitWindows": "addons.fluent_bit",
    "FluentBitWindowsArgs": "addons.fluent_bit",
    "GmsaCredentialSpec": "addons.gmsa",
    "GmsaCredentialSpecArgs": "addons.gmsa",
    "GmsaUser": "addons.gmsa",
    "IrsaRole": "addons.irsa",
    "IrsaRoleArgs": "addons.irsa",
    "KarpenterWindowsNodes": "addons.karpenter",
    "KarpenterWindowsNodesArgs": "addons.karpenter",
    "KarpenterWindowsRole": "addons.karpenter",
    "KarpenterWindowsRoleArgs": "addons.karpenter",
    "Network": "network.network",
    "NetworkArgs": "network.network",
    "NodeRole": "roles.role",
    "NodeRoleArgs": "roles.role",
    "NtfsStorageClass": "addons.storage",
    "NtfsStorageClassArgs": "addons.storage",
    "PodPort": "eks.port_rules",
    "Proxy": "eks.proxy",
    "SmbStorageClass": "addons.storage",
    "SmbStorageClassArgs": "addons.storage",
    "StateBucket": "state_bucket.state_bucket",
    "StateBucketArgs": "state_bucket.state_bucket",
    "Taint": "scheduling.labels",
    "WarmPool": "eks.group_options",
    "WindowsIpam": "eks.windows_ipam",
    "WindowsIpamArgs": "eks.windows_ipam",
    "WindowsRuntimeClasses": "objects.runtime_classes",
    "WindowsRuntimeClassesArgs": "objects.runtime_classes",
    "WinkubeError": "core.errors",
    "cluster_role_name": "eks.neighbours",
    "target_of_aws_cluster": "eks.neighbours",
    "target_of_pulumi_eks": "eks.neighbours",
}

__all__ = [
    "AccessEntry",
    "AccessPolicy",
    "AddonChoice",
    "ApiRecord",
    "ApiRecordArgs",
    "ClusterZone",
    "ClusterZoneArgs",
    "EksAddon",
    "EksAddonArgs",
    "EksAddons",
    "EksAddonsArgs",
    "EksCluster",
    "EksClusterArgs",
    "EksClusterRole",
    "EksClusterRoleArgs",
    "EksFargateProfile",
    "EksFargateProfileArgs",
    "EksLinuxNodeGroup",
    "EksLinuxNodeGroupArgs",
    "EksSecurityGroups",
    "EksSecurityGroupsArgs",
    "EksTarget",
    "EksWindowsImage",
    "EksWindowsImageArgs",
    "EksWindowsNodeGroup",
    "EksWindowsNodeGroupArgs",
    "FargateSelector",
    "FastLaunch",
    "FluentBitWindows",
    "FluentBitWindowsArgs",
    "GmsaCredentialSpec",
    "GmsaCredentialSpecArgs",
    "GmsaUser",
    "IrsaRole",
    "IrsaRoleArgs",
    "KarpenterWindowsNodes",
    "KarpenterWindowsNodesArgs",
    "KarpenterWindowsRole",
    "KarpenterWindowsRoleArgs",
    "Network",
    "NetworkArgs",
    "NodeRole",
    "NodeRoleArgs",
    "NtfsStorageClass",
    "NtfsStorageClassArgs",
    "PodPort",
    "Proxy",
    "SmbStorageClass",
    "SmbStorageClassArgs",
    "StateBucket",
    "StateBucketArgs",
    "Taint",
    "WarmPool",
    "WindowsIpam",
    "WindowsIpamArgs",
    "WindowsRuntimeClasses",
    "WindowsRuntimeClassesArgs",
    "WinkubeError",
    "cluster_role_name",
    "target_of_aws_cluster",
    "target_of_pulumi_eks",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, *globals()]
