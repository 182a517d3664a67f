"""An EKS cluster that is ready for Windows nodes.

- the cluster role, with the VPC resource controller's policy for Windows;
- the log group of the control plane, made first so that EKS does not make one that keeps logs for ever;
- a KMS key for Kubernetes secrets, with its policy;
- the cluster, without the add-ons that EKS would install by itself;
- access entries of people and pipelines;
- the OIDC provider for IRSA, the only way in which Windows pods get AWS permissions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.order import ordered_after
from ..core.tags import check_tags, named
from ..roles.policy_documents import account_key, document, rendered
from ..roles.role import EksClusterRole, EksClusterRoleArgs, cluster_policies
from ..roles.role_rules import check_role
from ..roles.validation import PolicySource
from ..tables.regions import check_region, partition
from .access import AccessPolicy, access_policy_arn, access_scope
from .cluster_rules import (
    EGRESS_MODES,
    LOG_TYPE_NAMES,
    SUBNET_COUNT,
    SUPPORT_TYPES,
    check_cluster,
    check_existing_role,
)
from .kubeconfig import kubeconfig
from .target import EksTarget


@dataclass(frozen=True, kw_only=True)
class AccessEntry:
    """A principal that may use the cluster, and its permissions. Node groups create the entries of their nodes."""

    name: str
    """A name of lower-case letters, digits and hyphens; it becomes part of resource names."""
    principal_arn: pulumi.Input[str]
    """The ARN of the IAM role or user."""
    policies: Sequence[AccessPolicy] = ()
    """EKS access policies, for the cluster or for namespaces."""
    kubernetes_groups: Sequence[str] = ()
    """Groups that role bindings in the cluster name."""
    user_name: str | None = None
    """The user name in audit logs; chosen by EKS by default."""


@dataclass(frozen=True, kw_only=True)
class EksClusterArgs:
    """The arguments of an EKS cluster."""

    cluster_name: str
    """The cluster's name. It cannot be changed later."""
    region: str
    """The Region, for the kubeconfig and the partition."""
    kubernetes_version: str
    """The Kubernetes minor, such as ``1.36``."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Private subnets for the control plane's network interfaces, in at least two zones."""
    service_cidr: str = "172.20.0.0/16"
    """The service CIDR, /12 to /24, outside the VPC. It cannot be changed later."""
    authentication_mode: str = "API"
    """``API`` (default), ``API_AND_CONFIG_MAP`` or ``CONFIG_MAP``. It can only be changed towards ``API``."""
    creator_is_admin: bool = True
    """Whether the identity that creates the cluster is its administrator, to create Kubernetes objects. On by
    default."""
    access_entries: Sequence[AccessEntry] = ()
    """Access entries of other principals."""
    endpoint_public_access: bool = False
    """Whether the endpoint can be reached from outside the VPC. It can always be reached from inside."""
    public_access_cidrs: Sequence[str] = ()
    """The CIDRs that may reach the public endpoint; required with ``endpoint_public_access``."""
    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Additional security groups of the control plane's network interfaces."""
    control_plane_egress: str = "aws_managed"
    """``aws_managed`` (default), ``customer_routed`` through the VPC, or ``customer_isolated``. EKS does not let a
    cluster go back to the first."""
    log_types: Sequence[str] = LOG_TYPE_NAMES
    """Logs of the control plane; all by default."""
    log_retention_days: int = 90
    """How long CloudWatch keeps them; 90 days by default."""
    log_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the logs; CloudWatch's own key by default. Its policy must allow CloudWatch Logs."""
    secrets_kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key for Kubernetes Secrets; a new key by default."""
    deletion_protection: bool = False
    """Whether cluster, KMS key and log group are protected from deletion. Off by default; turn it on in production."""
    windows: bool = True
    """Whether the cluster role may manage the addresses of Windows pods. On by default."""
    self_managed_addons: bool = False
    """Whether EKS installs CNI, kube-proxy and CoreDNS itself, unmanaged. No by default: they come as add-ons. It
    cannot be changed later."""
    oidc_provider: bool = True
    """Whether to create the OIDC provider for IRSA. On by default: Windows pods can get roles only through IRSA."""
    support_type: str = "extended"
    """``extended`` (default): 26 months, the last 12 at six times the price. ``standard``: 14 months, then EKS
    upgrades."""
    control_plane_tier: str = "standard"
    """``standard`` (default), or a provisioned tier: ``tier-xl``, ``tier-2xl``, ``tier-4xl``, ``tier-8xl``."""
    zonal_shift: bool = False
    """Whether ARC zonal shift may move traffic away from an impaired zone. Off by default."""
    role_arn: pulumi.Input[str] | None = None
    """ARN of an existing cluster role; by default one is made. It needs ``AmazonEKSClusterPolicy``, for Windows nodes
    ``AmazonEKSVPCResourceController`` too. Excludes policies, boundary and path (``WK-EKS-046``)."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the cluster role."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach to the cluster role."""
    permissions_boundary: str | None = None
    """ARN of the cluster role's permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the cluster role."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource that can carry them."""


def check_cluster_args(args: EksClusterArgs) -> Mistakes:
    """Every mistake in the arguments, the role's included."""
    found = check_cluster(args)
    wrong_region = check_region(args.region)
    found.take(wrong_region)
    if len(args.subnet_ids) < 2:
        found.add(SUBNET_COUNT, ("subnet_ids",), "the control plane needs subnets in at least two zones",
                  "give one subnet in each of two or three zones", len(args.subnet_ids))  # fmt: skip
    # The partition of an unknown region is unknown, and with it that of the role.
    known = None if wrong_region else partition(args.region)
    found.take(check_existing_role(args, known))
    if known is None or args.role_arn is not None:
        found.take(check_tags(args.tags))
    else:
        found.take(check_role(_role_args(args), cluster_policies(windows=args.windows)))
    return found


def _role_args(args: EksClusterArgs) -> EksClusterRoleArgs:
    return EksClusterRoleArgs(
        windows=args.windows,
        additional_policies=args.additional_policies,
        external_policies=args.external_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.role_path,
        partition=partition(args.region),
        tags=args.tags,
    )


class EksCluster(Component):
    """An EKS cluster, its role, key, logs and access entries.

    What must come next, in this order: ``WindowsIpam`` (the CNI) and kube-proxy, Linux node groups, CoreDNS, Windows
    node groups.

    :raises WinkubeError: ``WK-EKS-001`` to ``-009``, ``-032``, ``-033``, ``-040`` to ``-046``, ``WK-IAM``, ``WK-TAG``.
    """

    target: EksTarget
    """The cluster, for node groups and Windows IPAM."""
    cluster_name: pulumi.Output[str]
    """Its name."""
    arn: pulumi.Output[str]
    """Its ARN."""
    endpoint: pulumi.Output[str]
    """Its API endpoint."""
    certificate_authority: pulumi.Output[str]
    """Its CA in base64."""
    kubeconfig: pulumi.Output[str]
    """A kubeconfig without secrets; the AWS CLI gets the token."""
    security_group_id: pulumi.Output[str]
    """ID of the cluster security group that EKS creates."""
    role_arn: pulumi.Output[str]
    """ARN of the cluster role."""
    oidc_issuer: pulumi.Output[str]
    """Its OIDC issuer."""
    oidc_provider_arn: pulumi.Output[str] | None
    """ARN of the OIDC provider, if there is one."""
    secrets_kms_key_arn: pulumi.Output[str]
    """The key that encrypts Kubernetes secrets."""
    log_group_name: pulumi.Output[str]
    """The CloudWatch log group of the control plane."""

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_cluster_args(args))
        self._name, self._args, self._opts = name, args, opts
        role = self._create_role()
        logs = self._create_log_group()
        self.secrets_kms_key_arn = self._secrets_key()
        # The role's policies must be there before the cluster, and go after it: else EKS cannot clean up.
        cluster = self._create_cluster(*([role] if role else []), logs)
        self.log_group_name = logs.name
        self.cluster_name, self.arn, self.endpoint = cluster.name, cluster.arn, cluster.endpoint
        self.certificate_authority = cluster.certificate_authority.data.apply(lambda data: data or "")
        self.security_group_id = cluster.vpc_config.cluster_security_group_id.apply(lambda group: group or "")
        self.oidc_issuer = cluster.identities[0].oidcs[0].issuer.apply(lambda issuer: issuer or "")
        self.kubeconfig = self._kubeconfig()
        self.target = self._target()
        self._create_access_entries()
        self.oidc_provider_arn = self._create_oidc_provider() if args.oidc_provider else None
        self.register_outputs({
            "clusterName": self.cluster_name,
            "arn": self.arn,
            "endpoint": self.endpoint,
            "certificateAuthority": self.certificate_authority,
            "kubeconfig": self.kubeconfig,
            "kubernetesVersion": args.kubernetes_version,
            "securityGroupId": self.security_group_id,
            "roleArn": self.role_arn,
            "oidcIssuer": self.oidc_issuer,
            "oidcProviderArn": self.oidc_provider_arn,
            "secretsKmsKeyArn": self.secrets_kms_key_arn,
            "logGroupName": self.log_group_name,
        })  # fmt: skip

    def _create_role(self) -> EksClusterRole | None:
        if self._args.role_arn is not None:
            self.role_arn = pulumi.Output.from_input(self._args.role_arn)
            return None
        role = EksClusterRole(f"{self._name}-cluster", _role_args(self._args), self.child())
        self.role_arn = role.role_arn
        return role

    def _create_log_group(self) -> aws.cloudwatch.LogGroup:
        args = self._args
        return aws.cloudwatch.LogGroup(
            f"{self._name}-logs",
            # EKS writes to this name and no other.
            name=f"/aws/eks/{args.cluster_name}/cluster",
            retention_in_days=args.log_retention_days,
            kms_key_id=args.log_kms_key_arn,
            tags=named(args.tags, f"{self._name}-logs"),
            # Audit logs outlive their cluster where it is protected.
            opts=self.child(
                protect=args.deletion_protection or None, retain_on_delete=args.deletion_protection or None
            ),
        )

    def _secrets_key(self) -> pulumi.Output[str]:
        args = self._args
        if args.secrets_kms_key_arn is not None:
            return pulumi.Output.from_input(args.secrets_kms_key_arn)
        key = aws.kms.Key(
            f"{self._name}-secrets",
            description=f"Kubernetes secrets of the EKS cluster {args.cluster_name}",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            tags=named(args.tags, f"{self._name}-secrets"),
            # Without this key the cluster's secrets cannot be read again.
            opts=self.child(protect=args.deletion_protection or None),
        )
        # What KMS would write too. It stands here so that a change by somebody else is seen, and undone.
        aws.kms.KeyPolicy(
            f"{self._name}-secrets",
            key_id=key.key_id,
            policy=key.arn.apply(lambda arn: rendered(document(account_key(arn)))),
            opts=self.child(),
        )
        return key.arn

    def _create_cluster(self, *before: pulumi.Resource) -> aws.eks.Cluster:
        args = self._args
        return aws.eks.Cluster(
            f"{self._name}-cluster",
            name=args.cluster_name,
            role_arn=self.role_arn,
            version=args.kubernetes_version,
            vpc_config=self._vpc_config(),
            access_config={
                "authentication_mode": args.authentication_mode,
                "bootstrap_cluster_creator_admin_permissions": args.creator_is_admin,
            },
            kubernetes_network_config={"ip_family": "ipv4", "service_ipv4_cidr": args.service_cidr},
            bootstrap_self_managed_addons=args.self_managed_addons,
            enabled_cluster_log_types=list(args.log_types),
            encryption_config={"provider": {"key_arn": self.secrets_kms_key_arn}, "resources": ["secrets"]},
            upgrade_policy={"support_type": SUPPORT_TYPES[args.support_type]},
            control_plane_scaling_config=self._scaling_config(),
            zonal_shift_config={"enabled": True} if args.zonal_shift else None,
            deletion_protection=args.deletion_protection,
            tags=named(args.tags, args.cluster_name),
            opts=self.child(depends_on=ordered_after(self._opts, *before)),
        )

    def _vpc_config(self) -> Any:
        args = self._args
        public = {"public_access_cidrs": list(args.public_access_cidrs)} if args.endpoint_public_access else {}
        groups = {"security_group_ids": list(args.security_group_ids)} if args.security_group_ids else {}
        routed = args.control_plane_egress != "aws_managed"
        egress = {"control_plane_egress_mode": EGRESS_MODES[args.control_plane_egress]} if routed else {}
        return {
            "subnet_ids": list(args.subnet_ids),
            "endpoint_private_access": True,
            "endpoint_public_access": args.endpoint_public_access,
            **public,
            **groups,
            **egress,
        }

    def _scaling_config(self) -> Any:
        tier = self._args.control_plane_tier
        return None if tier == "standard" else {"tier": tier}

    def _kubeconfig(self) -> pulumi.Output[str]:
        region = self._args.region

        def render(facts: Sequence[str]) -> str:
            name, endpoint, authority = facts
            return kubeconfig(cluster_name=name, endpoint=endpoint, certificate_authority=authority, region=region)

        return pulumi.Output.all(self.cluster_name, self.endpoint, self.certificate_authority).apply(render)

    def _target(self) -> EksTarget:
        args = self._args
        return EksTarget(
            name=self.cluster_name,
            kubernetes_version=args.kubernetes_version,
            endpoint=self.endpoint,
            certificate_authority=self.certificate_authority,
            service_cidr=args.service_cidr,
            authentication_mode=args.authentication_mode,
            vpc_cni="self_managed" if args.self_managed_addons else "addon",
            security_group_id=self.security_group_id,
            partition=partition(args.region),
        )

    def _create_access_entries(self) -> None:
        for entry in self._args.access_entries:
            name = f"{self._name}-access-{entry.name}"
            made = aws.eks.AccessEntry(
                name,
                cluster_name=self.cluster_name,
                principal_arn=entry.principal_arn,
                type="STANDARD",
                kubernetes_groups=list(entry.kubernetes_groups) or None,
                user_name=entry.user_name,
                tags=named(self._args.tags, name),
                opts=self.child(),
            )
            for given in entry.policies:
                aws.eks.AccessPolicyAssociation(
                    f"{name}-{given.policy.replace('_', '-')}",
                    cluster_name=self.cluster_name,
                    principal_arn=made.principal_arn,
                    policy_arn=access_policy_arn(given.policy, partition(self._args.region)),
                    access_scope=access_scope(given.namespaces),
                    opts=self.child(),
                )

    def _create_oidc_provider(self) -> pulumi.Output[str]:
        provider = aws.iam.OpenIdConnectProvider(
            f"{self._name}-oidc",
            url=self.oidc_issuer,
            client_id_lists=["sts.amazonaws.com"],
            tags=named(self._args.tags, f"{self._name}-oidc"),
            opts=self.child(),
        )
        return provider.arn
