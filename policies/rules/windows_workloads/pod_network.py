"""The pod network: DNS, network policies, and the programs that make it."""

import json
from collections.abc import Iterator
from typing import Any

from winkube.addons.legacy import check_legacy_object

from ...frameworks import (
    BEST_PRACTICES,
    WINDOWS_COMPATIBILITY,
    WINDOWS_COMPATIBILITY_PAGE,
    WINDOWS_SUPPORT_PAGE,
    best_practices,
    eks_guide,
    kubernetes_docs,
)
from ...inventory import installs, inventory
from ...model import Planned, Settings, Stack, Value, Violation, every, resource_rule, stack_rule
from ...pods import container_name, pod_of, windows_pod, windows_pods
from ...resource_types import CONFIG_MAP, DEPLOYMENT, NETWORK_POLICY, WORKLOADS


@resource_rule(
    "windows-dns-policy",
    "Pods on Windows use a DNS policy that Windows supports",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps='set dnsPolicy to "ClusterFirst", or leave it out',
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_dns_policy(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows does not support `ClusterFirstWithHostNet`."""
    pod = windows_pod(resource)
    if pod and pod.spec["dnsPolicy"].text == "ClusterFirstWithHostNet":
        yield f"{pod.spec.path}.dnsPolicy is ClusterFirstWithHostNet, which Windows does not support"


@stack_rule(
    "windows-network-policy",
    "Network policies for pods on Windows do not rely on the VPC CNI",
    types=[NETWORK_POLICY],
    severity="high",
    references=[best_practices("Windows networking")],
    steps="enforce it with Calico for Windows; disable this rule if the program does not install Calico itself",
    url=f"{BEST_PRACTICES}/windows-networking.html",
)
def windows_network_policy(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The VPC CNI enforces policies on Linux nodes only."""
    if installs(stack, "calico", "tigera"):
        return

    def check(policy: Planned) -> Iterator[Violation]:
        selector = policy["spec"]["podSelector"]["matchLabels"]
        selector.known()
        for resource, pod in windows_pods(stack):
            if pod.selected_by(selector):
                message = f'the pods of "{resource.name}" run on Windows: nothing enforces the policy there'
                yield Violation(message, policy.urn)
                return

    yield from every(stack.of(NETWORK_POLICY), check)


@stack_rule(
    "flannel-fits-windows",
    "Flannel uses VXLAN with the settings that Windows needs",
    types=[CONFIG_MAP],
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Networking on Windows")],
    steps='set Backend to {"Type": "vxlan", "VNI": 4096, "Port": 4789}, and open UDP 4789 between all nodes',
    url="https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md",
)
def flannel_fits_windows(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Applies where there are Windows nodes or pods. On AWS, other backends need routes that nothing maintains."""
    if not (inventory(stack).has_windows or windows_pods(stack)):
        return

    def check(resource: Planned) -> Iterator[Violation]:
        if not resource["data"].unknown and not resource["data"]["net-conf.json"].given:
            return
        try:
            document: Any = json.loads(resource["data"]["net-conf.json"].text or "")
        except ValueError:
            yield Violation("net-conf.json is not JSON", resource.urn)
            return
        backend = Value(document, "net-conf.json")["Backend"]
        kind, network, port = backend["Type"].text, backend["VNI"].number, backend["Port"].number
        if kind != "vxlan":
            yield Violation(f'Backend.Type is "{kind}"; with Windows nodes on AWS flannel needs vxlan', resource.urn)
        elif network is None or network < 4096 or port != 4789:
            got = f"VNI {network or 'not set'} and port {port or 'not set'}"
            yield Violation(
                f"Windows supports VXLAN only with VNI 4096 or higher on port 4789, got {got}", resource.urn
            )

    yield from every(stack.of(CONFIG_MAP), check)


DISCONTINUED = ("weaveworks/weave-kube", "weaveworks/weave-npc")


@resource_rule(
    "windows-no-legacy-controller",
    "The control plane manages Windows addresses, not a legacy controller",
    types=[DEPLOYMENT],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="remove the Deployment, and enable Windows IPAM in the cluster",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_no_legacy_controller(resource: Planned, settings: Settings) -> Iterator[str]:
    """While the legacy controller exists, the control plane ignores the settings of Windows IPAM."""
    metadata = resource["metadata"]
    if metadata["namespace"].settled == "kube-system":
        for mistake in check_legacy_object("Deployment", metadata["name"].text or "", "kube-system"):
            yield mistake.message


@resource_rule(
    "pod-network-maintained",
    "The pod network is maintained and works on Windows",
    types=WORKLOADS,
    severity="high",
    references=[kubernetes_docs("Networking on Windows")],
    steps="use flannel with VXLAN, Calico, or the VPC CNI",
    url="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
def pod_network_maintained(resource: Planned, settings: Settings) -> Iterator[str]:
    """Weave Net is discontinued and never ran on Windows."""
    pod = pod_of(resource)

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text or ""
        if any(name in image for name in DISCONTINUED):
            yield f"{container_name(container)} runs Weave Net, which is discontinued and never ran on Windows"

    yield from every(pod.containers if pod else (), check)
