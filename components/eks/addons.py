"""The add-ons of a cluster, each from its row of the table.

- for each one that calls AWS a role for its service account, unless it brings one;
- EKS add-ons with their configuration values; Helm releases for the others, with the caller's Kubernetes provider;
- in an order in which each finds what it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi
import pulumi_aws as aws

from ..addons import addon_policies
from ..addons.addon_rules import check_addons
from ..addons.addon_table import ADDONS, Addon, Slot
from ..addons.chart_values import plain_slots, rendered_values
from ..addons.identity import check_oidc
from ..addons.installing import addon_role, chart_release, install_order
from ..addons.irsa import IrsaRole
from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, named
from ..roles.policy_documents import managed_policy_arn, rendered
from ..roles.role_rules import check_boundary, check_path
from ..roles.validation import PolicySource, check_policy_documents
from .addon import EksAddon, EksAddonArgs, ordered_after
from .target import EksTarget, check_target


@dataclass(frozen=True, kw_only=True)
class AddonChoice:
    """One add-on of a cluster."""

    name: str
    """Name of the add-on, such as ``aws-ebs-csi-driver``."""
    version: str | None = None
    """A pinned version; by default the EKS default of the cluster's minor, or the chart version that winkube was
    tested with."""
    windows: bool | None = None
    """Whether its Windows part is installed; by default if the cluster has Windows nodes."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further values, upon the table's: mappings are joined, the rest replaced. Node selectors that keep a part on its
    operating system stay."""
    identity: str = "irsa"
    """How its service account gets its role: ``irsa`` (default), or ``pod_identity`` if no Windows pod needs the
    role."""
    role_arn: pulumi.Input[str] | None = None
    """ARN of an existing role for its service account; created by default. Excludes ``additional_policies``."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the created role, for example for the KMS keys of encrypted volumes."""


@dataclass(frozen=True, kw_only=True)
class EksAddonsArgs:
    """The add-ons of a cluster."""

    cluster: EksTarget
    """The cluster."""
    region: str
    """The Region of the cluster."""
    addons: Sequence[AddonChoice]
    """The add-ons, in any order."""
    windows: bool = True
    """Whether it has Windows nodes, now or later."""
    windows_releases: Sequence[str] = ()
    """The Windows releases of the nodes, such as ``2025``. Pinned add-on versions are checked against them."""
    oidc_provider_arn: pulumi.Input[str] | None = None
    """ARN of the IAM OIDC provider of the cluster. Required for every add-on with a role through IRSA."""
    oidc_issuer: pulumi.Input[str] | None = None
    """The cluster's issuer URL. Required for every add-on with a role through IRSA."""
    vpc_id: pulumi.Input[str] | None = None
    """ID of the VPC. Required for ``aws-load-balancer-controller``."""
    karpenter_node_role_arns: Sequence[pulumi.Input[str]] = ()
    """ARNs of the node roles that ``karpenter`` uses for Linux and Windows. Required for ``karpenter``."""
    karpenter_queue_arn: pulumi.Input[str] | None = None
    """ARN of the SQS queue with interruption events for ``karpenter``; none by default."""
    permissions_boundary: str | None = None
    """ARN of the roles' permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the roles; it begins and ends with a slash."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of roles and EKS add-ons."""


def needs_role(choice: AddonChoice) -> bool:
    """Whether a role is made for this choice."""
    addon = ADDONS.get(choice.name)
    return addon is not None and addon.service_account is not None and choice.role_arn is None


def check_eks_addons(args: EksAddonsArgs) -> Mistakes:
    """Everything that is wrong with the add-ons of a cluster."""
    found = Mistakes()
    found.take(check_target(args.cluster), "cluster")
    filled = [slot for slot, value in ((Slot.VPC_ID, args.vpc_id), (Slot.NODE_ROLES, args.karpenter_node_role_arns))
              if value]  # fmt: skip
    found.take(check_addons(args.addons, args.windows, args.cluster.kubernetes_version,
                            windows_releases=args.windows_releases, filled_slots=filled))  # fmt: skip
    for index, choice in enumerate(args.addons):
        found.take(check_policy_documents(choice.additional_policies, partition=args.cluster.partition),
                   "addons", index)  # fmt: skip
    if any(needs_role(choice) and choice.identity == "irsa" for choice in args.addons):
        found.take(check_oidc(args.oidc_provider_arn, args.oidc_issuer))
    found.take(check_boundary(args.permissions_boundary, partition=args.cluster.partition))
    found.take(check_path(args.role_path, ("role_path",)))
    found.take(check_tags(args.tags))
    return found


def windows_node_policies(names: Sequence[str], partition: str = "aws") -> list[str]:
    """ARNs of the AWS managed policies that Windows node roles need for these add-ons.

    >>> windows_node_policies(["amazon-cloudwatch-observability"])
    ['arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy']
    """
    policies = {policy for name in names for policy in ADDONS[name].windows_node_policies}
    return [managed_policy_arn(policy, partition) for policy in sorted(policies)]


class EksAddons(Component):
    """The add-ons of a cluster with Windows nodes.

    They need nodes to run on: pass the Linux node groups in ``opts.depends_on``. Helm releases go through the
    Kubernetes provider in ``opts.providers``.

    :raises WinkubeError: ``WK-ADD-001`` to ``WK-ADD-022``, ``WK-IAM``, ``WK-TAG``, and the codes of the target.
    """

    role_arns: dict[str, pulumi.Output[str]]
    """Roles of the service accounts, by add-on."""
    windows_node_policy_arns: list[str]
    """AWS managed policies to attach to the roles of Windows nodes (``external_policies``)."""

    def __init__(self, name: str, args: EksAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_eks_addons(args))
        self._waits: Any = ordered_after(opts)
        self.role_arns = {}
        choices = {choice.name: choice for choice in args.addons}
        made: dict[str, pulumi.Resource] = {}
        for addon_name in install_order(list(choices), ADDONS):
            addon, choice = ADDONS[addon_name], choices[addon_name]
            role_arn, roles = self._role(name, args, addon, choice)
            install = self._install_addon if addon.chart is None else self._install_chart
            after = [*roles, *(made[it] for it in addon.after if it in made)]
            made[addon_name] = install(name, args, addon, choice, role_arn, after)
        windows = list(choices) if args.windows else []
        self.windows_node_policy_arns = windows_node_policies(windows, args.cluster.partition)
        self.register_outputs({
            "addons": sorted(choices),
            "roleArns": self.role_arns,
            "windowsNodePolicyArns": self.windows_node_policy_arns,
        })  # fmt: skip

    def _role(
        self, name: str, args: EksAddonsArgs, addon: Addon, choice: AddonChoice
    ) -> tuple[pulumi.Input[str] | None, list[pulumi.Resource]]:
        """The role for the add-on's annotation, and what has to outlive the add-on: its rights end after it does."""
        if addon.service_account is None:
            return None, []
        role_arn, roles = choice.role_arn, list[pulumi.Resource]()
        if role_arn is None:
            documents = _own_documents(args, addon)
            made = addon_role(addon, args, args.cluster.partition, documents, choice.additional_policies)
            role = IrsaRole(f"{name}-{addon.name}", replace(made, identity=choice.identity), self.child())
            role_arn = role.role_arn
            roles.append(role)
        self.role_arns[addon.name] = pulumi.Output.from_input(role_arn)
        if choice.identity == "irsa":
            return role_arn, roles
        association = aws.eks.PodIdentityAssociation(
            f"{name}-{addon.name}-identity",
            cluster_name=args.cluster.name,
            namespace=addon.namespace,
            service_account=addon.service_account,
            role_arn=role_arn,
            tags=named(args.tags, f"{name}-{addon.name}-identity"),
            opts=self.child(),
        )
        return None, [*roles, association]

    def _install_addon(
        self,
        name: str,
        args: EksAddonsArgs,
        addon: Addon,
        choice: AddonChoice,
        role_arn: pulumi.Input[str] | None,
        after: Sequence[pulumi.Resource],
    ) -> pulumi.Resource:
        return EksAddon(
            f"{name}-{addon.name}",
            EksAddonArgs(
                cluster=args.cluster,
                addon_name=addon.name,
                addon_version=choice.version,
                configuration_values=rendered_values(addon, choice.values, _slots(args, choice)),
                service_account_role_arn=role_arn,
                # Overwrite, not preserve: a node selector that someone took away by hand comes back.
                on_conflict="overwrite",
                tags=args.tags,
            ),
            self.child(depends_on=_both(self._waits, after)),
        )

    def _install_chart(
        self,
        name: str,
        args: EksAddonsArgs,
        addon: Addon,
        choice: AddonChoice,
        role_arn: pulumi.Input[str] | None,
        after: Sequence[pulumi.Resource],
    ) -> pulumi.Resource:
        values = rendered_values(addon, choice.values, _slots(args, choice), role_arn)
        opts = self.child(depends_on=_both(self._waits, after))
        return chart_release(f"{name}-{addon.name}", addon, choice.version, values, opts)


def _slots(args: EksAddonsArgs, choice: AddonChoice) -> dict[Slot, Any]:
    windows = args.windows if choice.windows is None else choice.windows
    slots = plain_slots(args.cluster.kubernetes_version, windows=windows, region=args.region)
    slots[Slot.CLUSTER_NAME] = args.cluster.name
    if args.vpc_id is not None:
        slots[Slot.VPC_ID] = args.vpc_id
    if args.karpenter_queue_arn is not None:
        slots[Slot.QUEUE] = pulumi.Output.from_input(args.karpenter_queue_arn).apply(lambda arn: arn.split(":")[-1])
    return slots


def _own_documents(args: EksAddonsArgs, addon: Addon) -> dict[str, pulumi.Input[str]]:
    """The inline policy that the table names, as JSON once the cluster's name is known."""
    partition, region = args.cluster.partition, args.region
    if addon.document is None:
        return {}
    inputs = pulumi.Output.all(args.cluster.name, args.karpenter_queue_arn, *args.karpenter_node_role_arns)

    def text(known: Sequence[Any]) -> str:
        cluster_name, queue_arn, *node_role_arns = known
        if addon.document == "karpenter_controller":
            return rendered(
                addon_policies.karpenter_controller(cluster_name, region, node_role_arns, queue_arn, partition)
            )
        return rendered(getattr(addon_policies, str(addon.document))(cluster_name, partition))

    return {"controller": inputs.apply(text)}


def _both(waits: Any, after: Sequence[pulumi.Resource]) -> Any:
    """What the caller asked to wait for, with what comes before in the table."""
    if not after:
        return waits
    given: list[Any] = [] if waits is None else list(waits) if isinstance(waits, Sequence) else [waits]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [*given, *after]
