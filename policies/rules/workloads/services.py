"""Services and ingresses that the world outside reaches."""

from collections.abc import Iterator

from ...frameworks import cis_eks
from ...model import Planned, Settings, resource_rule, texts
from ...resource_types import INGRESS, SERVICE


@resource_rule(
    "service-load-balancer-private",
    "Services are not exposed to the internet by accident",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps='set the annotation service.beta.kubernetes.io/aws-load-balancer-scheme to "internal", or list networks in '
    "loadBalancerSourceRanges",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """An explicit internet-facing scheme is accepted. Without a scheme, the in-tree controller exposes the service."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    annotations = resource["metadata"]["annotations"]
    scheme = annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"].text
    internal = annotations["service.beta.kubernetes.io/aws-load-balancer-internal"].text
    ranges = texts(spec["loadBalancerSourceRanges"])
    limited = ranges and "0.0.0.0/0" not in ranges
    managed = (spec["loadBalancerClass"].text or "").startswith("service.k8s.aws/")
    if scheme is None and internal not in ("true", "0.0.0.0/0") and not limited and not managed:
        yield "the service gets a load balancer that the whole internet can reach"


@resource_rule(
    "service-load-balancer-tls",
    "Load balancers of HTTP services have a certificate",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps="set the annotation service.beta.kubernetes.io/aws-load-balancer-ssl-cert and serve port 443",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports services whose only ports are 80 and 8080."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    spec["ports"].known()
    ports = {port["port"].number for port in spec["ports"].items()}
    annotations = resource["metadata"]["annotations"]
    annotations.known()
    certificate = annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"]
    if ports and ports <= {80, 8080} and not certificate.given:
        yield "the service is reachable in plain text only"


@resource_rule(
    "ingress-tls",
    "Ingresses have a certificate",
    types=[INGRESS],
    references=[cis_eks("5.4.5")],
    steps="set tls, or the annotation alb.ingress.kubernetes.io/certificate-arn",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/",
)
def ingress_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """An HTTPS listener is accepted: the controller finds its certificate by host name."""
    annotations = resource["metadata"]["annotations"]
    certificate = annotations["alb.ingress.kubernetes.io/certificate-arn"]
    listening = annotations["alb.ingress.kubernetes.io/listen-ports"].text or ""
    tls = resource["spec"]["tls"]
    tls.known()
    if not tls.items() and not certificate.given and "HTTPS" not in listening:
        yield "the ingress is reachable in plain text: it has neither tls nor a certificate"
