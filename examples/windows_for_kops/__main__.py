"""Windows Server 2022 nodes for a cluster of kops, which has none: pod network, kube-proxy, RuntimeClasses and a group.

What has to be changed in kops first, and how the join token is kept fresh, is in docs/join-existing-clusters.md.
"""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from winkube import (
    Flannel,
    FlannelArgs,
    KopsCluster,
    StateBucket,
    StateBucketArgs,
    WindowsInstanceGroup,
    WindowsInstanceGroupArgs,
    WindowsKubeProxy,
    WindowsKubeProxyArgs,
    WindowsRuntimeClasses,
    WindowsRuntimeClassesArgs,
    target_of_kops,
)

config = pulumi.Config()
region = pulumi.Config("aws").require("region")
provider = aws.Provider("aws", region=region)
in_cluster = kubernetes.Provider("kubernetes", context="legacy.example.com", enable_server_side_apply=True)
opts = pulumi.ResourceOptions(providers=[provider, in_cluster])

# A bucket of its own for what nodes boot from: whoever reads all of kops' state store administers the cluster.
boot_files = StateBucket("boot-files", StateBucketArgs(), opts)
target = target_of_kops(
    KopsCluster(
        cluster_name="legacy.example.com",
        kubernetes_version="1.36",
        region=region,
        networking="cni",
        token_parameter="/winkube/legacy.example.com/join-token",  # noqa: S106 (the parameter's name)
        certificate_authority=config.require("certificateAuthority"),
        vpc_id=config.require("vpcId"),
        bucket=boot_files.bucket,
        bucket_arn=boot_files.arn,
        bucket_key_arn=boot_files.kms_key_arn,
        control_plane_security_group_ids=[config.require("masterGroupId")],
        node_security_group_ids=[config.require("masterGroupId"), config.require("nodeGroupId")],
        api_security_group_ids=[config.require("apiGroupId")],
    )
)
networks = {"endpoint": target.endpoint, "pod_cidr": target.pod_cidr, "service_cidr": target.service_cidr}
flannel = Flannel("flannel", FlannelArgs(**networks), opts)
proxy = WindowsKubeProxy("kube-proxy", WindowsKubeProxyArgs(**networks), opts)
classes = WindowsRuntimeClasses("runtime-classes", WindowsRuntimeClassesArgs(releases=["2022"]), opts)
windows = WindowsInstanceGroup(
    "windows",
    WindowsInstanceGroupArgs(
        name="windows",
        target=target,
        subnet_ids=config.require_object("subnetIds"),
        windows="2022",
        instance_types=["m7i.xlarge", "m6i.xlarge"],
        min_size=2,
        max_size=6,
    ),
    pulumi.ResourceOptions(providers=[provider], depends_on=[flannel, proxy]),
)
pulumi.export("autoscalingGroup", windows.autoscaling_group_name)
pulumi.export("runtimeClass", windows.runtime_class)
