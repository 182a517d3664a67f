"""Resources of plain AWS and Kubernetes programs, for tests of topology, drawing and page."""

import base64
import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Finding, Plan, Severity, Source

POWERSHELL = base64.b64encode(b"<powershell>\nWrite-Output 'hello'\n</powershell>\n").decode()
ROLE = "arn:aws:iam::123456789012:role/nodes"
ROLES = ("public", "private", "intra")
HOSTILE = (
    "<script>alert(1)</script>", "</script><script>alert(2)</script>", "]]>", '"><img src=x onerror=alert(3)>',
    "&lt;b&gt;", "<!--", "a" * 400, "\u202etxt.exe", "\x1b[31m", "\x00", "مجموعة-العقد", "🚀" * 50, "\ufdfd" * 5,
    "Z\u0301\u0302\u0303\u0304algo", "%%{init: {'theme':'x'}}%%", "```", "end", 'a"];evil [label="', "\\N\\", "</svg>",
    "line\nbreak", "#quot;", "{{ 7 * 7 }}", "{% raw %}", "javascript:alert(4)", "__proto__", "constructor", "\u2028",
)  # fmt: skip
"""Names and values that some reader of them could take for its own language."""


def network(name: str = "net", region: str = "eu-central-1", letters: str = "ab") -> dict[str, list[aws.ec2.Subnet]]:
    """A VPC with public, private and intra subnets, a NAT gateway and an endpoint; its subnets by role."""
    vpc = aws.ec2.Vpc(f"{name}-vpc", cidr_block="10.0.0.0/16")
    gateway = aws.ec2.InternetGateway(f"{name}-internet", vpc_id=vpc.id)
    subnets: dict[str, list[aws.ec2.Subnet]] = {role: [] for role in ROLES}
    tables = {role: aws.ec2.RouteTable(f"{name}-{role}", vpc_id=vpc.id) for role in ROLES}
    for number, role in enumerate(ROLES):
        for index, letter in enumerate(letters):
            subnet = aws.ec2.Subnet(
                f"{name}-{role}-{letter}", vpc_id=vpc.id, cidr_block=f"10.0.{16 * number + index}.0/24",
                availability_zone=f"{region}{letter}",
            )  # fmt: skip
            aws.ec2.RouteTableAssociation(
                f"{name}-{role}-{letter}", route_table_id=tables[role].id, subnet_id=subnet.id
            )
            subnets[role].append(subnet)
    address = aws.ec2.Eip(f"{name}-nat", domain="vpc")
    nat = aws.ec2.NatGateway(f"{name}-nat", subnet_id=subnets["public"][0].id, allocation_id=address.allocation_id)
    everywhere = {"destination_cidr_block": "0.0.0.0/0"}
    aws.ec2.Route(f"{name}-out", route_table_id=tables["public"].id, gateway_id=gateway.id, **everywhere)
    aws.ec2.Route(f"{name}-nat", route_table_id=tables["private"].id, nat_gateway_id=nat.id, **everywhere)
    aws.ec2.VpcEndpoint(f"{name}-s3", vpc_id=vpc.id, service_name=f"com.amazonaws.{region}.s3")
    return subnets


def eks(name: str, subnets: list[aws.ec2.Subnet], **config: Any) -> aws.eks.Cluster:
    """An EKS cluster with its role."""
    trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}
    role = aws.iam.Role(f"{name}-cluster", assume_role_policy=json.dumps(trust))
    aws.iam.RolePolicyAttachment(f"{name}-cluster", role=role.name, policy_arn="arn:aws:iam::aws:policy/P")
    ids = [subnet.id for subnet in subnets]
    return aws.eks.Cluster(
        name, name=name, version="1.35", role_arn=role.arn, vpc_config={"subnet_ids": ids, **config}
    )  # fmt: skip


def group(
    name: str, cluster: pulumi.Input[str], subnets: Any, ami_type: str | None = "AL2023_x86_64_STANDARD", **more: Any
) -> aws.eks.NodeGroup:
    """A managed node group."""
    return aws.eks.NodeGroup(
        name, cluster_name=cluster, subnet_ids=subnets, ami_type=ami_type, node_role_arn=ROLE,
        scaling_config={"min_size": 1, "max_size": 3, "desired_size": 1}, **{"instance_types": ["m6i.large"], **more},
    )  # fmt: skip


def landscape() -> None:
    """One network with a cluster, three groups, a load balancer, a bucket, a zone, a key and a queue."""
    subnets = network()
    private = [subnet.id for subnet in subnets["private"]]
    cluster = eks("prod", subnets["private"], endpoint_private_access=True, endpoint_public_access=False)
    template = aws.ec2.LaunchTemplate("win", user_data=POWERSHELL)
    group("linux", cluster.name, private)
    group("win", cluster.name, private, "WINDOWS_CORE_2022_x86_64", capacity_type="SPOT",
          launch_template={"id": template.id, "version": "1"})  # fmt: skip
    own = aws.ec2.LaunchTemplate("own", image_id="ami-0abc", instance_type="c5.large", user_data=POWERSHELL)
    aws.autoscaling.Group(
        "own", min_size=0, max_size=2, vpc_zone_identifiers=private[:1], launch_template={"id": own.id},
        tags=[{"key": "kubernetes.io/cluster/prod", "value": "owned", "propagate_at_launch": True}],
    )  # fmt: skip
    config = {"enableWindowsIpam": "true"}
    aws.eks.Addon("cni", cluster_name=cluster.name, addon_name="vpc-cni", configuration_values=json.dumps(config))
    balancer = aws.lb.LoadBalancer("ingress", load_balancer_type="network", subnets=[s.id for s in subnets["public"]])
    bucket = aws.s3.Bucket("state")
    aws.s3.BucketVersioning("state", bucket=bucket.bucket, versioning_configuration={"status": "Enabled"})
    zone = aws.route53.Zone("corp", name="corp.example.com")
    aws.route53.Record(
        "api", zone_id=zone.zone_id, name="api", type="CNAME", ttl=60, records=[balancer.dns_name]
    )  # fmt: skip
    aws.kms.Key("secrets", description="secrets of the cluster")
    aws.sqs.Queue("jobs")
    provider = k8s.Provider("k8s", kubeconfig=cluster.endpoint.apply(lambda _: "{}"))
    k8s.core.v1.Namespace("apps", metadata={"name": "apps"}, opts=pulumi.ResourceOptions(provider=provider))
    pulumi.export("endpoint", cluster.endpoint)


class Registering(pulumi.ComponentResource):
    """A component with the outputs that it is told."""

    def __init__(self, name: str, outputs: dict[str, Any]) -> None:
        super().__init__("demo:index:Registering", name)
        self.register_outputs(outputs)


def hostile() -> None:
    """Every hostile text as a name and as values of several kinds."""
    for text in HOSTILE:
        aws.s3.Bucket(text, bucket=text, tags={text: text})
        aws.ec2.LaunchTemplate(text, user_data=base64.b64encode(text.encode()).decode(), description=text)
        k8s.core.v1.ConfigMap(text, metadata={"name": text}, data={text: f"{text}\n{text}"})
        group(text, text, [text], text, instance_types=[text])
        Registering(text, {text: text})
        pulumi.export(text, {text: [text]})
    aws.iam.Role("r", assume_role_policy=json.dumps({"Statement": [*HOSTILE]}))


def hostile_plan() -> Plan:
    """The plan of :func:`hostile` with findings and messages to match."""
    plan = evaluate_function(hostile)
    for text in HOSTILE:
        plan.findings.append(Finding(text, Severity.WARNING, text, plan.resources[0].urn, Source(text, 1), text, text))
        plan.logs.append(("warning", text))
    return plan
