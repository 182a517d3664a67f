"""Cases of the rules in ``rules/windows_nodes/node_groups.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import NODE_GROUP

from ..base import one
from .common import WINDOWS

CASES = {
    "windows-instance-types": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "instanceTypes": ["m6i.large"]}, {"instanceTypes": ["m7g.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": [name]} for name in ("m7g.large", "g4dn.xlarge", "t3.micro")],
        [{"amiType": WINDOWS, "instanceTypes": UNKNOWN}, {"amiType": UNKNOWN}],
        "",
    ),
    "windows-instance-types-tested": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "instanceTypes": ["m6i.large", "m4.16xlarge"]}, {"instanceTypes": ["m4.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": ["m4.large"]}],
        [{"amiType": WINDOWS, "instanceTypes": UNKNOWN}],
        "listed as unsupported for Windows nodes",
    ),
    "windows-nodes-tainted": one(
        NODE_GROUP,
        [{"amiType": WINDOWS, "taints": [{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}]}, {}],
        [{"amiType": WINDOWS}, {"amiType": WINDOWS, "taints": [{"key": "os", "effect": "PREFER_NO_SCHEDULE"}]}],
        [{"amiType": WINDOWS, "taints": UNKNOWN}],
        "has no NO_SCHEDULE taint",
    ),
    "windows-no-node-repair": one(
        NODE_GROUP,
        [{"amiType": WINDOWS}, {"nodeRepairConfig": {"enabled": True}}],
        [{"amiType": WINDOWS, "nodeRepairConfig": {"enabled": True}}],
        [{"amiType": WINDOWS, "nodeRepairConfig": UNKNOWN}],
        "Linux nodes only",
    ),
}
