"""Existing EKS clusters as targets of node groups and Windows IPAM.

- ``target_of_aws_cluster``: an ``aws.eks.Cluster`` of the program, or what ``aws.eks.get_cluster_output`` found;
- ``target_of_pulumi_eks``: a ``pulumi_eks.Cluster`` (the extra ``winkube[eks]``).

The caller describes what decides which nodes can join, so that it is checked at once; the rest comes from the cluster.
As soon as the cluster is known, the description is compared with it, before anything is created in it.
"""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.cidr import network_or_none
from ..core.errors import WinkubeError
from ..core.mistakes import Mistakes, Rule
from ..eks.cluster_rules import AUTHENTICATION_MODES
from ..eks.target import EksTarget

EXTRA_MISSING = Rule(
    "WK-EKS-090",
    "Reading a pulumi_eks.Cluster needs the extra winkube[eks].",
    "https://www.pulumi.com/registry/packages/eks/",
)
NOT_A_CLUSTER = Rule(
    "WK-EKS-091",
    "An existing cluster must be of the type that the helper reads.",
    "https://www.pulumi.com/registry/packages/eks/api-docs/cluster/",
)
FACTS_DIFFER = Rule(
    "WK-EKS-092",
    "The description of an existing cluster must match the cluster.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_Cluster.html",
)


def target_of_aws_cluster(
    cluster: aws.eks.Cluster | pulumi.Output[aws.eks.GetClusterResult],
    *,
    kubernetes_version: str,
    service_cidr: str = EksTarget.service_cidr,
    authentication_mode: str = EksTarget.authentication_mode,
    ip_family: str = EksTarget.ip_family,
    vpc_cni: str = EksTarget.vpc_cni,
    auto_mode: bool = EksTarget.auto_mode,
    partition: str = EksTarget.partition,
) -> EksTarget:
    """The target of an existing cluster: an ``aws.eks.Cluster``, or the output of ``aws.eks.get_cluster_output``.

    :param kubernetes_version: its minor, such as ``1.36``.
    :param vpc_cni: who installs its CNI: ``addon`` (default) or ``self_managed``, which is what EKS installs itself.
    :raises WinkubeError: ``WK-EKS-091``; ``WK-EKS-092`` if the cluster differs from its description.
    """
    if not isinstance(cluster, aws.eks.Cluster | pulumi.Output):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _not_a("an aws.eks.Cluster, or the output of aws.eks.get_cluster_output,", cluster)
    described = EksTarget(
        name="",
        kubernetes_version=kubernetes_version,
        service_cidr=service_cidr,
        authentication_mode=authentication_mode,
        ip_family=ip_family,
        vpc_cni=vpc_cni,
        auto_mode=auto_mode,
        partition=partition,
    )
    return _target(pulumi.Output.from_input(cluster), described)


def target_of_pulumi_eks(
    cluster: Any,
    *,
    kubernetes_version: str,
    service_cidr: str = EksTarget.service_cidr,
    authentication_mode: str = "CONFIG_MAP",
    ip_family: str = EksTarget.ip_family,
    vpc_cni: str = EksTarget.vpc_cni,
    auto_mode: bool = EksTarget.auto_mode,
    partition: str = EksTarget.partition,
) -> EksTarget:
    """The target of a ``pulumi_eks.Cluster``.

    :param kubernetes_version: the ``version`` that it was given, as a minor such as ``1.36``.
    :param authentication_mode: what it was given; ``CONFIG_MAP``, its own default. Groups that start themselves need
        ``API_AND_CONFIG_MAP`` or ``API``.
    :param vpc_cni: ``addon`` (its default: it makes the add-on, and its ``vpc_cni_options`` take the
        ``configuration_values`` that ``ipam.addon_values`` writes), or ``self_managed`` with
        ``use_default_vpc_cni=True``, where ``WindowsIpam`` in mode ``config_map`` switches Windows IPAM on.
    :raises WinkubeError: ``WK-EKS-090``, ``WK-EKS-091``; ``WK-EKS-092`` if the cluster differs from its description.
    """
    if not isinstance(cluster, _pulumi_eks().Cluster):
        raise _not_a("a pulumi_eks.Cluster", cluster)
    described = EksTarget(
        name="",
        kubernetes_version=kubernetes_version,
        service_cidr=service_cidr,
        authentication_mode=authentication_mode,
        ip_family=ip_family,
        vpc_cni=vpc_cni,
        auto_mode=auto_mode,
        partition=partition,
    )
    return _target(cluster.eks_cluster, described)


def cluster_role_name(cluster: Any) -> pulumi.Output[str]:
    """The name of a cluster's role, to attach ``AmazonEKSVPCResourceController``, which Windows IPAM needs.

    :param cluster: an ``aws.eks.Cluster``, the output of ``aws.eks.get_cluster_output``, or a ``pulumi_eks.Cluster``.
    """
    source: Any = cluster
    if not isinstance(cluster, aws.eks.Cluster | pulumi.Output):
        source = cluster.eks_cluster
    role_arn = _part(pulumi.Output[Any].from_input(source), "role_arn")
    return role_arn.apply(lambda arn: str(arn or "").rpartition("/")[2])


def check_facts(actual: Mapping[str, Any], described: EksTarget) -> Mistakes:
    """Compare the description of a cluster with the cluster. Values that are no real ones, as in tests, are skipped.

    :param actual: field of the target to what the cluster has.
    """
    found = Mistakes()
    for field, is_one in _FACTS.items():
        value, said = actual.get(field), getattr(described, field)
        if value != said and is_one(str(value)):
            found.add(FACTS_DIFFER, (field,), f'the cluster has "{value}"', f'set {field} to "{value}"', said)
    return found


_FACTS: Mapping[str, Callable[[str], Any]] = {
    "kubernetes_version": re.compile(r"\d+\.\d+").fullmatch,
    "service_cidr": network_or_none,
    "authentication_mode": AUTHENTICATION_MODES.__contains__,
    "ip_family": ("ipv4", "ipv6").__contains__,
}
"""What is compared, with what tells such a value from others."""


def _pulumi_eks() -> Any:
    try:
        return importlib.import_module("pulumi_eks")
    except ModuleNotFoundError:
        found = Mistakes()
        found.add(EXTRA_MISSING, ("cluster",), "the package pulumi-eks is not installed",
                  'install "winkube[eks]", or describe the cluster with an EksTarget')  # fmt: skip
        raise WinkubeError("A pulumi_eks.Cluster cannot be read", found) from None


def _not_a(kind: str, cluster: Any) -> WinkubeError:
    found = Mistakes()
    found.add(
        NOT_A_CLUSTER,
        ("cluster",),
        f"{kind} is needed",
        "pass the resource itself, or describe the cluster with an EksTarget",
        type(cluster).__name__,
    )
    return WinkubeError("A cluster cannot be read", found)


def _target(cluster: pulumi.Output[Any], described: EksTarget) -> EksTarget:
    facts = pulumi.Output.all(
        name=_part(cluster, "name"),
        kubernetes_version=_part(cluster, "version"),
        service_cidr=_part(cluster, "kubernetes_network_config", "service_ipv4_cidr"),
        authentication_mode=_part(cluster, "access_config", "authentication_mode"),
        ip_family=_part(cluster, "kubernetes_network_config", "ip_family"),
    )

    def verified(actual: Mapping[str, Any]) -> str:
        found = check_facts(actual, described)
        if found:
            raise WinkubeError(f'The cluster "{actual["name"]}" is not the one that was described', found)
        return actual["name"]

    return replace(
        described,
        # Everything that joins the cluster names it, and so waits for the comparison.
        name=facts.apply(verified),
        endpoint=_part(cluster, "endpoint"),
        certificate_authority=_part(cluster, "certificate_authority", "data"),
        security_group_id=_part(cluster, "vpc_config", "cluster_security_group_id"),
    )


_LISTS: Mapping[str, str] = {
    "access_config": "access_configs",
    "certificate_authority": "certificate_authorities",
    "kubernetes_network_config": "kubernetes_network_configs",
}
"""Parts that a cluster has once, of which a look-up gives a list."""


def _part(cluster: pulumi.Output[Any], *way: str) -> pulumi.Output[Any]:
    """A part of a cluster; None where it has none, as that of a component provider that nobody runs."""
    part = cluster
    for step in way:
        part = part.apply(lambda known, step=step: _step(known, step))
    return part


def _step(known: Any, step: str) -> Any:
    listed = getattr(known, _LISTS[step], None) if step in _LISTS else None
    return listed[0] if listed else getattr(known, step, None)
