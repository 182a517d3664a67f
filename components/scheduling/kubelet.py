"""What a kubelet may say of its own node: the labels and taints with which it registers. Pure.

Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction and
``kubernetes/kubernetes:staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go``.
"""

from collections.abc import Mapping, Sequence

from ..core.mistakes import Mistakes, Path, Rule
from .labels import TaintLike, within

NODE_RESTRICTION_PAGE = "https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction"
KUBELET_LABEL = Rule(
    "WK-SCH-008",
    "A kubelet can set labels under kubernetes.io and k8s.io only where NodeRestriction allows it.",
    NODE_RESTRICTION_PAGE,
)
OWN_LABEL = Rule(
    "WK-SCH-009",
    "A group must not set labels that the kubelet or the cloud controller sets.",
    "https://kubernetes.io/docs/reference/labels-annotations-taints/",
)
CONTROLLER_TAINT = Rule(
    "WK-SCH-010",
    "A group must not set taints that Kubernetes sets and removes itself.",
    "https://kubernetes.io/docs/reference/labels-annotations-taints/",
)

KUBELET_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""Domains below which a kubelet may set any label."""
RESTRICTED_DOMAIN = "node-restriction.kubernetes.io"
"""The domain of labels that isolate nodes: no kubelet may set them, so that a stolen one cannot either."""
ROLE_DOMAIN = "node-role.kubernetes.io"
SET_BY_OTHERS: Mapping[str, str] = {
    "kubernetes.io/hostname": "the kubelet",
    "kubernetes.io/os": "the kubelet",
    "kubernetes.io/arch": "the kubelet",
    "node.kubernetes.io/windows-build": "the kubelet",
    "node.kubernetes.io/instance-type": "the cloud controller manager",
    "topology.kubernetes.io/zone": "the cloud controller manager",
    "topology.kubernetes.io/region": "the cloud controller manager",
    "beta.kubernetes.io/os": "the kubelet",
    "beta.kubernetes.io/arch": "the kubelet",
    "beta.kubernetes.io/instance-type": "the cloud controller manager",
    "failure-domain.beta.kubernetes.io/zone": "the cloud controller manager",
    "failure-domain.beta.kubernetes.io/region": "the cloud controller manager",
}
"""Labels that every node gets, and from whom: another value would be overwritten, or mislead the scheduler."""
OLD_ROLE_LABELS = ("kubernetes.io/role",)
CONTROLLER_TAINTS = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "ToBeDeletedByClusterAutoscaler",
                     "DeletionCandidateOfClusterAutoscaler")  # fmt: skip
"""Domains and keys of taints that controllers come and go with."""


def check_kubelet_labels(labels: Mapping[str, str], path: Path = ("labels",)) -> Mistakes:
    """Labels with which a kubelet would not start, or that the API server would refuse (``WK-SCH-008``, ``-009``)."""
    found = Mistakes()
    for key, value in labels.items():
        prefix, slash, name = key.rpartition("/")
        where = (*path, key)
        if key in SET_BY_OTHERS:
            found.add(OWN_LABEL, where, f"{SET_BY_OTHERS[key]} sets this label itself", "remove it", value)
        elif slash and within(prefix, RESTRICTED_DOMAIN):
            found.add(KUBELET_LABEL, where, f"labels under {RESTRICTED_DOMAIN} isolate nodes, and a kubelet cannot set "
                      "them", "let an administrator set it on the node, or use your own prefix, such "
                      f'as "example.com/{name}"', value)  # fmt: skip
        elif (slash and within(prefix, ROLE_DOMAIN)) or key in OLD_ROLE_LABELS:
            found.add(KUBELET_LABEL, where, "a kubelet cannot set its own role", "remove it; a role is shown with "
                      f"kubectl label node, and pods choose by a label such as \"example.com/role\": \"{name}\"",
                      value)  # fmt: skip
        elif slash and _reserved(prefix):
            found.add(KUBELET_LABEL, where, "under kubernetes.io and k8s.io, a kubelet can set only labels below "
                      f"{' and '.join(KUBELET_DOMAINS)}", f'write "node.kubernetes.io/{name}", or use your '
                      f'own prefix, such as "example.com/{name}"', value)  # fmt: skip
    return found


def _reserved(prefix: str) -> bool:
    kubernetes = within(prefix, "kubernetes.io") or within(prefix, "k8s.io")
    return kubernetes and not any(within(prefix, domain) for domain in KUBELET_DOMAINS)


def check_kubelet_taints(taints: Sequence[TaintLike], path: Path = ("taints",)) -> Mistakes:
    """Taints that a controller would take away again, or take for its own (``WK-SCH-010``)."""
    found = Mistakes()
    for index, taint in enumerate(taints):
        prefix, slash, name = taint.key.rpartition("/")
        if taint.key in CONTROLLER_TAINTS or (slash and prefix in CONTROLLER_TAINTS):
            found.add(CONTROLLER_TAINT, (*path, index, "key"), "Kubernetes controllers set and remove this taint",
                      f'use your own key, such as "example.com/{name}"', taint.key)  # fmt: skip
    return found
