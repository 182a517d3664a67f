"""Cases of the rules in ``rules/windows_workloads/fields.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN

from ..base import Case, windows, windows_case
from .common import security


def pod_security(**fields: Any) -> Any:
    return windows({"securityContext": fields})


def refused(field: str, value: Any, *, in_pod: bool = False) -> Case:
    """A field that is not for Windows; with ``os.name`` the API server refuses it, which is another rule's."""
    where = pod_security if in_pod else security
    says = f"securityContext.{field} is"
    named = where(**{field: value})
    named["spec"]["os"] = {"name": "windows"}
    return windows_case([windows(), named], [where(**{field: value})], [where(**{field: UNKNOWN})], says)


CASES = {
    "windows-fields-refused": windows_case(
        [windows({"os": {"name": "windows"}}), security(privileged=True)],
        [
            windows({"os": {"name": "windows"}}, securityContext={"privileged": False}),
            windows({"os": {"name": "windows"}, "securityContext": {"runAsUser": 1000}}),
            windows({"os": {"name": "windows"}, "hostPID": True}),
        ],
        [windows({"os": {"name": "windows"}, "securityContext": UNKNOWN})],
        "the API server refuses it",
    ),
    "windows-no-privileged": refused("privileged", True),
    "windows-no-linux-security": refused("capabilities", {"drop": ["ALL"]}),
    "windows-no-numeric-users": refused("fsGroup", 1000, in_pod=True),
    "windows-no-sysctls": refused("sysctls", [{"name": "a", "value": "b"}], in_pod=True),
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
    "windows-no-escalation-field": refused("allowPrivilegeEscalation", False),
    "windows-no-read-only-root": refused("readOnlyRootFilesystem", True),
    "windows-no-proc-mount": refused("procMount", "Unmasked"),
}
