"""What a validator has to find: a program with one of each fault that a cluster of ours could have."""

import json

import pulumi_aws as aws

PLANTED = "planted"
"""The plan of this program."""
UNPROTECTED = "without-public-access-block"
"""A plan of ours that lost one resource."""
PLANTED_FAULTS = {
    "CKV_AWS_3": "aws_ebs_volume.plain",  # unencrypted volume
    "CKV_AWS_8": "aws_instance.plain",  # unencrypted root volume
    "CKV_AWS_46": "aws_launch_template.plain",  # a credential in user data
    "CKV_AWS_79": "aws_launch_template.plain",  # IMDSv1
    "CKV_AWS_88": "aws_launch_template.plain",  # public addresses
    "CKV_AWS_341": "aws_launch_template.plain",  # pods reach the role of their node
    "CKV_AWS_100": "aws_eks_node_group.open",  # SSH from everywhere
    "CKV_AWS_24": "aws_security_group.open",  # the same, by rule
    "CKV_AWS_25": "aws_vpc_security_group_ingress_rule.open",  # RDP from everywhere
    "CKV2_AWS_6": "aws_s3_bucket.open",  # nothing blocks public access
    "CKV_AWS_20": "aws_s3_bucket.open",  # everybody may read, by ACL
    "CKV_AWS_70": "aws_s3_bucket_policy.open",  # everybody may read, by policy
    "CKV_AWS_62": "aws_iam_role_policy.all",  # *:*
    "CKV_AWS_60": "aws_iam_role.anyone",  # everybody may assume it
    "CKV_AWS_58": "aws_eks_cluster.plain",  # Kubernetes secrets without a key
    "CKV_AWS_38": "aws_eks_cluster.plain",  # API open to everybody
    "CKV2_AWS_11": "aws_vpc.dark",  # no flow log
    "CKV_AWS_7": "aws_kms_key.fixed",  # a key that does not rotate
    "CKV_AWS_27": "aws_sqs_queue.plain",  # unencrypted queue
    "CKV_AWS_2": "aws_lb_listener.plain",  # HTTP
}
"""Each by the check of checkov that must find it."""
AKIA = "AKIAIOSFODNN7EXAMPLE"
KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def plant() -> None:
    """One of each."""
    _nodes()
    _networks()
    _access()
    _data()


def _nodes() -> None:
    aws.ebs.Volume("plain", availability_zone="eu-central-1a", size=8, encrypted=False)
    aws.ec2.Instance("plain", ami="ami-1", instance_type="m6i.large", root_block_device={"encrypted": False})
    aws.ec2.LaunchTemplate(
        "plain",
        metadata_options={"http_tokens": "optional", "http_put_response_hop_limit": 2},
        network_interfaces=[{"associate_public_ip_address": "true"}],
        user_data=f"export AWS_ACCESS_KEY_ID={AKIA} AWS_SECRET_ACCESS_KEY={KEY}",
    )
    cluster = aws.eks.Cluster(
        "plain",
        role_arn="arn:aws:iam::111122223333:role/it",
        vpc_config={
            "subnet_ids": ["subnet-1"],
            "endpoint_public_access": True,
            "public_access_cidrs": ["0.0.0.0/0"],
        },
    )
    aws.eks.NodeGroup(
        "open",
        cluster_name=cluster.name,
        node_role_arn="arn:aws:iam::111122223333:role/nodes",
        subnet_ids=["subnet-1"],
        scaling_config={"min_size": 1, "max_size": 1, "desired_size": 1},
        remote_access={"ec2_ssh_key": "mine"},
    )
    aws.autoscaling.Group("plain", min_size=1, max_size=1, launch_configuration="lc-1")


def _networks() -> None:
    vpc = aws.ec2.Vpc("dark", cidr_block="10.0.0.0/16")
    aws.ec2.Subnet("public", vpc_id=vpc.id, cidr_block="10.0.0.0/24", map_public_ip_on_launch=True)
    everywhere = {"protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_blocks": ["0.0.0.0/0"]}
    group = aws.ec2.SecurityGroup("open", ingress=[everywhere])
    aws.vpc.SecurityGroupIngressRule(
        "open", security_group_id=group.id, ip_protocol="tcp", from_port=3389, to_port=3389, cidr_ipv4="0.0.0.0/0"
    )
    balancer = aws.lb.LoadBalancer("plain", load_balancer_type="application", subnets=["subnet-1", "subnet-2"])
    aws.lb.Listener(
        "plain",
        load_balancer_arn=balancer.arn,
        port=80,
        protocol="HTTP",
        default_actions=[{"type": "forward", "target_group_arn": "arn:aws:elasticloadbalancing:x:y:targetgroup/z"}],
    )


def _access() -> None:
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    aws.iam.RolePolicy("all", role="it", policy=json.dumps({"Version": "2012-10-17", "Statement": [everything]}))
    anyone = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    aws.iam.Role("anyone", assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [anyone]}))
    aws.kms.Key("fixed", enable_key_rotation=False)


def _data() -> None:
    bucket = aws.s3.Bucket("open")
    aws.s3.BucketAcl("open", bucket=bucket.id, acl="public-read")
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::open/*"}
    aws.s3.BucketPolicy("open", bucket=bucket.id, policy=json.dumps({"Statement": [everybody]}))
    aws.cloudwatch.LogGroup("endless")
    aws.sqs.Queue("plain", sqs_managed_sse_enabled=False)
    aws.secretsmanager.Secret("plain")
    aws.ssm.Parameter("plain", name="/shop/password", type="String", value="x")
