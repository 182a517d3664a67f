"""Fields of a pod that Windows does not have, and those that the API server refuses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...frameworks import WINDOWS_COMPATIBILITY, WINDOWS_COMPATIBILITY_PAGE, cis_kubernetes, kubernetes_docs
from ...model import Level, Planned, Reference, Rule, Settings, Severity, Value, every, resource_rule
from ...pods import Pod, windows_pod
from ...resource_types import WORKLOADS

Places = Callable[[Pod], Sequence[Value]]


def _spec(pod: Pod) -> Sequence[Value]:
    return [pod.spec]


def _security(pod: Pod) -> Sequence[Value]:
    return [pod.security]


def _container_security(pod: Pod) -> Sequence[Value]:
    return [container["securityContext"] for container in pod.containers]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unsupported:
    """Fields that have no meaning on Windows, and the rule that no pod for Windows sets them."""

    name: str
    title: str
    why: str
    fields: Sequence[tuple[Places, Sequence[str]]]
    steps: str
    if_true: bool = False
    """Whether only the value true is wrong: false says what holds on Windows anyway."""
    severity: Severity = "medium"
    level: Level = "advisory"
    references: Sequence[Reference] = (WINDOWS_COMPATIBILITY,)


def _rule(row: _Unsupported) -> Rule:
    def wrong(value: Value) -> Iterator[str]:
        if value.flag is True if row.if_true else value.known() not in (None, {}, []):
            yield f"{value.path} is {'true' if row.if_true else 'set'}: {row.why}"

    def check(resource: Planned, settings: Settings) -> Iterator[str]:
        pod = windows_pod(resource)
        if pod is None:
            return
        if pod.spec["os"]["name"].settled == "windows":
            return  # the API server refuses the field, which is another rule's
        yield from every(
            [place[name] for places, names in row.fields for place in places(pod) for name in names], wrong
        )

    check.__doc__ = f"{row.why[0].upper()}{row.why[1:]}."
    rule = resource_rule(
        row.name, row.title, types=WORKLOADS, severity=row.severity, level=row.level, references=row.references,
        steps=row.steps, url=WINDOWS_COMPATIBILITY_PAGE,
    )  # fmt: skip
    return rule(check)


UNSUPPORTED = (
    _Unsupported(
        name="windows-no-privileged",
        title="Containers on Windows are not privileged",
        why="Windows has no privileged containers",
        fields=[(_container_security, ["privileged"])],
        if_true=True,
        severity="high",
        level="mandatory",
        steps="remove privileged; HostProcess containers (windowsOptions.hostProcess) administer Windows nodes",
        references=[WINDOWS_COMPATIBILITY, cis_kubernetes("5.2.2")],
    ),
    _Unsupported(
        name="windows-no-linux-security",
        title="Pods on Windows set no Linux security fields",
        why="Windows has no SELinux, AppArmor, seccomp or capabilities",
        fields=[
            (_security, ["seLinuxOptions", "seLinuxChangePolicy", "seccompProfile", "appArmorProfile"]),
            (_container_security, ["seLinuxOptions", "seccompProfile", "appArmorProfile", "capabilities"]),
        ],
        steps="remove the field, or keep it in the manifests for Linux only",
    ),
    _Unsupported(
        name="windows-no-numeric-users",
        title="Pods on Windows use user names, not numbers",
        why="Windows has no user and group numbers",
        fields=[
            (_security, ["runAsUser", "runAsGroup", "fsGroup", "fsGroupChangePolicy", "supplementalGroups",
                         "supplementalGroupsPolicy"]),
            (_container_security, ["runAsUser", "runAsGroup"]),
        ],
        steps='set securityContext.windowsOptions.runAsUserName, such as "ContainerUser"',
    ),
    _Unsupported(
        name="windows-no-sysctls",
        title="Pods on Windows set no kernel parameters",
        why="Windows has no sysctls",
        fields=[(_security, ["sysctls"])],
        steps="remove sysctls",
    ),
    _Unsupported(
        name="windows-no-shared-processes",
        title="Containers of a pod on Windows do not share processes",
        why="containers of a pod on Windows share only the network",
        fields=[(_spec, ["shareProcessNamespace"])],
        if_true=True,
        severity="high",
        level="mandatory",
        steps="remove shareProcessNamespace",
    ),
    _Unsupported(
        name="windows-no-host-namespaces",
        title="Pods on Windows do not share the node's processes and memory",
        why="Windows has no such namespaces",
        fields=[(_spec, ["hostPID", "hostIPC"])],
        if_true=True,
        severity="high",
        level="mandatory",
        steps="remove hostPID and hostIPC",
        references=[WINDOWS_COMPATIBILITY, cis_kubernetes("5.2.3"), cis_kubernetes("5.2.4")],
    ),
    _Unsupported(
        name="windows-no-host-users",
        title="Pods on Windows ask for no user namespace",
        why="Windows has no user namespaces",
        fields=[(_spec, ["hostUsers"])],
        steps="remove hostUsers",
    ),
    _Unsupported(
        name="windows-no-escalation-field",
        title="Containers on Windows do not set allowPrivilegeEscalation",
        why="it has no effect on Windows",
        fields=[(_container_security, ["allowPrivilegeEscalation"])],
        steps="remove allowPrivilegeEscalation",
    ),
    _Unsupported(
        name="windows-no-read-only-root",
        title="Containers on Windows can write to their root file system",
        why="the registry and the system's processes write to it",
        fields=[(_container_security, ["readOnlyRootFilesystem"])],
        if_true=True,
        severity="high",
        level="mandatory",
        steps="remove readOnlyRootFilesystem; volumes may be read-only",
    ),
    _Unsupported(
        name="windows-no-proc-mount",
        title="Containers on Windows set no procMount",
        why="Windows has no /proc",
        fields=[(_container_security, ["procMount"])],
        steps="remove procMount",
    ),
)  # fmt: skip
FIELD_RULES = tuple(_rule(row) for row in UNSUPPORTED)

REFUSED_IN_SECURITY = (
    "appArmorProfile", "fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsUser", "seLinuxChangePolicy",
    "seLinuxOptions", "seccompProfile", "supplementalGroups", "supplementalGroupsPolicy", "sysctls",
)  # fmt: skip
REFUSED_IN_CONTAINERS = (
    "allowPrivilegeEscalation", "appArmorProfile", "capabilities", "privileged", "procMount", "readOnlyRootFilesystem",
    "runAsGroup", "runAsUser", "seLinuxOptions", "seccompProfile",
)  # fmt: skip
REFUSED_IF_TRUE = ("hostIPC", "hostPID")
REFUSED_IN_PODS = ("hostUsers", "shareProcessNamespace")


@resource_rule(
    "windows-fields-refused",
    "Pods that declare os.name windows set no field that the API server refuses",
    types=WORKLOADS,
    severity="high",
    level="mandatory",
    references=[kubernetes_docs("Pods: Pod OS")],
    steps="remove the field; windowsOptions holds what Windows supports instead",
    url="https://kubernetes.io/docs/concepts/workloads/pods/#pod-os",
)
def windows_fields_refused(resource: Planned, settings: Settings) -> Iterator[str]:
    """A field that is false counts as set, except hostPID and hostIPC."""
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
