"""Cases of the rules in ``rules/windows_workloads/images.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD

from ..base import Case, container, planned, pod, windows, windows_case, windows_group
from .common import CORE, build

CASES = {
    "windows-one-system": windows_case(
        [windows(), windows(image=f"{CORE}:ltsc2022")],
        [
            windows(image="alpine:3.20"),
            windows(image="nginx:1.27-alpine"),
            windows(image="ubuntu"),
            pod({"containers": [container(image=f"{CORE}:ltsc2022"), container(image="alpine:3.20")]}),
        ],
        [windows(image=UNKNOWN)],
        "in a pod for Windows",
    ),
    "windows-image-fits-build": windows_case(
        [build("20348", image=f"{CORE}:ltsc2022"), windows(image=f"{CORE}:ltsc2022"), build("20348")],
        [
            build("20348", image=f"{CORE}:ltsc2019"),
            windows(image=f"{CORE}:1909"),
            windows(
                {"runtimeClassName": "windows-2025"}, image="registry.example.com/app:1.2-windowsservercore-ltsc2022"
            ),
            windows({"containers": [container(image=f"{CORE}:ltsc2019"), container(image=f"{CORE}:ltsc2022")]}),
        ],
        [windows(image=UNKNOWN)],
        "",
    ),
    "windows-image-has-nodes": Case(
        [
            [windows_group(), planned(POD, windows(image=f"{CORE}:ltsc2022"))],
            [planned(POD, windows(image=f"{CORE}:ltsc2019"))],
        ],
        [[windows_group(), planned(POD, windows(image=f"{CORE}:ltsc2019"))]],
        [[windows_group(), planned(POD, windows(image=UNKNOWN))]],
        "built for Windows Server 2019, but the nodes run 2022",
    ),
}
