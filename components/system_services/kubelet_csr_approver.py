"""Approval of the serving certificates of kubelets.

With ``serverTLSBootstrap`` each kubelet asks for a certificate of the cluster's authority, and nothing in Kubernetes
approves it; until then logs, exec and metrics of the node fail. The approver grants a request when its name and
addresses can be those of the node that asks.

The name in the request is EC2's own name of the instance, not the node's: with ``hostname_type`` ``resource-name`` in
the launch template it begins with the instance id, as the node's name does, and both are compared. With ``ip-name``
they cannot be compared, and any node may have a certificate for the name of any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from ..core.cidr import network_or_none
from ..core.component import known
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import check_endpoint, check_image
from .system_manifests import CSR_APPROVER_IMAGE, NAME_PATTERNS, csr_approver_environment, csr_approver_manifests

APPROVER_PAGE = "https://github.com/postfinance/kubelet-csr-approver"
APPROVER_NAMES = Rule(
    "WK-K8S-032",
    "The hostname type is resource-name or ip-name, as in the launch template.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hostname-types.html",
)
APPROVER_ADDRESSES = Rule("WK-K8S-033", "Serving certificates may contain only node addresses.", APPROVER_PAGE)
APPROVER_VALIDITY = Rule("WK-K8S-034", "Serving certificates are valid for 1 to 367 days.", APPROVER_PAGE)


@dataclass(frozen=True, kw_only=True)
class KubeletCsrApproverArgs:
    """The arguments of the approver of kubelet serving certificates."""

    endpoint: str
    """The API server as ``host:port``."""
    node_cidrs: Sequence[pulumi.Input[str]]
    """The CIDRs of the nodes, usually those of the VPC."""
    hostname_type: str = "resource-name"
    """The hostname type, as in the launch templates: ``resource-name`` (default) or ``ip-name``."""
    resolve_names: bool = False
    """Whether a name must resolve to the address in the request. Needs ``enable_resource_name_dns_a_record``."""
    validity_days: int = 366
    """Maximum validity of a requested certificate in days."""
    image: str = CSR_APPROVER_IMAGE
    """The image."""


def check_kubelet_csr_approver(args: KubeletCsrApproverArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-028``, ``-029``, ``-032`` to ``-034``)."""
    found = check_endpoint(args.endpoint)
    if args.hostname_type not in NAME_PATTERNS:
        near = nearest(args.hostname_type, tuple(NAME_PATTERNS)) or "resource-name"
        found.add(APPROVER_NAMES, ("hostname_type",), f"the hostname type is {one_of(NAME_PATTERNS)}",
                  f'write "{near}"', args.hostname_type)  # fmt: skip
    if not args.node_cidrs:
        found.add(APPROVER_ADDRESSES, ("node_cidrs",), "no address is allowed, so no certificate is approved",
                  "add the network of the VPC")  # fmt: skip
    for index, cidr in enumerate(args.node_cidrs):
        if not isinstance(cidr, str):
            continue
        network = network_or_none(cidr)
        if network is None or network.prefixlen < 8:
            found.add(APPROVER_ADDRESSES, ("node_cidrs", index), "is not an IPv4 network of a VPC in CIDR notation",
                      'write one such as "10.0.0.0/16"', cidr)  # fmt: skip
    if not 1 <= args.validity_days <= 367:
        found.add(APPROVER_VALIDITY, ("validity_days",), "the validity must be 1 to 367 days",
                  "set validity_days to 366", args.validity_days)  # fmt: skip
    found.take(check_image(args.image))
    return found


class KubeletCsrApprover(KubernetesComponent):
    """Approves the serving certificates of kubelets for their own node.

    :raises WinkubeError: ``WK-K8S-028``, ``WK-K8S-029``, ``WK-K8S-032`` to ``WK-K8S-034``.
    """

    hostname_type: str
    """The hostname type of the instances whose requests are approved."""

    def __init__(self, name: str, args: KubeletCsrApproverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_kubelet_csr_approver(args))
        environment = csr_approver_environment(args.hostname_type, ["…"], args.validity_days, args.resolve_names)
        manifests = csr_approver_manifests(
            endpoint=args.endpoint,
            image=args.image,
            environment={**environment, "PROVIDER_IP_PREFIXES": _joined(args.node_cidrs)},
        )
        self.apply_manifests(name, manifests)
        self.hostname_type = args.hostname_type
        self.register_outputs({"hostnameType": self.hostname_type})


def _joined(cidrs: Sequence[pulumi.Input[str]]) -> pulumi.Input[str]:
    if all(known(cidr) for cidr in cidrs):
        return ",".join(str(cidr) for cidr in cidrs)
    return pulumi.Output.all(*cidrs).apply(lambda texts: ",".join(str(text) for text in texts))
