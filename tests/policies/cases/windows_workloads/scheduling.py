"""Cases of the rules in ``rules/windows_workloads/scheduling.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import FARGATE_PROFILE, POD, RUNTIME_CLASS
from winkube.tables.windows import BUILD_LABEL

from ..base import Case, container, planned, pod, windows, windows_case, windows_group
from .common import CORE, LINUX_SHOP, OS, SHOP, build


def runtime_class(name: str, build_number: Any) -> Any:
    selector = {BUILD_LABEL: build_number}
    return planned(
        RUNTIME_CLASS, {"metadata": {"name": name}, "handler": "h", "scheduling": {"nodeSelector": selector}}
    )


BOTH = [windows_group("a"), windows_group("b", "WINDOWS_CORE_2025_x86_64")]

CASES = {
    "windows-pod-selects-nodes": windows_case(
        [windows(), pod({"runtimeClassName": "windows-2022", "containers": [container()]})],
        [
            pod({"os": {"name": "windows"}, "containers": [container()]}),
            pod({"containers": [container(image=f"{CORE}:ltsc2022")]}),
            pod(
                {
                    "containers": [container()],
                    "affinity": {
                        "nodeAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": OS, "operator": "In", "values": ["windows"]}]}
                                ]
                            }
                        }
                    },
                }
            ),
        ],
        [
            pod({"os": {"name": "windows"}, "nodeSelector": {OS: UNKNOWN}, "containers": []}),
            pod({"containers": [container()], "nodeSelector": UNKNOWN}),
        ],
        "its node selector does not say",
    ),
    "windows-build-selected": Case(
        [
            [*BOTH, planned(POD, build("20348"))],
            [BOTH[0], planned(POD, windows())],
            [*BOTH, planned(POD, windows({"runtimeClassName": "windows-2022"}))],
            [*BOTH, planned(POD, windows({"runtimeClassName": "own"})), runtime_class("own", "10.0.20348")],
        ],
        [[*BOTH, planned(POD, windows())]],
        [
            [*BOTH, planned(POD, windows({"runtimeClassName": UNKNOWN}))],
            [*BOTH, planned(POD, windows({"nodeSelector": {OS: "windows", BUILD_LABEL: UNKNOWN}}))],
        ],
        "nodes with Windows Server 2022 and 2025, and the pod chooses none",
    ),
    "windows-runtime-class-exists": Case(
        [[runtime_class("windows-2022", "10.0.20348")], [planned(RUNTIME_CLASS, {"metadata": {"name": "gvisor"}})]],
        [[runtime_class("windows-2022", "10.0.17763")], [runtime_class("own", "10.0.19041")]],
        [[runtime_class("windows-2022", UNKNOWN)]],
        "the ",
    ),
    "fargate-takes-no-windows": Case(
        [
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "system"}]}), SHOP],
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "shop", "labels": {"app": "x"}}]}), SHOP],
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "shop"}]}), LINUX_SHOP],
        ],
        [[planned(FARGATE_PROFILE, {"selectors": [{"namespace": "sh*"}]}), SHOP]],
        [[planned(FARGATE_PROFILE, {"selectors": [{"namespace": UNKNOWN}]}), SHOP]],
        "selects the Windows pods",
    ),
}
