"""The program of the flavour ``eks``: a managed control plane with Linux and Windows nodes.

It creates, in the order of dependencies:

- the network, and the zone and the state bucket if the settings have them;
- the cluster with its role, logs, key, access entries and security groups;
- the CNI with Windows IPAM, and kube-proxy, without which nodes do not become ready;
- the Linux groups, then CoreDNS on them, or on Fargate;
- the add-ons, and what needs them (:mod:`stacks.eks.addons`);
- the Windows groups after the Linux ones, in parallel with CoreDNS: their pods need it, their nodes do not;
- the RuntimeClasses that place pods on nodes of their Windows build.
"""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from winkube.ec2.warm_pool import WarmPool
from winkube.eks.access import AccessPolicy
from winkube.eks.addon import EksAddon, EksAddonArgs
from winkube.eks.addons import windows_node_policies
from winkube.eks.bootstrap import Proxy
from winkube.eks.cluster import AccessEntry, EksCluster, EksClusterArgs
from winkube.eks.fargate import COREDNS_ON_FARGATE, EksFargateProfile, EksFargateProfileArgs
from winkube.eks.node_groups import (
    EksLinuxNodeGroup,
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
)
from winkube.eks.port_rules import PodPort
from winkube.eks.security_groups import EksSecurityGroups, EksSecurityGroupsArgs
from winkube.eks.windows_ipam import WindowsIpam, WindowsIpamArgs
from winkube.network.network import Network, NetworkArgs
from winkube.scheduling.labels import Taint
from winkube.scheduling.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
from winkube.state_bucket.state_bucket import StateBucket, StateBucketArgs
from winkube.zone.zone import ClusterZone, ClusterZoneArgs

from ..common.arguments import after, arguments, exported
from .addons import attach_node_policies, create_addons
from .environment import Environment
from .group_settings import InstanceGroupSettings
from .settings import EksSettings

Groups = dict[str, EksLinuxNodeGroup | EksWindowsNodeGroup]


def build(settings: EksSettings) -> None:
    """Create the environment, and export its outputs."""
    name, tags = settings.cluster.name, settings.tags
    provider = aws.Provider(f"{name}-aws", region=settings.region)
    opts = pulumi.ResourceOptions(providers=[provider])
    network_args = arguments(NetworkArgs, settings.network, region=settings.region, cluster_names=[name], tags=tags)
    network = Network(f"{name}-network", network_args, opts)
    zone, bucket = _create_surroundings(settings, network, opts)
    security_groups = _create_security_groups(settings, network, opts)
    cluster = _create_cluster(settings, network, security_groups, opts)
    in_cluster = kubernetes.Provider(f"{name}-kubernetes", kubeconfig=cluster.kubeconfig, enable_server_side_apply=True)
    both = pulumi.ResourceOptions(providers=[provider, in_cluster])
    environment = Environment(settings, network, cluster, security_groups, both)
    ipam = _create_ipam(environment)
    linux = _create_linux(environment, ipam)
    nodes: list[pulumi.Resource] = [ipam, *linux.values()]
    core_dns = _create_core_dns(environment, *linux.values())
    served = [*nodes, core_dns] if core_dns else nodes
    addons = create_addons(environment, served)
    # Without Linux groups CoreDNS runs on Fargate, and Windows groups come after it.
    windows = _create_windows(environment, nodes if linux else served)
    attach_node_policies(environment, windows, addons)
    classes = _create_runtime_classes(environment)
    exported(
        vpcId=network.vpc_id,
        clusterName=cluster.cluster_name,
        endpoint=cluster.endpoint,
        kubeconfig=cluster.kubeconfig,
        oidcProviderArn=cluster.oidc_provider_arn,
        nodeGroups={name: group.node_group_name for name, group in {**linux, **windows}.items()},
        runtimeClasses=classes.names if classes else None,
        addonRoles=addons.role_arns or None,
        storageClasses=addons.storage_classes or None,
        stateBucket=bucket.bucket if bucket else None,
        zoneNameServers=zone.name_servers if zone else None,
    )


def _create_surroundings(
    settings: EksSettings, network: Network, opts: pulumi.ResourceOptions
) -> tuple[ClusterZone | None, StateBucket | None]:
    name, tags = settings.cluster.name, settings.tags
    zone = bucket = None
    if settings.zone is not None:
        private = settings.zone.visibility != "public"
        vpc_ids = [network.vpc_id] if private else []
        zone = ClusterZone(f"{name}-zone", arguments(ClusterZoneArgs, settings.zone, vpc_ids=vpc_ids, tags=tags), opts)
    if settings.state_bucket is not None:
        bucket = StateBucket(f"{name}-state", arguments(StateBucketArgs, settings.state_bucket, tags=tags), opts)
    return zone, bucket


def _create_security_groups(
    settings: EksSettings, network: Network, opts: pulumi.ResourceOptions
) -> EksSecurityGroups | None:
    section = settings.cluster.security_groups
    if section is None:
        return None
    ports = [arguments(PodPort, port) for port in section.pod_ports]
    args = arguments(EksSecurityGroupsArgs, section, vpc_id=network.vpc_id, pod_ports=ports, tags=settings.tags)
    return EksSecurityGroups(f"{settings.cluster.name}-nodes", args, opts)


def _create_cluster(
    settings: EksSettings, network: Network, security_groups: EksSecurityGroups | None, opts: pulumi.ResourceOptions
) -> EksCluster:
    section = settings.cluster
    own = [security_groups.control_plane_id] if security_groups else []
    entries = [
        arguments(AccessEntry, entry, policies=[arguments(AccessPolicy, policy) for policy in entry.policies])
        for entry in section.access_entries
    ]
    args = arguments(
        EksClusterArgs,
        section,
        cluster_name=section.name,
        region=settings.region,
        subnet_ids=network.private_subnet_ids,
        security_group_ids=[*own, *section.security_group_ids],
        access_entries=entries,
        windows=bool(settings.windows_releases),
        # With a self-managed CNI, kube-proxy and CoreDNS are self-managed as well.
        self_managed_addons=section.windows_ipam.mode == "config_map",
        tags=settings.tags,
    )
    return EksCluster(section.name, args, opts)


def _create_linux(environment: Environment, ipam: WindowsIpam) -> Groups:
    """Create kube-proxy, and the Linux groups after the CNI and kube-proxy."""
    name, opts = environment.name, environment.opts
    first: list[pulumi.Resource] = [ipam]
    if environment.manages_addons:
        first.append(_create_addon(environment, "kube-proxy", opts))
    groups: Groups = {}
    for section in (group for group in environment.settings.instance_groups if group.linux):
        # If the CNI has its own role, the node role does not need its policy.
        cni_policy = environment.settings.cluster.windows_ipam.service_account_role_arn is None
        args = _group_args(EksLinuxNodeGroupArgs, section, environment, cni_policy=cni_policy)
        groups[section.name] = EksLinuxNodeGroup(f"{name}-{section.name}", args, after(opts, *first))
    return groups


def _create_core_dns(environment: Environment, *linux: pulumi.Resource) -> EksAddon | None:
    """Create CoreDNS on the Linux groups or on Fargate; None if it is self-managed."""
    settings = environment.settings
    if not environment.manages_addons:
        return None
    if settings.cluster.core_dns == "nodes":
        return _create_addon(environment, "coredns", after(environment.opts, *linux))
    args = EksFargateProfileArgs(
        cluster=environment.cluster.target,
        subnet_ids=environment.network.private_subnet_ids,
        permissions_boundary=settings.cluster.permissions_boundary,
        role_path=settings.cluster.role_path,
        tags=settings.tags,
    )
    profile = EksFargateProfile(f"{environment.name}-coredns-pods", args, environment.opts)
    opts = after(environment.opts, profile)
    return _create_addon(environment, "coredns", opts, configuration_values=COREDNS_ON_FARGATE)


def _create_addon(environment: Environment, addon: str, opts: pulumi.ResourceOptions, **more: Any) -> EksAddon:
    tags = environment.settings.tags
    args = EksAddonArgs(cluster=environment.cluster.target, addon_name=addon, tags=tags, **more)
    return EksAddon(f"{environment.name}-{addon}", args, opts)


def _create_ipam(environment: Environment) -> WindowsIpam:
    """Create the CNI. Without Windows nodes, Windows IPAM is off."""
    settings = environment.settings
    args = arguments(
        WindowsIpamArgs,
        settings.cluster.windows_ipam,
        cluster=environment.cluster.target,
        enabled=bool(settings.windows_releases),
        tags=settings.tags,
    )
    return WindowsIpam(f"{environment.name}-ipam", args, environment.opts)


def _create_windows(environment: Environment, before: list[pulumi.Resource]) -> Groups:
    settings = environment.settings
    groups: Groups = {}
    for section in (group for group in settings.instance_groups if group.windows):
        # On Windows nodes, add-ons use the role of the node.
        for_addons = windows_node_policies(settings.addon_names, environment.cluster.target.partition)
        args = _group_args(
            EksWindowsNodeGroupArgs,
            section,
            environment,
            prefix_delegation=settings.cluster.windows_ipam.prefix_delegation,
            external_policies=list(dict.fromkeys([*section.external_policies, *for_addons])),
        )
        name = f"{environment.name}-{section.name}"
        groups[section.name] = EksWindowsNodeGroup(name, args, after(environment.opts, *before))
    return groups


def _group_args(kind: type[Any], section: InstanceGroupSettings, environment: Environment, **more: Any) -> Any:
    own = environment.security_groups
    groups = [own.windows_id if section.windows else own.linux_id] if own else []
    return arguments(
        kind,
        section,
        cluster=environment.cluster.target,
        subnet_ids=environment.network.private_subnet_ids,
        taints=[arguments(Taint, taint) for taint in section.taints],
        proxy=None if section.proxy is None else arguments(Proxy, section.proxy),
        warm_pool=None if section.warm_pool is None else arguments(WarmPool, section.warm_pool),
        security_group_ids=[*groups, *section.security_group_ids],
        cluster_security_group=own is None,
        tags={**environment.settings.tags, **section.tags},
        **more,
    )


def _create_runtime_classes(environment: Environment) -> WindowsRuntimeClasses | None:
    releases = environment.settings.windows_releases
    if not releases:
        return None
    args = WindowsRuntimeClassesArgs(releases=releases)
    return WindowsRuntimeClasses(f"{environment.name}-runtime-classes", args, environment.opts)
