"""VPC endpoints of AWS services: which names there are, and what the service is called in a region.

Sources, read on 2026-11-21: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
for the names; the prefixes of the China regions and of the European Sovereign Cloud after ``aws-cdk-lib``,
``aws-ec2/lib/vpc-endpoint.ts`` of 2026.
"""

from collections.abc import Sequence

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables.regions import REGIONS, partition

ENDPOINT_KNOWN = Rule(
    "WK-NET-012",
    "A VPC endpoint must be a known service, in the list of its type, and named once.",
    "https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html",
)

GATEWAY_SERVICES = ("dynamodb", "s3")
"""Services with a gateway endpoint: a route, free of charge."""
INTERFACE_SERVICES = (
    "acm-pca",
    "autoscaling",
    "cloudformation",
    "ebs",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "guardduty-data",
    "imagebuilder",
    "kms",
    "lambda",
    "logs",
    "monitoring",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
    "xray",
)
"""Services with an interface endpoint: a network interface in each zone, paid by the hour."""

_MEANT = {"ecr": ("ecr.api", "ecr.dkr"), "efs": ("elasticfilesystem",), "elb": ("elasticloadbalancing",),
          "cloudwatch": ("monitoring", "logs"), "asg": ("autoscaling",)}  # fmt: skip
"""What people write for services whose endpoint is called otherwise."""
_CHINA = frozenset((
    "autoscaling", "cloudformation", "ebs", "ec2", "ecr.api", "ecr.dkr", "eks", "elasticfilesystem", "fsx",
    "imagebuilder", "lambda", "monitoring", "sqs", "sts", "xray",
))  # fmt: skip
_PREFIXES = {"aws-cn": ("cn.com.amazonaws", _CHINA), "aws-eusc": ("eu.amazonaws", frozenset(("ecr.api", "ecr.dkr")))}
"""Partitions in which some services are called otherwise: the prefix, and the services."""


def service_name(service: str, region: str) -> str:
    """The full name of an endpoint service.

    >>> service_name("ecr.api", "eu-central-1"), service_name("ecr.api", "cn-north-1")
    ('com.amazonaws.eu-central-1.ecr.api', 'cn.com.amazonaws.cn-north-1.ecr.api')
    """
    prefix, services = _PREFIXES.get(partition(region), ("", frozenset[str]()))
    return f"{prefix if service in services else 'com.amazonaws'}.{region}.{service}"


def check_endpoints(gateway: Sequence[str], interface: Sequence[str], region: str = "") -> Mistakes:
    """Whether the names are known, each in the list of its kind and only once (``WK-NET-012``)."""
    found = Mistakes()
    lists = (
        ("gateway_endpoints", gateway, GATEWAY_SERVICES, "interface_endpoints", INTERFACE_SERVICES),
        ("interface_endpoints", interface, INTERFACE_SERVICES, "gateway_endpoints", GATEWAY_SERVICES),
    )
    for field, services, known, other, known_there in lists:
        for index, service in enumerate(services):
            path: Path = (field, index)
            if service in services[:index]:
                found.add(ENDPOINT_KNOWN, path, "is named twice", "remove one of them", service)
            elif service in known_there:
                message = f"this service has {_kind(other)} endpoint"
                found.add(ENDPOINT_KNOWN, path, message, f"move it to {other}", service)
            elif service not in known:
                remedy = _remedy(service, known, region)
                found.add(ENDPOINT_KNOWN, path, f"no service has {_kind(field)} endpoint of this name", remedy, service)
    return found


def _kind(field: str) -> str:
    return "a gateway" if field == "gateway_endpoints" else "an interface"


def _remedy(wrong: str, known: Sequence[str], region: str) -> str:
    short = wrong
    if region in REGIONS and f".{region}." in wrong:
        short = wrong.split(f".{region}.", 1)[1]
    if short in known:
        return f'write "{short}": the prefix and the region are added'
    meant = _MEANT.get(short.lower())
    if meant and meant[0] in known:
        return "write " + " and ".join(f'"{name}"' for name in meant)
    near = nearest(short, known)
    return f'write "{near}"' if near else f"write {one_of(known)}"
