"""Windows IPAM and a group of Windows nodes for an EKS cluster that was made elsewhere, found by its name."""

import pulumi
import pulumi_aws as aws
from winkube import (
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
    WindowsIpam,
    WindowsIpamArgs,
    cluster_role_name,
    target_of_aws_cluster,
)

config = pulumi.Config()
provider = aws.Provider("aws", region=pulumi.Config("aws").require("region"))

cluster = aws.eks.get_cluster_output(
    name=config.require("clusterName"), opts=pulumi.InvokeOutputOptions(provider=provider)
)
# What decides which nodes can join is said, and held against the cluster once it is found.
target = target_of_aws_cluster(cluster, kubernetes_version="1.36", authentication_mode="API_AND_CONFIG_MAP")

controller = aws.iam.RolePolicyAttachment(
    "windows-addresses",
    role=cluster_role_name(cluster),
    policy_arn="arn:aws:iam::aws:policy/AmazonEKSVPCResourceController",
    opts=pulumi.ResourceOptions(provider=provider),
)
# The vpc-cni add-on carries the switch: if the cluster has it already, `pulumi import` it into this resource first.
ipam = WindowsIpam(
    "ipam",
    WindowsIpamArgs(cluster=target, prefix_delegation=True),
    pulumi.ResourceOptions(providers=[provider], depends_on=[controller]),
)
windows = EksWindowsNodeGroup(
    "windows",
    EksWindowsNodeGroupArgs(
        name="windows",
        cluster=target,
        subnet_ids=config.require_object("subnetIds"),
        windows="2025",
        prefix_delegation=True,
    ),
    pulumi.ResourceOptions(providers=[provider], depends_on=[ipam]),
)
pulumi.export("nodeGroup", windows.node_group_name)
