"""A self-managed cluster: three control-plane nodes in three zones, Linux nodes, Windows Server 2022 and 2025.

The Kubernetes objects are made once the API answers: run ``pulumi up`` from a place that reaches it.
"""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pulumi_tls as tls
from winkube import (
    CloudControllerManager,
    CloudControllerManagerArgs,
    ClusterZone,
    ClusterZoneArgs,
    Flannel,
    FlannelArgs,
    KubeletCsrApprover,
    KubeletCsrApproverArgs,
    LinuxControlPlane,
    LinuxControlPlaneArgs,
    LinuxInstanceGroup,
    LinuxInstanceGroupArgs,
    Network,
    NetworkArgs,
    StateBucket,
    StateBucketArgs,
    WindowsAdmission,
    WindowsAdmissionArgs,
    WindowsInstanceGroup,
    WindowsInstanceGroupArgs,
    WindowsKubeProxy,
    WindowsKubeProxyArgs,
    WindowsRuntimeClasses,
    WindowsRuntimeClassesArgs,
)

NAME, VERSION, RELEASES = "ha.example.com", "1.36", ["2022", "2025"]
region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)
opts = pulumi.ResourceOptions(providers=[provider, tls.Provider("tls")])

network_args = NetworkArgs(region=region, zones=3, cluster_names=[NAME])
network = Network("ha-network", network_args, opts)
zone = ClusterZone("ha-zone", ClusterZoneArgs(domain=NAME, visibility="private", vpc_ids=[network.vpc_id]), opts)
bucket = StateBucket("ha-state", StateBucketArgs(), opts)
control_plane = LinuxControlPlane(
    "ha",
    LinuxControlPlaneArgs(
        cluster_name=NAME,
        region=region,
        kubernetes_version=VERSION,
        vpc_id=network.vpc_id,
        vpc_cidrs=[network_args.cidr],
        zones=network.zone_names,
        subnet_ids=network.private_subnet_ids,
        api_allowed_cidrs=[network_args.cidr],
        domain=NAME,
        zone_ids=zone.zone_ids,
        bucket=bucket.bucket,
        bucket_arn=bucket.arn,
        bucket_key_arn=bucket.kms_key_arn,
        slots=3,
        etcd_volume_size_gib=20,
        deletion_protection=True,
    ),
    opts,
)

in_cluster = kubernetes.Provider("kubernetes", kubeconfig=control_plane.kubeconfig, enable_server_side_apply=True)
both = pulumi.ResourceOptions(providers=[provider, in_cluster])
endpoint = control_plane.endpoint
controller = CloudControllerManager(
    "ha-cloud-controller",
    CloudControllerManagerArgs(cluster_name=NAME, kubernetes_version=VERSION, endpoint=endpoint),
    both,
)
flannel = Flannel("ha-flannel", FlannelArgs(endpoint=endpoint), both)
KubeletCsrApprover("ha-csr-approver", KubeletCsrApproverArgs(endpoint=endpoint, node_cidrs=[network_args.cidr]), both)
WindowsKubeProxy("ha-kube-proxy", WindowsKubeProxyArgs(endpoint=endpoint), both)
WindowsRuntimeClasses("ha-runtime-classes", WindowsRuntimeClassesArgs(releases=RELEASES), both)
WindowsAdmission("ha-admission", WindowsAdmissionArgs(kubernetes_version=VERSION, releases=RELEASES), both)

linux = LinuxInstanceGroup(
    "ha-linux",
    LinuxInstanceGroupArgs(
        name="linux",
        target=control_plane.target,
        subnet_ids=network.private_subnet_ids,
        boot_code=control_plane.boot_code,
        min_size=2,
    ),
    both,
)
for release in RELEASES:
    windows = WindowsInstanceGroup(
        f"ha-windows-{release}",
        WindowsInstanceGroupArgs(
            name=f"windows-{release}",
            target=control_plane.target,
            subnet_ids=network.private_subnet_ids,
            boot_code=control_plane.boot_code,
            windows=release,
            instance_types=["m7i.xlarge"],
            max_size=6,
        ),
        both,
    )
pulumi.export("endpoint", endpoint)
pulumi.export("kubeconfig", control_plane.kubeconfig)
