"""What a stack file may say of the control plane and of who uses it: mirrors of the components' arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field
from winkube.tables.kubernetes import EKS_MINORS

from ..config.introspection import Model, PolicyDocument

NEWEST_KUBERNETES = list(EKS_MINORS)[-1]


class AccessPolicySettings(Model):
    """One of EKS' access policies, in the whole cluster or in some namespaces."""

    policy: str = Field(examples=["view"])
    """What the principal may do."""
    namespaces: tuple[str, ...] = ()
    """The namespaces where it holds. Default: the whole cluster."""


class AccessEntrySettings(Model):
    """A person or pipeline that may use the cluster. Entries of nodes are made with their groups."""

    name: str = Field(examples=["platform-team"])
    """The name of the entry: small letters, digits and hyphens."""
    principal_arn: str = Field(examples=["arn:aws:iam::111122223333:role/platform-team"])
    """The ARN of the IAM role or user."""
    policies: tuple[AccessPolicySettings, ...] = ()
    """Access policies of EKS. Default: none; then Kubernetes groups are needed."""
    kubernetes_groups: tuple[str, ...] = ()
    """Kubernetes groups that role bindings of your own name. Default: none."""
    user_name: str | None = None
    """The name in audit logs. Default: EKS' own, from the principal and its session."""


class WindowsIpamSettings(Model):
    """How the control plane hands IPv4 addresses to Windows pods."""

    mode: str = "addon"
    """Where it is configured: "addon" (the vpc-cni add-on) or "config_map" (for a self-managed CNI). Default: addon."""
    prefix_delegation: bool = False
    """Whether nodes get /28 prefixes instead of single addresses: more pods on Nitro types. Default: no."""
    warm_ip_target: int | None = None
    """Free addresses kept on each node. Default: left to the add-on or controller."""
    minimum_ip_target: int | None = None
    """The least number of addresses of each node. Default: left to the add-on or controller."""
    warm_prefix_target: int | None = None
    """Free prefixes kept on each node, with prefixDelegation only. Default: left to the add-on or controller."""
    addon_version: str | None = None
    """A pinned version of the vpc-cni add-on, in mode addon. Default: EKS' own for the cluster's minor."""
    addon_values: Mapping[str, Any] = {}
    """Further values of the vpc-cni add-on, such as env, in mode addon. Default: none."""
    service_account_role_arn: str | None = None
    """The role of the CNI on Linux nodes, in mode addon; their own role then lacks it. Default: the nodes' role."""


class PodPortSettings(Model):
    """A range of ports that pods of every node may reach on pods of every other."""

    first: int = Field(examples=[8080])
    """The first port."""
    last: int | None = None
    """The last port. Default: the first one."""
    protocol: str = "tcp"
    """The protocol, tcp or udp. Default: tcp."""
    purpose: str = "Pods"
    """What it is for: the description of the rule. Default: Pods."""


class SecurityGroupsSettings(Model):
    """Security groups that open the least that EKS asks for, where EKS' own group opens all ports."""

    pod_ports: tuple[PodPortSettings, ...] = ()
    """Ports that pods listen on for pods of other nodes. Default: those of DNS only."""
    egress_cidrs: tuple[str, ...] = ("0.0.0.0/0",)
    """Networks that nodes may speak to. Default: all, for images and the APIs of AWS."""


class ClusterSettings(Model):
    """The control plane of EKS."""

    name: str = Field(examples=["dev"])
    """The name of the cluster."""
    kubernetes_version: str = Field(examples=[NEWEST_KUBERNETES])
    """The Kubernetes minor, in quotes: without them YAML reads 1.30 as 1.3."""
    service_cidr: str = "172.20.0.0/16"
    """The range of service addresses, /12 to /24, apart from the VPC. Default: 172.20.0.0/16."""
    authentication_mode: str = "API"
    """How principals become users: by access entries, by the ConfigMap aws-auth, or by both. Default: API."""
    endpoint_public_access: bool = False
    """Whether the API can be reached from outside of the VPC. Default: no."""
    public_access_cidrs: tuple[str, ...] = ()
    """The public networks that may reach a public endpoint. Default: none; needed when endpointPublicAccess is true."""
    creator_is_admin: bool = True
    """Whether the identity that the program runs as administers the cluster. Default: yes."""
    access_entries: tuple[AccessEntrySettings, ...] = ()
    """Who else may use the cluster. Default: nobody."""
    security_groups: SecurityGroupsSettings | None = None
    """Security groups of the cluster's own for control plane and nodes. Default: the one of EKS."""
    security_group_ids: tuple[str, ...] = ()
    """Further security groups of the control plane's interfaces. Default: none."""
    control_plane_egress: str = "aws_managed"
    """How the control plane leaves: managed by AWS, or through the VPC, without a way back. Default: aws_managed."""
    core_dns: str = "nodes"
    """Where CoreDNS runs: on Linux "nodes", or on "fargate", for which no Linux group is needed. Default: nodes."""
    log_types: tuple[str, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    """The logs of the control plane that go to CloudWatch. Default: all five."""
    log_retention_days: int = 90
    """How long CloudWatch keeps them, in days. Default: 90."""
    log_kms_key_arn: str | None = None
    """The ARN of the key that encrypts the logs; it must let CloudWatch Logs use it. Default: CloudWatch's own."""
    secrets_kms_key_arn: str | None = None
    """The ARN of the key that encrypts Kubernetes secrets. Default: a key of the cluster's own."""
    deletion_protection: bool = False
    """Whether cluster, key and log group refuse to be deleted. Default: no; say yes in production."""
    oidc_provider: bool = True
    """Whether service accounts can take roles (IRSA), the only way for Windows pods. Default: yes."""
    support_type: str = "extended"
    """What follows 14 months of standard support: 12 at six times the price, or an upgrade. Default: extended."""
    control_plane_tier: str = "standard"
    """The size of the control plane: standard, or one of the provisioned tiers. Default: standard."""
    zonal_shift: bool = False
    """Whether traffic may be shifted away from a zone in trouble. Default: no."""
    windows_ipam: WindowsIpamSettings = WindowsIpamSettings()
    """How Windows pods get addresses. Default: by the vpc-cni add-on, single addresses."""
    additional_policies: tuple[PolicyDocument, ...] = ()
    """Inline policies of the cluster's role: documents, statements or lists of them, or JSON text. Default: none."""
    external_policies: tuple[str, ...] = ()
    """ARNs of managed policies for the cluster's role. Default: none."""
    permissions_boundary: str | None = None
    """The ARN of the policy that bounds the cluster's role and those of its add-ons. Default: none."""
    role_path: str = "/"
    """The path of these roles, with a slash at both ends. Default: /."""
