"""An EKS cluster with two Linux nodes and one Windows node, in a network of its own."""

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
    Network,
    NetworkArgs,
    WindowsIpam,
    WindowsIpamArgs,
)

region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)


def after(*before: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options: this program's provider, and what has to be there first."""
    return pulumi.ResourceOptions(providers=[provider], depends_on=list(before))


network = Network("demo-network", NetworkArgs(region=region, nat="single", cluster_names=["demo"]), after())
cluster = EksCluster(
    "demo",
    EksClusterArgs(
        cluster_name="demo", region=region, kubernetes_version="1.36", subnet_ids=network.private_subnet_ids
    ),
    after(),
)
ipam = WindowsIpam("demo-ipam", WindowsIpamArgs(cluster=cluster.target), after())
proxy = EksAddon("demo-proxy", EksAddonArgs(cluster=cluster.target, addon_name="kube-proxy"), after())
linux = EksLinuxNodeGroup(
    "demo-system",
    EksLinuxNodeGroupArgs(name="system", cluster=cluster.target, subnet_ids=network.private_subnet_ids),
    after(ipam, proxy),
)
dns = EksAddon("demo-dns", EksAddonArgs(cluster=cluster.target, addon_name="coredns"), after(linux))
windows = EksWindowsNodeGroup(
    "demo-windows",
    EksWindowsNodeGroupArgs(
        name="windows", cluster=cluster.target, subnet_ids=network.private_subnet_ids, windows="2022"
    ),
    after(ipam, dns),
)
pulumi.export("kubeconfig", cluster.kubeconfig)
