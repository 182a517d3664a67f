"""Images of Windows nodes, and their age."""

import re
from collections.abc import Iterator
from datetime import date

from winkube.tables.kubernetes import at_least
from winkube.tables.windows import WINDOWS_RELEASES

from ...eks_resources import is_windows_group, minor_of, release_of_group
from ...frameworks import WINDOWS_AMI_PAGE, best_practices, eks_guide
from ...inventory import inventory
from ...model import Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...resource_types import NODE_GROUP

TABLE_DATE = date(2026, 11, 21)
"""The day that the age of pinned releases is counted from: a plan must not depend on the day it is made."""


@stack_rule(
    "windows-release-runs",
    "The cluster's Kubernetes minor supports the Windows release",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps="choose another ami_type, or a newer Kubernetes version for the cluster",
    url=WINDOWS_AMI_PAGE,
)
def windows_release_runs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Windows Server 2025 needs Kubernetes 1.35 or newer."""
    plan = inventory(stack)

    def check(group: Planned) -> Iterator[Violation]:
        release = release_of_group(group)
        row = WINDOWS_RELEASES.get(release or "")
        cluster = stack.by_urn.get(plan.cluster(group) or "")
        version = group["version"] if group["version"].given or cluster is None else cluster["version"]
        if row is None or not version.given:
            return
        minor = minor_of(version)
        if minor and not at_least(minor, row.eks_minimum_kubernetes):
            message = f"Windows Server {release} needs Kubernetes {row.eks_minimum_kubernetes} or newer, got {minor}"
            yield Violation(message, group.urn)

    yield from every(stack.of(NODE_GROUP), check)


@resource_rule(
    "windows-release-current",
    "Windows nodes run a release in mainstream support",
    types=[NODE_GROUP],
    severity="low",
    references=[best_practices("Windows patching")],
    steps="choose an ami_type of Windows Server 2022 or 2025, and images of the same release",
    url="https://learn.microsoft.com/lifecycle/products/windows-server-2019",
)
def windows_release_current(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged by the library's table of releases."""
    resource["amiType"].known()
    row = WINDOWS_RELEASES.get(release_of_group(resource) or "")
    if row and row.warning:
        yield row.warning


@resource_rule(
    "windows-release-pinned",
    "Windows groups are not pinned to an image that AWS withdraws",
    types=[NODE_GROUP],
    references=[eks_guide("Troubleshooting"), best_practices("Windows patching")],
    steps="leave release_version out, or update it every month",
    url="https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
    options={
        "maximumDays": Option(
            120, f"maximum age in days on {TABLE_DATE}; AWS withdraws images after about four months",
            {"type": "integer", "minimum": 1},
        ),
    },
)  # fmt: skip
def windows_release_pinned(resource: Planned, settings: Settings) -> Iterator[str]:
    """The release version contains its date: ``1.36-2026.06.10``."""
    if not is_windows_group(resource):
        return
    found = re.search(r"(\d{4})\.(\d{2})\.(\d{2})$", resource["releaseVersion"].text or "")
    if found is None:
        return
    try:
        age = (TABLE_DATE - date(*map(int, found.groups()))).days
    except ValueError:
        return
    if age > settings["maximumDays"]:
        yield f"the image of {found[1]}-{found[2]}-{found[3]} is withdrawn: new nodes fail to start"
