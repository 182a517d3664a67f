"""What must hold for storage classes of Windows pods, as pure checks over plain attributes.

Bounds: EC2 API, ``CreateVolume``; parameters: aws-ebs-csi-driver ``docs/parameters.md``.
"""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Rule, nearest, one_of

EBS_TYPES_PAGE = "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html"
CLASS_NAME = Rule(
    "WK-ADD-030",
    "The name of a storage class must be a valid Kubernetes name.",
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names",
)
VOLUME_TYPE = Rule("WK-ADD-031", "The volume type must be one that EBS offers.", EBS_TYPES_PAGE)
VOLUME_SPEED = Rule("WK-ADD-032", "IOPS and throughput must be within the limits of the volume type.", EBS_TYPES_PAGE)
RECLAIM_POLICY = Rule(
    "WK-ADD-033",
    "The reclaim policy is Delete or Retain.",
    "https://kubernetes.io/docs/concepts/storage/storage-classes/#reclaim-policy",
)
SMB_SHARE = Rule(
    "WK-ADD-034",
    "An SMB share is written as //server/share.",
    "https://github.com/kubernetes-csi/csi-driver-smb/blob/master/docs/driver-parameters.md",
)

RECLAIM_POLICIES = ("Delete", "Retain")
VOLUME_SPEEDS: Mapping[str, tuple[tuple[int, int] | None, tuple[int, int] | None]] = {
    "gp3": ((3000, 80000), (125, 2000)),
    "gp2": (None, None),
    "io1": ((100, 64000), None),
    "io2": ((100, 256000), None),
    "st1": (None, None),
    "sc1": (None, None),
}
"""EBS volume type to the bounds of its operations per second and of its throughput in MiB/s; None: not to be set."""
NAME_FORM = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_SHARE = re.compile(r"//[^/\s\\]+/[^\s\\]+")


class NtfsStorageClassLike(Protocol):
    """What the checks need of a class of EBS volumes."""

    @property
    def class_name(self) -> str: ...  # noqa: D102
    @property
    def volume_type(self) -> str: ...  # noqa: D102
    @property
    def iops(self) -> int | None: ...  # noqa: D102
    @property
    def throughput_mib(self) -> int | None: ...  # noqa: D102
    @property
    def reclaim_policy(self) -> str: ...  # noqa: D102


class SmbStorageClassLike(Protocol):
    """What the checks need of a class of SMB directories."""

    @property
    def class_name(self) -> str: ...  # noqa: D102
    @property
    def share(self) -> Any: ...  # noqa: D102
    @property
    def reclaim_policy(self) -> str: ...  # noqa: D102


def check_ntfs_storage_class(given: NtfsStorageClassLike) -> Mistakes:
    """Everything that is wrong with a class of EBS volumes (``WK-ADD-030`` to ``WK-ADD-033``)."""
    found = _check_class(given.class_name, given.reclaim_policy)
    if given.volume_type not in VOLUME_SPEEDS:
        guess = nearest(given.volume_type, tuple(VOLUME_SPEEDS))
        found.add(VOLUME_TYPE, ("volume_type",), f"the volume type is {one_of(VOLUME_SPEEDS)}",
                  f'write "{guess}"' if guess else 'write "gp3"', given.volume_type)  # fmt: skip
        return found
    bounds = VOLUME_SPEEDS[given.volume_type]
    fields = (("iops", given.iops, bounds[0]), ("throughput_mib", given.throughput_mib, bounds[1]))
    if given.volume_type in ("io1", "io2") and given.iops is None:
        found.add(VOLUME_SPEED, ("iops",), f"a {given.volume_type} volume needs a number of IOPS",
                  "set iops, for example to 3000")  # fmt: skip
    for name, value, bound in fields:
        if value is None:
            continue
        if bound is None:
            found.add(
                VOLUME_SPEED, (name,), f"a {given.volume_type} volume has no {name} setting", f"remove {name}", value
            )
        elif not bound[0] <= value <= bound[1]:
            found.add(VOLUME_SPEED, (name,), f"{name} of a {given.volume_type} volume must be {bound[0]} to {bound[1]}",
                      f"set {name} to {min(max(value, bound[0]), bound[1])}", value)  # fmt: skip
    return found


def check_smb_storage_class(given: SmbStorageClassLike) -> Mistakes:
    """Everything that is wrong with a class of SMB directories (``WK-ADD-030``, ``WK-ADD-033``, ``WK-ADD-034``)."""
    found = _check_class(given.class_name, given.reclaim_policy)
    if isinstance(given.share, str) and not _SHARE.fullmatch(given.share):
        found.add(SMB_SHARE, ("share",), "a share is written as server and share, with slashes",
                  'write it as "//server/share"', given.share)  # fmt: skip
    return found


def _check_class(class_name: str, reclaim_policy: str) -> Mistakes:
    found = Mistakes()
    if len(class_name) > 253 or not NAME_FORM.fullmatch(class_name):
        found.add(CLASS_NAME, ("class_name",), "a name has at most 253 lower-case letters, digits, hyphens and dots",
                  'write a name such as "ebs-ntfs"', class_name)  # fmt: skip
    if reclaim_policy not in RECLAIM_POLICIES:
        guess = nearest(reclaim_policy, RECLAIM_POLICIES)
        found.add(RECLAIM_POLICY, ("reclaim_policy",), f"the reclaim policy is {one_of(RECLAIM_POLICIES)}",
                  f'write "{guess}"' if guess else "write one of these", reclaim_policy)  # fmt: skip
    return found
