"""What pods may do to their node."""

from collections.abc import Iterator

from ...frameworks import cis_eks, cis_kubernetes
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...pods import container_name, pod_of
from ...resource_types import WORKLOADS

POD_SECURITY_PAGE = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
EXEMPT = Option(
    ["kube-system", "kube-flannel", "amazon-guardduty", "calico-system", "tigera-operator", "amazon-cloudwatch"],
    "exempt namespaces", TEXTS,
)  # fmt: skip
HOST_PATHS = ("/", "/etc", "/root", "/proc", "/sys", "/dev", "/boot", "/var/run/docker.sock", "/run/docker.sock",
              "/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock", "/var/lib/kubelet",
              "/etc/kubernetes", "c:", "c:/windows", "//./pipe/docker_engine",
              "//./pipe/containerd-containerd")  # fmt: skip


def _namespace(resource: Planned) -> str | None:
    name = resource["metadata"]["namespace"].settled
    return name if isinstance(name, str) else None


@resource_rule(
    "pod-not-privileged",
    "Containers are not privileged",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.2.1"), cis_kubernetes("5.2.2")],
    steps="remove privileged, and add only the capability that is needed",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_not_privileged(resource: Planned, settings: Settings) -> Iterator[str]:
    """A privileged container controls its node. Pods for Windows are judged by windows-no-privileged."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.system() == "windows":
        return

    def check(container: Value) -> Iterator[str]:
        if container["securityContext"]["privileged"].flag:
            yield f"{container_name(container)} is privileged"

    yield from every(pod.containers, check)


@resource_rule(
    "pod-own-namespaces",
    "Pods do not share the node's processes, memory or network",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.2.2"), cis_eks("4.2.3"), cis_eks("4.2.4"), cis_kubernetes("5.2.3"), cis_kubernetes("5.2.4"),
                cis_kubernetes("5.2.5")],
    steps="remove hostPID, hostIPC and hostNetwork",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)  # fmt: skip
def pod_own_namespaces(resource: Planned, settings: Settings) -> Iterator[str]:
    """Pods for Windows are judged by windows-no-host-namespaces and windows-host-network."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.system() == "windows":
        return

    def check(field: Value) -> Iterator[str]:
        if field.flag:
            yield f"{field.path} is true"

    yield from every([pod.spec[name] for name in ("hostPID", "hostIPC", "hostNetwork")], check)


@resource_rule(
    "pod-no-escalation",
    "Containers cannot gain more privileges than they start with",
    types=WORKLOADS,
    references=[cis_eks("4.2.5"), cis_kubernetes("5.2.6")],
    steps="set allowPrivilegeEscalation to false",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_escalation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports containers that ask for it. The default is left to Pod Security admission."""
    if _namespace(resource) in settings["namespaces"]:
        return

    def check(container: Value) -> Iterator[str]:
        if container["securityContext"]["allowPrivilegeEscalation"].flag:
            yield f"{container_name(container)} can gain more privileges: allowPrivilegeEscalation is true"

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "pod-no-host-paths",
    "Pods do not mount sensitive paths of their node",
    types=WORKLOADS,
    severity="high",
    references=[cis_kubernetes("5.2.12")],
    steps="mount only the directory that is needed, read-only, or use a volume",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_host_paths(resource: Planned, settings: Settings) -> Iterator[str]:
    """These are the root, system directories, and the sockets of the container runtime."""
    if _namespace(resource) in settings["namespaces"]:
        return

    def check(volume: Value) -> Iterator[str]:
        path = (volume["hostPath"]["path"].text or "").replace("\\", "/").rstrip("/").lower()
        if volume["hostPath"].given and (path or "/") in HOST_PATHS:
            yield f"{volume.path}.hostPath mounts {volume['hostPath']['path'].raw} of the node"

    pod = pod_of(resource)
    yield from every(pod.volumes if pod else (), check)


@resource_rule(
    "pod-no-host-ports",
    "Pods use no host ports",
    types=WORKLOADS,
    severity="low",
    references=[cis_kubernetes("5.2.13")],
    steps="use a Service",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_host_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Network policies do not see them, and two such pods cannot share a node."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.spec["hostNetwork"].settled is True:
        return

    def check(container: Value) -> Iterator[str]:
        for port in container["ports"].items():
            if port["hostPort"].number:
                yield f"{container_name(container)} uses port {port['hostPort'].raw} of its node"

    yield from every(pod.containers, check)
