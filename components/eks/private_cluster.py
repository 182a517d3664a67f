"""What a cluster without a way to the internet needs: VPC endpoints for everything that a node calls. Pure.

Source: EKS user guide, "Deploy private clusters with limited internet access".
"""

from collections.abc import Sequence

from ..core.mistakes import Mistakes, Path, Rule

PRIVATE_ENDPOINTS = Rule(
    "WK-EKS-085",
    "Nodes without internet access need VPC endpoints to reach AWS.",
    "https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
)

GATEWAY_ENDPOINTS = ("s3",)
"""ECR keeps the layers of images in S3."""
INTERFACE_ENDPOINTS = ("ec2", "ecr.api", "ecr.dkr", "sts", "logs", "ssm", "ssmmessages", "ec2messages")
"""What nodes and their pods call in any case; the last three are Session Manager, in place of SSH and RDP."""
MANAGED_ENDPOINTS = ("eks",)
"""The bootstrap of managed nodes asks EKS for the cluster; a group that starts itself is told and does not ask."""
AUTOSCALER_ENDPOINTS = ("autoscaling",)
BALANCER_ENDPOINTS = ("elasticloadbalancing",)


def private_endpoints(
    *, managed: bool = True, autoscaler: bool = False, load_balancers: bool = False
) -> tuple[str, ...]:
    """The interface endpoints of a private cluster.

    >>> "eks" in private_endpoints(managed=False)
    False
    """
    return (
        *INTERFACE_ENDPOINTS,
        *(MANAGED_ENDPOINTS if managed else ()),
        *(AUTOSCALER_ENDPOINTS if autoscaler else ()),
        *(BALANCER_ENDPOINTS if load_balancers else ()),
    )


def check_private_endpoints(
    interface: Sequence[str], gateway: Sequence[str], needed: Sequence[str] | None = None, path: Path = ()
) -> Mistakes:
    """Whether a network without NAT has the endpoints that nodes need. Call it where ``nat`` is ``none``."""
    found = Mistakes()
    for field, given, wanted in (
        ("interface_endpoints", interface, private_endpoints() if needed is None else needed),
        ("gateway_endpoints", gateway, GATEWAY_ENDPOINTS),
    ):
        missing = [name for name in wanted if name not in given and not (name == "s3" and "s3" in interface)]
        if missing:
            found.add(
                PRIVATE_ENDPOINTS,
                (*path, field),
                f"without NAT, nodes need VPC endpoints for {', '.join(missing)}",
                f"add {', '.join(missing)}, or add a NAT gateway to the network",
                list(given),
            )
    return found
