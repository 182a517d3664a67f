"""Kubernetes minors: which of them EKS runs, until when, and which the self-managed flavour builds.

State of 2026-11-21. Sources: EKS user guide, page "Understand the Kubernetes version lifecycle on EKS"
(1.31 to 1.35); the AMI changelog of June 2026 for 1.36, whose extended end is calculated (standard + 12 months).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

EKS_VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"


@dataclass(frozen=True, slots=True)
class EksMinor:
    """One Kubernetes minor on EKS."""

    minor: str
    since: date
    standard_support_until: date
    extended_support_until: date


def minor_number(minor: str) -> tuple[int, int]:
    """A minor as numbers, so that 1.9 comes before 1.35 and a later one than the table knows still compares.

    >>> minor_number("1.9") < minor_number("1.35")
    True
    """
    major, _, rest = minor.partition(".")
    return int(major), int(rest)


def at_least(minor: str, other: str) -> bool:
    """Whether ``minor`` is ``other`` or newer; False for a text that is no minor."""
    try:
        return minor_number(minor) >= minor_number(other)
    except ValueError:
        return False


def _row(minor: str, since: date, standard: date) -> EksMinor:
    # Standard support is 14 months from the release on EKS, extended support 12 months more.
    return EksMinor(minor, since, standard, standard.replace(year=standard.year + 1))


_ROWS = (
    _row("1.31", date(2024, 9, 26), date(2025, 11, 26)),
    _row("1.32", date(2025, 1, 23), date(2026, 3, 23)),
    _row("1.33", date(2025, 5, 29), date(2026, 7, 29)),
    _row("1.34", date(2025, 10, 2), date(2026, 12, 2)),
    _row("1.35", date(2026, 1, 27), date(2027, 3, 27)),
    _row("1.36", date(2026, 6, 2), date(2027, 8, 2)),
)

EKS_KNOWN_MINORS: Mapping[str, EksMinor] = {row.minor: row for row in _ROWS}
"""Every minor that EKS still ran on 2026-11-21, extended support included: what an existing cluster may be."""

EKS_MINORS: Mapping[str, EksMinor] = {minor: row for minor, row in EKS_KNOWN_MINORS.items() if at_least(minor, "1.34")}
"""The minors in standard support on 2026-11-21: what a new cluster may be."""

SELF_MANAGED_MINORS: tuple[str, ...] = ("1.35", "1.36", "1.37")
"""What upstream maintained on 2026-11-21 (kubernetes.io/releases)."""

WINDOWS_MINIMUM_PLATFORM: Mapping[str, str] = {
    "1.24": "eks.2", "1.25": "eks.1", "1.26": "eks.1", "1.27": "eks.1", "1.28": "eks.1", "1.29": "eks.1",
    "1.30": "eks.2", "1.31": "eks.4",
}  # fmt: skip
"""Platform versions from which the control plane manages addresses of Windows pods; later minors do from the start.

EKS user guide, "Deploy Windows nodes on EKS clusters", December 2024.
"""


def windows_platform(minor: str, platform_version: str) -> bool:
    """Whether a platform version such as ``eks.9`` has Windows support. Numbers are compared, not texts.

    >>> windows_platform("1.31", "eks.10"), windows_platform("1.31", "eks.3"), windows_platform("1.36", "eks.1")
    (True, False, True)
    """
    least = WINDOWS_MINIMUM_PLATFORM.get(minor, "eks.1")
    number = platform_version.removeprefix("eks.")
    return number.isdigit() and int(number) >= int(least.removeprefix("eks.")) and at_least(minor, "1.24")
