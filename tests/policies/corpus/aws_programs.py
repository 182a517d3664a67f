"""Programs for AWS, after patterns that are common in public examples."""

import json
from typing import Any

import pulumi_aws as aws

WORLD = "0.0.0.0/0"
EVERYTHING_OUT = {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": [WORLD]}


def tcp(port: int, cidr: str = WORLD) -> dict[str, Any]:
    return {"protocol": "tcp", "from_port": port, "to_port": port, "cidr_blocks": [cidr]}


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _vpc(zones: str = "ab", *, public: bool = True) -> tuple[aws.ec2.Vpc, list[aws.ec2.Subnet]]:
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", enable_dns_hostnames=True, tags={"Name": "vpc"})
    subnets = [
        aws.ec2.Subnet(
            f"subnet-{zone}",
            vpc_id=vpc.id,
            cidr_block=f"10.0.{number}.0/24",
            availability_zone=f"us-west-2{zone}",
            map_public_ip_on_launch=public,
        )
        for number, zone in enumerate(zones)
    ]
    if public:
        gateway = aws.ec2.InternetGateway("gateway", vpc_id=vpc.id)
        table = aws.ec2.RouteTable("routes", vpc_id=vpc.id, routes=[{"cidr_block": WORLD, "gateway_id": gateway.id}])
        for zone, subnet in zip(zones, subnets, strict=True):
            aws.ec2.RouteTableAssociation(f"routes-{zone}", subnet_id=subnet.id, route_table_id=table.id)
    return vpc, subnets


def vpc_with_load_balancer() -> None:
    """A VPC with public subnets and an application load balancer on port 80."""
    vpc, subnets = _vpc()
    group = aws.ec2.SecurityGroup("web", vpc_id=vpc.id, ingress=[tcp(80)], egress=[EVERYTHING_OUT])
    balancer = aws.lb.LoadBalancer("web", security_groups=[group.id], subnets=[subnet.id for subnet in subnets])
    target = aws.lb.TargetGroup("web", port=80, protocol="HTTP", target_type="ip", vpc_id=vpc.id)
    aws.lb.Listener(
        "web",
        load_balancer_arn=balancer.arn,
        port=80,
        default_actions=[{"type": "forward", "target_group_arn": target.arn}],
    )


def static_site() -> None:
    """A web site that S3 serves itself."""
    bucket = aws.s3.Bucket("site")
    aws.s3.BucketWebsiteConfiguration("site", bucket=bucket.id, index_document={"suffix": "index.html"})
    access = aws.s3.BucketPublicAccessBlock("site", bucket=bucket.id, block_public_acls=False)
    read = {"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::site/*"]}
    aws.s3.BucketPolicy("site", bucket=access.bucket, policy=json.dumps({"Version": "2012-10-17", "Statement": [read]}))
    aws.s3.BucketObject("index", bucket=bucket.id, content="<h1>Hello</h1>", content_type="text/html", key="index.html")


def web_server() -> None:
    """A virtual machine that serves a page, with SSH."""
    group = aws.ec2.SecurityGroup("web", ingress=[tcp(22), tcp(80)], egress=[EVERYTHING_OUT])
    aws.ec2.Instance(
        "web",
        instance_type="t3.micro",
        ami="ami-0c55b159cbfafe1f0",
        vpc_security_group_ids=[group.id],
        user_data='#!/bin/bash\necho "Hello" > index.html\nnohup python -m SimpleHTTPServer 80 &\n',
        tags={"Name": "web"},
    )


def database() -> None:
    """PostgreSQL in private subnets, reached from inside of the VPC."""
    vpc, subnets = _vpc(public=False)
    group = aws.ec2.SecurityGroup("database", vpc_id=vpc.id, ingress=[tcp(5432, "10.0.0.0/16")])
    names = aws.rds.SubnetGroup("database", subnet_ids=[subnet.id for subnet in subnets])
    aws.rds.Instance(
        "database",
        engine="postgres",
        instance_class="db.t4g.micro",
        allocated_storage=20,
        username="app",
        manage_master_user_password=True,
        db_subnet_group_name=names.name,
        vpc_security_group_ids=[group.id],
        storage_encrypted=True,
        skip_final_snapshot=True,
    )


def function_with_api() -> None:
    """A function behind an HTTP API."""
    role = aws.iam.Role("function", assume_role_policy=trust("lambda.amazonaws.com"))
    basic = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
    aws.iam.RolePolicyAttachment("function", role=role.name, policy_arn=basic)
    aws.cloudwatch.LogGroup("function", name="/aws/lambda/function", retention_in_days=14)
    function = aws.lambda_.Function(
        "function",
        name="function",
        role=role.arn,
        runtime="python3.13",
        handler="main.run",
        s3_bucket="code",
        s3_key="f.zip",
    )
    aws.apigatewayv2.Api("api", protocol_type="HTTP", target=function.arn)


def scaled_web() -> None:
    """An Auto Scaling group behind HTTPS, done as it should be."""
    group = aws.ec2.SecurityGroup("web", ingress=[tcp(443), tcp(80)], egress=[EVERYTHING_OUT])
    template = aws.ec2.LaunchTemplate(
        "web",
        image_id="resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
        instance_type="t3.small",
        metadata_options={"http_tokens": "required"},
        vpc_security_group_ids=[group.id],
        block_device_mappings=[{"device_name": "/dev/xvda", "ebs": {"volume_size": 20, "encrypted": "true"}}],
    )
    balancer = aws.lb.LoadBalancer("web", subnets=["subnet-1", "subnet-2"], drop_invalid_header_fields=True)
    target = aws.lb.TargetGroup("web", port=80, protocol="HTTP", vpc_id="vpc-1")
    forward = {"type": "forward", "target_group_arn": target.arn}
    redirect = {"type": "redirect", "redirect": {"protocol": "HTTPS", "port": "443", "status_code": "HTTP_301"}}
    aws.lb.Listener("plain", load_balancer_arn=balancer.arn, port=80, protocol="HTTP", default_actions=[redirect])
    aws.lb.Listener(
        "tls",
        load_balancer_arn=balancer.arn,
        port=443,
        protocol="HTTPS",
        certificate_arn="arn:aws:acm:x:1:certificate/1",
        ssl_policy="ELBSecurityPolicy-TLS13-1-2-Res-2021-06",
        default_actions=[forward],
    )
    aws.autoscaling.Group(
        "web",
        min_size=2,
        max_size=6,
        vpc_zone_identifiers=["subnet-1", "subnet-2"],
        health_check_type="ELB",
        target_group_arns=[target.arn],
        launch_template={"id": template.id, "version": "$Latest"},
    )


def state_backend() -> None:
    """A bucket and a key for the state of other stacks."""
    key = aws.kms.Key("state", enable_key_rotation=True, description="state")
    bucket = aws.s3.Bucket("state", bucket="example-state")
    aws.s3.BucketVersioning("state", bucket=bucket.id, versioning_configuration={"status": "Enabled"})
    aws.s3.BucketServerSideEncryptionConfiguration(
        "state",
        bucket=bucket.id,
        rules=[{"apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn}}],
    )
    aws.s3.BucketPublicAccessBlock(
        "state",
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
    )
    aws.s3.BucketLifecycleConfiguration(
        "state",
        bucket=bucket.id,
        rules=[{"id": "old", "status": "Enabled", "noncurrent_version_expiration": {"noncurrent_days": 90}}],
    )
    deny = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        "Resource": ["arn:aws:s3:::example-state", "arn:aws:s3:::example-state/*"],
    }
    aws.s3.BucketPolicy("state", bucket=bucket.id, policy=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))


def container_service() -> None:
    """A service on Fargate with its repository and roles."""
    aws.ecr.Repository("app", force_delete=True)
    role = aws.iam.Role("task", assume_role_policy=trust("ecs-tasks.amazonaws.com"))
    execution = "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
    aws.iam.RolePolicyAttachment("task", role=role.name, policy_arn=execution)
    logs = aws.cloudwatch.LogGroup("app")
    cluster = aws.ecs.Cluster("app")
    task = aws.ecs.TaskDefinition(
        "app",
        family="app",
        cpu="256",
        memory="512",
        network_mode="awsvpc",
        requires_compatibilities=["FARGATE"],
        execution_role_arn=role.arn,
        container_definitions=logs.name.apply(lambda name: json.dumps([{"name": name}])),
    )
    aws.ecs.Service("app", cluster=cluster.arn, desired_count=1, launch_type="FARGATE", task_definition=task.arn)


def pipeline_role() -> None:
    """A role that GitHub's workflows of one repository may take, with a policy of its own."""
    provider = aws.iam.OpenIdConnectProvider(
        "github", url="https://token.actions.githubusercontent.com", client_id_lists=["sts.amazonaws.com"]
    )

    def document(arn: str) -> str:
        subject = {"token.actions.githubusercontent.com:sub": "repo:example/app:ref:refs/heads/main"}
        return json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Federated": arn},
                        "Action": "sts:AssumeRoleWithWebIdentity",
                        "Condition": {"StringLike": subject},
                    }
                ],
            }
        )

    role = aws.iam.Role("deploy", assume_role_policy=provider.arn.apply(document))
    read = {
        "Effect": "Allow",
        "Action": ["s3:GetObject", "s3:ListBucket"],
        "Resource": ["arn:aws:s3:::artifacts", "arn:aws:s3:::artifacts/*"],
    }
    aws.iam.RolePolicy("deploy", role=role.id, policy=json.dumps({"Version": "2012-10-17", "Statement": [read]}))


def queue_worker() -> None:
    """A queue with a dead-letter queue, and a topic."""
    dead = aws.sqs.Queue("dead")
    aws.sqs.Queue("work", redrive_policy=dead.arn.apply(lambda arn: json.dumps({"deadLetterTargetArn": arn})))
    aws.sns.Topic("events", kms_master_key_id="alias/aws/sns")


def plain_eks() -> None:
    """EKS as the first example has it: public endpoint, one Linux group in public subnets."""
    vpc, subnets = _vpc()
    subnet_ids = [subnet.id for subnet in subnets]
    role = aws.iam.Role("eks", assume_role_policy=trust("eks.amazonaws.com"))
    aws.iam.RolePolicyAttachment("eks", role=role.id, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy")
    group = aws.ec2.SecurityGroup("eks", vpc_id=vpc.id, ingress=[tcp(443)])
    cluster = aws.eks.Cluster(
        "eks",
        role_arn=role.arn,
        tags={"Name": "eks"},
        vpc_config={"public_access_cidrs": [WORLD], "security_group_ids": [group.id], "subnet_ids": subnet_ids},
    )
    nodes = aws.iam.Role("nodes", assume_role_policy=trust("ec2.amazonaws.com"))
    for name in ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"):
        aws.iam.RolePolicyAttachment(name, role=nodes.id, policy_arn=f"arn:aws:iam::aws:policy/{name}")
    aws.eks.NodeGroup(
        "nodes",
        cluster_name=cluster.name,
        node_role_arn=nodes.arn,
        subnet_ids=subnet_ids,
        tags={"Name": "nodes"},
        scaling_config={"desired_size": 2, "max_size": 2, "min_size": 1},
    )


def careful_eks() -> None:
    """EKS with Linux nodes, done as it should be."""
    role = aws.iam.Role("eks", assume_role_policy=trust("eks.amazonaws.com"))
    aws.iam.RolePolicyAttachment("eks", role=role.id, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy")
    key = aws.kms.Key("eks", enable_key_rotation=True)
    logs = aws.cloudwatch.LogGroup("eks", name="/aws/eks/shop/cluster", retention_in_days=365)
    assert logs
    tags = {"team": "shop"}
    cluster = aws.eks.Cluster(
        "eks",
        name="shop",
        role_arn=role.arn,
        version="1.36",
        tags=tags,
        enabled_cluster_log_types=["api", "audit"],
        vpc_config={
            "subnet_ids": ["subnet-1", "subnet-2"],
            "endpoint_public_access": False,
            "endpoint_private_access": True,
        },
        access_config={"authentication_mode": "API"},
        encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
    )
    nodes = aws.iam.Role("nodes", assume_role_policy=trust("ec2.amazonaws.com"))
    for name in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"):
        aws.iam.RolePolicyAttachment(name, role=nodes.id, policy_arn=f"arn:aws:iam::aws:policy/{name}")
    template = aws.ec2.LaunchTemplate(
        "nodes",
        metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
        block_device_mappings=[{"device_name": "/dev/xvda", "ebs": {"encrypted": "true", "volume_size": 50}}],
    )
    aws.eks.NodeGroup(
        "nodes",
        cluster_name=cluster.name,
        node_role_arn=nodes.arn,
        subnet_ids=["subnet-1", "subnet-2"],
        tags=tags,
        ami_type="AL2023_x86_64_STANDARD",
        instance_types=["m6i.large"],
        version="1.36",
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        scaling_config={"desired_size": 2, "max_size": 4, "min_size": 2},
    )
    aws.eks.Addon("dns", cluster_name=cluster.name, addon_name="coredns", tags=tags)


def service_account_role() -> None:
    """A role for the pods of one service account."""
    issuer = "oidc.eks.us-west-2.amazonaws.com/id/ABCDEF"
    provider = f"arn:aws:iam::111122223333:oidc-provider/{issuer}"
    subject = {f"{issuer}:sub": "system:serviceaccount:shop:app", f"{issuer}:aud": "sts.amazonaws.com"}
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": subject},
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = aws.iam.Role("app", assume_role_policy=document)
    describe = {
        "Effect": "Allow",
        "Action": ["ec2:DescribeInstances", "autoscaling:DescribeAutoScalingGroups"],
        "Resource": "*",
    }
    policy = aws.iam.Policy("app", policy=json.dumps({"Version": "2012-10-17", "Statement": [describe]}))
    aws.iam.RolePolicyAttachment("app", role=role.name, policy_arn=policy.arn)
