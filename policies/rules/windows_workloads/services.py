"""Services in front of pods on Windows."""

from collections.abc import Iterator

from ...frameworks import WINDOWS_SUPPORT_PAGE, eks_guide, kubernetes_docs
from ...model import Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule, texts
from ...pods import windows_pod, windows_pods
from ...resource_types import DEPLOYMENT, SERVICE, STATEFUL_SET


@resource_rule(
    "windows-service-size",
    "A service on Windows has no more pods than Windows can load-balance",
    types=[DEPLOYMENT, STATEFUL_SET],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="split the workload behind several services",
    url=WINDOWS_SUPPORT_PAGE,
    options={"maximum": Option(1024, "maximum number of pods behind one service", {"type": "integer", "minimum": 1})},
)
def windows_service_size(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows supports up to 1024 back ends."""
    pod = windows_pod(resource)
    replicas = resource["spec"]["replicas"].number if pod else None
    if replicas is not None and replicas > settings["maximum"]:
        yield f"{replicas} pods are more than the {settings['maximum']} that Windows can balance behind one service"


def _windows_services(stack: Stack) -> list[Planned]:
    found = windows_pods(stack)
    return [
        service
        for service in stack.of(SERVICE)
        if any(pod.selected_by(service["spec"]["selector"]) for _, pod in found)
    ]


@stack_rule(
    "windows-service-affinity",
    "Services on Windows do not rely on a session affinity timeout",
    types=[SERVICE],
    severity="low",
    references=[kubernetes_docs("Networking on Windows")],
    steps="remove sessionAffinityConfig, or keep sessions at a load balancer",
    url="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
def windows_service_affinity(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """kube-proxy on Windows ignores the timeout."""

    def check(service: Planned) -> Iterator[Violation]:
        if service["spec"].at("sessionAffinityConfig", "clientIP", "timeoutSeconds").known() is not None:
            yield Violation("Windows nodes do not end sessions after timeoutSeconds", service.urn)

    yield from every(_windows_services(stack), check)


@stack_rule(
    "windows-service-ipv4",
    "Services on Windows use IPv4 only",
    types=[SERVICE],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='remove ipFamilies, or set it to ["IPv4"]',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_service_ipv4(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS supports neither IPv6 nor dual stack on Windows."""

    def check(service: Planned) -> Iterator[Violation]:
        families = texts(service["spec"]["ipFamilies"])
        if "IPv6" in families or service["spec"]["ipFamilyPolicy"].text == "RequireDualStack":
            yield Violation("the pods of the service run on Windows, which has no IPv6 addresses on EKS", service.urn)

    yield from every(_windows_services(stack), check)
