"""What a stack file of every flavour may say: one model per section, mirrors of the components' arguments.

Each flavour adds its own sections in a package of its name. Keys are camelCase in the file and snake_case here. The
models hold types and defaults; what a value must be beyond its type is judged by the checks of the components
(:mod:`stacks.common.shared_checks`). The text below each field is its description in ``docs/stack.schema.json``. An
example also stands in for a value that is missing or of a wrong type, so it must give no further reason for complaint.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from .introspection import Model, NumberOrTexts


class NetworkSettings(Model):
    """The VPC: address range, zones, subnets, the way out, endpoints, flow logs."""

    cidr: str = "10.0.0.0/16"
    """The IPv4 range of the VPC, /16 to /22 with public subnets (/25 with private ones alone). Default: 10.0.0.0/16."""
    zones: NumberOrTexts = 2
    """How many availability zones (1 to 3, the first ones of the region), or their names. Default: 2."""
    nat: str = "per_zone"
    """NAT gateways: "none", "single" for all zones, or "per_zone". Default: one per zone."""
    public_subnets: bool = True
    """Whether there are subnets with a route to the internet gateway; NAT gateways need them. Default: yes."""
    intra_subnets: bool = False
    """Whether there are subnets without any route out of the VPC. Default: no."""
    gateway_endpoints: tuple[str, ...] = ("s3",)
    """Services reached through a gateway endpoint: "s3", "dynamodb". Default: s3."""
    interface_endpoints: tuple[str, ...] = ()
    """Services reached through an interface endpoint, such as "ecr.api", "sts". Default: none."""
    flow_log_retention_days: int | None = 90
    """Days for which the flow logs are kept; null switches them off. Default: 90."""
    flow_log_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the flow logs; it must let CloudWatch Logs use it. Default: CloudWatch's own."""
    windows_prefix_reservations: int = 0
    """/28 blocks reserved in each private subnet for the address prefixes of Windows nodes. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the role of the flow logs. Default: none."""


class ZoneSettings(Model):
    """The Route 53 zone of the cluster."""

    domain: str = Field(examples=["dev.example.com"])
    """The domain of the zone, such as dev.example.com."""
    visibility: str = "private"
    """"public", "private" (seen from the VPC only) or "both". Default: private."""
    parent_zone_id: str | None = None
    """The id of the zone in which the public zone is delegated. Default: not delegated by this program."""


class StateBucketSettings(Model):
    """The bucket for what clusters keep: private, versioned, encrypted with a key of its own."""

    bucket_name: str | None = None
    """The name of the bucket: 3 to 63 small letters, digits and hyphens. Default: made up by Pulumi."""
    allow_dots: bool = False
    """Whether the name may have dots; clients must then address the bucket by path. Default: no."""
    kms_key_arn: str | None = None
    """The ARN of the key that encrypts the objects. Default: a key of the bucket's own."""
    noncurrent_days: int = 90
    """How long replaced and deleted versions are kept, in days. Default: 90."""
    reader_principals: tuple[str, ...] = ()
    """ARNs of roles and users that may read everything. Default: none."""
    writer_principals: tuple[str, ...] = ()
    """ARNs of roles and users that may read, write and delete everything. Default: none."""
    allowed_principals: tuple[str, ...] = ()
    """ARN patterns of those who may touch objects at all. Default: whoever IAM admits."""
    access_log_bucket: str | None = None
    """The bucket that gets the access logs. Default: no access logs."""
    deletion_protection: bool = True
    """Whether Pulumi refuses to delete bucket and key. Default: yes."""


def _full_key(name: str) -> str:
    return "aws:region" if name == "region" else f"winkube:{to_camel(name)}"


class Settings(Model):
    """One environment: what ``Pulumi.<stack>.yaml`` says of it in every flavour."""

    model_config = ConfigDict(alias_generator=_full_key)

    flavour: str = Field(examples=["eks"])
    """What runs the control plane: "eks", or "kubeadm" for one of your own."""
    region: str = Field(examples=["eu-central-1"])
    """The AWS region, such as eu-central-1."""
    tags: Mapping[str, str] = {}
    """Tags of every AWS resource that can have some. Default: none."""
    network: NetworkSettings = NetworkSettings()
    """The VPC. Default: two zones in 10.0.0.0/16."""
    zone: ZoneSettings | None = None
    """The Route 53 zone of the cluster. Default: no zone."""
    state_bucket: StateBucketSettings | None = None
    """The bucket for what clusters keep. Default: no bucket."""
    instance_group_defaults: Mapping[str, Any] = {}
    """Settings of every group that does not say otherwise; not name, linux, windows and count. Default: none."""
