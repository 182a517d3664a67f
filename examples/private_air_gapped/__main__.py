"""A self-managed cluster without any way to the internet: no gateway, everything from endpoints and a mirror.

Files come from ``mirror`` and are checked by their digests; container images come from ``registry``; AWS is reached
by endpoints in the VPC; the images of the nodes are the company's own. What lies in the mirror is in docs/air-gap.md.
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
    WindowsInstanceGroup,
    WindowsInstanceGroupArgs,
    WindowsKubeProxy,
    WindowsKubeProxyArgs,
    WindowsRuntimeClasses,
    WindowsRuntimeClassesArgs,
)

NAME, VERSION = "closed.example.com", "1.36"
config = pulumi.Config()
region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)
opts = pulumi.ResourceOptions(providers=[provider, tls.Provider("tls")])
registry = config.require("registry")
hosts = ("registry.k8s.io", "ghcr.io", "docker.io", "mcr.microsoft.com")

network_args = NetworkArgs(
    region=region,
    zones=3,
    nat="none",
    public_subnets=False,
    gateway_endpoints=["s3"],
    interface_endpoints=[
        "autoscaling", "ec2", "ec2messages", "ecr.api", "ecr.dkr", "elasticloadbalancing", "kms", "logs", "ssm",
        "ssmmessages", "sts",
    ],
)  # fmt: skip
network = Network("closed-network", network_args, opts)
zone = ClusterZone("closed-zone", ClusterZoneArgs(domain=NAME, visibility="private", vpc_ids=[network.vpc_id]), opts)
bucket = StateBucket("closed-state", StateBucketArgs(), opts)
control_plane = LinuxControlPlane(
    "closed",
    LinuxControlPlaneArgs(
        cluster_name=NAME,
        region=region,
        kubernetes_version=VERSION,
        vpc_id=network.vpc_id,
        vpc_cidrs=[network_args.cidr],
        zones=network.zone_names,
        subnet_ids=network.private_subnet_ids,
        domain=NAME,
        zone_ids=zone.zone_ids,
        bucket=bucket.bucket,
        bucket_arn=bucket.arn,
        bucket_key_arn=bucket.kms_key_arn,
        image_id=config.require("linuxImage"),
        mirror=config.require("mirror"),
        registry_mirrors={host: f"{registry}/{host}" for host in hosts},
        deletion_protection=True,
    ),
    opts,
)

in_cluster = kubernetes.Provider("kubernetes", kubeconfig=control_plane.kubeconfig, enable_server_side_apply=True)
both = pulumi.ResourceOptions(providers=[provider, in_cluster])
endpoint = control_plane.endpoint
CloudControllerManager(
    "closed-cloud-controller",
    CloudControllerManagerArgs(cluster_name=NAME, kubernetes_version=VERSION, endpoint=endpoint),
    both,
)
Flannel("closed-flannel", FlannelArgs(endpoint=endpoint), both)
KubeletCsrApprover(
    "closed-csr-approver", KubeletCsrApproverArgs(endpoint=endpoint, node_cidrs=[network_args.cidr]), both
)
WindowsKubeProxy("closed-kube-proxy", WindowsKubeProxyArgs(endpoint=endpoint), both)
WindowsRuntimeClasses("closed-runtime-classes", WindowsRuntimeClassesArgs(releases=["2022"]), both)
LinuxInstanceGroup(
    "closed-linux",
    LinuxInstanceGroupArgs(
        name="linux",
        target=control_plane.target,
        subnet_ids=network.private_subnet_ids,
        boot_code=control_plane.boot_code,
        image_id=config.require("linuxImage"),
        min_size=2,
    ),
    both,
)
WindowsInstanceGroup(
    "closed-windows",
    WindowsInstanceGroupArgs(
        name="windows",
        target=control_plane.target,
        subnet_ids=network.private_subnet_ids,
        boot_code=control_plane.boot_code,
        image_id=config.require("windowsImage"),
        windows="2022",
        instance_types=["m7i.xlarge"],
    ),
    both,
)
pulumi.export("endpoint", endpoint)
pulumi.export("kubeconfig", control_plane.kubeconfig)
