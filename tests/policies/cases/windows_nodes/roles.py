"""Cases of the rules in ``rules/windows_nodes/roles.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ACCESS_ENTRY, INSTANCE_PROFILE, NODE_GROUP, ROLE

from ..base import GOOD_BOOTSTRAP, MAIN, Case, attachment, cluster, group, planned, powershell, urn, windows_group
from .common import IN_TEMPLATE, template

ROLES = [planned(ROLE, {}, "w"), planned(ROLE, {}, "l"), planned(ROLE, {}, "control")]


def entry(kind: Any, role: str = "w") -> Any:
    return planned(
        ACCESS_ENTRY,
        {"type": kind, "clusterName": UNKNOWN},
        f"entry-{role}",
        clusterName=MAIN,
        principalArn=urn(ROLE, role),
    )


OWN = [cluster(), planned(INSTANCE_PROFILE, {"role": UNKNOWN}, "w", role=urn(ROLE, "w")), planned(ROLE, {}, "w")]
OWN_NODES = template(userData=powershell(GOOD_BOOTSTRAP), iamInstanceProfile={"arn": UNKNOWN})

CASES = {
    "windows-node-role-not-shared": Case(
        [
            [*ROLES, windows_group(), group("l")],
            [*ROLES, group("l"), group("m", role="l")],
            [*ROLES, entry("EC2_WINDOWS"), windows_group()],
        ],
        [[*ROLES, windows_group(role="l"), group("l")], [*ROLES, entry("EC2_WINDOWS", "l"), group("l")]],
        [
            [
                *ROLES,
                windows_group(),
                planned(NODE_GROUP, {"amiType": "AL2023_x86_64_STANDARD", "nodeRoleArn": UNKNOWN}, "l"),
            ]
        ],
        'the node role "l" is shared by',
    ),
    "windows-cluster-role": Case(
        [
            [cluster(), *ROLES, windows_group(), attachment("control", "AmazonEKSVPCResourceController")],
            [cluster(), *ROLES, group("l")],
            [cluster(), windows_group()],
        ],
        [
            [cluster(), *ROLES, windows_group(), attachment("control", "AmazonEKSClusterPolicy")],
            [cluster(), *ROLES, windows_group(), attachment("l", "AmazonEKSVPCResourceController")],
        ],
        [[cluster(), *ROLES, windows_group(), attachment("control", UNKNOWN)]],
        "lacks AmazonEKSVPCResourceController",
    ),
    "windows-access-entry": Case(
        [
            [*OWN, OWN_NODES, entry("EC2_WINDOWS")],
            [cluster(), *ROLES, windows_group()],
            [
                cluster(),
                *ROLES,
                group("w", "CUSTOM", **IN_TEMPLATE),
                template(userData=powershell("x")),
                entry("EC2_WINDOWS"),
            ],
        ],
        [
            [*OWN, OWN_NODES],
            [*OWN, OWN_NODES, entry("EC2_LINUX")],
            [cluster(), *ROLES, group("w", "CUSTOM", **IN_TEMPLATE), template(userData=powershell("x"))],
        ],
        [[*OWN, OWN_NODES, entry(UNKNOWN)]],
        'role "w" has no access entry of type EC2_WINDOWS',
    ),
}
