"""The cluster: old, open, and unfit for its Windows nodes."""

import base64
import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from access import trust

PREFIX = "arn:aws:iam::aws:policy"


def encoded(*lines: str) -> str:
    return base64.b64encode("\n".join(["<powershell>", *lines, "</powershell>"]).encode()).decode()


def build(vpc: aws.ec2.Vpc, subnets: list[aws.ec2.Subnet]) -> kubernetes.Provider:
    """The cluster with its groups; gives the provider of its objects."""
    role = aws.iam.Role("control", assume_role_policy=trust({"Service": "eks.amazonaws.com"}))
    aws.iam.RolePolicyAttachment("control", role=role.name, policy_arn=f"{PREFIX}/AmazonEKSClusterPolicy")
    cluster = aws.eks.Cluster(
        "main",
        name="main",
        role_arn=role.arn,
        version="1.33",
        vpc_config={"subnet_ids": [subnet.id for subnet in subnets]},
        access_config={"authentication_mode": "API"},
        kubernetes_network_config={"service_ipv4_cidr": "10.0.128.0/20"},
        enabled_cluster_log_types=["api"],
    )
    values = {
        "enableWindowsIpam": "true",
        "enableWindowsPrefixDelegation": "true",
        "warmWindowsIPTarget": -1,
        "env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"},
    }
    aws.eks.Addon("cni", cluster_name=cluster.name, addon_name="vpc-cni", configuration_values=json.dumps(values))
    aws.eks.AccessEntry(
        "boss",
        cluster_name=cluster.name,
        principal_arn="arn:aws:iam::111122223333:role/boss",
        kubernetes_groups=["system:masters"],
    )
    aws.eks.AccessPolicyAssociation(
        "boss",
        cluster_name=cluster.name,
        principal_arn="arn:aws:iam::111122223333:role/boss",
        policy_arn="arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        access_scope={"type": "cluster"},
    )
    aws.eks.FargateProfile(
        "all",
        cluster_name=cluster.name,
        pod_execution_role_arn="arn:aws:iam::111122223333:role/fargate",
        selectors=[{"namespace": "shop*"}],
    )
    _groups(cluster, subnets)
    _machines()
    provider = kubernetes.Provider("k8s", kubeconfig=cluster.endpoint)
    kubernetes.core.v1.ConfigMap(
        "ipam",
        metadata={"name": "amazon-vpc-cni", "namespace": "kube-system"},
        data={"enable-windows-ipam": "true"},
        opts=pulumi.ResourceOptions(provider=provider),
    )
    kubernetes.core.v1.ConfigMap(
        "aws-auth",
        metadata={"name": "aws-auth", "namespace": "kube-system"},
        data={"mapRoles": "[]"},
        opts=pulumi.ResourceOptions(provider=provider),
    )
    return provider


def _groups(cluster: aws.eks.Cluster, subnets: list[aws.ec2.Subnet]) -> None:
    nodes = aws.iam.Role("nodes", assume_role_policy=trust({"Service": "ec2.amazonaws.com"}))
    aws.iam.RolePolicyAttachment("nodes", role=nodes.name, policy_arn=f"{PREFIX}/AmazonS3FullAccess")
    template = aws.ec2.LaunchTemplate(
        "windows",
        key_name="support",
        metadata_options={"http_tokens": "optional", "http_put_response_hop_limit": 3},
        block_device_mappings=[{"device_name": "/dev/sda1", "ebs": {"volume_size": 30}}],
        network_interfaces=[{"associate_public_ip_address": "true"}],
        user_data=encoded('& "C:\\Program Files\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName main'),
    )
    subnet_ids = [subnet.id for subnet in subnets]
    aws.eks.NodeGroup(
        "windows",
        cluster_name=cluster.name,
        node_role_arn=nodes.arn,
        subnet_ids=subnet_ids,
        version="1.34",
        ami_type="WINDOWS_CORE_2025_x86_64",
        instance_types=["m4.large"],
        release_version="1.34-2026.01.14",
        scaling_config={"min_size": 1, "desired_size": 1, "max_size": 3},
        node_repair_config={"enabled": True},
        launch_template={"id": template.id, "version": "1"},
    )
    aws.eks.NodeGroup(
        "old-windows",
        cluster_name=cluster.name,
        node_role_arn=nodes.arn,
        subnet_ids=subnet_ids,
        ami_type="WINDOWS_CORE_2019_x86_64",
        instance_types=["g4dn.xlarge"],
        labels={"kubernetes.io/role": "worker"},
        scaling_config={"min_size": 1, "desired_size": 5, "max_size": 3},
        remote_access={"ec2_ssh_key": "support"},
        tags={"team": "shop"},
        taints=[{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}],
    )
    aws.eks.NodeGroup(
        "linux",
        cluster_name=cluster.name,
        node_role_arn=nodes.arn,
        subnet_ids=subnet_ids,
        ami_type="AL2_x86_64",
        capacity_type="SPOT",
        instance_types=["m7g.large"],
        scaling_config={"min_size": 1, "desired_size": 1, "max_size": 3},
        tags={"team": "shop"},
    )


def _machines() -> None:
    aws.ec2.Instance(
        "bastion",
        ami="ami-1",
        instance_type="t3.micro",
        associate_public_ip_address=True,
        source_dest_check=False,
        root_block_device={"encrypted": False},
    )
    old = aws.ec2.LaunchConfiguration(
        "old",
        image_id="ami-1",
        instance_type="m5.large",
        metadata_options={"http_tokens": "required"},
        user_data="#!/bin/bash\ncurl -sSL https://example.com/install.sh | bash\n"
        "kubeadm join --token abcdef.0123456789abcdef\n/usr/bin/kubelet --anonymous-auth=true --network-plugin=cni\n",
    )
    aws.autoscaling.Group(
        "old",
        min_size=1,
        max_size=3,
        launch_configuration=old.name,
        vpc_zone_identifiers=["subnet-1"],
        target_group_arns=["arn:aws:elasticloadbalancing:x:1:targetgroup/web/1"],
    )
