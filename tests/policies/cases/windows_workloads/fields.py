"""Cases of the rules in ``rules/windows_workloads/fields.py``."""

from collections.abc import Sequence
from typing import Any

from winkube.policies.model import UNKNOWN

from ..base import Case, windows, windows_case
from .common import security


def pod_security(**fields: Any) -> Any:
    return windows({"securityContext": fields})


def for_os(manifest: Any) -> Any:
    return {**manifest, "spec": {**manifest["spec"], "os": {"name": "windows"}}}


def refused(*bad: Any, good: Sequence[Any] = (), unknown: Any) -> Case:
    """Fields that are not for Windows; with ``os.name`` the API server refuses them, which is another rule's."""
    return windows_case([windows(), *good, *map(for_os, bad)], bad, [unknown], "securityContext.")


def both(field: str, value: Any) -> list[Any]:
    """A field of the security context, of the pod and of its container."""
    return [pod_security(**{field: value}), security(**{field: value})]


BY_NAME = {"runAsNonRoot": True, "windowsOptions": {"runAsUserName": "ContainerUser"}}
"""What Windows has of a security context."""
OF_PODS = {
    "appArmorProfile": {"type": "RuntimeDefault"}, "fsGroup": 1000, "fsGroupChangePolicy": "Always", "runAsGroup": 1000,
    "runAsUser": 1000, "seLinuxChangePolicy": "Recursive", "seLinuxOptions": {"level": "s0"},
    "seccompProfile": {"type": "RuntimeDefault"}, "supplementalGroups": [1000], "supplementalGroupsPolicy": "Strict",
    "sysctls": [{"name": "a", "value": "b"}],
}  # fmt: skip
"""All else that a pod's has."""


CASES = {
    "windows-fields-refused": windows_case(
        [windows({"os": {"name": "windows"}}), security(privileged=True), for_os(pod_security(**BY_NAME))],
        [
            *(for_os(pod_security(**{field: value})) for field, value in OF_PODS.items()),
            windows({"os": {"name": "windows"}}, securityContext={"privileged": False}),
            windows({"os": {"name": "windows"}, "hostPID": True}),
        ],
        [windows({"os": {"name": "windows"}, "securityContext": UNKNOWN})],
        "the API server refuses it",
    ),
    "windows-no-privileged": refused(security(privileged=True), unknown=security(privileged=UNKNOWN)),
    "windows-no-linux-security": refused(
        *(
            each
            for field in ("seLinuxOptions", "seccompProfile", "appArmorProfile")
            for each in both(field, OF_PODS[field])
        ),
        pod_security(seLinuxChangePolicy="Recursive"),
        security(capabilities={"drop": ["ALL"]}),
        security(capabilities={"add": ["NET_ADMIN"]}),
        unknown=security(capabilities=UNKNOWN),
    ),
    "windows-no-numeric-users": refused(
        *both("runAsUser", 1000),
        *both("runAsGroup", 1000),
        *(
            pod_security(**{field: OF_PODS[field]})
            for field in ("fsGroup", "fsGroupChangePolicy", "supplementalGroups", "supplementalGroupsPolicy")
        ),
        good=[pod_security(**BY_NAME), security(**BY_NAME)],
        unknown=pod_security(fsGroup=UNKNOWN),
    ),
    "windows-no-sysctls": refused(pod_security(sysctls=OF_PODS["sysctls"]), unknown=pod_security(sysctls=UNKNOWN)),
    "windows-no-shared-processes": windows_case(
        [windows({"shareProcessNamespace": False})],
        [windows({"shareProcessNamespace": True})],
        [windows({"shareProcessNamespace": UNKNOWN})],
        "shareProcessNamespace is true",
    ),
    "windows-no-host-namespaces": windows_case(
        [windows({"hostPID": False})],
        [windows({"hostPID": True}), windows({"hostIPC": True})],
        [windows({"hostPID": UNKNOWN})],
        "is true: Windows has no such namespaces",
    ),
    "windows-no-host-users": windows_case(
        [windows()],
        [windows({"hostUsers": False})],
        [windows({"hostUsers": UNKNOWN})],
        "hostUsers is set",
    ),
    "windows-no-escalation-field": refused(
        security(allowPrivilegeEscalation=False),
        security(allowPrivilegeEscalation=True),
        unknown=security(allowPrivilegeEscalation=UNKNOWN),
    ),
    "windows-no-read-only-root": refused(
        security(readOnlyRootFilesystem=True), unknown=security(readOnlyRootFilesystem=UNKNOWN)
    ),
    "windows-no-proc-mount": refused(security(procMount="Unmasked"), unknown=security(procMount=UNKNOWN)),
}
