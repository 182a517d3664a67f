"""Storage classes for Windows pods.

- EBS volumes with NTFS, encrypted, made in the zone of the node that takes them;
- SMB shares of FSx for Windows File Server, FSx for ONTAP or Storage Gateway.

Sources: aws-ebs-csi-driver ``docs/parameters.md``, csi-driver-smb ``docs/driver-parameters.md``, EBS user guide
"Amazon EBS volume types".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pulumi
import pulumi_kubernetes as kubernetes

from ..core.component import Component
from ..core.mistakes import Mistakes, Rule, nearest, one_of

EBS_TYPES_PAGE = "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html"
CLASS_NAME = Rule(
    "WK-ADD-030", "A storage class has a name of Kubernetes.",
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names",
)  # fmt: skip
VOLUME_TYPE = Rule("WK-ADD-031", "A volume is of a type that EBS has.", EBS_TYPES_PAGE)
VOLUME_SPEED = Rule("WK-ADD-032", "Operations and throughput are within what the volume type gives.", EBS_TYPES_PAGE)
RECLAIM_POLICY = Rule("WK-ADD-033", "A volume is deleted or retained when its claim goes.",
                      "https://kubernetes.io/docs/concepts/storage/storage-classes/#reclaim-policy")  # fmt: skip
SMB_SHARE = Rule("WK-ADD-034", "An SMB share is named by server and share.",
                 "https://github.com/kubernetes-csi/csi-driver-smb/blob/master/docs/driver-parameters.md")  # fmt: skip

EBS_PROVISIONER = "ebs.csi.aws.com"
SMB_PROVISIONER = "smb.csi.k8s.io"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
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


@dataclass(frozen=True, kw_only=True)
class NtfsStorageClassArgs:
    """A class of EBS volumes for Windows pods."""

    class_name: str = "ebs-ntfs"
    """Its name, by which claims ask for it."""
    volume_type: str = "gp3"
    """``gp3`` (default), ``gp2``, ``io1``, ``io2``, ``st1`` or ``sc1``."""
    iops: int | None = None
    """Operations per second; gp3 has 3000 anyway. Only ``gp3``, ``io1`` and ``io2``."""
    throughput_mib: int | None = None
    """Throughput in MiB/s; gp3 has 125 anyway. Only ``gp3``."""
    kms_key_arn: pulumi.Input[str] | None = None
    """Key of the volumes; EBS' own by default. The driver's role needs ``documents.volume_keys`` of it."""
    reclaim_policy: str = "Delete"
    """What becomes of a volume whose claim goes: ``Delete`` (default) or ``Retain``."""
    allow_volume_expansion: bool = False
    """Whether claims may grow. Off by default: the driver can, but Kubernetes lists it as missing on Windows."""
    default: bool = False
    """Whether claims that name no class get it. Off by default, for Linux pods cannot use NTFS."""
    volume_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the volumes."""


@dataclass(frozen=True, kw_only=True)
class SmbStorageClassArgs:
    """A class of directories on an SMB share, for Windows and Linux pods alike."""

    class_name: str
    """Its name, by which claims ask for it."""
    share: pulumi.Input[str]
    """The share as ``//server/share``, such as ``//fs-….corp.example.com/share``."""
    secret_name: str
    """The secret with ``username``, ``password`` and, where there is one, ``domain``. It is made elsewhere."""
    secret_namespace: str
    """Its namespace."""
    reclaim_policy: str = "Retain"
    """What becomes of a directory whose claim goes: ``Retain`` (default) or ``Delete``."""
    mount_options: Sequence[str] = ()
    """Options of the mount on Linux; Windows knows none."""


def check_ntfs_storage_class(given: NtfsStorageClassLike) -> Mistakes:
    """Everything that is wrong with a class of EBS volumes (``WK-ADD-030`` to ``WK-ADD-033``)."""
    found = _check_class(given.class_name, given.reclaim_policy)
    if given.volume_type not in VOLUME_SPEEDS:
        guess = nearest(given.volume_type, tuple(VOLUME_SPEEDS))
        found.add(VOLUME_TYPE, ("volume_type",), f"EBS has the volume types {one_of(VOLUME_SPEEDS)}",
                  f'write "{guess}"' if guess else 'write "gp3"', given.volume_type)  # fmt: skip
        return found
    bounds = VOLUME_SPEEDS[given.volume_type]
    fields = (("iops", given.iops, bounds[0]), ("throughput_mib", given.throughput_mib, bounds[1]))
    if given.volume_type in ("io1", "io2") and given.iops is None:
        found.add(VOLUME_SPEED, ("iops",), f"a volume of {given.volume_type} is bought by its operations per second",
                  "set iops to 3000 or what you need")  # fmt: skip
    for name, value, bound in fields:
        if value is None:
            continue
        if bound is None:
            found.add(VOLUME_SPEED, (name,), f"{name} cannot be set for {given.volume_type}", f"remove {name}", value)
        elif not bound[0] <= value <= bound[1]:
            found.add(VOLUME_SPEED, (name,), f"{name} of {given.volume_type} is {bound[0]} to {bound[1]}",
                      f"set {name} to {min(max(value, bound[0]), bound[1])}", value)  # fmt: skip
    return found


def check_smb_storage_class(args: SmbStorageClassArgs) -> Mistakes:
    """Everything that is wrong with a class of SMB directories (``WK-ADD-030``, ``WK-ADD-033``, ``WK-ADD-034``)."""
    found = _check_class(args.class_name, args.reclaim_policy)
    if isinstance(args.share, str) and not _SHARE.fullmatch(args.share):
        found.add(SMB_SHARE, ("share",), "a share is named by server and share, with slashes",
                  'write it as "//server/share"', args.share)  # fmt: skip
    return found


def _check_class(class_name: str, reclaim_policy: str) -> Mistakes:
    found = Mistakes()
    if len(class_name) > 253 or not NAME_FORM.fullmatch(class_name):
        found.add(CLASS_NAME, ("class_name",), "a name has small letters, digits, hyphens and dots, 253 at most",
                  'write a name such as "ebs-ntfs"', class_name)  # fmt: skip
    if reclaim_policy not in RECLAIM_POLICIES:
        guess = nearest(reclaim_policy, RECLAIM_POLICIES)
        found.add(RECLAIM_POLICY, ("reclaim_policy",), f"the reclaim policy is {one_of(RECLAIM_POLICIES)}",
                  f'write "{guess}"' if guess else "write one of these", reclaim_policy)  # fmt: skip
    return found


def ntfs_storage_class(args: NtfsStorageClassArgs) -> dict[str, Any]:
    """The manifest of a class of EBS volumes with NTFS."""
    parameters: dict[str, Any] = {
        "type": args.volume_type,
        "encrypted": "true",
        # Without it the driver formats ext4, which Windows does not mount.
        "csi.storage.k8s.io/fstype": "ntfs",
    }
    optional = {"iops": args.iops, "throughput": args.throughput_mib, "kmsKeyId": args.kms_key_arn}
    parameters |= {key: str(it) if isinstance(it, int) else it for key, it in optional.items() if it is not None}
    parameters |= {
        f"tagSpecification_{number}": f"{key}={value}"
        for number, (key, value) in enumerate(sorted(args.volume_tags.items()), start=1)
    }
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": args.class_name, **({"annotations": {DEFAULT_CLASS: "true"}} if args.default else {})},
        "provisioner": EBS_PROVISIONER,
        "parameters": parameters,
        "reclaimPolicy": args.reclaim_policy,
        "allowVolumeExpansion": args.allow_volume_expansion,
        # A volume stays in its zone: it is made where the pod is placed, on a Windows node.
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def smb_storage_class(args: SmbStorageClassArgs) -> dict[str, Any]:
    """The manifest of a class of SMB directories. The credentials stay in their secret."""
    secret = {"name": args.secret_name, "namespace": args.secret_namespace}
    uses = ("provisioner-secret", "node-stage-secret")
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": args.class_name},
        "provisioner": SMB_PROVISIONER,
        "parameters": {
            "source": args.share,
            **{f"csi.storage.k8s.io/{use}-{part}": value for use in uses for part, value in secret.items()},
        },
        "reclaimPolicy": args.reclaim_policy,
        "volumeBindingMode": "Immediate",
        **({"mountOptions": list(args.mount_options)} if args.mount_options else {}),
    }


class _StorageClass(Component):
    class_name: str
    """Name of the class, for ``storageClassName`` of claims."""

    def _create(self, name: str, class_name: str, manifest: Mapping[str, Any]) -> None:
        self.class_name = class_name
        kubernetes.storage.v1.StorageClass(
            f"{name}-class",
            **{_SNAKE[key]: value for key, value in manifest.items() if key in _SNAKE},
            # Nearly every field is immutable, and two classes cannot have one name.
            opts=self.child(delete_before_replace=True),
        )
        self.register_outputs({"className": self.class_name})


_SNAKE = {
    "metadata": "metadata",
    "provisioner": "provisioner",
    "parameters": "parameters",
    "reclaimPolicy": "reclaim_policy",
    "allowVolumeExpansion": "allow_volume_expansion",
    "volumeBindingMode": "volume_binding_mode",
    "mountOptions": "mount_options",
}


class NtfsStorageClass(_StorageClass):
    """A class of encrypted EBS volumes with NTFS. Needs the add-on ``aws-ebs-csi-driver``.

    :raises WinkubeError: ``WK-ADD-030`` to ``WK-ADD-033``.
    """

    def __init__(self, name: str, args: NtfsStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_ntfs_storage_class(args))
        self._create(name, args.class_name, ntfs_storage_class(args))


class SmbStorageClass(_StorageClass):
    """A class of directories on an SMB share. Needs the add-on ``csi-driver-smb``.

    :raises WinkubeError: ``WK-ADD-030``, ``WK-ADD-033``, ``WK-ADD-034``.
    """

    def __init__(self, name: str, args: SmbStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_smb_storage_class(args))
        self._create(name, args.class_name, smb_storage_class(args))
