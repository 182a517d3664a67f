"""Cases of the rules in ``rules/workloads/service_accounts.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD, ROLE_BINDING

from ..base import linux, one
from .common import binding

CASES = {
    "service-account-own": one(
        POD,
        [linux({"automountServiceAccountToken": False}), linux({"serviceAccountName": "app"})],
        [linux()],
        [linux({"serviceAccountName": UNKNOWN})],
        "token of the default service account",
        stack="prod",
    ),
    "default-service-account-unbound": one(
        ROLE_BINDING,
        [binding(kind="ServiceAccount", name="app"), binding(kind="User", name="default")],
        [binding(kind="ServiceAccount", name="default")],
        [binding(kind="ServiceAccount", name=UNKNOWN)],
        "every pod of the namespace",
    ),
}
