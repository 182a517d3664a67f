"""Services and ingresses that the world outside reaches."""

from collections.abc import Iterator

from ...frameworks import cis_eks
from ...model import Planned, Settings, resource_rule, texts
from ...resource_types import INGRESS, SERVICE


@resource_rule(
    "service-load-balancer-private",
    "Services are not published to the internet by the way",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps='set the annotation service.beta.kubernetes.io/aws-load-balancer-scheme to "internal", or name networks in '
    "loadBalancerSourceRanges",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Who says internet-facing means it; without a word the in-tree controller publishes."""
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
        yield "the service gets a load balancer that the whole internet reaches"


@resource_rule(
    "service-load-balancer-tls",
    "Load balancers of services for HTTP have a certificate",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps="set the annotation service.beta.kubernetes.io/aws-load-balancer-ssl-cert and serve port 443",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """A service that has port 80 and no other."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    spec["ports"].known()
    ports = {port["port"].number for port in spec["ports"].items()}
    annotations = resource["metadata"]["annotations"]
    annotations.known()
    certificate = annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"]
    if ports and ports <= {80, 8080} and not certificate.given:
        yield "the service is reached in plain text only"


@resource_rule(
    "ingress-tls",
    "Ingresses have a certificate",
    types=[INGRESS],
    references=[cis_eks("5.4.5")],
    steps="set tls, or the annotation alb.ingress.kubernetes.io/certificate-arn",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/",
)
def ingress_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """The controller finds a certificate by host name where HTTPS is listened for."""
    annotations = resource["metadata"]["annotations"]
    certificate = annotations["alb.ingress.kubernetes.io/certificate-arn"]
    listening = annotations["alb.ingress.kubernetes.io/listen-ports"].text or ""
    tls = resource["spec"]["tls"]
    tls.known()
    if not tls.items() and not certificate.given and "HTTPS" not in listening:
        yield "the ingress is reached in plain text: it has neither tls nor a certificate"
