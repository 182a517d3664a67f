"""How add-ons are installed, on EKS and on self-managed clusters alike: their order, and their charts."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from .addon_table import Addon


def install_order(names: Sequence[str], table: Mapping[str, Addon]) -> list[str]:
    """The add-ons in an order in which each comes after those that it needs; otherwise as given.

    >>> from .table import ADDONS
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
