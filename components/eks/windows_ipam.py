"""Windows IPAM of a cluster, switched on in exactly one place.

- mode ``addon``: the vpc-cni add-on with Windows IPAM in its own configuration values;
- mode ``config_map``: the ConfigMap ``kube-system/amazon-vpc-cni``, for a cluster whose CNI is self-managed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.order import ordered_after
from ..core.tags import check_tags, named
from .ipam import (
    CONFIG_MAP_NAME,
    CONFIG_MAP_NAMESPACE,
    IPAM_MODE,
    addon_configuration,
    advise_addon_values,
    check_addon_values,
    check_windows_ipam,
    config_map_data,
)
from .node_group_rules import check_auto_mode, check_ip_family
from .target import EksTarget, check_target


@dataclass(frozen=True, kw_only=True)
class WindowsIpamArgs:
    """The arguments of Windows IPAM."""

    cluster: EksTarget
    """The cluster. Its role needs the policy ``AmazonEKSVPCResourceController``."""
    mode: str = "addon"
    """``addon`` (default): the vpc-cni add-on holds the configuration. ``config_map``: a ConfigMap holds it, for
    clusters with a self-managed CNI; requires a Kubernetes provider. Never both: the add-on overwrites the
    ConfigMap."""
    enabled: bool = True
    """Whether Windows IPAM is on. Set it to False only after the last Windows node is gone."""
    prefix_delegation: bool = False
    """Whether nodes get /28 prefixes, for up to sixteen times the pods; requires Nitro types and contiguous blocks.
    Off by default. Change it only together with new node groups."""
    warm_ip_target: int | None = None
    """Free addresses to keep on each node. By default 3 with single addresses and 1 with prefixes (add-on: 1)."""
    minimum_ip_target: int | None = None
    """Minimum number of addresses of a node, used or free; 3 by default."""
    warm_prefix_target: int | None = None
    """Free prefixes to keep on each node; only with ``prefix_delegation``, and without the other two targets."""
    addon_version: str | None = None
    """A pinned version of the add-on; the EKS default by default. Only in mode ``addon``."""
    addon_values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further values of the add-on, such as ``env``. Only in mode ``addon``."""
    service_account_role_arn: pulumi.Input[str] | None = None
    """ARN of the role of ``aws-node`` on Linux (IRSA); the Linux node role by default. Only in mode ``addon``."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the add-on."""


def check_windows_ipam_args(args: WindowsIpamArgs) -> Mistakes:
    """Every mistake in the arguments, and whether the mode fits the cluster's CNI."""
    found = check_windows_ipam(args)
    found.take(check_target(args.cluster), "cluster")
    found.take(check_tags(args.tags))
    found.take(check_addon_values(args.addon_values))
    if args.enabled:
        found.take(check_ip_family(args.cluster.ip_family), "cluster")
        found.take(check_auto_mode(args.cluster.auto_mode), "cluster")
    owner = {"addon": "addon", "config_map": "self_managed"}.get(args.mode)
    if owner is not None and owner != args.cluster.vpc_cni:
        message = (
            "the vpc-cni add-on overwrites the ConfigMap"
            if args.mode == "config_map"
            else "the cluster's CNI is self-managed, which the add-on would replace"
        )
        mode = "addon" if args.mode == "config_map" else "config_map"
        found.add(IPAM_MODE, ("mode",), message, f'set mode to "{mode}"', args.mode)
    if args.mode == "config_map":
        for name in ("addon_version", "addon_values", "service_account_role_arn"):
            if getattr(args, name):
                found.add(
                    IPAM_MODE,
                    (name,),
                    f"{name} is an option of the add-on, which mode config_map does not install",
                    f'remove {name}, or set mode to "addon"',
                )
    return found


class WindowsIpam(Component):
    """Windows IPAM: how a cluster gives addresses to Windows pods.

    Linux node groups come after it in mode ``addon``, for without the CNI no node becomes ready; Windows node groups
    come after it in both modes.

    :raises WinkubeError: ``WK-EKS-030``, ``-034`` to ``-036``, ``-050`` to ``-054``, ``WK-TAG``, the target's codes.
    """

    mode: str
    """``addon`` or ``config_map``."""
    enabled: bool
    """Whether Windows IPAM is on."""

    def __init__(self, name: str, args: WindowsIpamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_windows_ipam_args(args))
        self.advise(advise_addon_values(args.addon_values))
        self.mode, self.enabled = args.mode, args.enabled
        if args.mode == "addon":
            self._create_addon(name, args, opts)
        else:
            self._create_config_map(name, args, opts)
        self.register_outputs({"mode": self.mode, "enabled": self.enabled, "prefixDelegation": args.prefix_delegation})

    def _create_addon(self, name: str, args: WindowsIpamArgs, opts: pulumi.ResourceOptions | None) -> None:
        aws.eks.Addon(
            f"{name}-vpc-cni",
            cluster_name=args.cluster.name,
            addon_name="vpc-cni",
            addon_version=args.addon_version,
            configuration_values=addon_configuration(args, args.addon_values),
            service_account_role_arn=args.service_account_role_arn,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=named(args.tags, f"{name}-vpc-cni"),
            opts=self.child(depends_on=ordered_after(opts)),
        )

    def _create_config_map(self, name: str, args: WindowsIpamArgs, opts: pulumi.ResourceOptions | None) -> None:
        # A patch: the map may be there already, with keys of the network policy controller in it.
        kubernetes.core.v1.ConfigMapPatch(
            f"{name}-config-map",
            metadata={
                "name": CONFIG_MAP_NAME,
                "namespace": CONFIG_MAP_NAMESPACE,
                # Whoever switched IPAM on by hand owns the keys until they are taken over.
                "annotations": {"pulumi.com/patchForce": "true"},
            },
            data=config_map_data(args),
            opts=self.child(depends_on=ordered_after(opts)),
        )
