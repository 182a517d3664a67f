"""RuntimeClasses of Windows releases as plain manifests."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.mistakes import Mistakes, Path, Rule, one_of
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_TAINT, nearest_release

RELEASES = Rule(
    "WK-K8S-001",
    "A RuntimeClass needs a supported Windows release, listed once.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/windows-scheduling.html",
)

WINDOWS_HANDLER = "runhcs-wcow-process"
"""The runtime of process isolation in containerd's configuration on Windows."""


def runtime_class_name(release: str) -> str:
    """The name by which pods choose a release.

    >>> runtime_class_name("2022")
    'windows-2022'
    """
    return f"windows-{release}"


def runtime_class_manifest(release: str, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The RuntimeClass of a Windows release: handler, node selector with the build, toleration of the Windows taint."""
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": runtime_class_name(release), **({"labels": dict(labels)} if labels else {})},
        "handler": WINDOWS_HANDLER,
        "scheduling": {
            "nodeSelector": {
                "kubernetes.io/os": "windows",
                "kubernetes.io/arch": "amd64",
                BUILD_LABEL: WINDOWS_RELEASES[release].build,
            },
            "tolerations": [{**WINDOWS_TAINT, "operator": "Equal"}],
        },
    }


def check_releases(releases: Sequence[str], path: Path = ("releases",)) -> Mistakes:
    """Whether every release is known, and named once."""
    found = Mistakes()
    for index, release in enumerate(releases):
        if release not in WINDOWS_RELEASES:
            found.add(RELEASES, (*path, index), f"the Windows release is {one_of(WINDOWS_RELEASES)}",
                      f'write "{nearest_release(release)}"', release)  # fmt: skip
        elif release in releases[:index]:
            found.add(RELEASES, (*path, index), "the release is listed twice", "remove it", release)
    return found
