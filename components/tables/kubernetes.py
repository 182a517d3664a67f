"""Kubernetes minors on EKS: which there are, and until when. A new minor is a row here and a row of AUTOSCALER_IMAGES.

``releases`` has the minors that the self-managed flavour builds. Sources: EKS user guide, page "Understand the
Kubernetes version lifecycle on EKS" (1.31 to 1.35); the AMI changelog of June 2026 for 1.36, whose extended end is
calculated (standard + 12 months).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

EKS_VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
EKS_STATE_OF = date(2026, 11, 21)
"""The day on which the rows of EKS were true: it decides which of them are in standard support."""


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


def oldest(minors: Iterable[str]) -> str:
    """The oldest of some minors."""
    return min(minors, key=minor_number)


def newest(minors: Iterable[str]) -> str:
    """The newest of some minors.

    >>> newest(["1.35", "1.9"])
    '1.35'
    """
    return max(minors, key=minor_number)


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
"""Every minor that EKS runs, extended support included: what an existing cluster may be."""

EKS_MINORS: Mapping[str, EksMinor] = {
    minor: row for minor, row in EKS_KNOWN_MINORS.items() if row.standard_support_until >= EKS_STATE_OF
}
"""The minors in standard support: what a new cluster may be."""

AUTOSCALER_IMAGES: Mapping[str, str] = {
    "1.31": "v1.31.5", "1.32": "v1.32.7", "1.33": "v1.33.6", "1.34": "v1.34.5", "1.35": "v1.35.2", "1.36": "v1.36.1",
}  # fmt: skip
"""The cluster autoscaler's newest release for each minor: it simulates that minor's scheduler.

Tags ``cluster-autoscaler-*`` of kubernetes/autoscaler, 22 July 2026.
"""

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
