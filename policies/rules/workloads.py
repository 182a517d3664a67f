"""Pods, services and permissions inside of clusters, whatever the operating system."""

import re
from collections.abc import Iterator

from ..frameworks import BEST_PRACTICES, CIS_EKS_PAGE, RBAC_PAGE, cis_eks, cis_kubernetes, kubernetes_docs
from ..model import (
    TEXTS,
    WHEN_OPTIONS,
    Option,
    Planned,
    Settings,
    Stack,
    Undecided,
    Value,
    Violation,
    applies,
    every,
    resource_rule,
    stack_rule,
    texts,
)
from ..pods import container_name, pod_of, pods, split_image
from ..resource_types import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    INGRESS,
    KUBERNETES_ROLE,
    NAMESPACE,
    NETWORK_POLICY,
    ROLE_BINDING,
    SERVICE,
    WORKLOADS,
)
from ..secret_patterns import ACCESS_KEY, SECRET_NAME, holds_client_key

POD_SECURITY_PAGE = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
SECRETS_PAGE = "https://kubernetes.io/docs/concepts/security/secrets-good-practices/"
EXEMPT = Option(
    ["kube-system", "kube-flannel", "amazon-guardduty", "calico-system", "tigera-operator", "amazon-cloudwatch"],
    "namespaces whose pods may do it", TEXTS,
)  # fmt: skip
HOST_PATHS = ("/", "/etc", "/root", "/proc", "/sys", "/dev", "/boot", "/var/run/docker.sock", "/run/docker.sock",
              "/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock", "/var/lib/kubelet",
              "/etc/kubernetes", "c:", "c:/windows", "//./pipe/docker_engine",
              "//./pipe/containerd-containerd")  # fmt: skip
ANONYMOUS = ("system:anonymous", "system:unauthenticated")
SECRET_READING = ("get", "list", "watch", "*")


def _namespace(resource: Planned) -> str | None:
    name = resource["metadata"]["namespace"].settled
    return name if isinstance(name, str) else None


@resource_rule(
    "pod-not-privileged",
    "Containers are not privileged",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.2.1"), cis_kubernetes("5.2.2")],
    steps="remove privileged, and add the one capability that is needed",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_not_privileged(resource: Planned, settings: Settings) -> Iterator[str]:
    """A privileged container is the node. Windows has none, which is another rule's."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.system() == "windows":
        return

    def check(container: Value) -> Iterator[str]:
        if container["securityContext"]["privileged"].flag:
            yield f"{container_name(container)} is privileged"

    yield from every(pod.containers, check)


@resource_rule(
    "pod-own-namespaces",
    "Pods do not share the node's processes, memory or network",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.2.2"), cis_eks("4.2.3"), cis_eks("4.2.4"), cis_kubernetes("5.2.3"), cis_kubernetes("5.2.4"),
                cis_kubernetes("5.2.5")],
    steps="remove hostPID, hostIPC and hostNetwork",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)  # fmt: skip
def pod_own_namespaces(resource: Planned, settings: Settings) -> Iterator[str]:
    """On Windows only HostProcess pods can, which are another rule's."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.system() == "windows":
        return

    def check(field: Value) -> Iterator[str]:
        if field.flag:
            yield f"{field.path} is true"

    yield from every([pod.spec[name] for name in ("hostPID", "hostIPC", "hostNetwork")], check)


@resource_rule(
    "pod-no-escalation",
    "Containers cannot gain more rights than they start with",
    types=WORKLOADS,
    references=[cis_eks("4.2.5"), cis_kubernetes("5.2.6")],
    steps="set allowPrivilegeEscalation to false",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_escalation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Where it is asked for; that it is the default is left to Pod Security admission."""
    if _namespace(resource) in settings["namespaces"]:
        return

    def check(container: Value) -> Iterator[str]:
        if container["securityContext"]["allowPrivilegeEscalation"].flag:
            yield f"{container_name(container)} may gain more rights: allowPrivilegeEscalation is true"

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "pod-no-host-paths",
    "Pods do not mount what controls their node",
    types=WORKLOADS,
    severity="high",
    references=[cis_kubernetes("5.2.12")],
    steps="mount the one directory that is needed, read-only, or use a volume",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_host_paths(resource: Planned, settings: Settings) -> Iterator[str]:
    """The root, the system's own directories, and the sockets of the runtime."""
    if _namespace(resource) in settings["namespaces"]:
        return

    def check(volume: Value) -> Iterator[str]:
        path = (volume["hostPath"]["path"].text or "").replace("\\", "/").rstrip("/").lower()
        if volume["hostPath"].given and (path or "/") in HOST_PATHS:
            yield f"{volume.path}.hostPath mounts {volume['hostPath']['path'].raw} of the node"

    pod = pod_of(resource)
    yield from every(pod.volumes if pod else (), check)


@resource_rule(
    "pod-no-host-ports",
    "Pods take no ports of their nodes",
    types=WORKLOADS,
    severity="low",
    references=[cis_kubernetes("5.2.13")],
    steps="use a Service",
    url=POD_SECURITY_PAGE,
    options={"namespaces": EXEMPT},
)
def pod_no_host_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Network policies do not see them, and two such pods cannot share a node."""
    pod = pod_of(resource)
    if pod is None or _namespace(resource) in settings["namespaces"] or pod.spec["hostNetwork"].settled is True:
        return

    def check(container: Value) -> Iterator[str]:
        for port in container["ports"].items():
            if port["hostPort"].number:
                yield f"{container_name(container)} takes port {port['hostPort'].raw} of its node"

    yield from every(pod.containers, check)


@resource_rule(
    "image-tag-fixed",
    "Images are named by a tag that means one image, or by digest",
    types=WORKLOADS,
    references=[cis_eks("5.1.4"), cis_kubernetes("5.5.1")],
    steps="name the release in the tag, or the digest",
    url="https://kubernetes.io/docs/concepts/containers/images/",
)
def image_tag_fixed(resource: Planned, settings: Settings) -> Iterator[str]:
    """`latest` is another image on every node, and on Windows often of another build."""

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and "@sha256:" not in image and split_image(image)[1] in (None, "latest"):
            yield f'{container_name(container)} runs whatever "{image}" means at the time'

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "image-registry-approved",
    "Images come from approved registries",
    types=WORKLOADS,
    references=[cis_eks("5.1.4")],
    steps="copy the image into a registry of your own, for example by a pull-through cache of ECR",
    url="https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html",
    options={"registries": Option([], "beginnings of image names that are approved; none approves all", TEXTS)},
)
def image_registry_approved(resource: Planned, settings: Settings) -> Iterator[str]:
    """Nothing is asked until registries are named."""
    approved = tuple(settings["registries"])

    def check(container: Value) -> Iterator[str]:
        image = container["image"].text
        if image and not image.startswith(approved):
            yield f'{container_name(container)}: "{image}" is of no approved registry'

    pod = pod_of(resource)
    yield from every(pod.containers if pod and approved else (), check)


@resource_rule(
    "no-secret-in-environment",
    "Secrets are not written into the pod",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.4.1"), cis_kubernetes("5.4.1")],
    steps="keep the value in a Secret and mount it, or read it from Secrets Manager with the pod's role",
    url=SECRETS_PAGE,
)
def no_secret_in_environment(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everybody who may see the pod would see it. Judged by the variable's name; references are fine."""

    def check(container: Value) -> Iterator[str]:
        for variable in container["env"].items():
            name = variable["name"].text or ""
            value = variable["value"]
            if SECRET_NAME.search(name) and not re.search(r"(?i)(file|path|name|arn|url|ttl|length|mode)$", name):
                text = value.text
                if text and not text.startswith(("$(", "/")):
                    yield f"{container_name(container)}: the variable {name} has its value in the pod itself"

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "secrets-as-files",
    "Secrets reach containers as files",
    types=WORKLOADS,
    severity="low",
    references=[cis_eks("4.4.1"), cis_kubernetes("5.4.1")],
    steps="mount the Secret as a volume",
    url=SECRETS_PAGE,
    options=WHEN_OPTIONS,
)
def secrets_as_files(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always: variables end up in crash reports and child processes."""
    if not applies(resource, settings):
        return

    def check(container: Value) -> Iterator[str]:
        sources = [variable["valueFrom"]["secretKeyRef"] for variable in container["env"].items()]
        sources += [source["secretRef"] for source in container["envFrom"].items()]
        if any(source.settled for source in sources):
            yield f"{container_name(container)} gets secrets as variables"
        for source in sources:
            source.known()

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


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
    """In production, unless the configuration says always: the default account's token is of no use to most pods."""
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
    steps="make a service account for the workload and bind that",
    url=RBAC_PAGE,
)
def default_service_account_unbound(resource: Planned, settings: Settings) -> Iterator[str]:
    """Every pod of the namespace that names no account has it."""

    def check(subject: Value) -> Iterator[str]:
        if subject["kind"].text == "ServiceAccount" and subject["name"].text == "default":
            yield "every pod of the namespace that names no service account gets these permissions"

    yield from every(resource["subjects"].items(), check)


@stack_rule(
    "default-namespace-unused",
    "Workloads have a namespace of their own",
    types=WORKLOADS,
    severity="low",
    references=[cis_eks("4.5.2"), cis_kubernetes("5.7.4")],
    steps="make a Namespace and name it in metadata.namespace",
    url=CIS_EKS_PAGE,
    options=WHEN_OPTIONS,
)
def default_namespace_unused(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """In production, unless the configuration says always. A provider may have a namespace of its own."""

    def check(resource: Planned) -> Iterator[Violation]:
        if not applies(resource, settings):
            return
        provider = stack.by_urn.get(resource.provider)
        if provider is not None and provider["namespace"].given:
            return
        if resource["metadata"]["namespace"].text in (None, "default"):
            yield Violation("the workload runs in the default namespace", resource.urn)

    yield from every([resource for resource, _ in pods(stack)], check)


@resource_rule(
    "config-map-without-secrets",
    "ConfigMaps hold no keys",
    types=[CONFIG_MAP],
    severity="critical",
    level="mandatory",
    references=[cis_eks("4.4.1")],
    steps="keep the key in a Secret; give programs a service account instead of an administrator's kubeconfig",
    url=SECRETS_PAGE,
)
def config_map_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everybody who may read anything in the namespace may read them."""

    def check(pair: tuple[str, Value]) -> Iterator[str]:
        text = pair[1].text or ""
        if holds_client_key(text) or ACCESS_KEY.search(text):
            yield f"data.{pair[0]} holds a private key"

    yield from every(resource["data"].entries(), check)


# -- permissions -------------------------------------------------------------------------------------------------------


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


# -- namespaces and traffic --------------------------------------------------------------------------------------------


@resource_rule(
    "namespace-pod-security",
    "Namespaces say what their pods may do",
    types=[NAMESPACE],
    severity="low",
    references=[cis_eks("4.2.1"), cis_kubernetes("5.2.1")],
    steps="set the label pod-security.kubernetes.io/enforce to restricted or baseline",
    url="https://kubernetes.io/docs/concepts/security/pod-security-admission/",
    options=WHEN_OPTIONS,
)
def namespace_pod_security(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always."""
    if applies(resource, settings):
        level = resource["metadata"]["labels"]["pod-security.kubernetes.io/enforce"].text
        if level not in ("baseline", "restricted"):
            yield "the namespace admits pods with every right"


@stack_rule(
    "namespace-network-policy",
    "Every namespace has a network policy",
    types=[NAMESPACE],
    severity="low",
    references=[cis_eks("4.3.2"), cis_kubernetes("5.3.2")],
    steps="add a NetworkPolicy that denies everything, and one for each flow that is needed; on Windows with Calico",
    url="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    options=WHEN_OPTIONS,
)
def namespace_network_policy(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """In production, unless the configuration says always; of the namespaces that the program makes."""
    policies = [policy["metadata"]["namespace"] for policy in stack.of(NETWORK_POLICY)]
    covered = {policy.settled for policy in policies}
    referred = {source.urn for policy in stack.of(NETWORK_POLICY)
                for source in stack.sources(policy, "metadata", NAMESPACE)}  # fmt: skip
    missing = [
        namespace
        for namespace in stack.of(NAMESPACE)
        if applies(namespace, settings)
        and namespace.urn not in referred
        and (namespace["metadata"]["name"].settled or namespace.name) not in covered
    ]
    unclear = [policy for policy in stack.of(NETWORK_POLICY)
               if policy["metadata"]["namespace"].unknown and not policy.references.get("metadata")]  # fmt: skip
    if missing and unclear:
        raise Undecided(f"{unclear[0].name}.metadata.namespace")
    for namespace in missing:
        yield Violation("nothing limits who speaks to the pods of the namespace", namespace.urn)


@resource_rule(
    "service-load-balancer-private",
    "Services are not published to the internet by the way",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps='set the annotation service.beta.kubernetes.io/aws-load-balancer-scheme to "internal", or name networks in '
    "loadBalancerSourceRanges",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Who says internet-facing means it; without a word the in-tree controller publishes."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    annotations = resource["metadata"]["annotations"]
    scheme = annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"].text
    internal = annotations["service.beta.kubernetes.io/aws-load-balancer-internal"].text
    ranges = texts(spec["loadBalancerSourceRanges"])
    limited = ranges and "0.0.0.0/0" not in ranges
    managed = (spec["loadBalancerClass"].text or "").startswith("service.k8s.aws/")
    if scheme is None and internal not in ("true", "0.0.0.0/0") and not limited and not managed:
        yield "the service gets a load balancer that the whole internet reaches"


@resource_rule(
    "service-load-balancer-tls",
    "Load balancers of services for HTTP have a certificate",
    types=[SERVICE],
    references=[cis_eks("5.4.5")],
    steps="set the annotation service.beta.kubernetes.io/aws-load-balancer-ssl-cert and serve port 443",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/",
)
def service_load_balancer_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """A service that has port 80 and no other."""
    spec = resource["spec"]
    if spec["type"].text != "LoadBalancer":
        return
    spec["ports"].known()
    ports = {port["port"].number for port in spec["ports"].items()}
    annotations = resource["metadata"]["annotations"]
    annotations.known()
    certificate = annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"]
    if ports and ports <= {80, 8080} and not certificate.given:
        yield "the service is reached in plain text only"


@resource_rule(
    "ingress-tls",
    "Ingresses have a certificate",
    types=[INGRESS],
    references=[cis_eks("5.4.5")],
    steps="set tls, or the annotation alb.ingress.kubernetes.io/certificate-arn",
    url="https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/",
)
def ingress_tls(resource: Planned, settings: Settings) -> Iterator[str]:
    """The controller finds a certificate by host name where HTTPS is listened for."""
    annotations = resource["metadata"]["annotations"]
    certificate = annotations["alb.ingress.kubernetes.io/certificate-arn"]
    listening = annotations["alb.ingress.kubernetes.io/listen-ports"].text or ""
    tls = resource["spec"]["tls"]
    tls.known()
    if not tls.items() and not certificate.given and "HTTPS" not in listening:
        yield "the ingress is reached in plain text: it has neither tls nor a certificate"


BETA_LABELS = ("beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type",
               "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")  # fmt: skip


@resource_rule(
    "no-beta-labels",
    "Pods choose nodes by labels that are not deprecated",
    types=WORKLOADS,
    severity="low",
    references=[kubernetes_docs("Well-known labels, annotations and taints")],
    steps="write kubernetes.io/os, kubernetes.io/arch, node.kubernetes.io/instance-type or topology.kubernetes.io/zone",
    url="https://kubernetes.io/docs/reference/labels-annotations-taints/",
)
def no_beta_labels(resource: Planned, settings: Settings) -> Iterator[str]:
    """In node selectors and node affinity."""
    pod = pod_of(resource)
    if pod is None:
        return
    required = pod.spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    keys = [expression["key"].settled for term in required["nodeSelectorTerms"].items()
            for expression in term["matchExpressions"].items()]  # fmt: skip
    keys += [key for key, _ in pod.spec["nodeSelector"].entries()]
    for label in BETA_LABELS:
        if label in keys:
            yield f"{label} is deprecated"


RULES = (
    pod_not_privileged,
    pod_own_namespaces,
    pod_no_escalation,
    pod_no_host_paths,
    pod_no_host_ports,
    image_tag_fixed,
    image_registry_approved,
    no_secret_in_environment,
    secrets_as_files,
    service_account_own,
    default_service_account_unbound,
    default_namespace_unused,
    config_map_without_secrets,
    rbac_no_wildcards,
    rbac_no_secret_reading,
    rbac_no_detours,
    rbac_no_escalation,
    rbac_no_cluster_admin,
    rbac_no_anonymous,
    namespace_pod_security,
    namespace_network_policy,
    service_load_balancer_private,
    service_load_balancer_tls,
    ingress_tls,
    no_beta_labels,
)
