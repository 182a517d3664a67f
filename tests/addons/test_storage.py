"""Storage classes for Windows pods."""

import botocore.session
import pytest
from winkube.addons.storage import (
    NtfsStorageClass,
    NtfsStorageClassArgs,
    SmbStorageClass,
    SmbStorageClassArgs,
    ntfs_storage_class,
    smb_storage_class,
)
from winkube.addons.storage_rules import VOLUME_SPEEDS, check_ntfs_storage_class, check_smb_storage_class

from .conftest import assert_well_made, the

SHARE = "//fs.corp.example.com/share"
SMB = SmbStorageClassArgs(class_name="fsx", share=SHARE, secret_name="fsx", secret_namespace="web")
KEY = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize(
    "args",
    [
        NtfsStorageClassArgs(),
        NtfsStorageClassArgs(iops=4000, throughput_mib=250, kms_key_arn=KEY, default=True, volume_tags={"team": "x"}),
        NtfsStorageClassArgs(volume_type="io2", iops=5000, reclaim_policy="Retain", allow_volume_expansion=True),
    ],
)
def test_the_ntfs_class_is_one_of_kubernetes(args, validated):
    """Every parameter is text; the file system is NTFS; volumes are encrypted and made where the pod goes."""
    manifest = ntfs_storage_class(args)
    validated(manifest)
    assert not check_ntfs_storage_class(args)
    assert manifest["parameters"]["csi.storage.k8s.io/fstype"] == "ntfs"
    assert manifest["parameters"]["encrypted"] == "true"
    assert manifest["volumeBindingMode"] == "WaitForFirstConsumer"
    assert all(isinstance(value, str) for value in manifest["parameters"].values())


def test_tags_are_numbered_as_the_driver_reads_them():
    args = NtfsStorageClassArgs(volume_tags={"b": "2", "a": "1"})
    parameters = ntfs_storage_class(args)["parameters"]
    assert (parameters["tagSpecification_1"], parameters["tagSpecification_2"]) == ("a=1", "b=2")


def test_the_smb_class_names_its_secret_and_holds_none(validated):
    manifest = smb_storage_class(SMB)
    validated(manifest)
    assert manifest["parameters"]["csi.storage.k8s.io/node-stage-secret-name"] == "fsx"
    assert manifest["parameters"]["source"] == "//fs.corp.example.com/share"
    assert not any("password" in key for key in manifest["parameters"])


@pytest.mark.parametrize("preview", [True, False])
def test_classes_are_registered_as_their_manifests_say(record, preview: bool):
    def build():
        NtfsStorageClass("ntfs", NtfsStorageClassArgs())

    plan = record(build, preview=preview)
    assert_well_made(plan, "NtfsStorageClass", ["className"])
    made = the(plan, "StorageClass")
    manifest = ntfs_storage_class(NtfsStorageClassArgs())
    assert {key: made.inputs[key] for key in manifest} == manifest
    assert made.options.delete_before_replace


def test_the_smb_class_is_registered(record):
    plan = record(lambda: SmbStorageClass("smb", SMB))
    assert_well_made(plan, "SmbStorageClass", ["className"])
    assert the(plan, "StorageClass").inputs["provisioner"] == "smb.csi.k8s.io"


@pytest.mark.parametrize(
    ("args", "code", "path", "remedy"),
    [
        ({"class_name": "EBS_ntfs"}, "WK-ADD-030", "class_name", '"ebs-ntfs"'),
        ({"volume_type": "gp4"}, "WK-ADD-031", "volume_type", 'write "gp3"'),
        ({"iops": 2000}, "WK-ADD-032", "iops", "set iops to 3000"),
        ({"iops": 80_001}, "WK-ADD-032", "iops", "set iops to 80000"),
        ({"throughput_mib": 2001}, "WK-ADD-032", "throughput_mib", "set throughput_mib to 2000"),
        ({"volume_type": "st1", "iops": 500}, "WK-ADD-032", "iops", "remove iops"),
        ({"volume_type": "io2", "iops": 500, "throughput_mib": 500}, "WK-ADD-032", "throughput_mib", "remove"),
        ({"volume_type": "io1"}, "WK-ADD-032", "iops", "set iops, for example to 3000"),
        ({"reclaim_policy": "retain"}, "WK-ADD-033", "reclaim_policy", 'write "Retain"'),
    ],
)
def test_mistakes_in_a_class_of_volumes(args, code: str, path: str, remedy: str):
    (mistake,) = check_ntfs_storage_class(NtfsStorageClassArgs(**args))
    assert (mistake.rule.code, mistake.path) == (code, (path,))
    assert remedy in mistake.remedy


@pytest.mark.parametrize("share", [r"\\server\share", "server/share", "//server"])
def test_a_share_is_written_with_slashes(share: str):
    args = SmbStorageClassArgs(class_name="x", share=share, secret_name="x", secret_namespace="x")
    (mistake,) = check_smb_storage_class(args)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-ADD-034", ("share",), share)


def test_the_bounds_are_those_of_the_ec2_api():
    """botocore's own words for CreateVolume name each bound."""
    ec2 = botocore.session.get_session().get_service_model("ec2")
    members = ec2.operation_model("CreateVolume").input_shape.members
    assert set(VOLUME_SPEEDS) <= set(members["VolumeType"].enum)
    words = members["Iops"].documentation.replace(",", "") + members["Throughput"].documentation.replace(",", "")
    for operations, throughput in VOLUME_SPEEDS.values():
        for bounds in (operations, throughput):
            assert all(str(bound) in words for bound in bounds or ())
