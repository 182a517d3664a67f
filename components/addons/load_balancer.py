"""How load balancers reach Windows pods: target types of the AWS Load Balancer Controller, as annotations.

``ip``: the balancer sends to the pods' own addresses of the VPC, which Windows pods have from Windows IPAM.
``instance``: it sends to a NodePort, and kube-proxy goes on from there; every node is a target unless labels say which.
Sources: aws-load-balancer-controller ``docs/guide/service/annotations.md``, ``docs/guide/ingress/annotations.md``,
``docs/how-it-works.md``.
"""

from ..core.errors import refuse
from .addon_table import OS_LABEL
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
    refuse("Annotations", "service", check_targets(target_type, windows_ipam=windows_ipam, scheme=scheme))
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
    refuse("Annotations", "ingress", found)
    annotations = {f"{INGRESS}/target-type": target_type, f"{INGRESS}/scheme": scheme}
    return annotations | _target_nodes(f"{INGRESS}/target-node-labels", target_type, windows=windows)


def _target_nodes(key: str, target_type: str, *, windows: bool) -> dict[str, str]:
    # Without it the Linux nodes would be targets too, and pass every packet on to a Windows node.
    return {key: f"{OS_LABEL}={'windows' if windows else 'linux'}"} if target_type == "instance" else {}
