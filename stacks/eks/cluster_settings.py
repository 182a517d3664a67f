"""The settings of the control plane and of its users, which mirror the arguments of the components."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field
from winkube.tables.kubernetes import EKS_MINORS

from ..config.introspection import Model, PolicyDocument

NEWEST_KUBERNETES = list(EKS_MINORS)[-1]


class AccessPolicySettings(Model):
    """An EKS access policy, for the whole cluster or for some namespaces."""

    policy: str = Field(examples=["view"])
    """The name of the access policy."""
    namespaces: tuple[str, ...] = ()
    """The namespaces for which it holds. Default: the whole cluster."""


class AccessEntrySettings(Model):
    """A person or pipeline that may use the cluster. Entries for nodes are created with their groups."""

    name: str = Field(examples=["platform-team"])
    """The name of the entry: lowercase letters, digits and hyphens."""
    principal_arn: str = Field(examples=["arn:aws:iam::111122223333:role/platform-team"])
    """The ARN of the IAM role or user."""
    policies: tuple[AccessPolicySettings, ...] = ()
    """EKS access policies. Default: none; Kubernetes groups are then needed."""
    kubernetes_groups: tuple[str, ...] = ()
    """Kubernetes groups, for your own role bindings. Default: none."""
    user_name: str | None = None
    """The user name in audit logs. Default: set by EKS from the principal and its session."""


class WindowsIpamSettings(Model):
    """How the control plane assigns IPv4 addresses to Windows pods."""

    mode: str = "addon"
    """Where it is configured: "addon" (the vpc-cni add-on) or "config_map" (a self-managed CNI). Default: addon."""
    prefix_delegation: bool = False
    """Whether nodes get /28 prefixes instead of single addresses: more pods on Nitro instances. Default: no."""
    warm_ip_target: int | None = None
    """The number of free addresses to keep on each node. Default: that of the add-on or controller."""
    minimum_ip_target: int | None = None
    """The least number of addresses of each node. Default: that of the add-on or controller."""
    warm_prefix_target: int | None = None
    """The number of free prefixes to keep, with prefixDelegation only. Default: that of the add-on or controller."""
    addon_version: str | None = None
    """A pinned version of the vpc-cni add-on, in mode addon. Default: that of EKS for the Kubernetes minor."""
    addon_values: Mapping[str, Any] = {}
    """Further values of the vpc-cni add-on, such as env, in mode addon. Default: none."""
    service_account_role_arn: str | None = None
    """The ARN of the role of the CNI on Linux nodes, in mode addon. Default: the role of the nodes."""


class PodPortSettings(Model):
    """A range of ports that pods may reach on pods of other nodes."""

    first: int = Field(examples=[8080])
    """The first port."""
    last: int | None = None
    """The last port. Default: first."""
    protocol: str = "tcp"
    """The protocol, tcp or udp. Default: tcp."""
    purpose: str = "Pods"
    """The description of the rule. Default: Pods."""


class SecurityGroupsSettings(Model):
    """Security groups that open only the ports that EKS requires; the default group of EKS opens all ports."""

    pod_ports: tuple[PodPortSettings, ...] = ()
    """Ports on which pods accept connections from other nodes. Default: those of DNS only."""
    egress_cidrs: tuple[str, ...] = ("0.0.0.0/0",)
    """Networks that nodes may reach. Default: all, for images and the APIs of AWS."""


class ClusterSettings(Model):
    """The EKS control plane."""

    name: str = Field(examples=["dev"])
    """The name of the cluster."""
    kubernetes_version: str = Field(examples=[NEWEST_KUBERNETES])
    """The Kubernetes minor, in quotes: without quotes YAML reads 1.30 as 1.3."""
    service_cidr: str = "172.20.0.0/16"
    """The service CIDR, /12 to /24, which must not overlap the VPC. Default: 172.20.0.0/16."""
    authentication_mode: str = "API"
    """How IAM principals are authenticated: access entries, the ConfigMap aws-auth, or both. Default: API."""
    endpoint_public_access: bool = False
    """Whether the API is reachable from outside of the VPC. Default: no."""
    public_access_cidrs: tuple[str, ...] = ()
    """Networks that may reach the public endpoint; required with endpointPublicAccess. Default: none."""
    creator_is_admin: bool = True
    """Whether the identity that runs the program administers the cluster. Default: yes."""
    access_entries: tuple[AccessEntrySettings, ...] = ()
    """Other principals that may use the cluster. Default: none."""
    security_groups: SecurityGroupsSettings | None = None
    """New security groups for the control plane and the nodes. Default: the one that EKS creates."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the network interfaces of the control plane. Default: none."""
    control_plane_egress: str = "aws_managed"
    """The egress of the control plane: by AWS, or through the VPC, which cannot be undone. Default: aws_managed."""
    core_dns: str = "nodes"
    """Where CoreDNS runs: on Linux "nodes", or on "fargate", which needs no Linux group. Default: nodes."""
    log_types: tuple[str, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    """The control plane logs that are sent to CloudWatch. Default: all five."""
    log_retention_days: int = 90
    """The number of days for which CloudWatch keeps them. Default: 90."""
    log_kms_key_arn: str | None = None
    """The ARN of the key of the logs; its policy must admit CloudWatch Logs. Default: CloudWatch's own."""
    secrets_kms_key_arn: str | None = None
    """The ARN of the key that encrypts Kubernetes secrets. Default: a new key for the cluster."""
    deletion_protection: bool = False
    """Whether cluster, key and log group are protected from deletion. Default: no; set true in production."""
    oidc_provider: bool = True
    """Whether service accounts can assume IAM roles (IRSA), the only way for Windows pods. Default: yes."""
    support_type: str = "extended"
    """After 14 months of standard support: 12 more at six times the price, or an upgrade. Default: extended."""
    control_plane_tier: str = "standard"
    """The tier of the control plane: standard, or a provisioned tier. Default: standard."""
    zonal_shift: bool = False
    """Whether traffic can be shifted away from an impaired zone. Default: no."""
    windows_ipam: WindowsIpamSettings = WindowsIpamSettings()
    """How Windows pods get addresses. Default: the vpc-cni add-on, with single addresses."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the cluster role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the cluster role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the permissions boundary of the cluster role and the roles of add-ons. Default: none."""
    role_path: str = "/"
    """The path of these roles, with a slash at both ends. Default: /."""
