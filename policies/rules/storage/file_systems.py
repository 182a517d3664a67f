"""File systems that pods and nodes share."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import WHEN_OPTIONS, Planned, Settings, applies, resource_rule
from ...resource_types import EFS_FILE_SYSTEM, FSX_WINDOWS


@resource_rule(
    "file-system-encrypted",
    "File systems are encrypted",
    types=[EFS_FILE_SYSTEM],
    severity="high",
    references=[fsbp("EFS.1"), cis_aws("2.4.1")],
    steps="set encrypted to true; it cannot be changed later",
    url=controls_page("efs"),
)
def file_system_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """FSx always encrypts; EFS does so only when told."""
    if not resource["encrypted"].flag:
        yield "the file system is not encrypted, which cannot be changed later"


@resource_rule(
    "fsx-windows-zones",
    "File servers for Windows span two zones",
    types=[FSX_WINDOWS],
    references=[fsbp("FSx.5")],
    steps='set deployment_type to "MULTI_AZ_1" with two subnets',
    url=controls_page("fsx"),
    options=WHEN_OPTIONS,
)
def fsx_windows_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only."""
    if applies(resource, settings) and (resource["deploymentType"].text or "SINGLE_AZ_1") != "MULTI_AZ_1":
        yield "the file server is in one zone; if that zone fails, Windows pods in all zones lose their files"
