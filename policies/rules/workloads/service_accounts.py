"""Service accounts."""

from collections.abc import Iterator

from ...frameworks import RBAC_PAGE, cis_eks, cis_kubernetes
from ...model import WHEN_OPTIONS, Planned, Settings, Value, applies, every, resource_rule
from ...pods import pod_of
from ...resource_types import CLUSTER_ROLE_BINDING, ROLE_BINDING, WORKLOADS


@resource_rule(
    "service-account-own",
    "Pods that need no API token mount none",
    types=WORKLOADS,
    severity="low",
    references=[cis_eks("4.1.5"), cis_eks("4.1.6"), cis_kubernetes("5.1.5"), cis_kubernetes("5.1.6")],
    steps="set automountServiceAccountToken to false, or serviceAccountName to an account of the workload's own",
    url=RBAC_PAGE,
    options=WHEN_OPTIONS,
)
def service_account_own(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only: most pods do not need the default account's token."""
    pod = pod_of(resource)
    if pod is None or not applies(resource, settings):
        return
    account = pod.spec["serviceAccountName"].text
    if account in (None, "default") and pod.spec["automountServiceAccountToken"].flag is not False:
        yield "the pod mounts the token of the default service account"


@resource_rule(
    "default-service-account-unbound",
    "The default service account has no permissions",
    types=[ROLE_BINDING, CLUSTER_ROLE_BINDING],
    severity="high",
    references=[cis_eks("4.1.5"), cis_kubernetes("5.1.5")],
    steps="create a service account for the workload and bind it",
    url=RBAC_PAGE,
)
def default_service_account_unbound(resource: Planned, settings: Settings) -> Iterator[str]:
    """Every pod of the namespace that names no account uses it."""

    def check(subject: Value) -> Iterator[str]:
        if subject["kind"].text == "ServiceAccount" and subject["name"].text == "default":
            yield "every pod of the namespace that names no service account gets these permissions"

    yield from every(resource["subjects"].items(), check)
