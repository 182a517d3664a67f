"""How a load balancer can reach Windows pods, as pure checks."""

from ..core.mistakes import Mistakes, Rule, nearest, one_of

ANNOTATIONS_PAGE = "https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/"
HOW_IT_WORKS = "https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/how-it-works/"
TARGET_TYPE = Rule(
    "WK-ADD-060", "The target type of a load balancer is ip (pods) or instance (nodes).", ANNOTATIONS_PAGE
)
INSTANCE_SERVICE = Rule("WK-ADD-061", "Instance targets need a Service with node ports.", ANNOTATIONS_PAGE)
IP_ADDRESSES = Rule("WK-ADD-062", "IP targets need pods with addresses from the VPC.", HOW_IT_WORKS)
SCHEME = Rule("WK-ADD-063", "A load balancer is internal or internet-facing.", ANNOTATIONS_PAGE)

TARGET_TYPES = ("ip", "instance")
SCHEMES = ("internal", "internet-facing")
NODE_PORT_SERVICES = ("NodePort", "LoadBalancer")


def check_targets(
    target_type: str, *, service_type: str = "LoadBalancer", windows_ipam: bool = True, scheme: str = "internal"
) -> Mistakes:
    """Whether a balancer reaches Windows pods in this way (``WK-ADD-060`` to ``WK-ADD-063``).

    :param service_type: ``spec.type`` of the service.
    :param windows_ipam: whether Windows IPAM of the cluster is on.
    """
    found = Mistakes()
    if target_type not in TARGET_TYPES:
        guess = nearest(target_type, TARGET_TYPES)
        found.add(TARGET_TYPE, ("target_type",), f"the target type is {one_of(TARGET_TYPES)}",
                  f'write "{guess}"' if guess else 'write "ip"', target_type)  # fmt: skip
    if target_type == "instance" and service_type not in NODE_PORT_SERVICES:
        found.add(INSTANCE_SERVICE, ("service_type",), "instance targets need node ports, which only a Service of type "
                  f"{one_of(NODE_PORT_SERVICES)} has", 'set target_type to "ip", or service_type to '
                  '"NodePort"', service_type)  # fmt: skip
    if target_type == "ip" and not windows_ipam:
        found.add(IP_ADDRESSES, ("target_type",), "without Windows IPAM, Windows pods have no addresses from the VPC",
                  "turn on Windows IPAM", target_type)  # fmt: skip
    if scheme not in SCHEMES:
        guess = nearest(scheme, SCHEMES)
        found.add(SCHEME, ("scheme",), f"the scheme is {one_of(SCHEMES)}",
                  f'write "{guess}"' if guess else "write one of these", scheme)  # fmt: skip
    return found
