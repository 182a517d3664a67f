"""Cases of the rules in ``rules/workloads/services.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import INGRESS, SERVICE

from ..base import one


def balanced(port: Any = 443, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    prefix = "service.beta.kubernetes.io/aws-load-balancer-"
    named = {f"{prefix}{name}": value for name, value in (annotations or {}).items()}
    ports = {"ports": port if port is UNKNOWN else [{"port": port}]}
    return {"metadata": {"name": "s", "annotations": named}, "spec": {"type": "LoadBalancer", **ports, **spec}}


CASES = {
    "service-load-balancer-private": one(
        SERVICE,
        [
            balanced(annotations={"scheme": "internet-facing"}),
            balanced(annotations={"internal": "true"}),
            balanced(loadBalancerSourceRanges=["203.0.113.0/24"]),
            {"metadata": {}, "spec": {"type": "ClusterIP"}},
        ],
        [balanced(), balanced(loadBalancerSourceRanges=["0.0.0.0/0"])],
        [balanced(annotations={"scheme": UNKNOWN}), {"metadata": {}, "spec": UNKNOWN}],
        "the whole internet can reach",
    ),
    "service-load-balancer-tls": one(
        SERVICE,
        [balanced(), balanced(80, {"ssl-cert": UNKNOWN}), {"metadata": {}, "spec": {"ports": [{"port": 80}]}}],
        [balanced(80)],
        [balanced(UNKNOWN)],
        "in plain text only",
    ),
    "ingress-tls": one(
        INGRESS,
        [
            {"metadata": {}, "spec": {"tls": [{"hosts": ["a"]}]}},
            {"metadata": {"annotations": {"alb.ingress.kubernetes.io/certificate-arn": UNKNOWN}}, "spec": {}},
            {"metadata": {"annotations": {"alb.ingress.kubernetes.io/listen-ports": '[{"HTTPS": 443}]'}}, "spec": {}},
        ],
        [{"metadata": {}, "spec": {"rules": []}}],
        [{"metadata": {}, "spec": {"tls": UNKNOWN}}],
        "in plain text: it has neither tls nor",
    ),
}
