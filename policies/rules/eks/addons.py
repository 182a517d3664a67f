"""Add-ons."""

from collections.abc import Iterator

from ...eks_resources import addon_values
from ...frameworks import best_practices, cis_eks, cis_kubernetes
from ...inventory import installs
from ...model import Planned, Settings, Stack, Value, Violation, resource_rule, stack_rule
from ...resource_types import ADDON, NETWORK_POLICY


@stack_rule(
    "network-policies-enforced",
    "Network policies are enforced by something",
    types=[NETWORK_POLICY],
    severity="high",
    references=[cis_eks("4.3.1"), cis_eks("5.4.4"), cis_kubernetes("5.3.1")],
    steps='set "enableNetworkPolicy": "true" in configuration_values of the add-on vpc-cni; for Windows use Calico',
    url="https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html",
)
def network_policies_enforced(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Policies that nobody enforces look safe and are not."""
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
    "Add-ons keep what the program says of them",
    types=[ADDON],
    severity="low",
    references=[best_practices("EKS add-ons")],
    steps='set resolve_conflicts_on_update to "OVERWRITE", or to "PRESERVE" where somebody else configures it',
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html",
)
def addon_conflicts(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without a word an update of a changed add-on fails half-way."""
    configured = resource["configurationValues"].given
    if configured and resource["resolveConflictsOnUpdate"].text in (None, "NONE"):
        yield "an update fails when somebody changed the add-on: resolveConflictsOnUpdate is not set"
