"""How pods choose nodes."""

from collections.abc import Iterator

from winkube.scheduling.kubelet import SET_BY_OTHERS

from ...frameworks import kubernetes_docs
from ...model import Planned, Settings, resource_rule
from ...pods import pod_of
from ...resource_types import WORKLOADS

BETA_LABELS = tuple(label for label in SET_BY_OTHERS if "beta.kubernetes.io" in label)
"""Labels that every node still gets beside those that replaced them."""


@resource_rule(
    "no-beta-labels",
    "Pods select nodes by labels that are not deprecated",
    types=WORKLOADS,
    severity="low",
    references=[kubernetes_docs("Well-known labels, annotations and taints")],
    steps="use kubernetes.io/os, kubernetes.io/arch, node.kubernetes.io/instance-type or topology.kubernetes.io/zone",
    url="https://kubernetes.io/docs/reference/labels-annotations-taints/",
)
def no_beta_labels(resource: Planned, settings: Settings) -> Iterator[str]:
    """Checks node selectors and node affinity."""
    pod = pod_of(resource)
    if pod is None:
        return
    required = pod.spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    keys = [expression["key"].settled for term in required["nodeSelectorTerms"].items()
            for expression in term["matchExpressions"].items()]  # fmt: skip
    keys += [key for key, _ in pod.spec["nodeSelector"].entries()]
    for label in BETA_LABELS:
        if label in keys:
            yield f"{label} is deprecated"
