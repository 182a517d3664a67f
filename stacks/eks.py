"""The flavour ``eks``: a managed control plane with Linux and Windows nodes.

What is made, in the order in which it can come up:

- the network, and with it the zone and the state bucket where the settings ask for them;
- the cluster with its role, logs, key and access entries;
- the CNI with Windows IPAM, and kube-proxy: nodes are not ready without them;
- the Linux groups, then CoreDNS on them;
- the Windows groups, which need addresses and DNS from what came before;
- the RuntimeClasses by which pods find the nodes of their build.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from winkube.eks.access import AccessPolicy
from winkube.eks.addon import EksAddon, EksAddonArgs
from winkube.eks.cluster import AccessEntry, EksCluster, EksClusterArgs
from winkube.eks.node_groups import (
    EksLinuxNodeGroup,
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
)
from winkube.eks.scheduling import Taint
from winkube.eks.windows_ipam import WindowsIpam, WindowsIpamArgs
from winkube.network.network import Network, NetworkArgs
from winkube.objects.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
from winkube.state_bucket.state_bucket import StateBucket, StateBucketArgs
from winkube.zone.zone import ClusterZone, ClusterZoneArgs

from .settings import ClusterSettings, InstanceGroupSettings, Settings
from .shape import Model

Group = EksLinuxNodeGroup | EksWindowsNodeGroup


def build(settings: Settings) -> None:
    """Build the environment and export what its users need."""
    name = settings.cluster.name
    tags = settings.tags
    provider = aws.Provider(f"{name}-aws", region=settings.region)
    opts = pulumi.ResourceOptions(providers=[provider])
    network_args = _args(NetworkArgs, settings.network, region=settings.region, cluster_names=[name], tags=tags)
    network = Network(f"{name}-network", network_args, opts)
    zone, bucket = _create_surroundings(settings, network, tags, opts)
    cluster = _create_cluster(settings, network, tags, opts)
    in_cluster = kubernetes.Provider(f"{name}-kubernetes", kubeconfig=cluster.kubeconfig, enable_server_side_apply=True)
    groups = _create_groups(settings, cluster, network, tags, pulumi.ResourceOptions(providers=[provider, in_cluster]))
    classes = _create_runtime_classes(settings, pulumi.ResourceOptions(providers=[in_cluster]))
    _export(
        vpcId=network.vpc_id,
        clusterName=cluster.cluster_name,
        endpoint=cluster.endpoint,
        kubeconfig=cluster.kubeconfig,
        oidcProviderArn=cluster.oidc_provider_arn,
        nodeGroups={name: group.node_group_name for name, group in groups.items()},
        runtimeClasses=classes.names if classes else None,
        stateBucket=bucket.bucket if bucket else None,
        zoneNameServers=zone.name_servers if zone else None,
    )


def _create_surroundings(
    settings: Settings, network: Network, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> tuple[ClusterZone | None, StateBucket | None]:
    name = settings.cluster.name
    zone = bucket = None
    if settings.zone is not None:
        private = settings.zone.visibility != "public"
        vpc_ids = [network.vpc_id] if private else []
        zone = ClusterZone(f"{name}-zone", _args(ClusterZoneArgs, settings.zone, vpc_ids=vpc_ids, tags=tags), opts)
    if settings.state_bucket is not None:
        bucket = StateBucket(f"{name}-state", _args(StateBucketArgs, settings.state_bucket, tags=tags), opts)
    return zone, bucket


def _create_cluster(
    settings: Settings, network: Network, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> EksCluster:
    section = settings.cluster
    args = _args(
        EksClusterArgs,
        section,
        cluster_name=section.name,
        region=settings.region,
        subnet_ids=network.private_subnet_ids,
        access_entries=_access_entries(section),
        windows=any(group.windows for group in settings.instance_groups),
        self_managed_addons=section.windows_ipam.mode == "config_map",
        tags=tags,
    )
    return EksCluster(section.name, args, opts)


def _access_entries(section: ClusterSettings) -> list[AccessEntry]:
    return [
        _args(AccessEntry, entry, policies=[_args(AccessPolicy, policy) for policy in entry.policies])
        for entry in section.access_entries
    ]


def _create_groups(
    settings: Settings,
    cluster: EksCluster,
    network: Network,
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> dict[str, Group]:
    """The add-ons and the groups, in the order in which they can come up."""
    name = settings.cluster.name
    ipam = _create_ipam(settings, cluster, tags, opts)
    first: list[pulumi.Resource] = [ipam]
    managed_addons = settings.cluster.windows_ipam.mode == "addon"
    if managed_addons:
        proxy_args = EksAddonArgs(cluster=cluster.target, addon_name="kube-proxy", tags=tags)
        first.append(EksAddon(f"{name}-kube-proxy", proxy_args, opts))
    groups: dict[str, Group] = {}
    for section in (group for group in settings.instance_groups if group.linux):
        args = _group_args(EksLinuxNodeGroupArgs, section, cluster, network, tags)
        groups[section.name] = EksLinuxNodeGroup(f"{name}-{section.name}", args, _after(opts, first))
    linux: list[pulumi.Resource] = list(groups.values())
    if managed_addons:
        dns_args = EksAddonArgs(cluster=cluster.target, addon_name="coredns", tags=tags)
        linux.append(EksAddon(f"{name}-coredns", dns_args, _after(opts, linux)))
    prefixes = settings.cluster.windows_ipam.prefix_delegation
    for section in (group for group in settings.instance_groups if group.windows):
        args = _group_args(EksWindowsNodeGroupArgs, section, cluster, network, tags, prefix_delegation=prefixes)
        groups[section.name] = EksWindowsNodeGroup(f"{name}-{section.name}", args, _after(opts, [ipam, *linux]))
    return groups


def _create_ipam(
    settings: Settings, cluster: EksCluster, tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> WindowsIpam:
    """The CNI. A cluster without Windows nodes has it as well, with Windows IPAM off."""
    section, name = settings.cluster.windows_ipam, settings.cluster.name
    enabled = any(group.windows for group in settings.instance_groups)
    args = _args(WindowsIpamArgs, section, cluster=cluster.target, enabled=enabled, tags=tags)
    return WindowsIpam(f"{name}-ipam", args, opts)


def _group_args(
    kind: type[Any],
    section: InstanceGroupSettings,
    cluster: EksCluster,
    network: Network,
    tags: Mapping[str, str],
    **more: Any,
) -> Any:
    return _args(
        kind,
        section,
        cluster=cluster.target,
        subnet_ids=network.private_subnet_ids,
        taints=[_args(Taint, taint) for taint in section.taints],
        tags={**tags, **section.tags},
        **more,
    )


def _create_runtime_classes(settings: Settings, opts: pulumi.ResourceOptions) -> WindowsRuntimeClasses | None:
    releases = sorted({group.windows for group in settings.instance_groups if group.windows})
    if not releases:
        return None
    name = f"{settings.cluster.name}-runtime-classes"
    return WindowsRuntimeClasses(name, WindowsRuntimeClassesArgs(releases=releases), opts)


def _after(opts: pulumi.ResourceOptions, before: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before)))


def _args(kind: type[Any], section: Model, **more: Any) -> Any:
    """A component's arguments: what the section says of them, and ``more``.

    What the section leaves open keeps the component's default; null says something only where it is not the default.
    """
    fields = {field.name for field in dataclasses.fields(kind)}
    open_fields = {name for name, field in type(section).model_fields.items() if field.default is None}
    values = {name: value for name, value in section if name in fields}
    given = {name: value for name, value in values.items() if value is not None or name not in open_fields}
    return kind(**{**given, **more})


def _export(**outputs: Any) -> None:
    for name, value in outputs.items():
        if value is not None:
            pulumi.export(name, value)
