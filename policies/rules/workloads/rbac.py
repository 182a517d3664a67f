"""Roles and role bindings."""

from collections.abc import Iterator

from ...frameworks import BEST_PRACTICES, RBAC_PAGE, cis_eks, cis_kubernetes
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule, texts
from ...resource_types import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, KUBERNETES_ROLE, ROLE_BINDING

ANONYMOUS = ("system:anonymous", "system:unauthenticated")
SECRET_READING = ("get", "list", "watch", "*")


def _rules(resource: Planned) -> list[Value]:
    return resource["rules"].items()


@resource_rule(
    "rbac-no-wildcards",
    "Roles name what they allow",
    types=[KUBERNETES_ROLE, CLUSTER_ROLE],
    references=[cis_eks("4.1.3"), cis_kubernetes("5.1.3")],
    steps="name verbs, resources and API groups",
    url=RBAC_PAGE,
)
def rbac_no_wildcards(resource: Planned, settings: Settings) -> Iterator[str]:
    """What is added to Kubernetes later is allowed as well."""

    def check(rule: Value) -> Iterator[str]:
        starred = [name for name in ("verbs", "resources", "apiGroups") if "*" in texts(rule[name])]
        if starred:
            yield f"{rule.path} allows everything: a star in {', '.join(starred)}"

    yield from every(_rules(resource), check)


@resource_rule(
    "rbac-no-secret-reading",
    "Roles for the whole cluster do not read secrets",
    types=[CLUSTER_ROLE],
    references=[cis_eks("4.1.2"), cis_kubernetes("5.1.2")],
    steps="use a Role in the one namespace, with resourceNames",
    url=RBAC_PAGE,
)
def rbac_no_secret_reading(resource: Planned, settings: Settings) -> Iterator[str]:
    """Secrets hold the tokens of everybody else."""

    def check(rule: Value) -> Iterator[str]:
        reads = set(texts(rule["verbs"])) & set(SECRET_READING)
        if reads and "secrets" in texts(rule["resources"]) and not rule["resourceNames"].given:
            yield f"{rule.path} reads every secret of the cluster"

    yield from every(_rules(resource), check)


APPROVAL = "certificatesigningrequests/approval"
SENSITIVE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("pods", ("create", "*"), "creates pods, and with them takes every service account of the namespace"),
    ("persistentvolumes", ("create", "*"), "creates volumes, and with them mounts directories of nodes"),
    ("nodes/proxy", ("get", "create", "*"), "speaks to kubelets past admission and audit"),
    ("validatingwebhookconfigurations", ("create", "update", "patch", "*"),
     "changes what is admitted"),
    ("mutatingwebhookconfigurations", ("create", "update", "patch", "*"),
     "reads and changes everything that is admitted"),
    ("serviceaccounts/token", ("create", "*"), "makes tokens of other service accounts"),
    (APPROVAL, ("update", "*"), "approves certificates"),
)  # fmt: skip


@resource_rule(
    "rbac-no-detours",
    "Roles hold no permission that leads to others",
    types=[CLUSTER_ROLE],
    references=[
        cis_eks("4.1.4"), cis_eks("4.1.9"), cis_eks("4.1.10"), cis_eks("4.1.11"), cis_eks("4.1.12"),
        cis_kubernetes("5.1.4"), cis_kubernetes("5.1.9"), cis_kubernetes("5.1.10"), cis_kubernetes("5.1.12"),
        cis_kubernetes("5.1.13"),
    ],
    steps="remove the permission, or give it in the one namespace that needs it",
    url=RBAC_PAGE,
)  # fmt: skip
def rbac_no_detours(resource: Planned, settings: Settings) -> Iterator[str]:
    """Creating pods, volumes, tokens, webhooks; the kubelet's proxy."""

    def check(rule: Value) -> Iterator[str]:
        verbs, resources = set(texts(rule["verbs"])), texts(rule["resources"])
        for name, sensitive, why in SENSITIVE:
            if name in resources and verbs & set(sensitive) and not (name == APPROVAL and serving_only):
                yield f"{rule.path} {why}"

    # A request is approved by who may update the approval and may approve for its signer.
    serving_only = _signers(resource) == {"kubernetes.io/kubelet-serving"}
    yield from every(_rules(resource), check)


def _signers(resource: Planned) -> set[str]:
    """The signers whose certificates a role approves: all of them unless it names some."""
    found: set[str] = set()
    for rule in _rules(resource):
        if "signers" in texts(rule["resources"]) and "approve" in texts(rule["verbs"]):
            found |= set(texts(rule["resourceNames"])) or {"*"}
    return found


@resource_rule(
    "rbac-no-escalation",
    "Roles do not give themselves more",
    types=[KUBERNETES_ROLE, CLUSTER_ROLE],
    severity="high",
    references=[cis_eks("4.1.8"), cis_kubernetes("5.1.8")],
    steps="remove the verbs bind, escalate and impersonate",
    url=RBAC_PAGE,
)
def rbac_no_escalation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Whoever may bind, escalate or impersonate may everything."""

    def check(rule: Value) -> Iterator[str]:
        found = [verb for verb in texts(rule["verbs"]) if verb in ("bind", "escalate", "impersonate")]
        if found:
            yield f"{rule.path} may {' and '.join(found)}"

    yield from every(_rules(resource), check)


@resource_rule(
    "rbac-no-cluster-admin",
    "Nobody is bound to cluster-admin",
    types=[CLUSTER_ROLE_BINDING, ROLE_BINDING],
    severity="high",
    references=[cis_eks("4.1.1"), cis_kubernetes("5.1.1")],
    steps="bind a role with the permissions that are needed; administrators get an access entry",
    url=RBAC_PAGE,
)
def rbac_no_cluster_admin(resource: Planned, settings: Settings) -> Iterator[str]:
    """People that administer are seen better in access entries, which the cloud's own trail logs."""
    if resource["roleRef"]["name"].text == "cluster-admin":
        yield "the subjects may do everything: roleRef.name is cluster-admin"


@resource_rule(
    "rbac-no-anonymous",
    "Nothing is given to those who have not signed in",
    types=[CLUSTER_ROLE_BINDING, ROLE_BINDING],
    severity="critical",
    level="mandatory",
    references=[cis_eks("4.1.1"), cis_kubernetes("5.1.1")],
    steps="name the users, groups or service accounts",
    url=f"{BEST_PRACTICES}/identity-and-access-management.html",
    options={
        "allowedRoles": Option(
            ["system:public-info-viewer", "system:service-account-issuer-discovery"],
            "roles that may be given to everybody", TEXTS,
        ),
    },
)  # fmt: skip
def rbac_no_anonymous(resource: Planned, settings: Settings) -> Iterator[str]:
    """Kubernetes' own public roles are allowed."""
    if resource["roleRef"]["name"].settled in settings["allowedRoles"]:
        return

    def check(subject: Value) -> Iterator[str]:
        if subject["name"].text in ANONYMOUS:
            yield f"everybody who reaches the cluster gets these permissions: {subject['name'].raw}"

    yield from every(resource["subjects"].items(), check)
