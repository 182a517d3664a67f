"""Cases of the rules in ``rules/workloads/rbac.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLUSTER_ROLE, CLUSTER_ROLE_BINDING

from ..base import one
from .common import binding


def rules(*listed: Any) -> dict[str, Any]:
    return {"metadata": {"name": "r"}, "rules": list(listed)}


def allows(resources: Any, verbs: Any, groups: Any = ("",), **more: Any) -> dict[str, Any]:
    return {"apiGroups": list(groups), "resources": resources, "verbs": verbs, **more}


CASES = {
    "rbac-no-wildcards": one(
        CLUSTER_ROLE,
        [rules(allows(["pods"], ["get"]))],
        [rules(allows(["*"], ["get"])), rules(allows(["pods"], ["*"])), rules(allows(["pods"], ["get"], ["*"]))],
        [rules(allows(["pods"], UNKNOWN)), {"metadata": {}, "rules": UNKNOWN}],
        "has a wildcard in",
    ),
    "rbac-no-secret-reading": one(
        CLUSTER_ROLE,
        [rules(allows(["pods"], ["get"])), rules(allows(["secrets"], ["get"], resourceNames=["one"]))],
        [rules(allows(["pods", "secrets"], ["list"]))],
        [rules(allows(["secrets"], [UNKNOWN]))],
        "can read every secret",
    ),
    "rbac-no-detours": one(
        CLUSTER_ROLE,
        [rules(allows(["pods"], ["get"])), rules(allows(["nodes"], ["get"]))],
        [
            rules(allows(["pods"], ["create"])),
            rules(allows(["nodes/proxy"], ["get"])),
            rules(allows(["serviceaccounts/token"], ["create"])),
        ],
        [rules(allows(["pods"], UNKNOWN))],
        "rules[0] ",
    ),
    "rbac-no-escalation": one(
        CLUSTER_ROLE,
        [rules(allows(["roles"], ["get"]))],
        [rules(allows(["roles"], ["bind", "escalate"]))],
        [rules(allows(["roles"], UNKNOWN))],
        "may bind and escalate",
    ),
    "rbac-no-cluster-admin": one(
        CLUSTER_ROLE_BINDING,
        [binding()],
        [binding("cluster-admin", kind="User", name="a")],
        [binding(UNKNOWN)],
        "roleRef.name is cluster-admin",
    ),
    "rbac-no-anonymous": one(
        CLUSTER_ROLE_BINDING,
        [
            binding(kind="Group", name="a"),
            binding("system:public-info-viewer", kind="Group", name="system:unauthenticated"),
        ],
        [binding(kind="User", name="system:anonymous")],
        [binding(kind="User", name=UNKNOWN)],
        "system:anonymous",
    ),
}
