"""Cases of the rules in ``rules/workloads/scheduling.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD

from ..base import linux, one

CASES = {
    "no-beta-labels": one(
        POD,
        [linux({"nodeSelector": {"kubernetes.io/os": "linux"}}), linux()],
        [linux({"nodeSelector": {"beta.kubernetes.io/os": "windows"}})],
        [linux({"nodeSelector": UNKNOWN})],
        "beta.kubernetes.io/os is deprecated",
    ),
}
