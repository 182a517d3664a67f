"""Windows Server releases that EKS has node images of, and the names of these images.

State of 2026-11-21. Sources: EKS user guide, pages "Create nodes with optimized Windows AMIs" and "Retrieve
recommended Microsoft Windows AMI IDs"; Microsoft lifecycle pages (learn.microsoft.com/lifecycle). The end dates of
Server 2025 are those that its lifecycle page announces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from ..core.mistakes import nearest
from .kubernetes import at_least

WINDOWS_AMI_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html"

EDITIONS: Mapping[str, str] = {"core": "Core", "full": "Full"}
"""The editions of a node image, with the word in the name of the SSM parameter."""

WINDOWS_ROOT_DEVICE = "/dev/sda1"
BUILD_LABEL = "node.kubernetes.io/windows-build"
"""The label in which the kubelet of a Windows node writes its build."""
WINDOWS_TAINT: Mapping[str, str] = {"key": "os", "value": "windows", "effect": "NoSchedule"}
"""Keeps pods off Windows nodes that never said where they belong (EKS best practices guide, Windows scheduling)."""


@dataclass(frozen=True, slots=True)
class WindowsRelease:
    """One long-term release of Windows Server."""

    release: str
    build: str
    """As in the label ``node.kubernetes.io/windows-build``; container images must be of the same build."""
    eks_minimum_kubernetes: str
    mainstream_support_until: date
    extended_support_until: date
    image_tag: str
    """The tag that Microsoft's base images carry."""
    warning: str = ""
    """Why the release should not be chosen any more."""

    def ami_type(self, edition: str) -> str:
        """What a managed node group calls the image.

        >>> WINDOWS_RELEASES["2022"].ami_type("core")
        'WINDOWS_CORE_2022_x86_64'
        """
        return f"WINDOWS_{EDITIONS[edition].upper()}_{self.release}_x86_64"

    def ami_parameter(self, edition: str, kubernetes_minor: str) -> str:
        """The public SSM parameter that holds the id of the newest image.

        >>> WINDOWS_RELEASES["2022"].ami_parameter("core", "1.36")
        '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id'
        """
        name = f"Windows_Server-{self.release}-English-{EDITIONS[edition]}-EKS_Optimized-{kubernetes_minor}"
        return f"/aws/service/ami-windows-latest/{name}/image_id"


WINDOWS_RELEASES: Mapping[str, WindowsRelease] = {
    row.release: row
    for row in (
        WindowsRelease("2019", "10.0.17763", "1.14", date(2024, 1, 9), date(2029, 1, 9), "ltsc2019",
                       "Windows Server 2019 left mainstream support on 9 January 2024 and gets security fixes only"),
        WindowsRelease("2022", "10.0.20348", "1.23", date(2026, 10, 13), date(2031, 10, 14), "ltsc2022"),
        WindowsRelease("2025", "10.0.26100", "1.35", date(2029, 10, 9), date(2034, 10, 10), "ltsc2025"),
    )
}  # fmt: skip


def releases_for(kubernetes_minor: str) -> tuple[str, ...]:
    """The releases that EKS runs with a Kubernetes minor."""
    return tuple(
        release for release, row in WINDOWS_RELEASES.items() if at_least(kubernetes_minor, row.eks_minimum_kubernetes)
    )


def nearest_release(text: str) -> str:
    """The release that a wrong text means: of years the next one, of other words the most alike.

    >>> nearest_release("2021"), nearest_release("ltsc2025"), nearest_release("1809")
    ('2022', '2025', '2019')
    """
    digits = "".join(mark for mark in text if mark.isdigit())[-4:]
    if digits and text.isdigit():
        return next((release for release in WINDOWS_RELEASES if release >= digits), list(WINDOWS_RELEASES)[-1])
    return digits if digits in WINDOWS_RELEASES else nearest(text, tuple(WINDOWS_RELEASES)) or "2022"
