"""Kubernetes clusters with Windows worker nodes on AWS: components for Pulumi programs.

Every public name stands here; its module, and with it the SDK that it needs, is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addons.fluent_bit import FluentBitWindows, FluentBitWindowsArgs
    from .addons.gmsa import GmsaCredentialSpec, GmsaCredentialSpecArgs, GmsaUser
    from .addons.interruption_queue import InterruptionQueue, InterruptionQueueArgs
    from .addons.irsa import IrsaRole, IrsaRoleArgs
    from .addons.sample_workloads import SampleWorkloads, SampleWorkloadsArgs
    from .addons.self_managed_addons import SelfManagedAddon, SelfManagedAddons, SelfManagedAddonsArgs
    from .addons.storage import NtfsStorageClass, NtfsStorageClassArgs, SmbStorageClass, SmbStorageClassArgs
    from .addons.windows_logs import WindowsLogs, WindowsLogsArgs
    from .admission.windows_admission import WindowsAdmission, WindowsAdmissionArgs
    from .control_plane.args import BackupRetention, IrsaIssuer, LinuxControlPlaneArgs
    from .control_plane.control_plane import LinuxControlPlane
    from .core.errors import WinkubeError
    from .ec2.proxy import Proxy
    from .ec2.warm_pool import WarmPool
    from .eks.access import AccessPolicy
    from .eks.addon import EksAddon, EksAddonArgs
    from .eks.addons import AddonChoice, EksAddons, EksAddonsArgs
    from .eks.cluster import AccessEntry, EksCluster, EksClusterArgs
    from .eks.fargate import EksFargateProfile, EksFargateProfileArgs, FargateSelector
    from .eks.karpenter import (
        KarpenterWindowsNodes,
        KarpenterWindowsNodesArgs,
        KarpenterWindowsRole,
        KarpenterWindowsRoleArgs,
    )
    from .eks.node_groups import EksLinuxNodeGroup, EksLinuxNodeGroupArgs, EksWindowsNodeGroup, EksWindowsNodeGroupArgs
    from .eks.port_rules import PodPort
    from .eks.security_groups import EksSecurityGroups, EksSecurityGroupsArgs
    from .eks.target import EksTarget
    from .eks.windows_image import EksWindowsImage, EksWindowsImageArgs
    from .eks.windows_ipam import WindowsIpam, WindowsIpamArgs
    from .existing_clusters.eks import cluster_role_name, target_of_aws_cluster, target_of_pulumi_eks
    from .existing_clusters.self_managed import (
        KopsCluster,
        KubeadmCluster,
        KubesprayCluster,
        target_of_kops,
        target_of_kubeadm,
        target_of_kubespray,
    )
    from .instance_groups.boot_code import BootCode, BootCodeArgs
    from .instance_groups.group_args import LinuxInstanceGroupArgs, WindowsInstanceGroupArgs
    from .instance_groups.groups import LinuxInstanceGroup, WindowsInstanceGroup
    from .instance_groups.join_target import JoinTarget
    from .instance_groups.node_image import WindowsNodeImage, WindowsNodeImageArgs
    from .instance_groups.rollout import Rollout
    from .instance_groups.worker_security import WorkerSecurityGroup, WorkerSecurityGroupArgs
    from .kubeadm.config import AuditLog, ExtraArguments, KubeletSettings, PodSecurity
    from .network.network import Network, NetworkArgs
    from .node_images.plan import FastLaunch
    from .pod_network.flannel import Flannel, FlannelArgs
    from .pod_network.windows_kube_proxy import WindowsKubeProxy, WindowsKubeProxyArgs
    from .roles.role import (
        ControlPlaneRole,
        ControlPlaneRoleArgs,
        EksClusterRole,
        EksClusterRoleArgs,
        NodeRole,
        NodeRoleArgs,
    )
    from .scheduling.labels import Taint
    from .scheduling.node_taints import NodeMarks, NodeTaints, NodeTaintsArgs
    from .scheduling.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
    from .state_bucket.state_bucket import StateBucket, StateBucketArgs
    from .system_services.cloud_controller_manager import CloudControllerManager, CloudControllerManagerArgs
    from .system_services.kubelet_csr_approver import KubeletCsrApprover, KubeletCsrApproverArgs
    from .zone.zone import ApiRecord, ApiRecordArgs, ClusterZone, ClusterZoneArgs

_MODULES = {
    "AccessEntry": "eks.cluster",
    "AccessPolicy": "eks.access",
    "AddonChoice": "eks.addons",
    "ApiRecord": "zone.zone",
    "ApiRecordArgs": "zone.zone",
    "AuditLog": "kubeadm.config",
    "BackupRetention": "control_plane.args",
    "BootCode": "instance_groups.boot_code",
    "BootCodeArgs": "instance_groups.boot_code",
    "CloudControllerManager": "system_services.cloud_controller_manager",
    "CloudControllerManagerArgs": "system_services.cloud_controller_manager",
    "ClusterZone": "zone.zone",
    "ClusterZoneArgs": "zone.zone",
    "ControlPlaneRole": "roles.role",
    "ControlPlaneRoleArgs": "roles.role",
    "EksAddon": "eks.addon",
    "EksAddonArgs": "eks.addon",
    "EksAddons": "eks.addons",
    "EksAddonsArgs": "eks.addons",
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
    "ExtraArguments": "kubeadm.config",
    "FargateSelector": "eks.fargate",
    "FastLaunch": "node_images.plan",
    "Flannel": "pod_network.flannel",
    "FlannelArgs": "pod_network.flannel",
    "FluentBitWindows": "addons.fluent_bit",
    "FluentBitWindowsArgs": "addons.fluent_bit",
    "GmsaCredentialSpec": "addons.gmsa",
    "GmsaCredentialSpecArgs": "addons.gmsa",
    "GmsaUser": "addons.gmsa",
    "InterruptionQueue": "addons.interruption_queue",
    "InterruptionQueueArgs": "addons.interruption_queue",
    "IrsaIssuer": "control_plane.args",
    "IrsaRole": "addons.irsa",
    "IrsaRoleArgs": "addons.irsa",
    "JoinTarget": "instance_groups.join_target",
    "KarpenterWindowsNodes": "eks.karpenter",
    "KarpenterWindowsNodesArgs": "eks.karpenter",
    "KarpenterWindowsRole": "eks.karpenter",
    "KarpenterWindowsRoleArgs": "eks.karpenter",
    "KopsCluster": "existing_clusters.self_managed",
    "KubeadmCluster": "existing_clusters.self_managed",
    "KubeletCsrApprover": "system_services.kubelet_csr_approver",
    "KubeletCsrApproverArgs": "system_services.kubelet_csr_approver",
    "KubeletSettings": "kubeadm.config",
    "KubesprayCluster": "existing_clusters.self_managed",
    "LinuxControlPlane": "control_plane.control_plane",
    "LinuxControlPlaneArgs": "control_plane.args",
    "LinuxInstanceGroup": "instance_groups.groups",
    "LinuxInstanceGroupArgs": "instance_groups.group_args",
    "Network": "network.network",
    "NetworkArgs": "network.network",
    "NodeMarks": "scheduling.node_taints",
    "NodeRole": "roles.role",
    "NodeRoleArgs": "roles.role",
    "NodeTaints": "scheduling.node_taints",
    "NodeTaintsArgs": "scheduling.node_taints",
    "NtfsStorageClass": "addons.storage",
    "NtfsStorageClassArgs": "addons.storage",
    "PodPort": "eks.port_rules",
    "PodSecurity": "kubeadm.config",
    "Proxy": "ec2.proxy",
    "Rollout": "instance_groups.rollout",
    "SampleWorkloads": "addons.sample_workloads",
    "SampleWorkloadsArgs": "addons.sample_workloads",
    "SelfManagedAddon": "addons.self_managed_addons",
    "SelfManagedAddons": "addons.self_managed_addons",
    "SelfManagedAddonsArgs": "addons.self_managed_addons",
    "SmbStorageClass": "addons.storage",
    "SmbStorageClassArgs": "addons.storage",
    "StateBucket": "state_bucket.state_bucket",
    "StateBucketArgs": "state_bucket.state_bucket",
    "Taint": "scheduling.labels",
    "WarmPool": "ec2.warm_pool",
    "WindowsAdmission": "admission.windows_admission",
    "WindowsAdmissionArgs": "admission.windows_admission",
    "WindowsInstanceGroup": "instance_groups.groups",
    "WindowsInstanceGroupArgs": "instance_groups.group_args",
    "WindowsIpam": "eks.windows_ipam",
    "WindowsIpamArgs": "eks.windows_ipam",
    "WindowsKubeProxy": "pod_network.windows_kube_proxy",
    "WindowsKubeProxyArgs": "pod_network.windows_kube_proxy",
    "WindowsLogs": "addons.windows_logs",
    "WindowsLogsArgs": "addons.windows_logs",
    "WindowsNodeImage": "instance_groups.node_image",
    "WindowsNodeImageArgs": "instance_groups.node_image",
    "WindowsRuntimeClasses": "scheduling.runtime_classes",
    "WindowsRuntimeClassesArgs": "scheduling.runtime_classes",
    "WinkubeError": "core.errors",
    "WorkerSecurityGroup": "instance_groups.worker_security",
    "WorkerSecurityGroupArgs": "instance_groups.worker_security",
    "cluster_role_name": "existing_clusters.eks",
    "target_of_aws_cluster": "existing_clusters.eks",
    "target_of_kops": "existing_clusters.self_managed",
    "target_of_kubeadm": "existing_clusters.self_managed",
    "target_of_kubespray": "existing_clusters.self_managed",
    "target_of_pulumi_eks": "existing_clusters.eks",
}

__all__ = [
    "AccessEntry",
    "AccessPolicy",
    "AddonChoice",
    "ApiRecord",
    "ApiRecordArgs",
    "AuditLog",
    "BackupRetention",
    "BootCode",
    "BootCodeArgs",
    "CloudControllerManager",
    "CloudControllerManagerArgs",
    "ClusterZone",
    "ClusterZoneArgs",
    "ControlPlaneRole",
    "ControlPlaneRoleArgs",
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
    "ExtraArguments",
    "FargateSelector",
    "FastLaunch",
    "Flannel",
    "FlannelArgs",
    "FluentBitWindows",
    "FluentBitWindowsArgs",
    "GmsaCredentialSpec",
    "GmsaCredentialSpecArgs",
    "GmsaUser",
    "InterruptionQueue",
    "InterruptionQueueArgs",
    "IrsaIssuer",
    "IrsaRole",
    "IrsaRoleArgs",
    "JoinTarget",
    "KarpenterWindowsNodes",
    "KarpenterWindowsNodesArgs",
    "KarpenterWindowsRole",
    "KarpenterWindowsRoleArgs",
    "KopsCluster",
    "KubeadmCluster",
    "KubeletCsrApprover",
    "KubeletCsrApproverArgs",
    "KubeletSettings",
    "KubesprayCluster",
    "LinuxControlPlane",
    "LinuxControlPlaneArgs",
    "LinuxInstanceGroup",
    "LinuxInstanceGroupArgs",
    "Network",
    "NetworkArgs",
    "NodeMarks",
    "NodeRole",
    "NodeRoleArgs",
    "NodeTaints",
    "NodeTaintsArgs",
    "NtfsStorageClass",
    "NtfsStorageClassArgs",
    "PodPort",
    "PodSecurity",
    "Proxy",
    "Rollout",
    "SampleWorkloads",
    "SampleWorkloadsArgs",
    "SelfManagedAddon",
    "SelfManagedAddons",
    "SelfManagedAddonsArgs",
    "SmbStorageClass",
    "SmbStorageClassArgs",
    "StateBucket",
    "StateBucketArgs",
    "Taint",
    "WarmPool",
    "WindowsAdmission",
    "WindowsAdmissionArgs",
    "WindowsInstanceGroup",
    "WindowsInstanceGroupArgs",
    "WindowsIpam",
    "WindowsIpamArgs",
    "WindowsKubeProxy",
    "WindowsKubeProxyArgs",
    "WindowsLogs",
    "WindowsLogsArgs",
    "WindowsNodeImage",
    "WindowsNodeImageArgs",
    "WindowsRuntimeClasses",
    "WindowsRuntimeClassesArgs",
    "WinkubeError",
    "WorkerSecurityGroup",
    "WorkerSecurityGroupArgs",
    "cluster_role_name",
    "target_of_aws_cluster",
    "target_of_kops",
    "target_of_kubeadm",
    "target_of_kubespray",
    "target_of_pulumi_eks",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, *globals()]
