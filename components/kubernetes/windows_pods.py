"""What must hold for pods on Windows nodes, as pure checks over manifests.

The policy pack asks them about planned objects: mount paths, memory, volumes from before CSI, Hyper-V isolation. For
the rest it has rules of its own; admission takes the codes. A pod counts as one for Windows when it says so: by
``os``, by node selector, by a RuntimeClass ``windows-…``, or by ``windowsOptions``.
Source: Kubernetes, "Windows containers in Kubernetes" (compatibility of pod fields); EKS user guide, "Deploy Windows
nodes on EKS clusters".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from ..core.mistakes import Mistakes, Path, Rule
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES

FIELDS_PAGE = "https://kubernetes.io/docs/concepts/windows/intro/#compatibility-linux-similarities"
EKS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"

LINUX_FIELD = Rule("WK-K8S-010", "A Windows pod must not set fields that exist only on Linux.", FIELDS_PAGE)
MEMORY = Rule(
    "WK-K8S-011",
    "Windows containers need a memory limit equal to the request.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/windows-oom.html",
)
IMAGE_BUILD = Rule(
    "WK-K8S-012",
    "A container image must match the Windows build of the node.",
    "https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/",
)
SELECTOR = Rule("WK-K8S-013", "A Windows pod selects its node through nodeSelector or a RuntimeClass.", EKS_PAGE)
HOST_PROCESS = Rule(
    "WK-K8S-014",
    "All containers of a HostProcess pod must be HostProcess containers in the host network.",
    "https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/",
)
MOUNT_PATH = Rule("WK-K8S-015", "A mount path on Windows begins with a drive letter or a slash.", FIELDS_PAGE)
VOLUME = Rule("WK-K8S-016", "Windows pods can use only volumes that Windows can mount.", FIELDS_PAGE)
FARGATE = Rule("WK-K8S-020", "Fargate does not run Windows pods.", EKS_PAGE)
HYPER_V = Rule(
    "WK-K8S-021",
    "Windows containers use process isolation; Hyper-V isolation is not supported.",
    "https://kubernetes.io/docs/concepts/windows/intro/#container-runtime",
)

HYPER_V_ANNOTATION = "experimental.windows.kubernetes.io/isolation-type"
"""By which pods asked for Hyper-V isolation, in versions before 1.21."""
HYPER_V_HANDLER = "runhcs-wcow-hypervisor"
"""The runtime of Hyper-V isolation in containerd's configuration on Windows; its variants append a build."""
Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Field:
    path: tuple[str, ...]
    why: str
    remedy: str


_NO_SUCH = "does not exist on Windows"
_USER = 'set securityContext.windowsOptions.runAsUserName, such as "ContainerUser"'

_HOST_FIELDS = (
    _Field(("hostPID",), "Windows containers do not share process ids with the host", "remove it"),
    _Field(("hostIPC",), "Windows has no shared IPC namespace", "remove it"),
)
_POD_FIELDS = (
    _Field(("shareProcessNamespace",), "Windows containers of a pod share the network only", "remove it"),
    _Field(("securityContext", "runAsUser"), "Windows has no numeric user ids", _USER),
    _Field(("securityContext", "runAsGroup"), "Windows has no numeric group ids", "remove it"),
    _Field(("securityContext", "supplementalGroups"), "Windows has no numeric group ids", "remove it"),
    _Field(("securityContext", "supplementalGroupsPolicy"), "Windows has no numeric group ids", "remove it"),
    _Field(("securityContext", "fsGroup"), "volumes on Windows have access lists, not groups", "remove it"),
    _Field(("securityContext", "fsGroupChangePolicy"), "volumes on Windows have access lists, not groups", "remove it"),
    _Field(("securityContext", "sysctls"), "Windows has no sysctls", "remove it"),
    _Field(("securityContext", "seLinuxOptions"), f"SELinux {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "seLinuxChangePolicy"), f"SELinux {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "seccompProfile"), f"seccomp {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "appArmorProfile"), f"AppArmor {_NO_SUCH}", "remove it"),
)
_CONTAINER_FIELDS = (
    _Field(("securityContext", "privileged"), "Windows has no privileged containers",
           "use securityContext.windowsOptions.hostProcess where the host is needed"),
    _Field(("securityContext", "allowPrivilegeEscalation"), f"privilege escalation by exec {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "readOnlyRootFilesystem"), "Windows writes to its registry and logs in every container",
           "remove it; mount volumes read-only instead"),
    _Field(("securityContext", "capabilities"), f"a set of capabilities {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "procMount"), f"/proc {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "runAsUser"), "Windows has no numeric user ids", _USER),
    _Field(("securityContext", "runAsGroup"), "Windows has no numeric group ids", "remove it"),
    _Field(("securityContext", "seLinuxOptions"), f"SELinux {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "seccompProfile"), f"seccomp {_NO_SUCH}", "remove it"),
    _Field(("securityContext", "appArmorProfile"), f"AppArmor {_NO_SUCH}", "remove it"),
    _Field(("volumeDevices",), "Windows pods cannot have raw block devices", "mount a file system by volumeMounts"),
)  # fmt: skip

_BLOCK_STORAGE = "claim a volume of ebs.csi.aws.com with NTFS"
_SHARED_STORAGE = "claim a volume of smb.csi.k8s.io"
GONE_VOLUMES: Mapping[str, str] = {
    **dict.fromkeys(
        ("awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "vsphereVolume"), _BLOCK_STORAGE
    ),
    "azureFile": _SHARED_STORAGE,
    "flexVolume": f"{_BLOCK_STORAGE}, or of smb.csi.k8s.io for a share",
}
"""Volumes that were part of Kubernetes before CSI, with what takes their place on AWS."""

_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "ReplicationController"),
        ("spec", "template", "spec"),
    ),
}
"""Kinds that hold a pod, with the way to its spec."""

# A tag that begins or ends with one of these says the build: ltsc2022, windowsservercore-ltsc2022, 10.0.20348.2966.
_TAG = re.compile(r"(?:^|[-_.])(ltsc(?P<year>\d{4})|(?P<old>1809|20H2|2004|1909)|(?P<build>10\.0\.\d{5}))(?:$|[-_.])")
_OLD_TAGS = {"1809": "10.0.17763", "1909": "10.0.18363", "2004": "10.0.19041", "20H2": "10.0.19042"}
_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d*)?)(?P<unit>[kMGTPE]|[KMGTPE]i)?")
_MOUNT_PATH = re.compile(r"([A-Za-z]:)?[\\/].*|[A-Za-z]:", re.DOTALL)


def pod_spec(manifest: Manifest) -> tuple[Path, Manifest] | None:
    """The spec of the pod that a manifest holds, with the way to it; None for other kinds."""
    way = _TEMPLATES.get(str(manifest.get("kind")))
    found: Any = manifest
    for key in way or ():
        found = _mapping(found).get(key)
    return (way, _mapping(found)) if way and found else None


def for_windows(spec: Manifest) -> bool:
    """Whether a pod says that it is for Windows."""
    return (
        _mapping(spec.get("os")).get("name") == "windows"
        or _mapping(spec.get("nodeSelector")).get("kubernetes.io/os") == "windows"
        or str(spec.get("runtimeClassName") or "").startswith("windows-")
        or any("windowsOptions" in _mapping(part.get("securityContext")) for part in (spec, *_containers(spec)))
    )


def check_manifest(manifest: Manifest) -> Mistakes:
    """Every mistake in a RuntimeClass or in the pod of a manifest, if it is for Windows; paths from its root."""
    found = Mistakes()
    handler = manifest.get("handler")
    if manifest.get("kind") == "RuntimeClass" and str(handler).startswith(HYPER_V_HANDLER):
        found.add(HYPER_V, ("handler",), "Kubernetes does not support Hyper-V isolation",
                  'write "runhcs-wcow-process"', handler)  # fmt: skip
    held = pod_spec(manifest)
    if held is None:
        return found
    way, spec = held
    found.take(_check_isolation(manifest, way))
    if for_windows(spec):
        found.take(check_windows_pod(spec), *way)
    return found


def check_windows_pod(spec: Manifest) -> Mistakes:
    """Every mistake in a pod that is for Windows, paths relative to its spec."""
    found = Mistakes()
    host_process = _check_host_process(spec, found)
    # With os.name the API server refuses the fields themselves; without it, False is what Windows does anyway.
    by_os = _mapping(spec.get("os")).get("name") == "windows"
    _check_fields(spec, _HOST_FIELDS, (), found, refuse_false=False)
    _check_fields(spec, _POD_FIELDS, (), found, refuse_false=by_os)
    if spec.get("hostNetwork") and not host_process:
        found.add(
            LINUX_FIELD, ("hostNetwork",), "only HostProcess containers can use the host network", "remove it", True
        )
    if spec.get("dnsPolicy") == "ClusterFirstWithHostNet":
        found.add(LINUX_FIELD, ("dnsPolicy",), "this policy is for Linux pods in the host network",
                  'write "ClusterFirst"', spec["dnsPolicy"])  # fmt: skip
    _check_placement(spec, found)
    _check_volumes(spec, found)
    for path, container in _walk_containers(spec):
        _check_fields(container, _CONTAINER_FIELDS, path, found, refuse_false=by_os)
        _check_container(container, path, spec, found)
    return found


def image_build(image: str) -> str | None:
    """The Windows build that an image's tag names, or None.

    >>> image_build("mcr.microsoft.com/windows/servercore:ltsc2022"), image_build("web:v1.2")
    ('10.0.20348', None)
    """
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    said = _TAG.search(tag)
    if said is None:
        return None
    if said["build"] or said["old"]:
        return said["build"] or _OLD_TAGS[said["old"]]
    release = WINDOWS_RELEASES.get(said["year"])
    return release.build if release else None


def selected_build(spec: Manifest) -> str | None:
    """The Windows build of the nodes that a pod selects, or None where it does not say."""
    build = _mapping(spec.get("nodeSelector")).get(BUILD_LABEL)
    if isinstance(build, str):
        return build
    release = WINDOWS_RELEASES.get(str(spec.get("runtimeClassName") or "").removeprefix("windows-"))
    return release.build if release else None


def check_fargate_selectors(
    selectors: Sequence[Manifest], windows_namespaces: Sequence[str], path: Path = ("selectors",)
) -> Mistakes:
    """A Fargate profile must not claim pods of namespaces whose workloads are for Windows."""
    found = Mistakes()
    for index, selector in enumerate(selectors):
        namespace = str(selector.get("namespace", ""))
        pattern = re.compile(".*".join(re.escape(part) for part in namespace.split("*")))
        taken = [name for name in windows_namespaces if pattern.fullmatch(name)]
        if taken and not selector.get("labels"):
            found.add(FARGATE, (*path, index, "namespace"), f"it selects the Windows pods of {', '.join(taken)}",
                      "use another namespace, or add labels that only Linux pods have", namespace)  # fmt: skip
    return found


# -- details ----------------------------------------------------------------------------------------------------------


def _check_fields(part: Manifest, fields: Sequence[_Field], path: Path, found: Mistakes, *, refuse_false: bool) -> None:
    for field in fields:
        holder: Any = part
        for key in field.path[:-1]:
            holder = _mapping(holder).get(key)
        value = _mapping(holder).get(field.path[-1])
        if value or (value is False and refuse_false):
            found.add(LINUX_FIELD, (*path, *field.path), field.why, field.remedy, value)


def _check_isolation(manifest: Manifest, way: Path) -> Mistakes:
    found = Mistakes()
    holder: Any = manifest
    for key in way[:-1]:
        holder = _mapping(holder).get(str(key))
    asked = _mapping(_mapping(_mapping(holder).get("metadata")).get("annotations")).get(HYPER_V_ANNOTATION)
    if asked == "hyperv":
        found.add(HYPER_V, (*way[:-1], "metadata", "annotations", HYPER_V_ANNOTATION),
                  "no supported Kubernetes minor reads this annotation: the containers would share the node's kernel",
                  "remove it, and isolate such pods in tainted node groups", asked)  # fmt: skip
    return found


def _check_host_process(spec: Manifest, found: Mistakes) -> bool:
    of_pod = _windows_options(spec).get("hostProcess")
    each = [_windows_options(container).get("hostProcess", of_pod) for _, container in _walk_containers(spec)]
    if not any(each):
        return False
    if not all(each):
        found.add(HOST_PROCESS, ("containers",), "HostProcess containers and other containers cannot share a pod",
                  "set windowsOptions.hostProcess in the pod's securityContext", each)  # fmt: skip
    if not spec.get("hostNetwork"):
        found.add(HOST_PROCESS, ("hostNetwork",), "a HostProcess pod must use the host network",
                  "set hostNetwork to true", spec.get("hostNetwork", False))  # fmt: skip
    return True


def _check_placement(spec: Manifest, found: Mistakes) -> None:
    selector = _mapping(spec.get("nodeSelector"))
    if selector.get("kubernetes.io/os") == "windows" or spec.get("runtimeClassName") or spec.get("hostNetwork"):
        return
    found.add(SELECTOR, ("nodeSelector",),
              "the scheduler ignores os, and the webhook that gives Windows pods an address reads nodeSelector only",
              'set runtimeClassName to "windows-2022", or nodeSelector to {"kubernetes.io/os": "windows"}',
              dict(selector))  # fmt: skip


def _check_volumes(spec: Manifest, found: Mistakes) -> None:
    for index, volume in enumerate(_mappings(spec.get("volumes"))):
        here: Path = ("volumes", index)
        if _mapping(volume.get("emptyDir")).get("medium") not in (None, ""):
            found.add(
                VOLUME,
                (*here, "emptyDir", "medium"),
                "Windows does not support volumes in memory",
                "remove medium",
                volume["emptyDir"]["medium"],
            )
        for kind in (kind for kind in GONE_VOLUMES if kind in volume):
            found.add(
                VOLUME,
                (*here, kind),
                "volumes of this type are available only from CSI drivers",
                GONE_VOLUMES[kind],
                volume[kind],
            )
        if "nfs" in volume:
            found.add(VOLUME, (*here, "nfs"), "Windows nodes cannot mount NFS", "use SMB, for example FSx for Windows",
                      volume["nfs"])  # fmt: skip
        driver = _mapping(volume.get("csi")).get("driver")
        if driver in ("efs.csi.aws.com", "s3.csi.aws.com"):
            found.add(VOLUME, (*here, "csi", "driver"), "this driver does not support Windows",
                      "use ebs.csi.aws.com with NTFS, or smb.csi.k8s.io", driver)  # fmt: skip


def _check_container(container: Manifest, path: Path, spec: Manifest, found: Mistakes) -> None:
    resources = _mapping(container.get("resources"))
    limits, requests = _mapping(resources.get("limits")), _mapping(resources.get("requests"))
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name in amounts:
            if str(name).startswith("hugepages-"):
                found.add(
                    LINUX_FIELD,
                    (*path, "resources", kind, name),
                    "Windows does not support huge pages",
                    "remove it",
                    amounts[name],
                )
    ephemeral = path[0] == "ephemeralContainers"
    if not ephemeral and "memory" not in limits:
        found.add(MEMORY, (*path, "resources", "limits"), "Windows has no OOM killer: without a limit, one container "
                  "can use all memory and stall the node", 'set a memory limit, such as "1Gi"',
                  dict(limits))  # fmt: skip
    elif "memory" in requests and _amount(requests["memory"]) != _amount(limits.get("memory")):
        found.add(MEMORY, (*path, "resources", "requests", "memory"), f"the limit is {limits.get('memory')}",
                  "set the request to the same value, or leave it out", requests["memory"])  # fmt: skip
    for index, mount in enumerate(_mappings(container.get("volumeMounts"))):
        here = (*path, "volumeMounts", index)
        if mount.get("mountPropagation") not in (None, "None"):
            found.add(
                LINUX_FIELD,
                (*here, "mountPropagation"),
                "Windows does not support mount propagation",
                "remove it",
                mount["mountPropagation"],
            )
        mount_path = mount.get("mountPath")
        if isinstance(mount_path, str) and not _MOUNT_PATH.fullmatch(mount_path):
            found.add(MOUNT_PATH, (*here, "mountPath"), "a mount path begins with a drive or a slash",
                      f'write "C:/{mount_path}"', mount_path)  # fmt: skip
    _check_image(container, path, spec, found)


def _amount(quantity: Any) -> Decimal | str:
    """A quantity as a number, so that 1Gi and 1024Mi are the same; another text as it is."""
    said = _QUANTITY.fullmatch(str(quantity))
    if said is None:
        return str(quantity)
    power = "kmgtpe".find((said["unit"] or " ")[0].lower()) + 1
    return Decimal(said["number"]) * (1024 if (said["unit"] or "").endswith("i") else 1000) ** power


def _check_image(container: Manifest, path: Path, spec: Manifest, found: Mistakes) -> None:
    image = container.get("image")
    node = selected_build(spec)
    own = image_build(image) if isinstance(image, str) else None
    if own is None or node is None or own == node:
        return
    names = {row.build: row for row in WINDOWS_RELEASES.values()}
    tag = names[node].image_tag if node in names else node
    found.add(IMAGE_BUILD, (*path, "image"), f"the image is for build {own}, and the nodes run build {node}",
              f"use an image tagged {tag}, or nodes of the image's release", image)  # fmt: skip


def _windows_options(part: Manifest) -> Manifest:
    return _mapping(_mapping(part.get("securityContext")).get("windowsOptions"))


def _containers(spec: Manifest) -> list[Manifest]:
    return [container for _, container in _walk_containers(spec)]


def _walk_containers(spec: Manifest) -> Iterator[tuple[Path, Manifest]]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(_mappings(spec.get(kind))):
            yield (kind, index), container


def _mapping(value: Any) -> Manifest:
    return cast("Manifest", value) if isinstance(value, Mapping) else {}


def _mappings(value: Any) -> list[Manifest]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [_mapping(item) for item in cast("Sequence[Any]", value)]
