"""A cluster made by pulumi-eks, with Windows IPAM and a group of Windows nodes, which pulumi-eks does not have."""

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as kubernetes
from winkube import (
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
    Network,
    NetworkArgs,
    WindowsIpam,
    WindowsIpamArgs,
    cluster_role_name,
    target_of_pulumi_eks,
)

region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)
with_provider = pulumi.ResourceOptions(providers=[provider])

network = Network("demo-network", NetworkArgs(region=region, nat="single", cluster_names=["demo"]), with_provider)
cluster = eks.Cluster(
    "demo",
    name="demo",
    version="1.36",
    authentication_mode=eks.AuthenticationMode.API,
    vpc_id=network.vpc_id,
    private_subnet_ids=network.private_subnet_ids,
    # The CNI of EKS instead of an add-on of pulumi-eks: then a ConfigMap switches Windows IPAM on. With the add-on,
    # its values in vpc_cni_options do: configuration_values={"enableWindowsIpam": "true"}.
    use_default_vpc_cni=True,
    # Two Linux nodes, on which CoreDNS runs.
    desired_capacity=2,
    min_size=2,
    opts=with_provider,
)
in_cluster = kubernetes.Provider("kubernetes", kubeconfig=cluster.kubeconfig_json)

controller = aws.iam.RolePolicyAttachment(
    "demo-windows-addresses",
    role=cluster_role_name(cluster),
    policy_arn="arn:aws:iam::aws:policy/AmazonEKSVPCResourceController",
    opts=pulumi.ResourceOptions(provider=provider),
)
target = target_of_pulumi_eks(cluster, kubernetes_version="1.36", authentication_mode="API", vpc_cni="self_managed")
ipam = WindowsIpam(
    "demo-ipam",
    WindowsIpamArgs(cluster=target, mode="config_map"),
    pulumi.ResourceOptions(providers=[in_cluster], depends_on=[controller]),
)
windows = EksWindowsNodeGroup(
    "demo-windows",
    EksWindowsNodeGroupArgs(name="windows", cluster=target, subnet_ids=network.private_subnet_ids, windows="2022"),
    pulumi.ResourceOptions(providers=[provider], depends_on=[ipam]),
)
pulumi.export("nodeGroup", windows.node_group_name)
