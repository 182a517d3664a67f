"""VPC endpoints: names, and what they are called in a region."""

import pytest
from winkube.eks.private_cluster import private_endpoints
from winkube.network.endpoints import (
    GATEWAY_SERVICES,
    INTERFACE_SERVICES,
    check_endpoints,
    service_name,
)


def test_service_names_follow_the_region_and_its_partition():
    """China and the European Sovereign Cloud call some of them otherwise."""
    assert service_name("s3", "us-gov-west-1") == "com.amazonaws.us-gov-west-1.s3"
    assert service_name("sts", "cn-north-1") == "cn.com.amazonaws.cn-north-1.sts"
    assert service_name("logs", "cn-north-1") == "com.amazonaws.cn-north-1.logs"
    assert service_name("ecr.dkr", "eusc-de-east-1") == "eu.amazonaws.eusc-de-east-1.ecr.dkr"
    assert service_name("ec2", "eusc-de-east-1") == "com.amazonaws.eusc-de-east-1.ec2"


def test_every_known_name_is_accepted():
    assert not check_endpoints(GATEWAY_SERVICES, INTERFACE_SERVICES)
    assert set(private_endpoints(autoscaler=True, load_balancers=True)) <= set(INTERFACE_SERVICES)


@pytest.mark.parametrize(
    ("gateway", "interface", "path", "message", "remedy"),
    [
        ((), ("ecr",), ("interface_endpoints", 0), "interface endpoint of this name", 'write "ecr.api" and "ecr.dkr"'),
        ((), ("sts", "ecr.dkrr"), ("interface_endpoints", 1), "of this name", 'write "ecr.dkr"'),
        ((), ("com.amazonaws.eu-west-1.sts",), ("interface_endpoints", 0), "of this name", 'write "sts": the prefix'),
        ((), ("zzz",), ("interface_endpoints", 0), "of this name", '"acm-pca", "autoscaling"'),
        ((), ("s3",), ("interface_endpoints", 0), "has a gateway endpoint", "move it to gateway_endpoints"),
        (("ec2",), (), ("gateway_endpoints", 0), "has an interface endpoint", "move it to interface_endpoints"),
        (("dynamo",), (), ("gateway_endpoints", 0), "gateway endpoint of this name", 'write "dynamodb"'),
        ((), ("sts", "sts"), ("interface_endpoints", 1), "is named twice", "remove one"),
    ],
)
def test_a_wrong_endpoint_is_refused_with_what_is_meant(
    gateway: tuple[str, ...], interface: tuple[str, ...], path: tuple[str, int], message: str, remedy: str
):
    """WK-NET-012."""
    (mistake,) = check_endpoints(gateway, interface, "eu-west-1")
    assert (mistake.rule.code, mistake.path) == ("WK-NET-012", path)
    assert mistake.got == (gateway or interface)[path[1]]
    assert message in mistake.message
    assert remedy in mistake.remedy
