"""AWS permissions and security groups of pods."""

from collections.abc import Iterator

from ...frameworks import eks_guide
from ...model import Planned, Settings, Stack, Violation, every, stack_rule
from ...pods import windows_pods
from ...resource_types import EKS_POD_IDENTITY, SECURITY_GROUP_POLICY


@stack_rule(
    "windows-no-pod-identity",
    "Pods on Windows get AWS permissions through IRSA",
    types=[EKS_POD_IDENTITY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Learn how EKS Pod Identity grants pods access to AWS services")],
    steps="annotate the service account with eks.amazonaws.com/role-arn, and trust the cluster's OIDC provider",
    url="https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html",
)
def windows_no_pod_identity(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The Pod Identity agent does not run on Windows nodes."""

    def check(association: Planned) -> Iterator[Violation]:
        for resource, pod in windows_pods(stack):
            account = pod.spec["serviceAccountName"]
            namespace = resource["metadata"]["namespace"].settled or "default"
            if account.known() is None or association["namespace"].settled not in (namespace, None):
                continue
            if association["serviceAccount"].text == account.raw:
                message = f'the pods of "{resource.name}" run on Windows, where Pod Identity does not work'
                yield Violation(message, association.urn)
                return

    yield from every(stack.of(EKS_POD_IDENTITY), check)


@stack_rule(
    "windows-no-pod-security-groups",
    "Pods on Windows have no security groups of their own",
    types=[SECURITY_GROUP_POLICY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="give the node group a security group, or let the policy select pods on Linux only",
    url="https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
)
def windows_no_pod_security_groups(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The pod gets the node's security groups instead."""

    def check(policy: Planned) -> Iterator[Violation]:
        selector = policy["spec"]["podSelector"]["matchLabels"]
        selector.known()
        for resource, pod in windows_pods(stack):
            if pod.selected_by(selector):
                message = (
                    f'the policy selects the pods of "{resource.name}", which run on Windows: it has no effect there'
                )
                yield Violation(message, policy.urn)
                return

    yield from every(stack.of(SECURITY_GROUP_POLICY), check)
