"""Creates the add-ons of the flavour ``eks`` and what needs them.

- the role of Windows nodes that Karpenter starts;
- the add-ons with their roles;
- storage classes;
- Windows pools of Karpenter and credential specs of Active Directory, whose kinds the add-ons define;
- logs of Windows nodes by Fluent Bit;
- the policies that all of these need in the roles of Windows nodes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws
from winkube.addons.fluent_bit import FluentBitWindows, FluentBitWindowsArgs
from winkube.addons.gmsa import GmsaCredentialSpec, GmsaCredentialSpecArgs, GmsaUser
from winkube.addons.storage import NtfsStorageClass, NtfsStorageClassArgs, SmbStorageClass, SmbStorageClassArgs
from winkube.eks.addons import AddonChoice, EksAddons, EksAddonsArgs, windows_node_policies
from winkube.eks.karpenter import (
    KarpenterWindowsNodes,
    KarpenterWindowsNodesArgs,
    KarpenterWindowsRole,
    KarpenterWindowsRoleArgs,
)
from winkube.eks.node_groups import EksLinuxNodeGroup, EksWindowsNodeGroup
from winkube.scheduling.labels import Taint

from ..common.arguments import after, arguments
from .environment import Environment


@dataclass
class Served:
    """The results of the add-ons, and the policies that they need on Windows nodes."""

    role_arns: dict[str, pulumi.Output[str]] = field(default_factory=dict[str, pulumi.Output[str]])
    """Roles of the service accounts, by add-on."""
    storage_classes: list[str] = field(default_factory=list[str])
    """Names of the storage classes."""
    node_policies: dict[str, pulumi.Output[str]] = field(default_factory=dict[str, pulumi.Output[str]])
    """Inline policies for the roles of Windows nodes, by purpose."""
    node_roles: dict[str, pulumi.Output[str]] = field(default_factory=dict[str, pulumi.Output[str]])
    """Names of roles of Windows nodes that belong to no group."""


def create_addons(environment: Environment, before: Sequence[pulumi.Resource]) -> Served:
    """Create the add-ons after ``before``, and what needs them afterwards."""
    served = Served()
    karpenter = _create_karpenter_role(environment, served)
    addons = _create_addons(environment, karpenter, before)
    opts = after(environment.opts, *([addons] if addons else before))
    if addons is not None:
        served.role_arns = addons.role_arns
    # A storage class only names its driver, which need not exist yet.
    _create_storage_classes(environment, served, environment.opts)
    if karpenter is not None:
        _create_karpenter_pools(environment, karpenter, opts)
    _create_credential_specs(environment, served, opts)
    _create_windows_logs(environment, served)
    return served


def _create_addons(
    environment: Environment, karpenter: KarpenterWindowsRole | None, before: Sequence[pulumi.Resource]
) -> EksAddons | None:
    settings, cluster = environment.settings, environment.cluster
    if not settings.addons:
        return None
    args = EksAddonsArgs(
        cluster=cluster.target,
        region=settings.region,
        addons=[arguments(AddonChoice, addon) for addon in settings.addons],
        windows=bool(settings.windows_releases),
        windows_releases=settings.windows_releases,
        oidc_provider_arn=cluster.oidc_provider_arn,
        oidc_issuer=cluster.oidc_issuer,
        vpc_id=environment.network.vpc_id,
        karpenter_node_role_arns=[karpenter.role_arn] if karpenter else [],
        karpenter_queue_arn=settings.karpenter.queue_arn if settings.karpenter else None,
        permissions_boundary=settings.cluster.permissions_boundary,
        role_path=settings.cluster.role_path,
        tags=settings.tags,
    )
    return EksAddons(f"{environment.name}-addons", args, after(environment.opts, *before))


def _create_storage_classes(environment: Environment, served: Served, opts: pulumi.ResourceOptions) -> None:
    for ntfs in environment.settings.storage_classes.ntfs:
        name = f"{environment.name}-{ntfs.class_name}"
        served.storage_classes.append(NtfsStorageClass(name, arguments(NtfsStorageClassArgs, ntfs), opts).class_name)
    for smb in environment.settings.storage_classes.smb:
        name = f"{environment.name}-{smb.class_name}"
        served.storage_classes.append(SmbStorageClass(name, arguments(SmbStorageClassArgs, smb), opts).class_name)


def _create_karpenter_role(environment: Environment, served: Served) -> KarpenterWindowsRole | None:
    settings, target = environment.settings, environment.cluster.target
    if "karpenter" not in settings.addon_names:
        return None
    args = KarpenterWindowsRoleArgs(
        cluster=target,
        external_policies=windows_node_policies(settings.addon_names, target.partition),
        permissions_boundary=settings.cluster.permissions_boundary,
        path=settings.cluster.role_path,
        tags=settings.tags,
    )
    role = KarpenterWindowsRole(f"{environment.name}-karpenter", args, environment.opts)
    served.node_roles["karpenter"] = role.role_name
    return role


def _create_karpenter_pools(environment: Environment, role: KarpenterWindowsRole, opts: pulumi.ResourceOptions) -> None:
    settings, groups = environment.settings, environment.security_groups
    for pool in settings.karpenter.windows_pools if settings.karpenter else ():
        args = arguments(
            KarpenterWindowsNodesArgs,
            pool,
            cluster=environment.cluster.target,
            role_name=role.role_name,
            subnet_ids=environment.network.private_subnet_ids,
            security_group_ids=[groups.windows_id if groups else environment.cluster.security_group_id],
            taints=[arguments(Taint, taint) for taint in pool.taints],
            tags=settings.tags,
        )
        KarpenterWindowsNodes(f"{environment.name}-{pool.pool_name}", args, opts)


def _create_credential_specs(environment: Environment, served: Served, opts: pulumi.ResourceOptions) -> None:
    for section in environment.settings.gmsa_credential_specs:
        users = [arguments(GmsaUser, user) for user in section.users]
        name = f"{environment.name}-gmsa-{section.spec_name}"
        spec = GmsaCredentialSpec(name, arguments(GmsaCredentialSpecArgs, section, users=users), opts)
        if spec.node_policy is not None:
            served.node_policies[f"gmsa-{section.spec_name}"] = spec.node_policy


def _create_windows_logs(environment: Environment, served: Served) -> None:
    settings = environment.settings
    if settings.windows_logs is None:
        return
    cluster_name = environment.cluster.cluster_name
    args = arguments(
        FluentBitWindowsArgs, settings.windows_logs, cluster_name=cluster_name, region=settings.region,
        tags=settings.tags,
    )  # fmt: skip
    logs = FluentBitWindows(f"{environment.name}-windows-logs", args, environment.opts)
    served.node_policies["logs"] = logs.node_policy


def attach_node_policies(
    environment: Environment, groups: Mapping[str, EksLinuxNodeGroup | EksWindowsNodeGroup], served: Served
) -> None:
    """Attach the policies that add-ons need to the roles of Windows nodes."""
    roles = {**{name: group.role_name for name, group in groups.items()}, **served.node_roles}
    for name, role in roles.items():
        for use, policy in served.node_policies.items():
            aws.iam.RolePolicy(f"{environment.name}-{name}-{use}", role=role, policy=policy, opts=environment.opts)
