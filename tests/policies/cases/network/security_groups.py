"""Cases of the rules in ``rules/network/security_groups.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS,
    SECURITY_GROUP_RULE,
)

from ..base import Case, one, planned


def tcp(first: Any, last: Any = None, cidr: Any = "0.0.0.0/0") -> dict[str, Any]:
    last = first if last is None else last
    return {"protocol": "tcp", "fromPort": first, "toPort": last, "cidrBlocks": [cidr]}


CASES = {
    "no-world-to-admin-ports": Case(
        [
            [
                planned(
                    SECURITY_GROUP, {"ingress": [tcp(443), tcp(22, cidr="10.0.0.0/8"), tcp(22, cidr="203.0.113.0/24")]}
                )
            ],
            [planned(SECURITY_GROUP_RULE, {**tcp(22), "type": "egress"})],
            [
                planned(
                    SECURITY_GROUP_INGRESS,
                    {"ipProtocol": "icmp", "cidrIpv4": "0.0.0.0/0", "fromPort": -1, "toPort": -1},
                )
            ],
            [planned(SECURITY_GROUP_INGRESS, {"ipProtocol": "-1", "referencedSecurityGroupId": UNKNOWN})],
        ],
        [
            [planned(SECURITY_GROUP, {"ingress": [tcp(22)]})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(3000, 4000)]})],
            [
                planned(
                    SECURITY_GROUP,
                    {"ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "ipv6CidrBlocks": ["::/0"]}]},
                )
            ],
            [planned(SECURITY_GROUP_RULE, {**tcp(5986), "type": "ingress"})],
            [
                planned(
                    SECURITY_GROUP_INGRESS,
                    {"ipProtocol": "tcp", "cidrIpv4": "0.0.0.0/0", "fromPort": 5985, "toPort": 5985},
                )
            ],
        ],
        [
            [planned(SECURITY_GROUP, {"ingress": UNKNOWN})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(22, cidr=UNKNOWN)]})],
            [planned(SECURITY_GROUP, {"ingress": [tcp(UNKNOWN)]})],
        ],
        "administration port",
    ),
    "no-world-to-risky-ports": Case(
        [[planned(SECURITY_GROUP, {"ingress": [tcp(443), tcp(22), tcp(5432, cidr="10.0.0.0/8")]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(5432)]})], [planned(SECURITY_GROUP, {"ingress": [tcp(440, 450)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(5432, cidr=UNKNOWN)]})]],
        "frequently attacked port",
    ),
    "only-public-ports-to-world": Case(
        [[planned(SECURITY_GROUP, {"ingress": [tcp(80), tcp(443), tcp(22), tcp(5432)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(9443)]})], [planned(SECURITY_GROUP, {"ingress": [tcp(80, 82)]})]],
        [[planned(SECURITY_GROUP, {"ingress": [tcp(9443, cidr=UNKNOWN)]})]],
        "to the internet",
    ),
    "default-security-group-closed": one(
        DEFAULT_SECURITY_GROUP,
        [{}, {"ingress": [], "egress": []}],
        [{"ingress": [tcp(443)]}, {"egress": [{"protocol": "-1", "fromPort": 0, "toPort": 0}]}],
        [{"ingress": UNKNOWN}],
        "the default security group has",
    ),
}
