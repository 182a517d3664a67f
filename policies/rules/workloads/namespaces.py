"""Namespaces."""

from collections.abc import Iterator

from ...frameworks import CIS_EKS_PAGE, cis_eks, cis_kubernetes
from ...model import (
    WHEN_OPTIONS,
    Planned,
    Settings,
    Stack,
    Undecided,
    Violation,
    applies,
    every,
    resource_rule,
    stack_rule,
)
from ...pods import pods
from ...resource_types import NAMESPACE, NETWORK_POLICY, WORKLOADS


@stack_rule(
    "default-namespace-unused",
    "Workloads do not run in the default namespace",
    types=WORKLOADS,
    severity="low",
    references=[cis_eks("4.5.2"), cis_kubernetes("5.7.4")],
    steps="create a Namespace and set it in metadata.namespace",
    url=CIS_EKS_PAGE,
    options=WHEN_OPTIONS,
)
def default_namespace_unused(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """By default, applies in production only. The namespace of a provider counts."""

    def check(resource: Planned) -> Iterator[Violation]:
        if not applies(resource, settings):
            return
        provider = stack.by_urn.get(resource.provider)
        if provider is not None and provider["namespace"].given:
            return
        if resource["metadata"]["namespace"].text in (None, "default"):
            yield Violation("the workload runs in the default namespace", resource.urn)

    yield from every([resource for resource, _ in pods(stack)], check)


@resource_rule(
    "namespace-pod-security",
    "Namespaces enforce a Pod Security level",
    types=[NAMESPACE],
    severity="low",
    references=[cis_eks("4.2.1"), cis_kubernetes("5.2.1")],
    steps="set the label pod-security.kubernetes.io/enforce to restricted or baseline",
    url="https://kubernetes.io/docs/concepts/security/pod-security-admission/",
    options=WHEN_OPTIONS,
)
def namespace_pod_security(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only."""
    if applies(resource, settings):
        level = resource["metadata"]["labels"]["pod-security.kubernetes.io/enforce"].text
        if level not in ("baseline", "restricted"):
            yield "the namespace admits privileged pods"


@stack_rule(
    "namespace-network-policy",
    "Every namespace has a network policy",
    types=[NAMESPACE],
    severity="low",
    references=[cis_eks("4.3.2"), cis_kubernetes("5.3.2")],
    steps="add a NetworkPolicy that denies everything, and one for each flow that is needed; on Windows, use Calico",
    url="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    options=WHEN_OPTIONS,
)
def namespace_network_policy(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """By default, applies in production only. Checks the namespaces that the program creates."""
    policies = [policy["metadata"]["namespace"] for policy in stack.of(NETWORK_POLICY)]
    covered = {policy.settled for policy in policies}
    referred = {source.urn for policy in stack.of(NETWORK_POLICY)
                for source in stack.sources(policy, "metadata", NAMESPACE)}  # fmt: skip
    missing = [
        namespace
        for namespace in stack.of(NAMESPACE)
        if applies(namespace, settings)
        and namespace.urn not in referred
        and (namespace["metadata"]["name"].settled or namespace.name) not in covered
    ]
    unclear = [policy for policy in stack.of(NETWORK_POLICY)
               if policy["metadata"]["namespace"].unknown and not policy.references.get("metadata")]  # fmt: skip
    if missing and unclear:
        raise Undecided(f"{unclear[0].name}.metadata.namespace")
    for namespace in missing:
        yield Violation("nothing limits who can connect to the pods of the namespace", namespace.urn)
