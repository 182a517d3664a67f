"""Cases of the rules in ``rules/workloads/namespaces.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import KUBERNETES_PROVIDER, NAMESPACE, NETWORK_POLICY, POD

from ..base import Case, linux, one, planned, pod
from .common import ALWAYS

NAMED = planned(KUBERNETES_PROVIDER, {"namespace": "shop"}, "k8s")

CASES = {
    "default-namespace-unused": Case(
        [[planned(POD, linux())], [planned(POD, pod({}), provider=NAMED.urn), NAMED]],
        [[planned(POD, pod({}))], [planned(POD, pod({}, namespace="default"))]],
        [[planned(POD, pod({}, namespace=UNKNOWN))]],
        "in the default namespace",
        ALWAYS,
    ),
    "namespace-pod-security": one(
        NAMESPACE,
        [{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}],
        [{"metadata": {"name": "a"}}, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}],
        [{"metadata": {"labels": UNKNOWN}}],
        "admits privileged pods",
        ALWAYS,
    ),
    "namespace-network-policy": Case(
        [[planned(NAMESPACE, {"metadata": {"name": "a"}}), planned(NETWORK_POLICY, {"metadata": {"namespace": "a"}})]],
        [
            [planned(NAMESPACE, {"metadata": {"name": "a"}})],
            [
                planned(NAMESPACE, {"metadata": {"name": "a"}}),
                planned(NETWORK_POLICY, {"metadata": {"namespace": "b"}}),
            ],
        ],
        [
            [
                planned(NAMESPACE, {"metadata": {"name": "a"}}),
                planned(NETWORK_POLICY, {"metadata": {"namespace": UNKNOWN}}),
            ]
        ],
        "nothing limits who can connect to the pods",
        ALWAYS,
    ),
}
