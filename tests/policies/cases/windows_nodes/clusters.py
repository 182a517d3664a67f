"""Cases of the rules in ``rules/windows_nodes/clusters.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import FARGATE_PROFILE

from ..base import MAIN, Case, cluster, group, planned, windows_group
from .common import NODES

CASES = {
    "windows-needs-linux-nodes": Case(
        [
            [*NODES, group("l")],
            [cluster(), group("l")],
            [*NODES, planned(FARGATE_PROFILE, {"clusterName": UNKNOWN}, clusterName=MAIN)],
        ],
        [
            NODES,
            [*NODES, group("l", taints=[{"key": "a", "effect": "NO_SCHEDULE"}])],
            [*NODES, group("l", scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 4})],
        ],
        [
            [*NODES, group("l", scalingConfig={"minSize": UNKNOWN, "desiredSize": UNKNOWN, "maxSize": 4})],
            [*NODES, group("l", UNKNOWN)],
        ],
        "no Linux node for CoreDNS",
    ),
    "windows-two-linux-nodes": Case(
        [[*NODES, group("l")], NODES, [cluster(), group("l", scalingConfig={"minSize": 1, "maxSize": 1})]],
        [[*NODES, group("l", scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 4})]],
        [[*NODES, group("l", scalingConfig={"minSize": 1, "desiredSize": UNKNOWN, "maxSize": 4})]],
        "only one Linux node",
    ),
    "windows-needs-ipv4": Case(
        [NODES, [cluster(kubernetesNetworkConfig={"ipFamily": "ipv6"}), group("l")]],
        [[cluster(kubernetesNetworkConfig={"ipFamily": "ipv6"}), windows_group()]],
        [[cluster(kubernetesNetworkConfig={"ipFamily": UNKNOWN}), windows_group()]],
        "ipFamily is ipv6",
    ),
}
