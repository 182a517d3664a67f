"""How containers mount volumes."""

import re
from collections.abc import Iterator

from winkube.kubernetes.windows_pods import MOUNT_PATH

from ...frameworks import WINDOWS_COMPATIBILITY, WINDOWS_COMPATIBILITY_PAGE
from ...model import Planned, Settings, Value, every, resource_rule
from ...pods import Pod, against, container_name, windows_pod
from ...resource_types import WORKLOADS


@resource_rule(
    "windows-no-block-devices",
    "Containers on Windows use no block devices",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="mount the volume as a file system in volumeMounts",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_block_devices(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows cannot pass a device to a container."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        devices = container["volumeDevices"]
        devices.known()
        if devices.items():
            yield f"{container_name(container)} uses block devices"

    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "windows-no-memory-volumes",
    "Pods on Windows have no volumes in memory",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove medium: the volume is then on the node's disk",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_memory_volumes(resource: Planned, settings: Settings) -> Iterator[str]:
    """On Windows, an emptyDir is always a directory on disk."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        if volume["emptyDir"]["medium"].text:
            yield f"{volume.path}.emptyDir.medium is set: Windows has no volumes in memory"

    yield from every(pod.volumes if pod else (), check)


@resource_rule(
    "windows-no-mount-propagation",
    "Mounts of containers on Windows are not propagated",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove mountPropagation",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_mount_propagation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows supports propagation in neither direction."""
    pod = windows_pod(resource)

    def check(mount: Value) -> Iterator[str]:
        if mount["mountPropagation"].text not in (None, "None"):
            yield f"{mount.path}.mountPropagation is set"

    yield from every(_mounts(pod), check)


def _mounts(pod: Pod | None) -> list[Value]:
    return [mount for container in pod.containers for mount in container["volumeMounts"].items()] if pod else []


@resource_rule(
    "windows-whole-volumes",
    "Containers on Windows mount whole volumes",
    types=WORKLOADS,
    severity="low",
    references=[WINDOWS_COMPATIBILITY],
    steps="mount the volume in a directory of its own, without subPath",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_whole_volumes(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes lists subPath as unsupported on Windows; the kubelet leaked such mounts before 1.37."""
    pod = windows_pod(resource)

    def check(mount: Value) -> Iterator[str]:
        if mount["subPath"].text or mount["subPathExpr"].text:
            yield f"{mount.path} mounts a part of a volume"

    yield from every(_mounts(pod), check)


@resource_rule(
    "windows-mount-paths",
    "Containers on Windows mount volumes at valid Windows paths",
    types=WORKLOADS,
    severity="high",
    references=[WINDOWS_COMPATIBILITY],
    steps='use an absolute path such as "C:\\\\data" or "/data"',
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_mount_paths(resource: Planned, settings: Settings) -> Iterator[str]:
    """A valid path has a drive letter and a root, or starts at the root of drive C."""
    pod = windows_pod(resource)

    def check(mount: Value) -> Iterator[str]:
        path = mount["mountPath"].text
        yield from against(MOUNT_PATH, mount, {"containers": [{"volumeMounts": [{"mountPath": path}]}]}, 4)
        if path is not None and re.fullmatch(r"(?:[Cc]:)?[\\/]?|[Cc]:", path):
            yield f'{mount.path}.mountPath "{path}" would hide the container\'s own disk'

    yield from every(_mounts(pod), check)


@resource_rule(
    "windows-no-file-modes",
    "Volumes of pods on Windows set no file modes",
    types=WORKLOADS,
    severity="low",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove defaultMode and mode, and protect files through the container's user",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_file_modes(resource: Planned, settings: Settings) -> Iterator[str]:
    """They have no effect: permissions on Windows are lists, not mode bits."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        for kind in ("secret", "configMap", "projected", "downwardAPI"):
            source = volume[kind]
            modes = [source["defaultMode"], *(item["mode"] for item in source["items"].items())]
            if source.given and any(mode.known() is not None for mode in modes):
                yield f"{source.path} sets file modes, which have no effect on Windows"

    yield from every(pod.volumes if pod else (), check)
