"""Cases of the rules in ``rules/storage/file_systems.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import EFS_FILE_SYSTEM, FSX_WINDOWS

from ..base import one

CASES = {
    "file-system-encrypted": one(
        EFS_FILE_SYSTEM,
        [{"encrypted": True}],
        [{}, {"encrypted": False}],
        [{"encrypted": UNKNOWN}],
        "cannot be changed later",
    ),
    "fsx-windows-zones": one(
        FSX_WINDOWS,
        [{"deploymentType": "MULTI_AZ_1"}],
        [{}, {"deploymentType": "SINGLE_AZ_2"}],
        [{"deploymentType": UNKNOWN}],
        "is in one zone",
        {"when": "always"},
    ),
}
