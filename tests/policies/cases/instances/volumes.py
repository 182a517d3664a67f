"""Cases of the rules in ``rules/instances/volumes.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import EBS_DEFAULT_ENCRYPTION, INSTANCE, LAUNCH_TEMPLATE

from ..base import Case, one, planned

CASES = {
    "ebs-encrypted": Case(
        [
            [
                planned(
                    LAUNCH_TEMPLATE,
                    {
                        "blockDeviceMappings": [
                            {"deviceName": "/dev/sda1", "ebs": {"encrypted": "true"}},
                            {"deviceName": "/dev/sdb", "noDevice": "true"},
                        ]
                    },
                )
            ],
            [planned(INSTANCE, {})],
            [planned("aws:ebs/volume:Volume", {"encrypted": True})],
        ],
        [
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": [{"ebs": {"volumeSize": 50}}]})],
            [planned(INSTANCE, {"rootBlockDevice": {"encrypted": False}})],
            [planned("aws:ebs/volume:Volume", {"size": 10})],
        ],
        [
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": [{"ebs": {"encrypted": UNKNOWN}}]})],
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": UNKNOWN})],
        ],
        "is not encrypted: encrypted is",
    ),
    "ebs-encryption-by-default": one(
        EBS_DEFAULT_ENCRYPTION,
        [{}, {"enabled": True}],
        [{"enabled": False}],
        [{"enabled": UNKNOWN}],
        "switched off for the account in this region",
    ),
}
