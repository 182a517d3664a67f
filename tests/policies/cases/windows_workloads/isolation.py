"""Cases of the rules in ``rules/windows_workloads/isolation.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD, RUNTIME_CLASS

from ..base import Case, container, planned, windows, windows_case
from .common import host_process, security


def isolated(kind: str) -> Any:
    return windows(metadata={"annotations": {"experimental.windows.kubernetes.io/isolation-type": kind}})


def runtime_class(handler: Any) -> Any:
    return planned(RUNTIME_CLASS, {"metadata": {"name": "a"}, "handler": handler})


CASES = {
    "windows-host-network": windows_case(
        [windows(), host_process()],
        [windows({"hostNetwork": True})],
        [windows({"hostNetwork": UNKNOWN})],
        "the pod is not a HostProcess pod",
    ),
    "windows-host-process": windows_case(
        [windows(), host_process()],
        [
            host_process(hostNetwork=False),
            security(windowsOptions={"runAsUserName": "NT AUTHORITY\\SYSTEM"}),
            windows(
                {
                    "hostNetwork": True,
                    "containers": [container(securityContext={"windowsOptions": {"hostProcess": True}}), container()],
                }
            ),
        ],
        [windows({"securityContext": {"windowsOptions": UNKNOWN}})],
        "HostProcess",
    ),
    "windows-few-host-processes": windows_case(
        [windows(), host_process()],
        [{**host_process(), "metadata": {"namespace": "shop"}}],
        [{**host_process(), "metadata": {"namespace": UNKNOWN}}],
        "outside the system namespaces",
    ),
    "windows-container-user": windows_case(
        [windows(), security(windowsOptions={"runAsUserName": "ContainerUser"})],
        [security(windowsOptions={"runAsUserName": "ContainerAdministrator"})],
        [security(windowsOptions={"runAsUserName": UNKNOWN})],
        "is ContainerAdministrator",
    ),
    "windows-no-hyper-v": Case(
        [
            [planned(POD, windows())],
            [planned(POD, isolated("process"))],
            [runtime_class("runhcs-wcow-process")],
            [runtime_class("runc")],
        ],
        [
            [planned(POD, isolated("hyperv"))],
            [runtime_class("runhcs-wcow-hypervisor")],
            [runtime_class("runhcs-wcow-hypervisor-20348")],
        ],
        [[planned(POD, windows(metadata={"annotations": UNKNOWN}))], [runtime_class(UNKNOWN)]],
        "[WK-K8S-021]",
    ),
}
