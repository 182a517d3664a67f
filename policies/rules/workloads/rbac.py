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
    "Roles use no wildcards",
    types=[KUBERNETES_ROLE, CLUSTER_ROLE],
    references=[cis_eks("4.1.3"), cis_kubernetes("5.1.3")],
    steps="list verbs, resources and API groups",
    url=RBAC_PAGE,
)
def rbac_no_wildcards(resource: Planned, settings: Settings) -> Iterator[str]:
    """A wildcard also allows what Kubernetes adds later."""

    def check(rule: Value) -> Iterator[str]:
        starred = [name for name in ("verbs", "resources", "apiGroups") if "*" in texts(rule[name])]
        if starred:
            yield f"{rule.path} has a wildcard in {', '.join(starred)}"

    yield from every(_rules(resource), check)


@resource_rule(
    "rbac-no-secret-reading",
    "Cluster roles do not read secrets",
    types=[CLUSTER_ROLE],
    references=[cis_eks("4.1.2"), cis_kubernetes("5.1.2")],
    steps="use a Role in the namespace that needs it, with resourceNames",
    url=RBAC_PAGE,
)
def rbac_no_secret_reading(resource: Planned, settings: Settings) -> Iterator[str]:
    """Secrets can hold the tokens of other accounts."""

    def check(rule: Value) -> Iterator[str]:
        reads = set(texts(rule["verbs"])) & set(SECRET_READING)
        if reads and "secrets" in texts(rule["resources"]) and not rule["resourceNames"].given:
            yield f"{rule.path} can read every secret of the cluster"

    yield from every(_rules(resource), check)


APPROVAL = "certificatesigningrequests/approval"
SENSITIVE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("pods", ("create", "*"), "can create pods, and so use every service account of the namespace"),
    ("persistentvolumes", ("create", "*"), "can create volumes, and so mount directories of nodes"),
    ("nodes/proxy", ("get", "create", "*"), "can reach kubelets without admission and audit"),
    ("validatingwebhookconfigurations", ("create", "update", "patch", "*"),
     "can change what is admitted"),
    ("mutatingwebhookconfigurations", ("create", "update", "patch", "*"),
     "can read and change everything that is admitted"),
    ("serviceaccounts/token", ("create", "*"), "can create tokens for other service accounts"),
    (APPROVAL, ("update", "*"), "can approve certificates"),
)  # fmt: skip


@resource_rule(
    "rbac-no-detours",
    "Roles hold no permission that leads to more permissions",
    types=[CLUSTER_ROLE],
    references=[
        cis_eks("4.1.4"), cis_eks("4.1.9"), cis_eks("4.1.10"), cis_eks("4.1.11"), cis_eks("4.1.12"),
        cis_kubernetes("5.1.4"), cis_kubernetes("5.1.9"), cis_kubernetes("5.1.10"), cis_kubernetes("5.1.12"),
        cis_kubernetes("5.1.13"),
    ],
    steps="remove the permission, or grant it only in the namespace that needs it",
    url=RBAC_PAGE,
)  # fmt: skip
def rbac_no_detours(resource: Planned, settings: Settings) -> Iterator[str]:
    """Examples are creating pods, volumes, tokens or webhooks, and the kubelet's proxy."""

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
    "Roles cannot extend their own permissions",
    types=[KUBERNETES_ROLE, CLUSTER_ROLE],
    severity="high",
    references=[cis_eks("4.1.8"), cis_kubernetes("5.1.8")],
    steps="remove the verbs bind, escalate and impersonate",
    url=RBAC_PAGE,
)
def rbac_no_escalation(resource: Planned, settings: Settings) -> Iterator[str]:
    """The verbs bind, escalate and impersonate lead to every permission."""

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
    steps="bind a role with only the permissions that are needed; give administrators an access entry",
    url=RBAC_PAGE,
)
def rbac_no_cluster_admin(resource: Planned, settings: Settings) -> Iterator[str]:
    """Administrators are easier to audit as access entries, which CloudTrail logs."""
    if resource["roleRef"]["name"].text == "cluster-admin":
        yield "the subjects may do everything: roleRef.name is cluster-admin"


@resource_rule(
    "rbac-no-anonymous",
    "Anonymous users get no permissions",
    types=[CLUSTER_ROLE_BINDING, ROLE_BINDING],
    severity="critical",
    level="mandatory",
    references=[cis_eks("4.1.1"), cis_kubernetes("5.1.1")],
    steps="name the users, groups or service accounts",
    url=f"{BEST_PRACTICES}/identity-and-access-management.html",
    options={
        "allowedRoles": Option(
            ["system:public-info-viewer", "system:service-account-issuer-discovery"],
            "roles that anonymous users may have", TEXTS,
        ),
    },
)  # fmt: skip
def rbac_no_anonymous(resource: Planned, settings: Settings) -> Iterator[str]:
    """The public roles of Kubernetes itself are accepted."""
    if resource["roleRef"]["name"].settled in settings["allowedRoles"]:
        return

    def check(subject: Value) -> Iterator[str]:
        if subject["name"].text in ANONYMOUS:
            yield f"everyone who can reach the cluster gets these permissions: {subject['name'].raw}"

    yield from every(resource["subjects"].items(), check)
