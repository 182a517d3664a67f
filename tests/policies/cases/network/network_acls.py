"""Cases of the rules in ``rules/network/network_acls.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import NETWORK_ACL, NETWORK_ACL_RULE

from ..base import Case, planned

CASES = {
    "network-acl-admin-ports": Case(
        [
            [
                planned(
                    NETWORK_ACL,
                    {
                        "ingress": [
                            {
                                "action": "allow",
                                "protocol": "tcp",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 443,
                                "toPort": 443,
                                "ruleNo": 1,
                            },
                            {
                                "action": "deny",
                                "protocol": "-1",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 0,
                                "toPort": 0,
                                "ruleNo": 2,
                            },
                        ]
                    },
                )
            ],
            [
                planned(
                    NETWORK_ACL_RULE,
                    {"egress": True, "ruleAction": "allow", "protocol": "-1", "cidrBlock": "0.0.0.0/0"},
                )
            ],
        ],
        [
            [
                planned(
                    NETWORK_ACL,
                    {
                        "ingress": [
                            {
                                "action": "allow",
                                "protocol": "6",
                                "cidrBlock": "0.0.0.0/0",
                                "fromPort": 0,
                                "toPort": 65535,
                                "ruleNo": 1,
                            }
                        ]
                    },
                )
            ],
            [planned(NETWORK_ACL_RULE, {"ruleAction": "allow", "protocol": "-1", "ipv6CidrBlock": "::/0"})],
        ],
        [[planned(NETWORK_ACL, {"ingress": [{"action": UNKNOWN, "protocol": "tcp", "cidrBlock": "0.0.0.0/0"}]})]],
        "administration port",
    ),
}
