"""Memory of containers."""

from collections.abc import Iterator
from typing import Any

from winkube.kubernetes.windows_pods import MEMORY

from ...frameworks import BEST_PRACTICES, WINDOWS_COMPATIBILITY, WINDOWS_COMPATIBILITY_PAGE, best_practices
from ...model import Planned, Settings, Value, every, resource_rule
from ...pods import against, container_name, windows_pod
from ...resource_types import WORKLOADS


def _quantities(container: Value) -> list[tuple[str, Value]]:
    return [pair for kind in ("limits", "requests") for pair in container["resources"][kind].entries()]


@resource_rule(
    "windows-no-huge-pages",
    "Containers on Windows ask for no huge pages",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove hugepages from limits and requests",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_huge_pages(resource: Planned, settings: Settings) -> Iterator[str]:
    """No Windows node has any, so the pod stays pending."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        if any(name.startswith("hugepages-") for name, _ in _quantities(container)):
            yield f"{container_name(container)} asks for huge pages, which no Windows node has"

    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "windows-memory-limits",
    "Containers on Windows have a memory limit, and request all of it",
    types=WORKLOADS,
    references=[best_practices("Windows: avoid OOM errors")],
    steps="set resources.limits.memory, and requests to the same value",
    url=f"{BEST_PRACTICES}/windows-oom.html",
)
def windows_memory_limits(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows has no out-of-memory killer: one container without a limit can make the whole node page."""
    pod = windows_pod(resource)
    if pod is None or pod.host_process():
        return

    def check(container: Value) -> Iterator[str]:
        limit, request = (container["resources"][kind]["memory"] for kind in ("limits", "requests"))
        resources: dict[str, Any] = {}
        if limit.known() is not None:
            resources["limits"] = {"memory": limit.raw}
            if request.known() is not None:
                resources["requests"] = {"memory": request.raw}
        yield from against(MEMORY, container, {"containers": [{"resources": resources}]}, 2)

    yield from every([one for one in pod.containers if "ephemeralContainers" not in one.path], check)
