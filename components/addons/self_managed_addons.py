"""The add-ons of a self-managed cluster, each from its row of the table.

- for each one that calls AWS a role for its service account, by the cluster's own OIDC issuer (IRSA), unless it brings
  one;
- the queue of the termination handler, where it is chosen;
- a Helm release for each, in an order in which each finds what it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from ..core.component import Component
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..core.order import ordered_after
from ..core.tags import check_tags
from ..roles.policy_documents import rendered
from ..roles.role_rules import check_boundary, check_path
from ..roles.validation import PolicySource, check_policy_documents
from ..system_services.cloud_controller_manager import check_minor
from ..tables.kubernetes import AUTOSCALER_IMAGES
from . import addon_policies
from .addon_rules import check_values
from .addon_table import Addon, Slot
from .chart_values import MISSING, at, merged, plain_slots, rendered_values
from .identity import check_oidc
from .installing import addon_role, chart_release, install_order
from .interruption_queue import InterruptionQueue, InterruptionQueueArgs
from .irsa import IrsaRole
from .self_managed_table import (
    ELSEWHERE,
    SELF_MANAGED_ADDONS,
    TERMINATION_HANDLER,
    WEBHOOK,
    WINDOWS_NODES_ONLY,
    termination_handler,
)

HELM_PAGE = "https://helm.sh/docs/topics/charts/"
ADDON = Rule(
    "WK-K8S-044",
    "An add-on of a self-managed cluster must be one that winkube supports, and can be chosen only once.",
    HELM_PAGE,
)
ADDON_NEEDS = Rule(
    "WK-K8S-045", "An add-on needs the add-ons that it depends on and the inputs that it cannot discover.", HELM_PAGE
)
ADDON_VERSION = Rule("WK-K8S-046", "A chart must keep the major version that its values were written for.", HELM_PAGE)


@dataclass(frozen=True, kw_only=True)
class SelfManagedAddon:
    """One add-on of a cluster."""

    name: str
    """Name of the add-on, such as ``aws-ebs-csi-driver``."""
    version: str | None = None
    """Version of the chart; by default the one that winkube was tested with."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further chart values, merged into the default values."""
    role_arn: pulumi.Input[str] | None = None
    """ARN of an existing role for its service account; created by default. Excludes ``additional_policies``."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies of the created role, for example for the KMS keys of encrypted volumes."""


@dataclass(frozen=True, kw_only=True)
class SelfManagedAddonsArgs:
    """The add-ons of a cluster."""

    cluster_name: pulumi.Input[str]
    """The cluster's name, as in the tags of its instances and Auto Scaling groups."""
    kubernetes_version: str
    """Kubernetes minor, such as ``1.36``."""
    region: str
    """The Region of the cluster."""
    partition: str = "aws"
    """Partition of the region: ``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``."""
    addons: Sequence[SelfManagedAddon]
    """The add-ons, in any order."""
    windows: bool = True
    """Whether it has Windows nodes, now or later."""
    vpc_id: pulumi.Input[str] | None = None
    """ID of the VPC. Required for ``aws-load-balancer-controller``."""
    oidc_provider_arn: pulumi.Input[str] | None = None
    """ARN of the IAM OIDC provider of the cluster's issuer. Required for every add-on with a role."""
    oidc_issuer: pulumi.Input[str] | None = None
    """URL of the cluster's service account issuer. Required for every add-on with a role."""
    permissions_boundary: str | None = None
    """ARN of the roles' permissions boundary; none by default."""
    role_path: str = "/"
    """Path of the roles; it begins and ends with a slash."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of roles and queue."""


def check_self_managed_addons(args: SelfManagedAddonsArgs) -> Mistakes:
    """Everything that is wrong with the add-ons (``WK-K8S-031``, ``-044`` to ``-046``, ``WK-ADD``, ``WK-IAM``)."""
    found = check_minor(args.kubernetes_version)
    chosen = [choice.name for choice in args.addons]
    roles = False
    for index, choice in enumerate(args.addons):
        here: Path = ("addons", index)
        addon = SELF_MANAGED_ADDONS.get(choice.name)
        if choice.name in chosen[:index]:
            found.add(ADDON, (*here, "name"), "the add-on is chosen twice", "merge the two choices", choice.name)
        if addon is None:
            _unknown(choice.name, here, found)
            continue
        found.take(_check_choice(addon, choice, chosen, args), *here)
        found.take(check_policy_documents(choice.additional_policies, partition=args.partition), *here)
        roles = roles or (addon.service_account is not None and choice.role_arn is None)
    if roles:
        found.take(check_oidc(args.oidc_provider_arn, args.oidc_issuer))
    found.take(check_boundary(args.permissions_boundary, partition=args.partition))
    found.take(check_path(args.role_path, ("role_path",)))
    found.take(check_tags(args.tags))
    return found


def _unknown(name: str, here: Path, found: Mistakes) -> None:
    near = nearest(name, tuple(SELF_MANAGED_ADDONS))
    remedy = ELSEWHERE.get(name) or (f'write "{near}"' if near else "write one of these, or install its chart yourself")
    found.add(ADDON, (*here, "name"), f"the add-ons are {one_of(SELF_MANAGED_ADDONS)}", remedy, name)


def _check_choice(
    addon: Addon, choice: SelfManagedAddon, chosen: Sequence[str], args: SelfManagedAddonsArgs
) -> Mistakes:
    found = Mistakes()
    found.take(check_values(addon, choice.values), "values")
    needs = [it for it in addon.needs if not addon.needs_unless or at(choice.values, addon.needs_unless) is not False]
    if addon.service_account and choice.role_arn is None:
        # Without it no pod is given the token that its role trusts, and the node's own role is out of reach of pods.
        needs.append(WEBHOOK)
    for needed in needs:
        if needed not in chosen:
            found.add(ADDON_NEEDS, ("name",), f"{addon.name} needs {needed}", f'add "{needed}"', addon.name)
    if Slot.VPC_ID in addon.needs_slots and args.vpc_id is None:
        found.add(ADDON_NEEDS, ("name",), f"{addon.name} needs the VPC", "set vpc_id", addon.name)
    if addon.name in WINDOWS_NODES_ONLY and not args.windows:
        found.add(ADDON_NEEDS, ("name",), f"{addon.name} runs only on Windows nodes", "remove it, or set windows",
                  addon.name)  # fmt: skip
    if (
        addon.image_of_minor
        and args.kubernetes_version not in AUTOSCALER_IMAGES
        and (at(choice.values, addon.image_of_minor) is MISSING)
    ):
        found.add(ADDON_NEEDS, ("values", *addon.image_of_minor),
                  f"no release of {addon.name} for Kubernetes {args.kubernetes_version} is known",
                  f'set it to the release of that minor, such as "v{args.kubernetes_version}.0"')  # fmt: skip
    if addon.service_account is None and (choice.role_arn is not None or choice.additional_policies):
        found.add(ADDON, ("role_arn",), f"{addon.name} calls no AWS service", "remove the role and its policies")
    if choice.role_arn is not None and choice.additional_policies:
        found.add(ADDON, ("additional_policies",), "a role that you provide brings its own policies",
                  "remove additional_policies, or remove role_arn to create a role")  # fmt: skip
    found.take(_check_version(addon, choice.version))
    return found


def _check_version(addon: Addon, version: str | None) -> Mistakes:
    found = Mistakes()
    assert addon.chart is not None  # noqa: S101 - every row of this table has one
    known = addon.chart.version
    if version is not None and (
        version.removeprefix("v").split(".")[0] != known.removeprefix("v").split(".")[0] or version.count(".") != 2
    ):
        found.add(ADDON_VERSION, ("version",), f"the values of {addon.name} were written for {known} of its chart",
                  f'write "{known}", or another version of the same major in full', version)  # fmt: skip
    return found


class SelfManagedAddons(Component):
    """The add-ons of a self-managed cluster with Windows nodes.

    They need nodes to run on: pass the Linux groups in ``opts.depends_on``. Helm releases go through the Kubernetes
    provider in ``opts.providers``.

    :raises WinkubeError: ``WK-K8S-031``, ``WK-K8S-044`` to ``WK-K8S-046``, ``WK-ADD``, ``WK-IAM``, ``WK-TAG``.
    """

    role_arns: dict[str, pulumi.Output[str]]
    """Roles of the service accounts, by add-on."""
    queue_arn: pulumi.Output[str] | None
    """ARN of the queue of the termination handler, if that add-on is chosen."""

    def __init__(self, name: str, args: SelfManagedAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_self_managed_addons(args))
        self._waits = ordered_after(opts)
        self.role_arns = {}
        choices = {choice.name: choice for choice in args.addons}
        queue = None
        if TERMINATION_HANDLER in choices:
            queue = InterruptionQueue(f"{name}-interruptions", InterruptionQueueArgs(tags=args.tags), self.child())
        self.queue_arn = queue.queue_arn if queue else None
        made: dict[str, pulumi.Resource] = {}
        for addon_name in install_order(list(choices), SELF_MANAGED_ADDONS):
            addon, choice = SELF_MANAGED_ADDONS[addon_name], choices[addon_name]
            role_arn, before = self._role(name, args, addon, choice)
            values = rendered_values(addon, merged(_own_values(addon, args, queue), choice.values),
                                     _slots(args), role_arn)  # fmt: skip
            before += [made[it] for it in addon.after if it in made]
            opts = self.child(depends_on=[*self._waits, *before])
            made[addon_name] = chart_release(f"{name}-{addon_name}", addon, choice.version, values, opts)
        self.register_outputs({"addons": sorted(choices), "roleArns": self.role_arns, "queueArn": self.queue_arn})

    def _role(
        self, name: str, args: SelfManagedAddonsArgs, addon: Addon, choice: SelfManagedAddon
    ) -> tuple[pulumi.Input[str] | None, list[pulumi.Resource]]:
        if addon.service_account is None:
            return None, []
        role_arn, before = choice.role_arn, list[pulumi.Resource]()
        if role_arn is None:
            documents = self._documents(args, addon)
            made = addon_role(addon, args, args.partition, documents, choice.additional_policies)
            role = IrsaRole(f"{name}-{addon.name}", made, self.child())
            role_arn = role.role_arn
            before.append(role)
        self.role_arns[addon.name] = pulumi.Output.from_input(role_arn)
        return role_arn, before

    def _documents(self, args: SelfManagedAddonsArgs, addon: Addon) -> dict[str, pulumi.Input[str]]:
        if addon.document is None:
            return {}
        partition, kind = args.partition, addon.document

        def text(known: Sequence[Any]) -> str:
            cluster_name, queue_arn = known
            if kind == "termination_handler":
                return rendered(termination_handler(queue_arn, cluster_name, partition))
            return rendered(getattr(addon_policies, kind)(cluster_name, partition))

        return {"controller": pulumi.Output.all(args.cluster_name, self.queue_arn).apply(text)}


def _slots(args: SelfManagedAddonsArgs) -> dict[Slot, Any]:
    slots = plain_slots(args.kubernetes_version, windows=args.windows, region=args.region)
    slots[Slot.CLUSTER_NAME] = args.cluster_name
    if args.vpc_id is not None:
        slots[Slot.VPC_ID] = args.vpc_id
    return slots


def _own_values(addon: Addon, args: SelfManagedAddonsArgs, queue: InterruptionQueue | None) -> dict[str, Any]:
    """Values that are made from other resources."""
    if addon.name != TERMINATION_HANDLER or queue is None:
        return {}
    # Our instances carry this tag; the handler leaves those of other clusters in the account alone.
    return {
        "queueURL": queue.queue_url,
        "managedTag": pulumi.Output.concat("kubernetes.io/cluster/", args.cluster_name),
    }
