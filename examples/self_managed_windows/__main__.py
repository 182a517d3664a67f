"""Windows nodes of an image of one's own in an Auto Scaling group: user data, access entry and tags come with it."""

import pulumi
import pulumi_aws as aws
from winkube import EksTarget, EksWindowsNodeGroup, EksWindowsNodeGroupArgs, Proxy, Taint

config = pulumi.Config()
provider = aws.Provider("aws", region=pulumi.Config("aws").require("region"))

# Everything that the bootstrap on the node is told: the image asks nobody, so it also starts in a closed network.
cluster = EksTarget(
    name=config.require("clusterName"),
    kubernetes_version="1.36",
    endpoint=config.require("endpoint"),
    certificate_authority=config.require("certificateAuthority"),
    security_group_id=config.require("securityGroupId"),
    service_cidr="10.100.0.0/16",
    authentication_mode="API_AND_CONFIG_MAP",
)
windows = EksWindowsNodeGroup(
    "build-agents",
    EksWindowsNodeGroupArgs(
        name="build-agents",
        cluster=cluster,
        subnet_ids=config.require_object("subnetIds"),
        management="self_managed",
        windows="2022",
        image_id=config.require("imageId"),
        instance_types=["m6i.2xlarge", "m7i.2xlarge"],
        capacity_type="spot",
        min_size=0,
        max_size=6,
        root_volume_size_gib=200,
        labels={"team": "build"},
        taints=[Taint(key="dedicated", value="build")],
        max_pods=12,
        kubelet_arguments={"v": "2"},
        excluded_snat_cidrs=["10.8.0.0/16"],
        proxy=Proxy(https="http://proxy.example.com:3128"),
        commands_before=["Set-TimeZone -Id 'UTC'"],
        commands_after=["Write-Host 'this node has joined'"],
    ),
    pulumi.ResourceOptions(providers=[provider]),
)
pulumi.export("autoscalingGroup", windows.autoscaling_group_name)
