"""How load balancers reach Windows pods: target types of the AWS Load Balancer Controller, as annotations.

``ip``: the balancer sends to the pods' own addresses of the VPC, which Windows pods have from Windows IPAM.
``instance``: it sends to a NodePort, and kube-proxy goes on from there; every node is a target unless labels say which.
Sources: aws-load-balancer-controller ``docs/guide/service/annotations.md``, ``docs/guide/ingress/annotations.md``,
``docs/how-it-works.md``.
"""

from ..core.mistakes import Mistakes, Rule, nearest, one_of
from .addon_table import OS_LABEL

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
SERVICE = "service.beta.kubernetes.io/aws-load-balancer"
INGRESS = "alb.ingress.kubernetes.io"


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


def service_annotations(
    target_type: str = "ip", scheme: str = "internal", *, windows: bool = True, windows_ipam: bool = True
) -> dict[str, str]:
    """Annotations of a Service of type LoadBalancer in front of Windows pods.

    :raises WinkubeError: ``WK-ADD-060``, ``WK-ADD-062``, ``WK-ADD-063``.

    >>> service_annotations()["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"]
    'ip'
    """
    _refuse("service", check_targets(target_type, windows_ipam=windows_ipam, scheme=scheme))
    annotations = {
        f"{SERVICE}-type": "external",
        f"{SERVICE}-nlb-target-type": target_type,
        f"{SERVICE}-scheme": scheme,
    }
    return annotations | _target_nodes(f"{SERVICE}-target-node-labels", target_type, windows=windows)


def ingress_annotations(
    target_type: str = "ip",
    scheme: str = "internal",
    *,
    service_type: str = "NodePort",
    windows: bool = True,
    windows_ipam: bool = True,
) -> dict[str, str]:
    """Annotations of an Ingress in front of Windows pods.

    :param service_type: ``spec.type`` of the Service that the Ingress names.
    :raises WinkubeError: ``WK-ADD-060`` to ``WK-ADD-063``.

    >>> ingress_annotations("instance")["alb.ingress.kubernetes.io/target-node-labels"]
    'kubernetes.io/os=windows'
    """
    found = check_targets(target_type, service_type=service_type, windows_ipam=windows_ipam, scheme=scheme)
    _refuse("ingress", found)
    annotations = {f"{INGRESS}/target-type": target_type, f"{INGRESS}/scheme": scheme}
    return annotations | _target_nodes(f"{INGRESS}/target-node-labels", target_type, windows=windows)


def _target_nodes(key: str, target_type: str, *, windows: bool) -> dict[str, str]:
    # Without it the Linux nodes would be targets too, and pass every packet on to a Windows node.
    return {key: f"{OS_LABEL}={'windows' if windows else 'linux'}"} if target_type == "instance" else {}


def _refuse(name: str, found: Mistakes) -> None:
    pass


from .load_balancer_rules import check_targets

SERVICE = "service.beta.kubernetes.io/aws-load-balancer"
INGRESS = "alb.ingress.kubernetes.io"


def service_annotations(
    target_type: str = "ip", scheme: str = "internal", *, windows: bool = True, windows_ipam: bool = True
) -> dict[str, str]:
    """Annotations of a Service of type LoadBalancer in front of Windows pods.

    :raises WinkubeError: ``WK-ADD-060``, ``WK-ADD-062``, ``WK-ADD-063``.

    >>> service_annotations()["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"]
    'ip'
    """
    _refuse("service", check_targets(target_type, windows_ipam=windows_ipam, scheme=scheme))
    annotations = {
        f"{SERVICE}-type": "external",
        f"{SERVICE}-nlb-target-type": target_type,
        f"{SERVICE}-scheme": scheme,
    }
    return annotations | _target_nodes(f"{SERVICE}-target-node-labels", target_type, windows=windows)


def ingress_annotations(
    target_type: str = "ip",
    scheme: str = "internal",
    *,
    service_type: str = "NodePort",
    windows: bool = True,
    windows_ipam: bool = True,
) -> dict[str, str]:
    """Annotations of an Ingress in front of Windows pods.

    :param service_type: ``spec.type`` of the Service that the Ingress names.
    :raises WinkubeError: ``WK-ADD-060`` to ``WK-ADD-063``.

    >>> ingress_annotations("instance")["alb.ingress.kubernetes.io/target-node-labels"]
    'kubernetes.io/os=windows'
    """
    found = check_targets(target_type, service_type=service_type, windows_ipam=windows_ipam, scheme=scheme)
    _refuse("ingress", found)
    annotations = {f"{INGRESS}/target-type": target_type, f"{INGRESS}/scheme": scheme}
    return annotations | _target_nodes(f"{INGRESS}/target-node-labels", target_type, windows=windows)


def _target_nodes(key: str, target_type: str, *, windows: bool) -> dict[str, str]:
    # Without it the Linux nodes would be targets too, and pass every packet on to a Windows node.
    return {key: f"{OS_LABEL}={'windows' if windows else 'linux'}"} if target_type == "instance" else {}


def _refuse(name: str, found: Mistakes) -> None:
    from ..core.errors import refuse  # here: the error is one of Pulumi's, and rules are judged without its SDK

    refuse("Annotations", name, found)
