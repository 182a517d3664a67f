"""A plan of ours as the JSON of a Terraform plan, for validators that read nothing else. Pure.

The two know the same AWS provider under two spellings: types and properties have other names, and what is a single
object here is a block there, so a list of one. A value that is a resource's id, name or ARN stays out, as in a plan
before the first deployment, and is a reference instead, by which checks over several resources find their way.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from winkube.preview.model import UNKNOWN, Plan, Reference, Resource, Secret

TYPES: Mapping[str, str] = {
    "aws:autoscaling/group:Group": "aws_autoscaling_group",
    "aws:autoscaling/lifecycleHook:LifecycleHook": "aws_autoscaling_lifecycle_hook",
    "aws:autoscaling/tag:Tag": "aws_autoscaling_group_tag",
    "aws:cloudfront/distribution:Distribution": "aws_cloudfront_distribution",
    "aws:cloudfront/originAccessControl:OriginAccessControl": "aws_cloudfront_origin_access_control",
    "aws:cloudwatch/eventRule:EventRule": "aws_cloudwatch_event_rule",
    "aws:cloudwatch/eventTarget:EventTarget": "aws_cloudwatch_event_target",
    "aws:cloudwatch/logGroup:LogGroup": "aws_cloudwatch_log_group",
    "aws:cloudwatch/metricAlarm:MetricAlarm": "aws_cloudwatch_metric_alarm",
    "aws:ebs/volume:Volume": "aws_ebs_volume",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "aws_default_security_group",
    "aws:ec2/eip:Eip": "aws_eip",
    "aws:ec2/flowLog:FlowLog": "aws_flow_log",
    "aws:ec2/instance:Instance": "aws_instance",
    "aws:ec2/internetGateway:InternetGateway": "aws_internet_gateway",
    "aws:ec2/launchTemplate:LaunchTemplate": "aws_launch_template",
    "aws:ec2/natGateway:NatGateway": "aws_nat_gateway",
    "aws:ec2/networkAcl:NetworkAcl": "aws_network_acl",
    "aws:ec2/networkInterface:NetworkInterface": "aws_network_interface",
    "aws:ec2/route:Route": "aws_route",
    "aws:ec2/routeTable:RouteTable": "aws_route_table",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "aws_route_table_association",
    "aws:ec2/securityGroup:SecurityGroup": "aws_security_group",
    "aws:ec2/securityGroupRule:SecurityGroupRule": "aws_security_group_rule",
    "aws:ec2/subnet:Subnet": "aws_subnet",
    "aws:ec2/subnetCidrReservation:SubnetCidrReservation": "aws_ec2_subnet_cidr_reservation",
    "aws:ec2/volumeAttachment:VolumeAttachment": "aws_volume_attachment",
    "aws:ec2/vpc:Vpc": "aws_vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "aws_vpc_endpoint",
    "aws:eks/accessEntry:AccessEntry": "aws_eks_access_entry",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": "aws_eks_access_policy_association",
    "aws:eks/addon:Addon": "aws_eks_addon",
    "aws:eks/cluster:Cluster": "aws_eks_cluster",
    "aws:eks/fargateProfile:FargateProfile": "aws_eks_fargate_profile",
    "aws:eks/nodeGroup:NodeGroup": "aws_eks_node_group",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": "aws_eks_pod_identity_association",
    "aws:iam/instanceProfile:InstanceProfile": "aws_iam_instance_profile",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "aws_iam_openid_connect_provider",
    "aws:iam/policy:Policy": "aws_iam_policy",
    "aws:iam/role:Role": "aws_iam_role",
    "aws:iam/rolePolicy:RolePolicy": "aws_iam_role_policy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": "aws_iam_role_policy_attachment",
    "aws:kms/alias:Alias": "aws_kms_alias",
    "aws:kms/key:Key": "aws_kms_key",
    "aws:kms/keyPolicy:KeyPolicy": "aws_kms_key_policy",
    "aws:lb/listener:Listener": "aws_lb_listener",
    "aws:lb/loadBalancer:LoadBalancer": "aws_lb",
    "aws:lb/targetGroup:TargetGroup": "aws_lb_target_group",
    "aws:route53/record:Record": "aws_route53_record",
    "aws:route53/zone:Zone": "aws_route53_zone",
    "aws:s3/bucket:Bucket": "aws_s3_bucket",
    "aws:s3/bucketAcl:BucketAcl": "aws_s3_bucket_acl",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": "aws_s3_bucket_lifecycle_configuration",
    "aws:s3/bucketLogging:BucketLogging": "aws_s3_bucket_logging",
    "aws:s3/bucketNotification:BucketNotification": "aws_s3_bucket_notification",
    "aws:s3/bucketObjectv2:BucketObjectv2": "aws_s3_object",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": "aws_s3_bucket_ownership_controls",
    "aws:s3/bucketPolicy:BucketPolicy": "aws_s3_bucket_policy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": "aws_s3_bucket_public_access_block",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration":
        "aws_s3_bucket_server_side_encryption_configuration",
    "aws:s3/bucketVersioning:BucketVersioning": "aws_s3_bucket_versioning",
    "aws:secretsmanager/secret:Secret": "aws_secretsmanager_secret",
    "aws:secretsmanager/secretVersion:SecretVersion": "aws_secretsmanager_secret_version",
    "aws:sns/topic:Topic": "aws_sns_topic",
    "aws:sqs/queue:Queue": "aws_sqs_queue",
    "aws:sqs/queuePolicy:QueuePolicy": "aws_sqs_queue_policy",
    "aws:ssm/association:Association": "aws_ssm_association",
    "aws:ssm/document:Document": "aws_ssm_document",
    "aws:ssm/parameter:Parameter": "aws_ssm_parameter",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "aws_vpc_security_group_egress_rule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "aws_vpc_security_group_ingress_rule",
}  # fmt: skip
"""Type by type, since no rule covers them. An AWS type without a row is an error: nothing is left out unseen."""

BLOCKS: Mapping[str, str] = {
    "aliases": "alias",
    "block_device_mappings": "block_device_mappings",
    "default_actions": "default_action",
    "ebs_block_devices": "ebs_block_device",
    "egress": "egress",
    "ingress": "ingress",
    "initial_lifecycle_hooks": "initial_lifecycle_hook",
    "license_specifications": "license_specification",
    "network_interfaces": "network_interfaces",
    "origins": "origin",
    "overrides": "override",
    "pod_identity_associations": "pod_identity_association",
    "queues": "queue",
    "routes": "route",
    "rules": "rule",
    "selectors": "selector",
    "subnet_mappings": "subnet_mapping",
    "tag_specifications": "tag_specifications",
    "tags": "tag",
    "taints": "taint",
    "transitions": "transition",
    "vpcs": "vpc",
}
"""Lists of objects: ours are plural throughout, a block has the name that Terraform gave it. None may be missing."""
LISTS: Mapping[str, str] = {"client_id_lists": "client_id_list", "thumbprint_lists": "thumbprint_list"}
"""Lists of texts that got a plural here."""
_PLACEHOLDER = r"(?:arn:[a-z-]+:placeholder:::placeholder/|placeholder-)"
"""What stands before the name of a resource in a value that the cloud will compute."""
MAPS = frozenset({"tags", "tags_all", "labels"})
"""Objects whose keys are the user's own: no blocks."""


def terraform_plan(plan: Plan) -> dict[str, Any]:
    """The AWS resources of a plan in the mode ``update``, as ``terraform show -json`` would print their creation.

    :raises LookupError: a type or a list of objects has no row in the tables of this module.
    """
    places = addresses(plan)
    planned: list[dict[str, Any]] = []
    configured: list[dict[str, Any]] = []
    for urn, address in places.items():
        resource = plan.by_urn[urn]
        kind, _, name = address.partition(".")
        head = {"address": address, "mode": "managed", "type": kind, "name": name, "provider_name": "aws"}
        values, expressions = _Translation(resource, _links(plan, resource, places)).properties()
        planned.append({**head, "schema_version": 0, "values": values})
        configured.append({**head, "expressions": expressions})
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.0",
        "planned_values": {"root_module": {"resources": planned}},
        "configuration": {"root_module": {"resources": configured}},
    }


def addresses(plan: Plan) -> dict[str, str]:
    """URN of every AWS resource to its address. Two components may have children of one name, so some get a number."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for resource in plan.resources:
        if not resource.type.startswith("aws:") or not resource.custom or resource.read:
            continue
        if resource.type not in TYPES:
            raise LookupError(f"{resource.type} has no row in TYPES: add what Terraform calls it")
        first = f"{TYPES[resource.type]}.{re.sub(r'[^A-Za-z0-9_-]', '_', resource.name)}"
        address, number = first, 1
        while address in taken:
            number += 1
            address = f"{first}_{number}"
        taken.add(address)
        found[resource.urn] = address
    return found


def _links(plan: Plan, resource: Resource, places: Mapping[str, str]) -> dict[str, list[tuple[Resource, str]]]:
    """Property to the resources that it depends on, with their addresses."""
    return {
        key: [(plan.by_urn[urn], places[urn]) for urn in urns if urn in places]
        for key, urns in resource.options.property_dependencies.items()
    }


def snake(name: str) -> str:
    """A property as Terraform spells it.

    >>> snake("httpPutResponseHopLimit"), snake("cidrIpv4"), snake("serviceIpv4Cidr")
    ('http_put_response_hop_limit', 'cidr_ipv4', 'service_ipv4_cidr')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class _Translation:
    """The inputs of one resource as planned values, and as the expressions that they came from."""

    def __init__(self, resource: Resource, links: Mapping[str, list[tuple[Resource, str]]]) -> None:
        self._resource, self._links = resource, links
        self._property = ""

    def properties(self) -> tuple[dict[str, Any], dict[str, Any]]:
        values: dict[str, Any] = {}
        expressions: dict[str, Any] = {}
        for key, value in self._resource.inputs.items():
            self._property = key
            self._take(key, value, values, expressions)
        return values, expressions

    def _take(self, key: str, value: Any, values: dict[str, Any], expressions: dict[str, Any]) -> None:
        """Put one property under its new name into both."""
        name = snake(key)
        blocks: list[Any] | None = None
        if isinstance(value, dict) and name not in MAPS:
            blocks = [value]
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            name, blocks = self._block_name(name), value
        if blocks is None:
            name = LISTS.get(name, name)
            references = list(dict.fromkeys(self._references(value)))
            shown = self._shown(value)
            if shown is not None:
                values[name] = shown
            if references:
                expressions[name] = {"references": references}
            return
        values[name], expressions[name] = [], []
        for block in blocks:
            inner_values: dict[str, Any] = {}
            inner_expressions: dict[str, Any] = {}
            for inner_key, inner in block.items():
                self._take(inner_key, inner, inner_values, inner_expressions)
            values[name].append(inner_values)
            expressions[name].append(inner_expressions)

    def _block_name(self, name: str) -> str:
        if name not in BLOCKS:
            place = f"{self._resource.type}.{self._property}"
            raise LookupError(f"{place}: the list of objects {name} has no row in BLOCKS: add what Terraform calls it")
        return BLOCKS[name]

    def _shown(self, value: Any) -> Any:
        """A value as a plan before the deployment has it: None where it comes with another resource."""
        if isinstance(value, list):
            shown = [self._shown(item) for item in value]
            return shown if not shown or any(item is not None for item in shown) else None
        if isinstance(value, dict):
            return {key: shown for key, item in value.items() if (shown := self._shown(item)) is not None}
        if isinstance(value, Secret):
            return "(secret)"
        if value is UNKNOWN or isinstance(value, Reference):
            return None
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and any(whole for _, whole in self._meant(value)):
            return None
        return value

    def _references(self, value: Any) -> Iterator[str]:
        """``type.name.attribute`` and ``type.name`` of every resource that a value names, as Terraform lists them."""
        for text in _texts(value):
            for reference, _ in self._meant(text):
                yield reference
                yield reference.rpartition(".")[0]

    def _meant(self, text: str) -> Iterator[tuple[str, bool]]:
        """References that a text holds, and whether it is nothing else."""
        for other, address in self._links.get(self._property, ()):
            if text == other.id:
                yield f"{address}.id", True
            label = re.compile(rf"{_PLACEHOLDER}{re.escape(other.name)}\.(\w+)")
            for found in label.finditer(text):
                yield f"{address}.{snake(found[1])}", re.fullmatch(rf"{label.pattern}(?:\.\w+)*", text) is not None


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
