"""Cases of the rules in ``rules/windows_workloads/memory.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN

from ..base import windows, windows_case
from .common import host_process


def memory(limit: Any, request: Any) -> Any:
    return windows(resources={"limits": {"memory": limit}, "requests": {"memory": request}})


CASES = {
    "windows-no-huge-pages": windows_case(
        [windows()],
        [windows(resources={"limits": {"memory": "1Gi", "hugepages-2Mi": "80Mi"}})],
        [windows(resources={"limits": UNKNOWN})],
        "huge pages",
    ),
    "windows-memory-limits": windows_case(
        [windows(), host_process(), memory("1Gi", "1024Mi"), memory("1Gi", "1073741824"), memory("2G", "2000M")],
        [
            windows(resources={}),
            windows(resources={"requests": {"memory": "1Gi"}}),
            memory("1Gi", "512Mi"),
            memory("1Gi", "1G"),
        ],
        [windows(resources=UNKNOWN), memory("1Gi", UNKNOWN), memory(UNKNOWN, "1Gi")],
        "[WK-K8S-011]",
    ),
}
