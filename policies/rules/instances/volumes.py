"""Volumes of instances, and those of the account."""

from collections.abc import Iterator

from ...frameworks import best_practices, cis_aws, fsbp
from ...model import Planned, Settings, Value, every, resource_rule
from ...resource_types import EBS_DEFAULT_ENCRYPTION, EBS_VOLUME, LAUNCH_TEMPLATE, LAUNCHED


@resource_rule(
    "ebs-encrypted",
    "Volumes are encrypted",
    types=[*LAUNCHED, EBS_VOLUME],
    severity="high",
    references=[fsbp("EC2.3"), fsbp("EC2.181"), best_practices("Windows storage and secrets")],
    steps="set encrypted to true on every volume; on Windows, the secrets of pods lie on the node's disk in clear text",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
)
def ebs_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Checks the volumes that the program describes; all others come from the image."""

    def check(volume: Value) -> Iterator[str]:
        if volume["noDevice"].settled or volume["virtualName"].settled:
            return
        if not volume["encrypted"].flag:
            place = volume.path or "the volume"
            yield f"{place} is not encrypted: encrypted {_state(volume['encrypted'])}"

    if resource.type == EBS_VOLUME:
        yield from check(Value(resource.props, ""))
    elif resource.type == LAUNCH_TEMPLATE:
        volumes = [mapping["ebs"] for mapping in resource["blockDeviceMappings"].items()]
        yield from every([volume for volume in volumes if volume.given], check)
    else:
        root = resource["rootBlockDevice"]
        volumes = [root] if root.given else []
        yield from every([*volumes, *resource["ebsBlockDevices"].items()], check)


def _state(value: Value) -> str:
    return "is not set" if value.raw is None else "is false"


@resource_rule(
    "ebs-encryption-by-default",
    "New volumes of the account are encrypted by default",
    types=[EBS_DEFAULT_ENCRYPTION],
    severity="high",
    level="mandatory",
    references=[fsbp("EC2.7"), cis_aws("2.2.1")],
    steps="set enabled to true, or leave the resource out",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/encryption-by-default.html",
)
def ebs_encryption_by_default(resource: Planned, settings: Settings) -> Iterator[str]:
    """The setting affects everyone who uses the account in the region."""
    if resource["enabled"].flag is False:
        yield "default encryption of volumes is switched off for the account in this region"
