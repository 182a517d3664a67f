"""Cases of the rules in ``rules/windows_nodes/ipam.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CONFIG_MAP

from ..base import Case, cluster, group, in_cluster, windows_group
from .common import NODES, OFF, ON, addon


def config_map(**data: Any) -> Any:
    metadata = {"name": "amazon-vpc-cni", "namespace": "kube-system"}
    return in_cluster(CONFIG_MAP, {"metadata": metadata, "data": data}, "map")


CASES = {
    "windows-ipam-once": Case(
        [[*NODES, ON], [*NODES, config_map(**{"enable-windows-ipam": "true"})], [cluster(), group("l")]],
        [
            NODES,
            [*NODES, OFF],
            [*NODES, ON, config_map(**{"enable-windows-ipam": "true"})],
            [*NODES, addon({}), config_map(**{"enable-windows-ipam": "true"})],
        ],
        [[*NODES, addon(UNKNOWN)], [*NODES, config_map(**{"enable-windows-ipam": UNKNOWN})]],
        'cluster "main"',
    ),
    "windows-ipam-settings": Case(
        [
            [ON],
            [addon({})],
            [addon({"enableWindowsIpam": "true", "warmWindowsIPTarget": 2})],
            [addon({"warmWindowsIPTarget": -1}, "coredns")],
        ],
        [
            [addon({"enableWindowsIpam": "true", "warmWindowsPrefixTarget": 1})],
            [addon({"enableWindowsIpam": "true", "warmWindowsIPTarget": -1})],
            [config_map(**{"enable-windows-ipam": "true", "minimum-ip-target": "-2"})],
        ],
        [[addon(UNKNOWN)], [config_map(**{"enable-windows-ipam": UNKNOWN})]],
        "; ",
    ),
    "windows-prefixes-need-nitro": Case(
        [
            [*NODES, addon({"enableWindowsPrefixDelegation": "true"})],
            [cluster(), windows_group(instanceTypes=["m4.large"]), ON],
        ],
        [[cluster(), windows_group(instanceTypes=["m4.large"]), addon({"enableWindowsPrefixDelegation": "true"})]],
        [
            [cluster(), windows_group(instanceTypes=UNKNOWN), addon({"enableWindowsPrefixDelegation": "true"})],
            [*NODES, addon(UNKNOWN)],
        ],
        "is not a Nitro type",
    ),
}
