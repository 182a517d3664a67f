"""Pods for Windows nodes: what Windows does not have, and what decides where they run.

Source: Kubernetes, "Windows containers in Kubernetes" (field compatibility and limits), and the EKS guides.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from winkube.tables.windows import BUILD_LABEL

from ..eks_resources import release_of_group
from ..frameworks import (
    BEST_PRACTICES,
    WINDOWS_COMPATIBILITY,
    WINDOWS_COMPATIBILITY_PAGE,
    WINDOWS_SUPPORT_PAGE,
    best_practices,
    cis_kubernetes,
    eks_guide,
    kubernetes_docs,
)
from ..inventory import inventory
from ..model import (
    TEXTS,
    Level,
    Option,
    Planned,
    Reference,
    Rule,
    Settings,
    Severity,
    Stack,
    Value,
    Violation,
    every,
    resource_rule,
    stack_rule,
    texts,
)
from ..pods import (
    LINUX_IMAGE,
    OS_LABEL,
    RELEASE_OF_BUILD,
    WINDOWS_IMAGE,
    Pod,
    container_name,
    image_release,
    pod_of,
    release_of_class,
    retired_release,
    runtime_class_builds,
    windows_pod,
    windows_pods,
)
from ..resource_types import (
    CONFIG_MAP,
    DEPLOYMENT,
    EKS_POD_IDENTITY,
    FARGATE_PROFILE,
    NETWORK_POLICY,
    PVC,
    RUNTIME_CLASS,
    SECURITY_GROUP_POLICY,
    SERVICE,
    STATEFUL_SET,
    STORAGE_CLASS,
    WORKLOADS,
)

SCHEDULING_PAGE = f"{BEST_PRACTICES}/windows-scheduling.html"
VERSION_PAGE = "https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility"
HOST_PROCESS_PAGE = "https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/"
LINUX_FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs")
LINUX_DRIVERS: Mapping[str, str] = {
    "efs.csi.aws.com": "EFS", "s3.csi.aws.com": "Mountpoint for S3", "nfs.csi.k8s.io": "NFS",
    "fsx.csi.aws.com": "FSx for Lustre", "secrets-store.csi.k8s.io": "",
}  # fmt: skip
"""CSI drivers without a node part for Windows; the secrets store has one, its AWS provider has not."""

Places = Callable[[Pod], Sequence[Value]]


def _spec(pod: Pod) -> Sequence[Value]:
    return [pod.spec]


def _security(pod: Pod) -> Sequence[Value]:
    return [pod.security]


def _container_security(pod: Pod) -> Sequence[Value]:
    return [container["securityContext"] for container in pod.containers]


def _field_rule(
    name: str,
    title: str,
    why: str,
    fields: Sequence[tuple[Places, Sequence[str]]],
    *,
    steps: str,
    true: bool = False,
    severity: Severity = "medium",
    level: Level = "advisory",
    references: Sequence[Reference] = (WINDOWS_COMPATIBILITY,),
    url: str = WINDOWS_COMPATIBILITY_PAGE,
) -> Rule:
    """A rule that some fields are not set, or not true, in pods for Windows."""

    def check(resource: Planned, settings: Settings) -> Iterator[str]:
        pod = windows_pod(resource)
        if pod is None:
            return
        if pod.spec["os"]["name"].settled == "windows":
            return  # the API server refuses the field, which is another rule's

        def set_there(value: Value) -> Iterator[str]:
            if value.flag is True if true else value.known() not in (None, {}, []):
                yield f"{value.path} is {'true' if true else 'set'}: {why}"

        yield from every(
            [place[field] for places, names in fields for place in places(pod) for field in names], set_there
        )

    check.__doc__ = f"{title}."
    made = resource_rule(name, title, types=WORKLOADS, severity=severity, level=level, references=references,
                         steps=steps, url=url)  # fmt: skip
    return made(check)


FIELD_RULES = (
    _field_rule(
        "windows-no-privileged",
        "Containers on Windows are not privileged",
        "Windows has no privileged containers",
        [(_container_security, ["privileged"])],
        true=True,
        severity="high",
        level="mandatory",
        steps="remove privileged; HostProcess containers (windowsOptions.hostProcess) administer Windows nodes",
        references=[WINDOWS_COMPATIBILITY, cis_kubernetes("5.2.2")],
    ),
    _field_rule(
        "windows-no-linux-security",
        "Pods on Windows name no Linux security modules",
        "Windows has neither SELinux, AppArmor, seccomp nor capabilities",
        [(_security, ["seLinuxOptions", "seccompProfile", "appArmorProfile"]),
         (_container_security, ["seLinuxOptions", "seccompProfile", "appArmorProfile", "capabilities"])],
        steps="remove the field, or keep it in the manifests for Linux only",
    ),
    _field_rule(
        "windows-no-numeric-users",
        "Pods on Windows name users, not numbers",
        "Windows knows no user and group numbers",
        [(_security, ["runAsUser", "runAsGroup", "fsGroup", "fsGroupChangePolicy", "supplementalGroups",
                      "supplementalGroupsPolicy"]),
         (_container_security, ["runAsUser", "runAsGroup"])],
        steps='set securityContext.windowsOptions.runAsUserName, such as "ContainerUser"',
    ),
    _field_rule(
        "windows-no-sysctls",
        "Pods on Windows set no kernel parameters",
        "Windows has no sysctls",
        [(_security, ["sysctls"])],
        steps="remove sysctls",
    ),
    _field_rule(
        "windows-no-shared-processes",
        "Containers of a pod on Windows do not share processes",
        "containers on Windows share the network only",
        [(_spec, ["shareProcessNamespace"])],
        true=True,
        severity="high",
        level="mandatory",
        steps="remove shareProcessNamespace",
    ),
    _field_rule(
        "windows-no-host-namespaces",
        "Pods on Windows do not share the node's processes and memory",
        "Windows has no such namespaces",
        [(_spec, ["hostPID", "hostIPC"])],
        true=True,
        severity="high",
        level="mandatory",
        steps="remove hostPID and hostIPC",
        references=[WINDOWS_COMPATIBILITY, cis_kubernetes("5.2.3"), cis_kubernetes("5.2.4")],
    ),
    _field_rule(
        "windows-no-host-users",
        "Pods on Windows ask for no user namespace",
        "Windows has no user namespaces",
        [(_spec, ["hostUsers"])],
        steps="remove hostUsers",
    ),
    _field_rule(
        "windows-no-escalation-field",
        "Containers on Windows do not set allowPrivilegeEscalation",
        "it has no effect on Windows",
        [(_container_security, ["allowPrivilegeEscalation"])],
        steps="remove allowPrivilegeEscalation",
    ),
    _field_rule(
        "windows-no-read-only-root",
        "Containers on Windows can write to their root file system",
        "the registry and the system's processes write to it",
        [(_container_security, ["readOnlyRootFilesystem"])],
        true=True,
        severity="high",
        level="mandatory",
        steps="remove readOnlyRootFilesystem; volumes may be read-only",
    ),
    _field_rule(
        "windows-no-proc-mount",
        "Containers on Windows have no /proc",
        "there is no /proc",
        [(_container_security, ["procMount"])],
        steps="remove procMount",
    ),
)  # fmt: skip


REFUSED_IN_SECURITY = (
    "appArmorProfile", "fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsUser", "seLinuxOptions", "seccompProfile",
    "supplementalGroups", "supplementalGroupsPolicy", "sysctls",
)  # fmt: skip
REFUSED_IN_CONTAINERS = (
    "allowPrivilegeEscalation", "appArmorProfile", "capabilities", "privileged", "procMount", "readOnlyRootFilesystem",
    "runAsGroup", "runAsUser", "seLinuxOptions", "seccompProfile",
)  # fmt: skip
REFUSED_IF_TRUE = ("hostIPC", "hostPID")
REFUSED_IN_PODS = ("hostUsers", "shareProcessNamespace")


@resource_rule(
    "windows-fields-refused",
    "Pods that say they are for Windows set no field that the API server refuses then",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Pods: Pod OS")],
    steps="remove the field; windowsOptions has what Windows knows instead",
    url="https://kubernetes.io/docs/concepts/workloads/pods/#pod-os",
)
def windows_fields_refused(resource: Planned, settings: Settings) -> Iterator[str]:
    """Pods with ``os.name: windows``; false counts as set."""
    pod = windows_pod(resource)
    if pod is None or pod.spec["os"]["name"].settled != "windows":
        return

    def check(value: Value) -> Iterator[str]:
        if value.known() not in (None, [], {}) and (value.raw is not False or not value.path.endswith(REFUSED_IF_TRUE)):
            yield f"{value.path} is set: the API server refuses it in a pod for Windows"

    values = [pod.security[name] for name in REFUSED_IN_SECURITY]
    values += [pod.spec[name] for name in (*REFUSED_IF_TRUE, *REFUSED_IN_PODS)]
    values += [place[name] for place in _container_security(pod) for name in REFUSED_IN_CONTAINERS]
    yield from every(values, check)


@resource_rule(
    "windows-host-network",
    "Pods on Windows use the node's network as HostProcess pods only",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY, eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="remove hostNetwork, or set windowsOptions.hostProcess in the pod's security context",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_host_network(resource: Planned, settings: Settings) -> Iterator[str]:
    """The feature for other pods was removed before it was done."""
    pod = windows_pod(resource)
    if pod and pod.spec["hostNetwork"].flag and not pod.host_process():
        yield f"{pod.spec.path}.hostNetwork is true and the pod is no HostProcess pod"


@resource_rule(
    "windows-host-process",
    "HostProcess pods are what Windows takes as such",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Create a Windows HostProcess Pod")],
    steps='set hostNetwork to true, hostProcess for all containers, and runAsUserName to "NT AUTHORITY\\SYSTEM", '
    '"NT AUTHORITY\\Local service" or "NT AUTHORITY\\NetworkService"',
    url=HOST_PROCESS_PAGE,
)
def windows_host_process(resource: Planned, settings: Settings) -> Iterator[str]:
    """All containers or none, on the node's network; and accounts of the system nowhere else."""
    pod = windows_pod(resource)
    if pod is None:
        return
    options = [context["windowsOptions"] for context in pod.contexts()]
    whole = options[0]["hostProcess"].flag
    single = [option["hostProcess"].flag for option in options[1:]]
    effective = [whole if flag is None else flag for flag in single] or [whole]
    if any(effective) and not all(effective):
        yield "some containers are HostProcess containers and others are not"
    elif any(effective) and pod.spec["hostNetwork"].flag is not True:
        yield "a HostProcess pod needs hostNetwork"
    elif not any(effective):
        for option in options:
            user = option["runAsUserName"].text or ""
            if user.upper().startswith("NT AUTHORITY\\"):
                yield f"{option.path}.runAsUserName is an account of the system, which only HostProcess containers have"


@resource_rule(
    "windows-few-host-processes",
    "HostProcess pods run where the system lives",
    types=WORKLOADS,
    references=[cis_kubernetes("5.2.11")],
    steps="run it in a namespace of the system, list its namespace in the rule's configuration, or do without",
    url=HOST_PROCESS_PAGE,
    options={
        "namespaces": Option(
            ["kube-system", "kube-flannel", "kube-proxy-windows", "calico-system", "tigera-operator",
             "amazon-cloudwatch", "gmsa"],
            "namespaces with HostProcess pods", TEXTS,
        ),
    },
)  # fmt: skip
def windows_few_host_processes(resource: Planned, settings: Settings) -> Iterator[str]:
    """A HostProcess container is an administrator of the node."""
    pod = windows_pod(resource)
    namespace = resource["metadata"]["namespace"]
    if pod and pod.host_process() and namespace.known() not in settings["namespaces"]:
        yield "the pod administers its node: it is a HostProcess pod outside of the system's namespaces"


@resource_rule(
    "windows-container-user",
    "Containers on Windows do not run as administrator",
    types=WORKLOADS,
    severity="low",
    references=[best_practices("Windows pod security")],
    steps='set windowsOptions.runAsUserName to "ContainerUser"',
    url=f"{BEST_PRACTICES}/windows-security.html",
)
def windows_container_user(resource: Planned, settings: Settings) -> Iterator[str]:
    """Where it is asked for; what an image's default user is, only the image knows."""
    pod = windows_pod(resource)

    def check(context: Value) -> Iterator[str]:
        user = context["windowsOptions"]["runAsUserName"].text
        if user and user.lower() == "containeradministrator":
            yield f"{context.path}.windowsOptions.runAsUserName is ContainerAdministrator"

    yield from every(pod.contexts() if pod else (), check)


def _quantities(container: Value) -> list[tuple[str, Value]]:
    return [pair for kind in ("limits", "requests") for pair in container["resources"][kind].entries()]


@resource_rule(
    "windows-no-huge-pages",
    "Containers on Windows ask for no huge pages",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove hugepages from limits and requests",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_huge_pages(resource: Planned, settings: Settings) -> Iterator[str]:
    """No Windows node has any, so the pod stays pending."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        if any(name.startswith("hugepages-") for name, _ in _quantities(container)):
            yield f"{container_name(container)} asks for huge pages, which no Windows node has"

    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "windows-memory-limits",
    "Containers on Windows have a limit of memory",
    types=WORKLOADS,
    references=[best_practices("Windows: avoid OOM errors")],
    steps="set resources.limits.memory, and requests to the same",
    url=f"{BEST_PRACTICES}/windows-oom.html",
)
def windows_memory_limits(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows has no out-of-memory killer: one container without limit makes the whole node page."""
    pod = windows_pod(resource)
    if pod is None or pod.host_process():
        return

    def check(container: Value) -> Iterator[str]:
        limit = container["resources"]["limits"]["memory"]
        if limit.known() is None:
            yield f"{container_name(container)} has no limit of memory"

    yield from every([one for one in pod.containers if "ephemeralContainers" not in one.path], check)


# -- volumes -----------------------------------------------------------------------------------------------------------


@resource_rule(
    "windows-no-block-devices",
    "Containers on Windows take no block devices",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="mount the volume as a file system in volumeMounts",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_block_devices(resource: Planned, settings: Settings) -> Iterator[str]:
    """There is no way to hand a device to a container."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        devices = container["volumeDevices"]
        devices.known()
        if devices.items():
            yield f"{container_name(container)} takes block devices"

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
    """An emptyDir is a directory of the disk there."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        if volume["emptyDir"]["medium"].text:
            yield f"{volume.path}.emptyDir.medium is set: Windows has no volumes in memory"

    yield from every(pod.volumes if pod else (), check)


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
    """The drivers have no part for Windows nodes, so the pod waits for its volume for ever."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        driver = volume["csi"]["driver"].text or ""
        kind = "NFS" if volume["nfs"].given else LINUX_DRIVERS.get(driver)
        if kind:
            yield f"{volume.path} is of {kind}, which Windows nodes cannot mount"

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
    """Neither from the host nor to it."""
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
    """Listed as unsupported; the kubelet has code for it that leaked mounts before Kubernetes 1.37."""
    pod = windows_pod(resource)

    def check(mount: Value) -> Iterator[str]:
        if mount["subPath"].text or mount["subPathExpr"].text:
            yield f"{mount.path} mounts a part of a volume"

    yield from every(_mounts(pod), check)


@resource_rule(
    "windows-mount-paths",
    "Containers on Windows mount volumes at paths that Windows has",
    types=WORKLOADS,
    severity="high",
    references=[WINDOWS_COMPATIBILITY],
    steps='write a path such as "C:\\\\data" or "/data"; no other drive than the volume\'s own, and no relative path',
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_mount_paths(resource: Planned, settings: Settings) -> Iterator[str]:
    """A drive letter with a root, or rooted in drive C."""
    pod = windows_pod(resource)

    def check(mount: Value) -> Iterator[str]:
        path = mount["mountPath"].text
        if path is not None and not re.match(r"[A-Za-z]:(?:[\\/]|$)|[\\/]", path):
            yield f'{mount.path}.mountPath "{path}" is neither rooted nor on a drive'
        elif path is not None and re.fullmatch(r"(?:[Cc]:)?[\\/]?|[Cc]:", path):
            yield f'{mount.path}.mountPath "{path}" would hide the container\'s own disk'

    yield from every(_mounts(pod), check)


@resource_rule(
    "windows-no-file-modes",
    "Volumes of pods on Windows set no file modes",
    types=WORKLOADS,
    severity="low",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove defaultMode and mode, and protect files by the container's user",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_file_modes(resource: Planned, settings: Settings) -> Iterator[str]:
    """They have no effect there: permissions on Windows are lists, not bits."""
    pod = windows_pod(resource)

    def check(volume: Value) -> Iterator[str]:
        for kind in ("secret", "configMap", "projected", "downwardAPI"):
            source = volume[kind]
            modes = [source["defaultMode"], *(item["mode"] for item in source["items"].items())]
            if source.given and any(mode.known() is not None for mode in modes):
                yield f"{source.path} sets file modes, which have no effect on Windows"

    yield from every(pod.volumes if pod else (), check)


@resource_rule(
    "windows-dns-policy",
    "Pods on Windows ask the cluster's DNS in a way that Windows has",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps='set dnsPolicy to "ClusterFirst", or leave it out',
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_dns_policy(resource: Planned, settings: Settings) -> Iterator[str]:
    """`ClusterFirstWithHostNet` does not exist there."""
    pod = windows_pod(resource)
    if pod and pod.spec["dnsPolicy"].text == "ClusterFirstWithHostNet":
        yield f"{pod.spec.path}.dnsPolicy is ClusterFirstWithHostNet, which Windows does not have"


@resource_rule(
    "windows-no-hyper-v",
    "Pods do not ask for Hyper-V isolation",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove the annotation; give workloads that must be kept apart nodes of their own",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_no_hyper_v(resource: Planned, settings: Settings) -> Iterator[str]:
    """The annotation is ignored: the pod would run without the isolation that it asks for."""
    pod = windows_pod(resource)
    if pod:
        for key, value in pod.metadata["annotations"].entries():
            if key == "experimental.windows.kubernetes.io/isolation-type" and value.text == "hyperv":
                yield "the pod asks for Hyper-V isolation, which Kubernetes does not have"


# -- images and scheduling ---------------------------------------------------------------------------------------------


@resource_rule(
    "windows-one-system",
    "All containers of a pod are for one operating system",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[WINDOWS_COMPATIBILITY],
    steps="split the pod, or use images for Windows",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def windows_one_system(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged by image names that leave no doubt."""
    pod = windows_pod(resource)

    def check(container: Value) -> Iterator[str]:
        image = (container["image"].text or "").lower()
        if LINUX_IMAGE.search(image) and not WINDOWS_IMAGE.search(image):
            yield f'{container_name(container)} runs the Linux image "{image}" in a pod for Windows'

    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "windows-pod-selects-nodes",
    "Pods for Windows select Windows nodes by node selector or RuntimeClass",
    types=WORKLOADS,
    severity="high",
    references=[best_practices("Windows scheduling"), eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='set nodeSelector "kubernetes.io/os": "windows", or runtimeClassName to a class that does',
    url=SCHEDULING_PAGE,
)
def windows_pod_selects_nodes(resource: Planned, settings: Settings) -> Iterator[str]:
    """Affinity alone does not do: what hands out addresses and roles looks at the selector."""
    pod = windows_pod(resource)
    if pod is None:
        return
    selector = pod.spec["nodeSelector"]
    selector.known()
    if pod.spec["runtimeClassName"].known() or selector["beta.kubernetes.io/os"].settled == "windows":
        return
    if selector[OS_LABEL].known() != "windows":
        yield f'the pod is for Windows, and its node selector does not say "{OS_LABEL}": "windows"'


@resource_rule(
    "windows-image-fits-build",
    "Images are built for the Windows release of their nodes",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="use the image's tag for the release of the nodes, or nodes of the release of the image",
    url=VERSION_PAGE,
)
def windows_image_fits_build(resource: Planned, settings: Settings) -> Iterator[str]:
    """Process isolation needs the same build; one pod has one."""
    pod = windows_pod(resource)
    if pod is None:
        return
    chosen = pod.releases()
    releases: dict[str, str] = {}

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text or ""
        retired, release = retired_release(image), image_release(image)
        if retired:
            yield f'{container_name(container)}: no node of EKS runs images of {retired}: "{image}"'
        elif release and len(chosen) == 1 and release not in chosen:
            wanted = next(iter(chosen))
            built = f'"{image}" is built for Windows Server {release}'
            yield f"{container_name(container)}: {built}, its nodes run {wanted}"
        elif release:
            releases[release] = image

    yield from every(pod.containers, check)
    if len(releases) > 1:
        yield f"the containers are built for different releases: {' and '.join(sorted(releases))}"


@stack_rule(
    "windows-image-has-nodes",
    "There are nodes for the Windows release of every image",
    types=WORKLOADS,
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps="add a node group of that release, or rebuild the image",
    url=VERSION_PAGE,
)
def windows_image_has_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Of the Windows groups that the program makes; if one is of an unknown image, nothing is said."""
    groups = inventory(stack).windows_groups
    releases = {release_of_group(group) for group in groups}
    if not groups or None in releases:
        return

    def check(found: tuple[Planned, Pod]) -> Iterator[Violation]:
        for container in found[1].containers:
            release = image_release(container["image"].text or "")
            if release and release not in releases:
                have = " and ".join(sorted(name for name in releases if name))
                message = f"{container_name(container)} is built for Windows Server {release}, the nodes run {have}"
                yield Violation(message, found[0].urn)

    yield from every(windows_pods(stack), check)


@stack_rule(
    "windows-build-selected",
    "Where there are several Windows releases, pods choose one",
    types=WORKLOADS,
    references=[best_practices("Windows scheduling")],
    steps=f'set nodeSelector "{BUILD_LABEL}", or runtimeClassName to the class of the release',
    url=SCHEDULING_PAGE,
)
def windows_build_selected(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Else the pod lands on either, and fails to start on one."""
    releases = {release_of_group(group) for group in inventory(stack).windows_groups} - {None}
    if len(releases) < 2:
        return
    builds = runtime_class_builds(stack)

    def check(found: tuple[Planned, Pod]) -> Iterator[Violation]:
        resource, pod = found
        name = pod.spec["runtimeClassName"].known()
        if pod.host_process() or name in builds or pod.releases():
            return
        if not pod.spec["nodeSelector"][BUILD_LABEL].known():
            message = (
                f"there are nodes of Windows Server {' and '.join(sorted(map(str, releases)))}, and none is chosen"
            )
            yield Violation(message, resource.urn)

    yield from every(windows_pods(stack), check)


@stack_rule(
    "windows-runtime-class-exists",
    "RuntimeClasses that pods name select nodes that there are",
    types=[RUNTIME_CLASS],
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps="correct the build in the class, or add nodes of the release",
    url=SCHEDULING_PAGE,
)
def windows_runtime_class_exists(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A class whose name says one release and whose selector says another, or a build that no release has."""

    def check(resource: Planned) -> Iterator[Violation]:
        build = resource["scheduling"]["nodeSelector"][BUILD_LABEL].text
        named = release_of_class(resource["metadata"]["name"].text)
        if build is None:
            return
        if build not in RELEASE_OF_BUILD:
            yield Violation(
                f"no node of EKS has the build {build}; there are {', '.join(RELEASE_OF_BUILD)}", resource.urn
            )
        elif named and RELEASE_OF_BUILD[build] != named:
            yield Violation(
                f"the class is named for {named} and selects nodes of {RELEASE_OF_BUILD[build]}", resource.urn
            )

    yield from every(stack.of(RUNTIME_CLASS), check)


@resource_rule(
    "windows-service-size",
    "A service on Windows has no more pods than Windows can balance",
    types=[DEPLOYMENT, STATEFUL_SET],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="split the workload behind several services",
    url=WINDOWS_SUPPORT_PAGE,
    options={"maximum": Option(1024, "pods behind one service", {"type": "integer", "minimum": 1})},
)
def windows_service_size(resource: Planned, settings: Settings) -> Iterator[str]:
    """Up to 1024 back ends are supported."""
    pod = windows_pod(resource)
    replicas = resource["spec"]["replicas"].number if pod else None
    if replicas is not None and replicas > settings["maximum"]:
        yield f"{replicas} pods are more than the {settings['maximum']} that Windows balances behind one service"


# -- services, identity and storage ------------------------------------------------------------------------------------


def _windows_services(stack: Stack) -> list[Planned]:
    found = windows_pods(stack)
    return [
        service
        for service in stack.of(SERVICE)
        if any(pod.selected_by(service["spec"]["selector"]) for _, pod in found)
    ]


@stack_rule(
    "windows-service-affinity",
    "Services on Windows do not count on a time-out of session affinity",
    types=[SERVICE],
    severity="low",
    references=[kubernetes_docs("Networking on Windows")],
    steps="remove sessionAffinityConfig, or keep sessions at a load balancer",
    url="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
def windows_service_affinity(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """kube-proxy on Windows does not know the time-out."""

    def check(service: Planned) -> Iterator[Violation]:
        if service["spec"].at("sessionAffinityConfig", "clientIP", "timeoutSeconds").known() is not None:
            yield Violation("Windows nodes do not end sessions after timeoutSeconds", service.urn)

    yield from every(_windows_services(stack), check)


@stack_rule(
    "windows-service-ipv4",
    "Services on Windows have IPv4 addresses",
    types=[SERVICE],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='remove ipFamilies, or set it to ["IPv4"]',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_service_ipv4(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Neither IPv6 nor both."""

    def check(service: Planned) -> Iterator[Violation]:
        families = texts(service["spec"]["ipFamilies"])
        if "IPv6" in families or service["spec"]["ipFamilyPolicy"].text == "RequireDualStack":
            yield Violation("the pods of the service run on Windows, which has no IPv6 addresses on EKS", service.urn)

    yield from every(_windows_services(stack), check)


@stack_rule(
    "windows-no-pod-identity",
    "Pods on Windows get AWS permissions by IRSA",
    types=[EKS_POD_IDENTITY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Learn how EKS Pod Identity grants pods access to AWS services")],
    steps="annotate the service account with eks.amazonaws.com/role-arn, and trust the cluster's OIDC provider",
    url="https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html",
)
def windows_no_pod_identity(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The agent of Pod Identity does not run on Windows nodes."""

    def check(association: Planned) -> Iterator[Violation]:
        for resource, pod in windows_pods(stack):
            account = pod.spec["serviceAccountName"]
            namespace = resource["metadata"]["namespace"].settled or "default"
            if account.known() is None or association["namespace"].settled not in (namespace, None):
                continue
            if association["serviceAccount"].text == account.raw:
                message = f'the pods of "{resource.name}" run on Windows, which Pod Identity does not reach'
                yield Violation(message, association.urn)
                return

    yield from every(stack.of(EKS_POD_IDENTITY), check)


@stack_rule(
    "windows-no-pod-security-groups",
    "Pods on Windows have no security groups of their own",
    types=[SECURITY_GROUP_POLICY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="give the node group a security group, or let the policy select pods on Linux only",
    url="https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
)
def windows_no_pod_security_groups(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The pod would start with the node's groups instead."""

    def check(policy: Planned) -> Iterator[Violation]:
        selector = policy["spec"]["podSelector"]["matchLabels"]
        selector.known()
        for resource, pod in windows_pods(stack):
            if pod.selected_by(selector):
                message = (
                    f'the policy selects the pods of "{resource.name}", which run on Windows: it has no effect there'
                )
                yield Violation(message, policy.urn)
                return

    yield from every(stack.of(SECURITY_GROUP_POLICY), check)


@stack_rule(
    "windows-network-policy",
    "Network policies do not count on the VPC CNI for pods on Windows",
    types=[NETWORK_POLICY],
    severity="high",
    references=[best_practices("Windows networking")],
    steps="enforce it with Calico for Windows, and name that in the rule's configuration by disabling it",
    url=f"{BEST_PRACTICES}/windows-networking.html",
)
def windows_network_policy(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The VPC CNI enforces policies on Linux nodes only."""
    if any(re.search(r"(?i)calico|tigera", f"{resource.type} {resource.name}") for resource in stack.resources):
        return

    def check(policy: Planned) -> Iterator[Violation]:
        selector = policy["spec"]["podSelector"]["matchLabels"]
        selector.known()
        for resource, pod in windows_pods(stack):
            if pod.selected_by(selector):
                message = f'the pods of "{resource.name}" run on Windows: nothing enforces the policy there'
                yield Violation(message, policy.urn)
                return

    yield from every(stack.of(NETWORK_POLICY), check)


@stack_rule(
    "fargate-takes-no-windows",
    "Fargate profiles do not select pods for Windows",
    types=[FARGATE_PROFILE],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="narrow the profile down by labels, or run the Windows workload in another namespace",
    url=WINDOWS_SUPPORT_PAGE,
)
def fargate_takes_no_windows(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Fargate runs Linux only: the pod stays pending."""

    def check(profile: Planned) -> Iterator[Violation]:
        for selector in profile["selectors"].items():
            namespace = selector["namespace"].text or ""
            pattern = re.escape(namespace).replace(r"\*", ".*").replace(r"\?", ".")
            for resource, pod in windows_pods(stack):
                own = resource["metadata"]["namespace"].settled or "default"
                labels = selector["labels"]
                if re.fullmatch(pattern, str(own)) and (not labels.settled or pod.selected_by(labels)):
                    yield Violation(f'the profile takes the Windows pods of "{resource.name}"', profile.urn)
                    return

    yield from every(stack.of(FARGATE_PROFILE), check)


@stack_rule(
    "windows-volumes-ntfs",
    "Volumes of pods on Windows are of a file system that Windows has",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[best_practices("Windows storage")],
    steps='use a StorageClass with csi.storage.k8s.io/fstype "ntfs", or SMB for shared files',
    url=f"{BEST_PRACTICES}/windows-storage.html",
)
def windows_volumes_ntfs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Of claims and classes that the program makes."""
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
        return f"is of {LINUX_DRIVERS[provisioner]}, which Windows nodes cannot mount"
    parameters = storage["parameters"]
    kind = (parameters["csi.storage.k8s.io/fstype"].text or parameters["fsType"].text or "").lower()
    if kind in LINUX_FILE_SYSTEMS:
        return f"makes volumes of {kind}"
    if provisioner == "ebs.csi.aws.com" and not kind:
        return "makes volumes of ext4: csi.storage.k8s.io/fstype is not set"
    return None


@resource_rule(
    "ntfs-not-expanded",
    "Storage classes with NTFS do not promise to grow volumes in use",
    types=[STORAGE_CLASS],
    severity="low",
    references=[WINDOWS_COMPATIBILITY],
    steps="remove allowVolumeExpansion; a larger volume needs a new claim and a copy",
    url=WINDOWS_COMPATIBILITY_PAGE,
)
def ntfs_not_expanded(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes lists growing of mounted volumes as unsupported on Windows."""
    parameters = resource["parameters"]
    kind = (parameters["csi.storage.k8s.io/fstype"].text or "").lower()
    if kind == "ntfs" and resource["allowVolumeExpansion"].flag:
        yield "volumes in use are not grown on Windows: allowVolumeExpansion is true"


@stack_rule(
    "flannel-fits-windows",
    "Flannel speaks VXLAN as Windows does",
    types=[CONFIG_MAP],
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Networking on Windows")],
    steps='set Backend to {"Type": "vxlan", "VNI": 4096, "Port": 4789}, and open UDP 4789 between all nodes',
    url="https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md",
)
def flannel_fits_windows(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Where there are Windows nodes or pods; on AWS the other backends need routes that nobody keeps."""
    if not (inventory(stack).has_windows or windows_pods(stack)):
        return

    def check(resource: Planned) -> Iterator[Violation]:
        if not resource["data"].unknown and not resource["data"]["net-conf.json"].given:
            return
        try:
            document: Any = json.loads(resource["data"]["net-conf.json"].text or "")
        except ValueError:
            yield Violation("net-conf.json is not JSON", resource.urn)
            return
        backend = Value(document, "net-conf.json")["Backend"]
        kind, network, port = backend["Type"].text, backend["VNI"].number, backend["Port"].number
        if kind != "vxlan":
            yield Violation(f'Backend.Type is "{kind}"; with Windows nodes on AWS flannel needs vxlan', resource.urn)
        elif network is None or network < 4096 or port != 4789:
            got = f"VNI {network or 'not set'} and port {port or 'not set'}"
            yield Violation(f"Windows speaks VXLAN with VNI 4096 or higher on port 4789 only, got {got}", resource.urn)

    yield from every(stack.of(CONFIG_MAP), check)


DISCONTINUED = ("weaveworks/weave-kube", "weaveworks/weave-npc")


LEGACY = ("vpc-resource-controller", "vpc-admission-webhook", "vpc-admission-webhook-deployment")


@resource_rule(
    "windows-no-legacy-controller",
    "Windows addresses are managed by the control plane, not by a controller of one's own",
    types=[DEPLOYMENT],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="remove the Deployment, and switch Windows IPAM on in the cluster",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_no_legacy_controller(resource: Planned, settings: Settings) -> Iterator[str]:
    """While it exists the control plane's own controller ignores every setting of Windows IPAM."""
    metadata = resource["metadata"]
    if metadata["namespace"].settled == "kube-system" and metadata["name"].text in LEGACY:
        yield "the control plane leaves Windows addresses alone while this Deployment exists"


@resource_rule(
    "pod-network-maintained",
    "The pod network is one that is maintained, and works on Windows",
    types=WORKLOADS,
    severity="high",
    references=[kubernetes_docs("Networking on Windows")],
    steps="use flannel with VXLAN, Calico, or the VPC CNI",
    url="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
def pod_network_maintained(resource: Planned, settings: Settings) -> Iterator[str]:
    """Weave Net ended, and never ran on Windows."""
    pod = pod_of(resource)

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text or ""
        if any(name in image for name in DISCONTINUED):
            yield f"{container_name(container)} runs Weave Net, which is discontinued and never ran on Windows"

    yield from every(pod.containers if pod else (), check)


RULES = (
    windows_fields_refused,
    *FIELD_RULES,
    windows_host_network,
    windows_host_process,
    windows_few_host_processes,
    windows_container_user,
    windows_no_huge_pages,
    windows_memory_limits,
    windows_no_block_devices,
    windows_no_memory_volumes,
    windows_no_nfs,
    windows_no_mount_propagation,
    windows_whole_volumes,
    windows_mount_paths,
    windows_no_file_modes,
    windows_dns_policy,
    windows_no_hyper_v,
    windows_one_system,
    windows_pod_selects_nodes,
    windows_image_fits_build,
    windows_image_has_nodes,
    windows_build_selected,
    windows_runtime_class_exists,
    windows_service_size,
    windows_service_affinity,
    windows_service_ipv4,
    windows_no_pod_identity,
    windows_no_pod_security_groups,
    windows_network_policy,
    fargate_takes_no_windows,
    windows_volumes_ntfs,
    ntfs_not_expanded,
    flannel_fits_windows,
    windows_no_legacy_controller,
    pod_network_maintained,
)
