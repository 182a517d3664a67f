"""Cases of the rules in ``rules/windows_workloads/volumes.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN

from ..base import windows, windows_case
from .common import volumes


def mount(path: Any = "C:\\data", **fields: Any) -> Any:
    return windows(volumeMounts=[{"name": "v", "mountPath": path, **fields}])


CASES = {
    "windows-no-block-devices": windows_case(
        [windows(volumeDevices=[])],
        [windows(volumeDevices=[{"name": "v", "devicePath": "/dev/xvdb"}])],
        [windows(volumeDevices=UNKNOWN)],
        "uses block devices",
    ),
    "windows-no-memory-volumes": windows_case(
        [volumes(emptyDir={})],
        [volumes(emptyDir={"medium": "Memory"})],
        [volumes(emptyDir={"medium": UNKNOWN})],
        "has no volumes in memory",
    ),
    "windows-no-mount-propagation": windows_case(
        [mount()],
        [mount(mountPropagation="Bidirectional")],
        [mount(mountPropagation=UNKNOWN)],
        "mountPropagation is set",
    ),
    "windows-whole-volumes": windows_case(
        [mount()],
        [
            mount(subPath="a"),
            mount(subPathExpr="$(POD)"),
            windows(
                {"volumes": [{"name": "v", "secret": {"secretName": "a"}}]},
                volumeMounts=[{"name": "v", "mountPath": "C:\\data\\a", "subPath": "a"}],
            ),
        ],
        [mount(subPath=UNKNOWN)],
        "mounts a part of a volume",
    ),
    "windows-mount-paths": windows_case(
        [mount(), mount("C:/data"), mount("/data"), mount("D:\\x")],
        [mount("data"), mount("C:data"), mount("C:\\"), mount("/")],
        [mount(UNKNOWN)],
        "mountPath",
    ),
    "windows-no-file-modes": windows_case(
        [volumes(secret={"secretName": "a"}), volumes(emptyDir={})],
        [
            volumes(secret={"secretName": "a", "defaultMode": 256}),
            volumes(configMap={"name": "a", "items": [{"key": "a", "path": "a", "mode": 256}]}),
        ],
        [volumes(secret={"secretName": "a", "defaultMode": UNKNOWN})],
        "have no effect on Windows",
    ),
}
