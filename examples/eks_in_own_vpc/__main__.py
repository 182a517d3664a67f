"""An EKS cluster with Linux and Windows nodes in subnets, and with a cluster role, that others look after."""

import pulumi
import pulumi_aws as aws
from winkube import (
    EksAddon,
    EksAddonArgs,
    EksCluster,
    EksClusterArgs,
    EksLinuxNodeGroup,
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
    WindowsIpam,
    WindowsIpamArgs,
)

config = pulumi.Config()
region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)
subnet_ids = config.require_object("subnetIds")


def after(*before: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options: this program's provider, and what has to be there first."""
    return pulumi.ResourceOptions(providers=[provider], depends_on=list(before))


cluster = EksCluster(
    "shop",
    EksClusterArgs(
        cluster_name="shop",
        region=region,
        kubernetes_version="1.36",
        subnet_ids=subnet_ids,
        role_arn=config.require("clusterRoleArn"),
    ),
    after(),
)
ipam = WindowsIpam("shop-ipam", WindowsIpamArgs(cluster=cluster.target), after())
proxy = EksAddon("shop-proxy", EksAddonArgs(cluster=cluster.target, addon_name="kube-proxy"), after())
linux = EksLinuxNodeGroup(
    "shop-system",
    EksLinuxNodeGroupArgs(name="system", cluster=cluster.target, subnet_ids=subnet_ids),
    after(ipam, proxy),
)
dns = EksAddon("shop-dns", EksAddonArgs(cluster=cluster.target, addon_name="coredns"), after(linux))
windows = EksWindowsNodeGroup(
    "shop-windows",
    EksWindowsNodeGroupArgs(
        name="windows", cluster=cluster.target, subnet_ids=subnet_ids, windows="2025", instance_types=["m7i.xlarge"]
    ),
    after(ipam, dns),
)
pulumi.export("kubeconfig", cluster.kubeconfig)
