"""One EKS add-on: kube-proxy, CoreDNS or another, at a pinned or the default version."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..core.order import ordered_after
from ..core.tags import check_tags, named
from .target import EksTarget, check_target

ADDON_NAME = Rule(
    "WK-EKS-060",
    "The vpc-cni add-on belongs to WindowsIpam, which configures it.",
    "https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html",
)
CONFLICTS = Rule(
    "WK-EKS-061",
    "Add-on conflicts are resolved by none, overwrite or preserve.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html",
)
RESOLUTIONS: Mapping[str, str] = {"overwrite": "OVERWRITE", "preserve": "PRESERVE", "none": "NONE"}


@dataclass(frozen=True, kw_only=True)
class EksAddonArgs:
    """One add-on of a cluster."""

    cluster: EksTarget
    """The cluster."""
    addon_name: str
    """The add-on's name, such as ``kube-proxy`` or ``coredns``; ``WindowsIpam`` installs ``vpc-cni``."""
    addon_version: str | None = None
    """A pinned version such as ``v1.36.0-eksbuild.2``; by default the EKS default of the cluster's minor."""
    configuration_values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The add-on's configuration values; none by default. They must match the add-on's schema."""
    service_account_role_arn: pulumi.Input[str] | None = None
    """ARN of the role of the add-on's service account (IRSA); the node role by default."""
    on_conflict: str = "overwrite"
    """What happens to fields that were changed outside EKS: ``overwrite`` (default), ``preserve`` or ``none``
    (fail)."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the add-on."""


def check_addon(args: EksAddonArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = Mistakes()
    found.take(check_target(args.cluster), "cluster")
    if args.addon_name == "vpc-cni":
        found.add(ADDON_NAME, ("addon_name",), "vpc-cni holds the configuration of Windows IPAM",
                  "use WindowsIpam, which installs it", args.addon_name)  # fmt: skip
    if args.on_conflict not in RESOLUTIONS:
        guess = nearest(args.on_conflict.lower(), tuple(RESOLUTIONS))
        found.add(CONFLICTS, ("on_conflict",), f"conflicts are resolved by {one_of(RESOLUTIONS)}",
                  f'write "{guess}"' if guess else "write one of these", args.on_conflict)  # fmt: skip
    found.take(check_tags(args.tags))
    return found


class EksAddon(Component):
    """An EKS add-on.

    CoreDNS and others with a Deployment become active only when nodes can run it: pass the Linux node groups in
    ``opts.depends_on``. kube-proxy must come before the nodes.

    :raises WinkubeError: ``WK-EKS-060``, ``WK-EKS-061``, ``WK-TAG``, and the codes of the target.
    """

    addon_name: str
    """The add-on's name."""
    arn: pulumi.Output[str]
    """Its ARN."""

    def __init__(self, name: str, args: EksAddonArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_addon(args))
        resolution = RESOLUTIONS[args.on_conflict]
        addon = aws.eks.Addon(
            f"{name}-addon",
            cluster_name=args.cluster.name,
            addon_name=args.addon_name,
            addon_version=args.addon_version,
            configuration_values=json.dumps(args.configuration_values, sort_keys=True)
            if args.configuration_values
            else None,
            service_account_role_arn=args.service_account_role_arn,
            # PRESERVE exists for updates only.
            resolve_conflicts_on_create="OVERWRITE" if resolution == "PRESERVE" else resolution,
            resolve_conflicts_on_update=resolution,
            tags=named(args.tags, f"{name}-{args.addon_name}"),
            opts=self.child(depends_on=ordered_after(opts)),
        )
        self.addon_name = args.addon_name
        self.arn = addon.arn
        self.register_outputs({"addonName": self.addon_name, "arn": self.arn})
