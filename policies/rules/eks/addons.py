"""Add-ons."""

from collections.abc import Iterator

from ...eks_resources import addon_values
from ...frameworks import best_practices, cis_eks, cis_kubernetes
from ...inventory import installs
from ...model import Planned, Settings, Stack, Value, Violation, resource_rule, stack_rule
from ...resource_types import ADDON, NETWORK_POLICY


@stack_rule(
    "network-policies-enforced",
    "Network policies are enforced",
    types=[NETWORK_POLICY],
    severity="high",
    references=[cis_eks("4.3.1"), cis_eks("5.4.4"), cis_kubernetes("5.3.1")],
    steps='set "enableNetworkPolicy": "true" in configuration_values of the add-on vpc-cni; for Windows use Calico',
    url="https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html",
)
def network_policies_enforced(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without enforcement, policies look safe but have no effect."""
    if installs(stack, "calico", "tigera", "cilium", "antrea"):
        return
    addons = [addon for addon in stack.of(ADDON) if addon["addonName"].settled == "vpc-cni"]
    for addon in addons:
        values = addon_values(addon["configurationValues"])
        if str(Value(values, "")["enableNetworkPolicy"].settled).lower() == "true":
            return
    if addons:
        policies = stack.of(NETWORK_POLICY)
        message = f"{len(policies)} network policies have no effect: the vpc-cni add-on does not enforce them"
        yield Violation(message, addons[0].urn)


@resource_rule(
    "addon-conflicts",
    "Add-ons say how updates resolve conflicts",
    types=[ADDON],
    severity="low",
    references=[best_practices("EKS add-ons")],
    steps='set resolve_conflicts_on_update to "OVERWRITE", or to "PRESERVE" if others configure it too',
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html",
)
def addon_conflicts(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, the update of an add-on that someone changed fails halfway."""
    configured = resource["configurationValues"].given
    if configured and resource["resolveConflictsOnUpdate"].text in (None, "NONE"):
        yield "an update fails if someone changed the add-on: resolveConflictsOnUpdate is not set"
