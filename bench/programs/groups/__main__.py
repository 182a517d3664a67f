"""Node groups of the usual shape: a component, a launch template and an EKS node group each."""

import pulumi
import pulumi_aws as aws


class Group(pulumi.ComponentResource):
    """One group."""

    def __init__(self, name: str) -> None:
        super().__init__("bench:index:Group", name)
        tags = {"Name": name, "team": "platform"}
        ebs = {"volume_size": 100, "volume_type": "gp3", "encrypted": "true"}
        template = aws.ec2.LaunchTemplate(
            f"{name}-template",
            tags=tags,
            metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1, "http_endpoint": "enabled"},
            block_device_mappings=[{"device_name": "/dev/sda1", "ebs": ebs}],
            tag_specifications=[{"resource_type": kind, "tags": tags} for kind in ("instance", "volume")],
            opts=pulumi.ResourceOptions(parent=self),
        )
        group = aws.eks.NodeGroup(
            f"{name}-group",
            cluster_name="cluster",
            node_role_arn="arn:aws:iam::123456789012:role/node",
            subnet_ids=["subnet-a", "subnet-b"],
            scaling_config={"min_size": 1, "max_size": 2, "desired_size": 1},
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            labels={"pool": name},
            taints=[{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}],
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["scalingConfig.desiredSize"]),
        )
        self.register_outputs({"nodeGroupName": group.node_group_name})


for index in range(pulumi.Config().require_int("count")):
    Group(f"group{index}")
