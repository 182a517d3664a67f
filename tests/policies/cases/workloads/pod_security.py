"""Cases of the rules in ``rules/workloads/pod_security.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CRON_JOB, DEPLOYMENT, POD

from ..base import Case, container, linux, one, planned, pod


def security(**fields: Any) -> Any:
    return linux(securityContext=fields)


def deployment(spec: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop"}, "spec": {"selector": {}, "template": {"metadata": {}, "spec": spec}}}


CASES = {
    "pod-not-privileged": Case(
        [
            [planned(POD, linux())],
            [planned(POD, security(privileged=False))],
            [
                planned(
                    POD, pod({"containers": [container(securityContext={"privileged": True})]}, namespace="kube-system")
                )
            ],
        ],
        [
            [planned(POD, security(privileged=True))],
            [planned(DEPLOYMENT, deployment({"containers": [container(securityContext={"privileged": True})]}))],
            [
                planned(
                    CRON_JOB,
                    {
                        "metadata": {},
                        "spec": {
                            "schedule": "@daily",
                            "jobTemplate": {
                                "spec": {
                                    "template": {
                                        "spec": {
                                            "containers": [],
                                            "initContainers": [container(securityContext={"privileged": True})],
                                        }
                                    }
                                }
                            },
                        },
                    },
                )
            ],
        ],
        [[planned(POD, security(privileged=UNKNOWN))], [planned(DEPLOYMENT, {"metadata": {}, "spec": UNKNOWN})]],
        'container "app" is privileged',
    ),
    "pod-own-namespaces": one(
        POD,
        [linux(), linux({"hostNetwork": False})],
        [linux({"hostNetwork": True}), linux({"hostPID": True})],
        [linux({"hostIPC": UNKNOWN})],
        "is true",
    ),
    "pod-no-escalation": one(
        POD,
        [linux(), security(allowPrivilegeEscalation=False)],
        [security(allowPrivilegeEscalation=True)],
        [security(allowPrivilegeEscalation=UNKNOWN)],
        "can gain more privileges",
    ),
    "pod-no-host-paths": one(
        POD,
        [linux(), linux({"volumes": [{"name": "a", "hostPath": {"path": "/var/log"}}]})],
        [
            linux({"volumes": [{"name": "a", "hostPath": {"path": path}}]})
            for path in ("/", "/etc/", "\\\\.\\pipe\\docker_engine")
        ],
        [linux({"volumes": [{"name": "a", "hostPath": {"path": UNKNOWN}}]})],
        "of the node",
    ),
    "pod-no-host-ports": one(
        POD,
        [linux(ports=[{"containerPort": 80}])],
        [linux(ports=[{"containerPort": 80, "hostPort": 80}])],
        [linux(ports=UNKNOWN)],
        "uses port 80 of its node",
    ),
}
