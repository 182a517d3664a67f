"""Cases of the rules in ``rules/windows_nodes/images.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import NODE_GROUP

from ..base import Case, cluster, one, windows_group
from .common import NODES, WINDOWS

CASES = {
    "windows-release-runs": Case(
        [
            NODES,
            [cluster(version="1.35"), windows_group(ami="WINDOWS_FULL_2025_x86_64")],
            [windows_group(ami="WINDOWS_FULL_2025_x86_64", version="1.36")],
        ],
        [
            [cluster(version="1.34"), windows_group(ami="WINDOWS_FULL_2025_x86_64")],
            [cluster(), windows_group(ami="WINDOWS_CORE_2025_x86_64", version="1.34")],
        ],
        [[cluster(version=UNKNOWN), windows_group(ami="WINDOWS_FULL_2025_x86_64")]],
        "needs Kubernetes 1.35 or newer, got 1.34",
    ),
    "windows-release-current": one(
        NODE_GROUP,
        [{"amiType": WINDOWS}, {}],
        [{"amiType": "WINDOWS_CORE_2019_x86_64"}],
        [{"amiType": UNKNOWN}],
        "left mainstream support",
    ),
    "windows-release-pinned": one(
        NODE_GROUP,
        [
            {"amiType": WINDOWS},
            {"amiType": WINDOWS, "releaseVersion": "1.36-2026.10.14"},
            {"releaseVersion": "1.36-2024.01.01"},
        ],
        [{"amiType": WINDOWS, "releaseVersion": "1.36-2026.06.10"}],
        [{"amiType": WINDOWS, "releaseVersion": UNKNOWN}],
        "the image of 2026-06-10 is withdrawn",
    ),
}
