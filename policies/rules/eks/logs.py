"""Logs of the control plane."""

from collections.abc import Iterator

from ...frameworks import cis_eks, fsbp
from ...model import (
    TEXTS,
    Option,
    Planned,
    Settings,
    Stack,
    Undecided,
    Violation,
    every,
    resource_rule,
    stack_rule,
    texts,
)
from ...resource_types import CLUSTER, LOG_GROUP


@resource_rule(
    "cluster-audit-logs",
    "The control plane writes its audit log",
    types=[CLUSTER],
    references=[fsbp("EKS.8"), cis_eks("2.1.1")],
    steps='set enabled_cluster_log_types to ["api", "audit", "authenticator", "controllerManager", "scheduler"]',
    url="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
    options={"types": Option(["audit"], "required log types", TEXTS)},
)
def cluster_audit_logs(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without it, nobody can reconstruct who did what."""
    enabled = texts(resource["enabledClusterLogTypes"])
    missing = [name for name in settings["types"] if name not in enabled]
    if missing:
        yield f"the control plane does not write: {', '.join(missing)}"


@stack_rule(
    "cluster-log-group",
    "The log group of the control plane is created before the cluster",
    types=[CLUSTER],
    severity="low",
    references=[cis_eks("2.1.2")],
    steps='create an aws.cloudwatch.LogGroup "/aws/eks/<cluster>/cluster" with retention_in_days, before the cluster',
    url="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
)
def cluster_log_group(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Otherwise EKS creates one that keeps everything forever and outlives the cluster."""
    names = [group["name"] for group in stack.of(LOG_GROUP)]

    def check(cluster: Planned) -> Iterator[Violation]:
        logs = cluster["enabledClusterLogTypes"]
        logs.known()
        if not logs.items():
            return
        name = cluster["name"].text
        known = {value.settled for value in names}
        if name and f"/aws/eks/{name}/cluster" in known:
            return
        if name and any(value.unknown for value in names):
            raise Undecided("the name of a log group")
        message = "EKS creates the log group itself, and it keeps everything forever"
        yield Violation(
            message if name else f"{message}; without a fixed cluster name it cannot be created first", cluster.urn
        )

    yield from every(stack.of(CLUSTER), check)
