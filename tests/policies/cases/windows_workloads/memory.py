"""Cases of the rules in ``rules/windows_workloads/memory.py``."""

from winkube.policies.model import UNKNOWN

from ..base import windows, windows_case
from .common import host_process

CASES = {
    "windows-no-huge-pages": windows_case(
        [windows()],
        [windows(resources={"limits": {"memory": "1Gi", "hugepages-2Mi": "80Mi"}})],
        [windows(resources={"limits": UNKNOWN})],
        "huge pages",
    ),
    "windows-memory-limits": windows_case(
        [windows(), host_process()],
        [windows(resources={}), windows(resources={"requests": {"memory": "1Gi"}})],
        [windows(resources=UNKNOWN)],
        "has no memory limit",
    ),
}
