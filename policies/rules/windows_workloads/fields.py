"""Fields of a pod that Windows does not have, and those that the API server refuses."""

from collections.abc import Callable, Iterator, Sequence

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
