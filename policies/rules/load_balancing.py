"""Load balancers and their listeners."""

from collections.abc import Iterator

from ..frameworks import cis_eks, controls_page, fsbp
from ..model import WHEN_OPTIONS, Option, Planned, Settings, Value, applies, every, resource_rule
from ..resource_types import CLASSIC_LOAD_BALANCER, LISTENERS, LOAD_BALANCERS

SSL_POLICIES = Option(
    ["ELBSecurityPolicy-TLS13-1-2-", "ELBSecurityPolicy-TLS13-1-3-", "ELBSecurityPolicy-FS-1-2-",
     "ELBSecurityPolicy-TLS-1-2-"],
    "prefixes of the names of security policies that accept only TLS 1.2 or newer",
    {"type": "array", "items": {"type": "string"}},
)  # fmt: skip


def _kind(resource: Planned) -> str:
    """``application`` is what the provider takes when nothing is said."""
    return resource["loadBalancerType"].text or "application"


@resource_rule(
    "listeners-use-tls",
    "HTTP listeners only redirect to HTTPS",
    types=[*LISTENERS, CLASSIC_LOAD_BALANCER],
    references=[fsbp("ELB.1"), fsbp("ELB.3"), cis_eks("5.4.5")],
    steps="serve HTTPS with a certificate, and let the HTTP listener redirect to it",
    url=controls_page("elb"),
)
def listeners_use_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """A redirect or a fixed response may use plain HTTP."""
    if resource.type == CLASSIC_LOAD_BALANCER:
        yield from every(resource["listeners"].items(), _classic)
        return
    protocol = resource["protocol"].text
    # By default, an application load balancer takes HTTP on this port.
    if (protocol or ("HTTP" if resource["port"].number == 80 else "")).upper() != "HTTP":
        return
    for action in resource["defaultActions"].items():
        kind = action["type"].text
        if kind and kind not in ("redirect", "fixed-response"):
            yield f'the HTTP listener serves plain text: {action.path}.type is "{kind}"'


def _classic(listener: Value) -> Iterator[str]:
    protocol = str(listener["lbProtocol"].known()).upper()
    if protocol == "HTTP":
        yield f"{listener.path} serves plain text"


@resource_rule(
    "listeners-tls-policy",
    "TLS listeners require TLS 1.2 or newer",
    types=LISTENERS,
    references=[fsbp("ELB.17")],
    steps='set ssl_policy to "ELBSecurityPolicy-TLS13-1-2-Res-2021-06"',
    url="https://docs.aws.amazon.com/elasticloadbalancing/latest/application/describe-ssl-policies.html",
    options={"policies": SSL_POLICIES},
)
def listeners_tls_policy(resource: Planned, settings: Settings) -> Iterator[str]:
    """The API's default policy still accepts TLS 1.0."""
    if str(resource["protocol"].known()).upper() not in ("HTTPS", "TLS"):
        return
    policy = resource["sslPolicy"].text
    if policy is None:
        yield "sslPolicy is not set, and the default still accepts TLS 1.0"
    elif not policy.startswith(tuple(settings["policies"])):
        yield f'sslPolicy "{policy}" accepts TLS versions older than 1.2'


@resource_rule(
    "load-balancer-logs",
    "Load balancers write access logs",
    types=[*LOAD_BALANCERS, CLASSIC_LOAD_BALANCER],
    severity="low",
    references=[fsbp("ELB.5")],
    steps="set access_logs with a bucket, and enabled to true",
    url=controls_page("elb"),
    options=WHEN_OPTIONS,
)
def load_balancer_logs(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only."""
    if not applies(resource, settings) or (resource.type in LOAD_BALANCERS and _kind(resource) == "gateway"):
        return
    enabled = resource["accessLogs"]["enabled"].flag
    if enabled is False or (enabled is None and (resource.type in LOAD_BALANCERS or not resource["accessLogs"].given)):
        yield "the load balancer writes no access log"


@resource_rule(
    "load-balancer-deletion-protection",
    "Load balancers are protected from deletion",
    types=LOAD_BALANCERS,
    references=[fsbp("ELB.6")],
    steps="set enable_deletion_protection to true",
    url=controls_page("elb"),
    options=WHEN_OPTIONS,
)
def load_balancer_deletion_protection(resource: Planned, settings: Settings) -> Iterator[str]:
    """Deleting a load balancer also deletes the DNS name that its clients use."""
    if applies(resource, settings) and not resource["enableDeletionProtection"].flag:
        yield "the load balancer can be deleted in one step, and its DNS name with it"


@resource_rule(
    "load-balancer-invalid-headers",
    "Application load balancers drop invalid headers",
    types=LOAD_BALANCERS,
    references=[fsbp("ELB.4")],
    steps="set drop_invalid_header_fields to true",
    url=controls_page("elb"),
)
def load_balancer_invalid_headers(resource: Planned, settings: Settings) -> Iterator[str]:
    """Request smuggling relies on headers that servers interpret differently."""
    if _kind(resource) == "application" and not resource["dropInvalidHeaderFields"].flag:
        yield "invalid HTTP headers are passed on"


@resource_rule(
    "load-balancer-desync",
    "Load balancers guard against request smuggling",
    types=[*LOAD_BALANCERS, CLASSIC_LOAD_BALANCER],
    references=[fsbp("ELB.12"), fsbp("ELB.14")],
    steps='leave desync_mitigation_mode at "defensive" or set it to "strictest"',
    url=controls_page("elb"),
)
def load_balancer_desync(resource: Planned, settings: Settings) -> Iterator[str]:
    """The default is safe; `monitor` only counts ambiguous requests."""
    if resource["desyncMitigationMode"].text == "monitor":
        yield "ambiguous requests are counted, not blocked"


@resource_rule(
    "load-balancer-zones",
    "Load balancers span several zones",
    types=[*LOAD_BALANCERS],
    references=[fsbp("ELB.13")],
    steps="list subnets of at least two zones",
    url=controls_page("elb"),
)
def load_balancer_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """AWS refuses an application load balancer in one zone; a network load balancer in one zone fails with it."""
    places = resource["subnets"] if resource["subnets"].given else resource["subnetMappings"]
    places.known()
    if len(places.items()) == 1:
        yield "the load balancer is in one zone only"


RULES = (
    listeners_use_tls,
    listeners_tls_policy,
    load_balancer_logs,
    load_balancer_deletion_protection,
    load_balancer_invalid_headers,
    load_balancer_desync,
    load_balancer_zones,
)
