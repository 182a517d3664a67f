"""The program of the flavour ``kubeadm``: a self-managed control plane with Linux and Windows nodes.

It creates, in the order of dependencies:

1. the VPC, the zone and the state bucket;
2. the control plane, which is complete when its API answers behind the load balancer;
3. in the cluster: the cloud controller manager, flannel and the approver of serving certificates, without which no node
   becomes ready; then kube-proxy for Windows, the RuntimeClasses and the admission of Windows pods;
4. the instance groups, which need the name of the API and the join token, in parallel with step 3.
"""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pulumi_tls as tls
from winkube.addons.sample_workloads import SampleWorkloads, SampleWorkloadsArgs
from winkube.addons.self_managed_addons import SelfManagedAddon, SelfManagedAddons, SelfManagedAddonsArgs
from winkube.admission.windows_admission import WindowsAdmission, WindowsAdmissionArgs
from winkube.control_plane.args import BackupRetention, IrsaIssuer
from winkube.control_plane.control_plane import LinuxControlPlane, LinuxControlPlaneArgs
from winkube.ec2.proxy import Proxy
from winkube.ec2.warm_pool import WarmPool
from winkube.instance_groups.boot_code import BootCode
from winkube.instance_groups.group_args import LinuxInstanceGroupArgs, WindowsInstanceGroupArgs
from winkube.instance_groups.groups import LinuxInstanceGroup, WindowsInstanceGroup
from winkube.instance_groups.rollout import Rollout
from winkube.kubeadm.config import AuditLog, ExtraArguments, KubeletSettings, PodSecurity
from winkube.network.network import Network, NetworkArgs
from winkube.pod_network.flannel import Flannel, FlannelArgs
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxy, WindowsKubeProxyArgs
from winkube.scheduling.labels import Taint
from winkube.scheduling.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
from winkube.state_bucket.state_bucket import StateBucket, StateBucketArgs
from winkube.system_services.cloud_controller_manager import CloudControllerManager, CloudControllerManagerArgs
from winkube.system_services.kubelet_csr_approver import KubeletCsrApprover, KubeletCsrApproverArgs
from winkube.tables.regions import partition
from winkube.zone.zone import ClusterZone, ClusterZoneArgs

from ..common.arguments import after, arguments, exported
from .cluster_settings import KubeletSettings as KubeletSection
from .environment import Environment, resource_prefix
from .group_settings import KubeadmGroupSettings
from .settings import KubeadmSettings

Groups = dict[str, LinuxInstanceGroup | WindowsInstanceGroup]


def build(settings: KubeadmSettings) -> None:
    """Create the environment, and export its outputs."""
    name, tags = resource_prefix(settings.cluster.name), settings.tags
    provider = aws.Provider(f"{name}-aws", region=settings.region)
    opts = pulumi.ResourceOptions(providers=[provider, tls.Provider(f"{name}-tls")])
    cluster_names = [settings.cluster.name]
    network_args = arguments(
        NetworkArgs, settings.network, region=settings.region, cluster_names=cluster_names, tags=tags
    )
    network = Network(f"{name}-network", network_args, opts)
    vpc_ids = [network.vpc_id] if settings.zone.visibility != "public" else []
    zone = ClusterZone(f"{name}-zone", arguments(ClusterZoneArgs, settings.zone, vpc_ids=vpc_ids, tags=tags), opts)
    bucket = StateBucket(f"{name}-state", arguments(StateBucketArgs, settings.state_bucket, tags=tags), opts)
    control_plane = _create_control_plane(settings, network, zone, bucket, opts)
    in_cluster = kubernetes.Provider(
        f"{name}-kubernetes", kubeconfig=control_plane.kubeconfig, enable_server_side_apply=True
    )
    both = pulumi.ResourceOptions(providers=[provider, in_cluster])
    environment = Environment(settings, network, control_plane, both)
    classes = _create_objects(environment)
    groups = _create_groups(environment)
    addons = _create_addons(environment, groups)
    _create_samples(environment, groups)
    exported(
        vpcId=network.vpc_id,
        clusterName=settings.cluster.name,
        endpoint=control_plane.endpoint,
        kubeconfig=control_plane.kubeconfig,
        oidcProviderArn=control_plane.oidc_provider_arn,
        controlPlaneGroups=list(control_plane.autoscaling_group_names),
        instanceGroups={name: group.autoscaling_group_name for name, group in groups.items()},
        runtimeClasses=classes.names if classes else None,
        addonRoles=addons.role_arns or None if addons else None,
        stateBucket=bucket.bucket,
        zoneNameServers=zone.name_servers,
    )


def _create_control_plane(
    settings: KubeadmSettings, network: Network, zone: ClusterZone, bucket: StateBucket, opts: pulumi.ResourceOptions
) -> LinuxControlPlane:
    section = settings.cluster
    args = arguments(
        LinuxControlPlaneArgs,
        section,
        cluster_name=section.name,
        region=settings.region,
        vpc_id=network.vpc_id,
        vpc_cidrs=[settings.network.cidr],
        # A single control-plane node is in the first zone; the load balancer is in all zones.
        zones=network.zone_names[: section.slots],
        subnet_ids=network.private_subnet_ids[: section.slots],
        api_subnet_ids=network.private_subnet_ids,
        public_subnet_ids=network.public_subnet_ids if section.api_exposure == "public" else [],
        domain=settings.zone.domain,
        zone_ids=zone.zone_ids,
        bucket=bucket.bucket,
        bucket_arn=bucket.arn,
        bucket_key_arn=bucket.kms_key_arn,
        irsa=None if section.irsa is None else arguments(IrsaIssuer, section.irsa),
        audit=None if section.audit is None else arguments(AuditLog, section.audit),
        pod_security=arguments(PodSecurity, section.pod_security),
        extra_arguments=arguments(ExtraArguments, section.extra_arguments),
        kubelet=_kubelet(section.kubelet),
        backup_retention=arguments(BackupRetention, section.backup_retention),
        proxy=None if section.proxy is None else arguments(Proxy, section.proxy),
        tags=settings.tags,
    )
    return LinuxControlPlane(resource_prefix(section.name), args, opts)


def _create_objects(environment: Environment) -> WindowsRuntimeClasses | None:
    """Create what nodes need to become ready, and what Windows pods need to be scheduled.

    Their pods tolerate nodes that are not ready and reach the API by its name. So none of them waits for another, as on
    a new node.
    """
    settings, name, opts = environment.settings, environment.name, environment.opts
    cluster, endpoint = settings.cluster, environment.control_plane.endpoint
    releases = settings.windows_releases
    CloudControllerManager(
        f"{name}-cloud-controller",
        CloudControllerManagerArgs(
            cluster_name=cluster.name,
            kubernetes_version=cluster.kubernetes_version,
            endpoint=endpoint,
            pod_cidr=cluster.pod_cidr,
        ),
        opts,
    )
    flannel_args = arguments(
        FlannelArgs,
        settings.pod_network,
        endpoint=endpoint,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        windows=bool(releases),
    )
    Flannel(f"{name}-flannel", flannel_args, opts)
    approver_args = KubeletCsrApproverArgs(endpoint=endpoint, node_cidrs=[settings.network.cidr])
    KubeletCsrApprover(f"{name}-csr-approver", approver_args, opts)
    if not releases:
        return None
    proxy_args = arguments(
        WindowsKubeProxyArgs,
        settings.pod_network,
        endpoint=endpoint,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
    )
    WindowsKubeProxy(f"{name}-kube-proxy-windows", proxy_args, opts)
    classes_args = WindowsRuntimeClassesArgs(releases=releases)
    classes = WindowsRuntimeClasses(f"{name}-runtime-classes", classes_args, opts)
    admission_args = arguments(
        WindowsAdmissionArgs,
        settings.windows_admission,
        kubernetes_version=cluster.kubernetes_version,
        releases=releases,
    )
    WindowsAdmission(f"{name}-windows-admission", admission_args, after(opts, classes))
    return classes


def _create_groups(environment: Environment) -> Groups:
    groups: Groups = {}
    settings, code = environment.settings, environment.control_plane.boot_code
    for section in settings.instance_groups:
        name = f"{environment.name}-{section.name}"
        if section.windows:
            args = _group_args(WindowsInstanceGroupArgs, section, environment, code)
            groups[section.name] = WindowsInstanceGroup(name, args, environment.opts)
        else:
            args = _group_args(LinuxInstanceGroupArgs, section, environment, code)
            groups[section.name] = LinuxInstanceGroup(name, args, environment.opts)
    return groups


def _group_args(kind: type[Any], section: KubeadmGroupSettings, environment: Environment, code: BootCode) -> Any:
    return arguments(
        kind,
        section,
        target=environment.control_plane.target,
        subnet_ids=environment.network.private_subnet_ids,
        taints=[arguments(Taint, taint) for taint in section.taints],
        kubelet=_kubelet(section.kubelet),
        warm_pool=None if section.warm_pool is None else arguments(WarmPool, section.warm_pool),
        rollout=arguments(Rollout, section.rollout),
        boot_code=code,
        tags={**environment.settings.tags, **section.tags},
    )


def _create_addons(environment: Environment, groups: Groups) -> SelfManagedAddons | None:
    """Create the add-ons, which run on Linux nodes."""
    settings, plane = environment.settings, environment.control_plane
    if not settings.addons:
        return None
    args = SelfManagedAddonsArgs(
        cluster_name=settings.cluster.name,
        kubernetes_version=settings.cluster.kubernetes_version,
        region=settings.region,
        partition=partition(settings.region),
        addons=[arguments(SelfManagedAddon, addon) for addon in settings.addons],
        windows=bool(settings.windows_releases),
        vpc_id=environment.network.vpc_id,
        oidc_provider_arn=plane.oidc_provider_arn,
        oidc_issuer=plane.oidc_issuer,
        permissions_boundary=settings.cluster.permissions_boundary,
        role_path=settings.cluster.role_path,
        tags=settings.tags,
    )
    linux = [group for group in groups.values() if isinstance(group, LinuxInstanceGroup)]
    return SelfManagedAddons(f"{environment.name}-addons", args, after(environment.opts, *linux))


def _create_samples(environment: Environment, groups: Groups) -> None:
    section = environment.settings.sample_workloads
    if section is not None:
        args = arguments(SampleWorkloadsArgs, section, releases=environment.settings.windows_releases)
        SampleWorkloads(f"{environment.name}-sample", args, after(environment.opts, *groups.values()))


def _kubelet(section: KubeletSection) -> KubeletSettings:
    return arguments(KubeletSettings, section)
