"""File systems and drivers that Windows nodes can mount."""

from collections.abc import Iterator, Mapping

from winkube.kubernetes.windows_pods import GONE_VOLUMES, VOLUME

from ...frameworks import BEST_PRACTICES, WINDOWS_COMPATIBILITY, WINDOWS_COMPATIBILITY_PAGE, best_practices
from ...model import Planned, Settings, Stack, Value, Violation, every, resource_rule, stack_rule
from ...pods import Pod, against, windows_pod, windows_pods
from ...resource_types import PVC, STORAGE_CLASS, WORKLOADS

LINUX_FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs")
LINUX_DRIVERS: Mapping[str, str] = {
    "efs.csi.aws.com": "EFS", "s3.csi.aws.com": "Mountpoint for S3", "nfs.csi.k8s.io": "NFS",
    "fsx.csi.aws.com": "FSx for Lustre", "secrets-store.csi.k8s.io": "",
}  # fmt: skip
"""CSI drivers without a node part for Windows; the secrets store has one, its AWS provider has not."""


@resource_rule(
    "windows-no-nfs",
    "Pods on Windows mount no NFS, EFS or S3",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY, best_practices("Windows storage")],
    steps="use SMB (FSx for Windows File Server or ONTAP) for shared files, EBS with NTFS for others",
    url=f"{BEST_PRACTICES}/windows-storage.html",
)
def windows_no_nfs(resource: Planned, settings: Settings) -> Iterator[str]:
    """The drivers do not support Windows nodes, so the pod waits for its volume forever."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        driver = volume["csi"]["driver"].text or ""
        kind = "NFS" if volume["nfs"].given else LINUX_DRIVERS.get(driver)
        if kind:
            yield f"{volume.path} uses {kind}, which Windows nodes cannot mount"

    yield from every(pod.volumes if pod else (), check)


@resource_rule(
    "windows-no-in-tree-volumes",
    "Pods on Windows have no volumes from before CSI",
    types=WORKLOADS,
    severity="high",
    references=[WINDOWS_COMPATIBILITY, best_practices("Windows storage")],
    steps="claim a volume of ebs.csi.aws.com with NTFS, or of smb.csi.k8s.io for a share",
    url=f"{BEST_PRACTICES}/windows-storage.html",
)
def windows_no_in_tree_volumes(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes no longer mounts them itself: what it does not pass to a CSI driver stays unmounted."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        volume.known()
        gone = {kind: volume[kind].raw for kind in GONE_VOLUMES if volume[kind].given}
        yield from against(VOLUME, volume, {"volumes": [gone]}, 2)

    yield from every(pod.volumes if pod else (), check)


@stack_rule(
    "windows-volumes-ntfs",
    "Volumes of pods on Windows use a file system that Windows supports",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[best_practices("Windows storage")],
    steps='use a StorageClass with csi.storage.k8s.io/fstype "ntfs", or SMB for shared files',
    url=f"{BEST_PRACTICES}/windows-storage.html",
)
def windows_volumes_ntfs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Checks the claims and classes that the program creates."""
    classes = {resource["metadata"]["name"].settled or resource.name: resource for resource in stack.of(STORAGE_CLASS)}
    claims = {resource["metadata"]["name"].settled or resource.name: resource["spec"] for resource in stack.of(PVC)}

    def check(found: tuple[Planned, Pod]) -> Iterator[Violation]:
        resource, pod = found
        used = [claims.get(name) for volume in pod.volumes
                if (name := volume["persistentVolumeClaim"]["claimName"].settled)]  # fmt: skip
        used += [claim["spec"] for claim in resource["spec"]["volumeClaimTemplates"].items()]
        for claim in used:
            storage = classes.get(claim["storageClassName"].text) if claim else None
            why = _not_for_windows(storage) if storage else None
            if storage and why:
                yield Violation(f'the pods run on Windows, and their StorageClass "{storage.name}" {why}', resource.urn)
                return

    yield from every(windows_pods(stack), check)


def _not_for_windows(storage: Planned) -> str | None:
    provisioner = storage["provisioner"].text or ""
    if LINUX_DRIVERS.get(provisioner):
        return f"uses {LINUX_DRIVERS[provisioner]}, which Windows nodes cannot mount"
    parameters = storage["parameters"]
    kind = (parameters["csi.storage.k8s.io/fstype"].text or parameters["fsType"].text or "").lower()
    if kind in LINUX_FILE_SYSTEMS:
        return f"creates {kind} volumes"
    if provisioner == "ebs.csi.aws.com" and not kind:
        return "creates ext4 volumes: csi.storage.k8s.io/fstype is not set"
    return None


@resource_rule(
    "ntfs-not-expanded",
    "Storage classes with NTFS do not allow volume expansion",
    types=[STORAGE_CLASS],
    severity="low",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove allowVolumeExpansion; a larger volume needs a new claim and a copy",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def ntfs_not_expanded(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes does not support expanding mounted volumes on Windows."""
    parameters = resource["parameters"]
    kind = (parameters["csi.storage.k8s.io/fstype"].text or "").lower()
    if kind == "ntfs" and resource["allowVolumeExpansion"].flag:
        yield "Windows cannot expand volumes in use: allowVolumeExpansion is true"
