"""Storage classes for Windows pods.

- EBS volumes with NTFS, encrypted, made in the zone of the node that takes them;
- SMB shares of FSx for Windows File Server, FSx for ONTAP or Storage Gateway.

Sources: aws-ebs-csi-driver ``docs/parameters.md``, csi-driver-smb ``docs/driver-parameters.md``, EBS user guide
"Amazon EBS volume types".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from ..core.component import Component
from ..kubernetes.resource import kubernetes_object
from .storage_rules import check_ntfs_storage_class, check_smb_storage_class

EBS_PROVISIONER = "ebs.csi.aws.com"
SMB_PROVISIONER = "smb.csi.k8s.io"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True, kw_only=True)
class NtfsStorageClassArgs:
    """The arguments of a storage class for EBS volumes of Windows pods."""

    class_name: str = "ebs-ntfs"
    """Name of the storage class."""
    volume_type: str = "gp3"
    """``gp3`` (default), ``gp2``, ``io1``, ``io2``, ``st1`` or ``sc1``."""
    iops: int | None = None
    """IOPS of a volume; 3000 for gp3 by default. Only for ``gp3``, ``io1`` and ``io2``."""
    throughput_mib: int | None = None
    """Throughput in MiB/s; 125 by default. Only for ``gp3``."""
    kms_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of the volumes; the EBS default key by default. The driver's role needs permission to use
    it."""
    reclaim_policy: str = "Delete"
    """What happens to a volume when its claim is deleted: ``Delete`` (default) or ``Retain``."""
    allow_volume_expansion: bool = False
    """Whether claims may grow. Off by default: Kubernetes does not list it as supported on Windows."""
    default: bool = False
    """Whether this is the default class. Off by default, because Linux pods cannot use NTFS."""
    volume_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the volumes."""


@dataclass(frozen=True, kw_only=True)
class SmbStorageClassArgs:
    """The arguments of a storage class for directories on an SMB share, for Windows and Linux pods."""

    class_name: str
    """Name of the storage class."""
    share: pulumi.Input[str]
    """The share as ``//server/share``, such as ``//fs-….corp.example.com/share``."""
    secret_name: str
    """Name of an existing Secret with ``username``, ``password`` and optionally ``domain``."""
    secret_namespace: str
    """Its namespace."""
    reclaim_policy: str = "Retain"
    """What happens to a directory when its claim is deleted: ``Retain`` (default) or ``Delete``."""
    mount_options: Sequence[str] = ()
    """Mount options on Linux; Windows has none."""


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
        # Nearly every field is immutable, and two classes cannot have one name.
        kubernetes_object(f"{name}-class", manifest, self.child(delete_before_replace=True))
        self.register_outputs({"className": self.class_name})


class NtfsStorageClass(_StorageClass):
    """A storage class for encrypted EBS volumes with NTFS. Requires the add-on ``aws-ebs-csi-driver``.

    :raises WinkubeError: ``WK-ADD-030`` to ``WK-ADD-033``.
    """

    def __init__(self, name: str, args: NtfsStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_ntfs_storage_class(args))
        self._create(name, args.class_name, ntfs_storage_class(args))


class SmbStorageClass(_StorageClass):
    """A storage class for directories on an SMB share. Requires the add-on ``csi-driver-smb``.

    :raises WinkubeError: ``WK-ADD-030``, ``WK-ADD-033``, ``WK-ADD-034``.
    """

    def __init__(self, name: str, args: SmbStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_smb_storage_class(args))
        self._create(name, args.class_name, smb_storage_class(args))
