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
    steps="set encrypted to true on every volume; pods' secrets lie on the node's disk in clear text on Windows",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
)
def ebs_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Every volume that is described says so; one that is not described is the image's."""

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
    """Switching the account's default off affects everybody in the region."""
    if resource["enabled"].flag is False:
        yield "the account's default encryption of volumes is switched off for the whole region"
