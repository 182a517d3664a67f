"""What must hold for an EKS cluster, as pure checks over plain attributes.

The same functions judge settings and component arguments.
"""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import Any, Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables.kubernetes import EKS_KNOWN_MINORS, EKS_MINORS, EKS_VERSIONS_PAGE, at_least
from ..tables.log_retention import LOG_RETENTION, RETENTION_DAYS
from .access import AccessEntryLike, check_access_entries

CREATE_CLUSTER_PAGE = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html"
NETWORK_CONFIG_PAGE = "https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html"
ENDPOINT_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"

VERSION = Rule("WK-EKS-001", "A new cluster needs a Kubernetes minor in standard support on EKS.", EKS_VERSIONS_PAGE)
CLUSTER_NAME = Rule(
    "WK-EKS-002", "A cluster name has 1 to 100 letters, digits, hyphens or underscores.", CREATE_CLUSTER_PAGE
)
SERVICE_CIDR = Rule("WK-EKS-003", "The service CIDR must be a private network from /12 to /24.", NETWORK_CONFIG_PAGE)
AUTHENTICATION_MODE = Rule("WK-EKS-004", "The authentication mode must be one that EKS offers.", CREATE_CLUSTER_PAGE)
PUBLIC_ACCESS = Rule(
    "WK-EKS-005", "A public endpoint needs a list of at most 40 public CIDRs that may reach it.", ENDPOINT_PAGE
)
LOG_TYPES = Rule(
    "WK-EKS-006",
    "Control plane log types must be ones that EKS offers.",
    "https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
)
SUPPORT_TYPE = Rule("WK-EKS-008", "The upgrade policy is standard or extended.", EKS_VERSIONS_PAGE)
CONTROL_PLANE_TIER = Rule(
    "WK-EKS-009",
    "The control plane tier must be one that EKS offers.",
    "https://docs.aws.amazon.com/eks/latest/userguide/eks-provisioned-control-plane-getting-started.html",
)
SUBNET_COUNT = Rule(
    "WK-EKS-032",
    "The control plane needs subnets in at least two Availability Zones.",
    "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)
EGRESS_MODE = Rule("WK-EKS-033", "Control plane egress is routed by AWS or by the customer.", CREATE_CLUSTER_PAGE)
EXISTING_ROLE = Rule(
    "WK-EKS-046",
    "Policies and a boundary are for a new cluster role; an existing role is given by its ARN.",
    "https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html",
)

AUTHENTICATION_MODES = ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP")
LOG_TYPE_NAMES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
SUPPORT_TYPES: Mapping[str, str] = {"standard": "STANDARD", "extended": "EXTENDED"}
CONTROL_PLANE_TIERS = ("standard", "tier-xl", "tier-2xl", "tier-4xl", "tier-8xl")
EGRESS_MODES: Mapping[str, str] = {
    "aws_managed": "AWS_MANAGED",
    "customer_routed": "CUSTOMER_ROUTED",
    "customer_isolated": "CUSTOMER_ISOLATED",
}
PUBLIC_CIDR_LIMIT = 40
SERVICE_BLOCKS = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
_ROLE_ARN = re.compile(r"arn:(aws[a-z-]*):iam::\d{12}:role/[\x21-\x7e]+")
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")
_MINOR = re.compile(r"\d+\.\d+")


class ClusterLike(Protocol):
    """What the checks need of a cluster."""

    @property
    def cluster_name(self) -> str: ...  # noqa: D102
    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def service_cidr(self) -> str: ...  # noqa: D102
    @property
    def authentication_mode(self) -> str: ...  # noqa: D102
    @property
    def endpoint_public_access(self) -> bool: ...  # noqa: D102
    @property
    def public_access_cidrs(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def access_entries(self) -> Sequence[AccessEntryLike]: ...  # noqa: D102
    @property
    def log_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def log_retention_days(self) -> int: ...  # noqa: D102


def check_cluster(cluster: ClusterLike) -> Mistakes:
    """Every mistake in a cluster, paths relative to it."""
    found = check_version(cluster.kubernetes_version)
    if len(cluster.cluster_name) > 100 or not _NAME.fullmatch(cluster.cluster_name):
        found.add(CLUSTER_NAME, ("cluster_name",), "a cluster name has 1 to 100 letters, digits, hyphens or "
                  "underscores and begins with a letter or digit", 'write a name such as "dev"',
                  cluster.cluster_name)  # fmt: skip
    found.take(check_service_cidr(cluster.service_cidr))
    found.take(_check_word(AUTHENTICATION_MODE, "authentication_mode", "the authentication mode",
                           cluster.authentication_mode, AUTHENTICATION_MODES))  # fmt: skip
    found.take(check_public_access(cluster.endpoint_public_access, cluster.public_access_cidrs))
    found.take(check_access_entries(cluster.access_entries, cluster.authentication_mode))
    found.take(_check_logs(cluster.log_types, cluster.log_retention_days))
    for field, rule, what, allowed in _OPTIONAL_WORDS:
        value = getattr(cluster, field, None)
        if value is not None:
            found.take(_check_word(rule, field, what, value, allowed))
    return found


_OPTIONAL_WORDS: tuple[tuple[str, Rule, str, Sequence[str]], ...] = (
    ("support_type", SUPPORT_TYPE, "the upgrade policy", tuple(SUPPORT_TYPES)),
    ("control_plane_tier", CONTROL_PLANE_TIER, "the control-plane tier", CONTROL_PLANE_TIERS),
    ("control_plane_egress", EGRESS_MODE, "the control plane's egress", tuple(EGRESS_MODES)),
)


def check_version(version: str, path: Path = ("kubernetes_version",), *, existing: bool = False) -> Mistakes:
    """A new cluster runs a minor in standard support; an existing one may be in extended support."""
    found = Mistakes()
    allowed = EKS_KNOWN_MINORS if existing else EKS_MINORS
    if version in allowed:
        return found
    newest = list(allowed)[-1]
    if version in EKS_KNOWN_MINORS:
        since = EKS_KNOWN_MINORS[version].standard_support_until
        message = (
            f"standard support of Kubernetes {version} on EKS ended on {since}; a new cluster runs {one_of(allowed)}"
        )
    else:
        message = f"EKS runs the Kubernetes minors {one_of(allowed)}"
    if _MINOR.fullmatch(version):
        meant = newest if at_least(version, newest) else next(iter(allowed))
    else:
        minor = ".".join(version.removeprefix("v").split(".")[:2])
        meant = minor if minor in allowed else newest
    found.add(VERSION, path, message, f'write "{meant}"', version)
    return found


def check_service_cidr(service_cidr: str, path: Path = ("service_cidr",)) -> Mistakes:
    """The range of service addresses: private, of /12 to /24. Overlap with the VPC is the network's to judge."""
    found = Mistakes()
    network = network_or_none(service_cidr)
    if network is None:
        found.add(SERVICE_CIDR, path, "the service CIDR must be an IPv4 network without host bits",
                  'write a network such as "172.20.0.0/16"', service_cidr)  # fmt: skip
        return found
    if not 12 <= network.prefixlen <= 24:
        found.add(SERVICE_CIDR, path, f"the service CIDR must be /12 to /24, and this is /{network.prefixlen}",
                  f"write {network.network_address}/{min(max(network.prefixlen, 12), 24)}", service_cidr)  # fmt: skip
    if not any(network.subnet_of(block) for block in SERVICE_BLOCKS):
        found.add(SERVICE_CIDR, path, f"the service CIDR must be within {', '.join(map(str, SERVICE_BLOCKS))}",
                  'write a network such as "172.20.0.0/16"', service_cidr)  # fmt: skip
    return found


class RoleChoice(Protocol):
    """What the check needs of a cluster whose role may exist already."""

    @property
    def role_arn(self) -> Any: ...  # noqa: D102
    @property
    def additional_policies(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def external_policies(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def permissions_boundary(self) -> str | None: ...  # noqa: D102
    @property
    def role_path(self) -> str: ...  # noqa: D102


def check_existing_role(cluster: RoleChoice, partition: str | None = None) -> Mistakes:
    """An existing role keeps the policies, the boundary and the path that it has. An ARN not known yet is not judged.

    :param partition: of the cluster; None when it is not known.
    """
    found = Mistakes()
    arn = cluster.role_arn
    if arn is None:
        return found
    parts = _ROLE_ARN.fullmatch(arn) if isinstance(arn, str) else None
    if isinstance(arn, str) and (parts is None or (partition and parts[1] != partition)):
        found.add(EXISTING_ROLE, ("role_arn",), "an existing role is given by its ARN in the cluster's partition",
                  f'write it as "arn:{partition or "aws"}:iam::<account>:role/<name>"', arn)  # fmt: skip
    for field in ("additional_policies", "external_policies", "permissions_boundary"):
        value = getattr(cluster, field)
        if value:
            found.add(EXISTING_ROLE, (field,), f"{field} applies only to a new role, and role_arn gives an existing "
                      "one", f"remove {field} and set it on that role, or remove role_arn",
                      value)  # fmt: skip
    if cluster.role_path != "/":
        found.add(EXISTING_ROLE, ("role_path",), "the path of an existing role is part of its ARN",
                  "remove role_path, or role_arn", cluster.role_path)  # fmt: skip
    return found


def check_public_access(public: bool, cidrs: Sequence[str]) -> Mistakes:
    """A public endpoint says who may reach it; a private one has nobody to name."""
    found = Mistakes()
    path = ("public_access_cidrs",)
    if public and not cidrs:
        found.add(PUBLIC_ACCESS, path, "without CIDRs, the public endpoint is open to the internet",
                  'name networks such as ["203.0.113.0/24"], or set endpoint_public_access to false',
                  list(cidrs))  # fmt: skip
    if cidrs and not public:
        found.add(PUBLIC_ACCESS, path, "these CIDRs have no effect while the endpoint is private",
                  "remove them, or set endpoint_public_access to true", list(cidrs))  # fmt: skip
    if len(cidrs) > PUBLIC_CIDR_LIMIT:
        found.add(PUBLIC_ACCESS, path, f"EKS allows at most {PUBLIC_CIDR_LIMIT} CIDRs",
                  f"merge or remove {len(cidrs) - PUBLIC_CIDR_LIMIT} of them", len(cidrs))  # fmt: skip
    for index, text in enumerate(cidrs):
        network = network_or_none(text)
        if network is None:
            found.add(PUBLIC_ACCESS, (*path, index), "is not an IPv4 network without host bits",
                      'write a network such as "203.0.113.0/24"', text)  # fmt: skip
        elif any(network.subnet_of(block) for block in SERVICE_BLOCKS):
            found.add(PUBLIC_ACCESS, (*path, index), "private networks cannot reach the public endpoint",
                      "use public networks; inside the VPC, the private endpoint answers", text)  # fmt: skip
    return found


def _check_logs(log_types: Sequence[str], retention_days: int) -> Mistakes:
    found = Mistakes()
    for index, name in enumerate(log_types):
        found.take(_check_word(LOG_TYPES, index, "a control-plane log", name, LOG_TYPE_NAMES), "log_types")
    if retention_days not in RETENTION_DAYS:
        longer = next((days for days in RETENTION_DAYS if days >= retention_days), RETENTION_DAYS[-1])
        found.add(LOG_RETENTION, ("log_retention_days",),
                  f"CloudWatch Logs keeps events for {', '.join(map(str, RETENTION_DAYS))} days",
                  f"set log_retention_days to {longer}", retention_days)  # fmt: skip
    return found


def _check_word(rule: Rule, field: str | int, what: str, value: str, allowed: Sequence[str]) -> Mistakes:
    found = Mistakes()
    if value not in allowed:
        guess = nearest(value, allowed)
        found.add(rule, (field,), f"{what} is {one_of(allowed)}", f'write "{guess}"' if guess else "write one of these",
                  value)  # fmt: skip
    return found
