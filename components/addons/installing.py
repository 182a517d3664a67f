"""How add-ons are installed, on EKS and on self-managed clusters alike: their order, and their charts."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, Protocol

import pulumi
import pulumi_kubernetes as kubernetes

from ..roles.validation import PolicySource
from .addon_table import Addon
from .irsa import IrsaRoleArgs


class RoleSettings(Protocol):
    """What the roles of all add-ons of a cluster share."""

    @property
    def oidc_provider_arn(self) -> pulumi.Input[str] | None: ...  # noqa: D102
    @property
    def oidc_issuer(self) -> pulumi.Input[str] | None: ...  # noqa: D102
    @property
    def permissions_boundary(self) -> str | None: ...  # noqa: D102
    @property
    def role_path(self) -> str: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


def addon_role(
    addon: Addon,
    args: RoleSettings,
    partition: str,
    policy_documents: Mapping[str, pulumi.Input[str]],
    additional_policies: Sequence[PolicySource],
) -> IrsaRoleArgs:
    """The role of an add-on's service account."""
    assert addon.service_account is not None  # noqa: S101 - callers choose by it
    return IrsaRoleArgs(
        namespace=addon.namespace,
        service_account=addon.service_account,
        oidc_provider_arn=args.oidc_provider_arn,
        oidc_issuer=args.oidc_issuer,
        managed_policies=addon.managed_policies,
        policy_documents=policy_documents,
        additional_policies=additional_policies,
        permissions_boundary=args.permissions_boundary,
        path=args.role_path,
        partition=partition,
        tags=args.tags,
    )


def install_order(names: Sequence[str], table: Mapping[str, Addon]) -> list[str]:
    """The add-ons in an order in which each comes after those that it needs; otherwise as given.

    >>> from winkube.addons.addon_table import ADDONS
    >>> install_order(["windows-gmsa", "cert-manager"], ADDONS)
    ['cert-manager', 'windows-gmsa']
    """
    needs = {name: [it for it in table[name].after if it in names] for name in names}
    return list(TopologicalSorter(needs).static_order())


def chart_release(
    name: str, addon: Addon, version: str | None, values: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> pulumi.Resource:
    """The Helm release of an add-on that has a chart; ``version`` None is the one of the table."""
    assert addon.chart is not None  # noqa: S101 - callers choose by it
    repository = addon.chart.repository
    return kubernetes.helm.v3.Release(
        name,
        # A fixed name: charts derive the names of services and webhooks from it, and a cluster has one of each.
        name=addon.name,
        chart=addon.chart.chart,
        version=version or addon.chart.version,
        repository_opts=kubernetes.helm.v3.RepositoryOptsArgs(repo=repository) if repository else None,
        namespace=addon.namespace,
        create_namespace=addon.namespace != "kube-system",
        values=dict(values),
        opts=opts,
    )
