"""Cases of the rules in ``rules/windows_nodes/volumes.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN

from ..base import BOOTSTRAP, Case, group, powershell, windows_group
from .common import IN_TEMPLATE, template


def volume(size: Any, device: str = "/dev/sda1") -> dict[str, Any]:
    return {"blockDeviceMappings": [{"deviceName": device, "ebs": {"volumeSize": size, "encrypted": "true"}}]}


CASES = {
    "windows-root-volume": Case(
        [
            [windows_group(**IN_TEMPLATE), template(**volume(80))],
            [group("w", **IN_TEMPLATE), template(**volume(20))],
            [windows_group(diskSize=50)],
            [template(userData=powershell(BOOTSTRAP))],
        ],
        [
            [windows_group(**IN_TEMPLATE), template(**volume(30))],
            [windows_group(diskSize=20)],
            [windows_group(**IN_TEMPLATE), template(**volume(80, "/dev/xvda"))],
        ],
        [
            [windows_group(**IN_TEMPLATE), template(**volume(UNKNOWN))],
            [windows_group(**IN_TEMPLATE), template(blockDeviceMappings=UNKNOWN)],
        ],
        "",
    ),
}
