"""Cases of the rules in ``rules/windows_workloads/isolation.py``."""

from winkube.policies.model import UNKNOWN

from ..base import container, windows, windows_case
from .common import host_process, security

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
    "windows-no-hyper-v": windows_case(
        [windows()],
        [windows(metadata={"annotations": {"experimental.windows.kubernetes.io/isolation-type": "hyperv"}})],
        [windows(metadata={"annotations": UNKNOWN})],
        "Hyper-V isolation",
    ),
}
