"""Cases of the rules in ``rules/windows_workloads/file_systems.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD, PVC, STATEFUL_SET, STORAGE_CLASS

from ..base import Case, one, planned, windows, windows_case
from .common import SELECTED, volumes


def claim(storage: Any) -> Any:
    return planned(PVC, {"metadata": {"name": "data"}, "spec": {"storageClassName": storage}})


def storage_class(name: str = "ebs", provisioner: str = "ebs.csi.aws.com", **parameters: Any) -> Any:
    return planned(
        STORAGE_CLASS, {"metadata": {"name": name}, "provisioner": provisioner, "parameters": parameters}, name
    )


WITH_CLAIM = planned(POD, volumes(persistentVolumeClaim={"claimName": "data"}))
NTFS = {"csi.storage.k8s.io/fstype": "ntfs"}

CASES = {
    "windows-no-nfs": windows_case(
        [volumes(csi={"driver": "ebs.csi.aws.com"}), volumes(csi={"driver": "smb.csi.k8s.io"})],
        [volumes(nfs={"server": "a", "path": "/"}), volumes(csi={"driver": "efs.csi.aws.com"})],
        [volumes(csi={"driver": UNKNOWN})],
        "cannot mount",
    ),
    "windows-no-in-tree-volumes": windows_case(
        [
            volumes(csi={"driver": "ebs.csi.aws.com"}),
            *(volumes(**{kind: {}}) for kind in ("emptyDir", "secret", "configMap", "projected", "hostPath")),
        ],
        [
            volumes(awsElasticBlockStore={"volumeID": UNKNOWN}),
            volumes(azureFile={"secretName": "a", "shareName": "a"}),
            volumes(flexVolume={"driver": "a/b"}),
        ],
        [windows({"volumes": UNKNOWN}), windows({"volumes": [UNKNOWN]})],
        "available only from CSI drivers",
    ),
    "windows-volumes-ntfs": Case(
        [
            [WITH_CLAIM, claim("ebs"), storage_class(**NTFS)],
            [WITH_CLAIM, claim("elsewhere")],
            [WITH_CLAIM],
            [
                planned(
                    STATEFUL_SET,
                    {
                        "spec": {
                            "template": {"spec": SELECTED},
                            "volumeClaimTemplates": [{"spec": {"storageClassName": "smb"}}],
                        }
                    },
                ),
                storage_class("smb", "smb.csi.k8s.io"),
            ],
        ],
        [
            [WITH_CLAIM, claim("ebs"), storage_class()],
            [WITH_CLAIM, claim("efs"), storage_class("efs", "efs.csi.aws.com")],
            [
                planned(
                    STATEFUL_SET,
                    {
                        "spec": {
                            "template": {"spec": SELECTED},
                            "volumeClaimTemplates": [{"spec": {"storageClassName": "ebs"}}],
                        }
                    },
                ),
                storage_class(**{"csi.storage.k8s.io/fstype": "xfs"}),
            ],
        ],
        [[WITH_CLAIM, claim(UNKNOWN), storage_class()], [WITH_CLAIM, claim("ebs"), storage_class(fsType=UNKNOWN)]],
        "the pods run on Windows, and their StorageClass",
    ),
    "ntfs-not-expanded": one(
        STORAGE_CLASS,
        [{"parameters": NTFS}, {"parameters": {}, "allowVolumeExpansion": True}],
        [{"parameters": NTFS, "allowVolumeExpansion": True}],
        [{"parameters": NTFS, "allowVolumeExpansion": UNKNOWN}],
        "allowVolumeExpansion is true",
    ),
}
