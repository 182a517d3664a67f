"""Cases of the rules about workloads on any system."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    INGRESS,
    KUBERNETES_PROVIDER,
    NAMESPACE,
    NETWORK_POLICY,
    POD,
    ROLE_BINDING,
    SERVICE,
)

from .base import Case, container, linux, one, planned, pod

ALWAYS = {"when": "always"}


def security(**fields: Any) -> Any:
    return linux(securityContext=fields)


def deployment(spec: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop"}, "spec": {"selector": {}, "template": {"metadata": {}, "spec": spec}}}


def rules(*listed: Any) -> dict[str, Any]:
    return {"metadata": {"name": "r"}, "rules": list(listed)}


def allows(resources: Any, verbs: Any, groups: Any = ("",), **more: Any) -> dict[str, Any]:
    return {"apiGroups": list(groups), "resources": resources, "verbs": verbs, **more}


def binding(role: Any = "view", **subject: Any) -> dict[str, Any]:
    return {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]}


def balanced(port: Any = 443, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    prefix = "service.beta.kubernetes.io/aws-load-balancer-"
    named = {f"{prefix}{name}": value for name, value in (annotations or {}).items()}
    ports = {"ports": port if port is UNKNOWN else [{"port": port}]}
    return {"metadata": {"name": "s", "annotations": named}, "spec": {"type": "LoadBalancer", **ports, **spec}}


SECRET_ENV = [{"name": "DB_PASSWORD", "value": "hunter2"}]
SECRET_REF = [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}]

NAMED = planned(KUBERNETES_PROVIDER, {"namespace": "shop"}, "k8s")

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
        "may gain more rights",
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
        "takes port 80 of its node",
    ),
    "image-tag-fixed": one(
        POD,
        [linux(), linux(image="registry:5000/app@sha256:0123"), linux(image="registry:5000/app:1")],
        [linux(image="nginx"), linux(image="registry:5000/app"), linux(image="nginx:latest")],
        [linux(image=UNKNOWN)],
        "means at the time",
    ),
    "image-registry-approved": one(
        POD,
        [linux()],
        [linux(image="docker.io/library/nginx:1")],
        [linux(image=UNKNOWN)],
        "of no approved registry",
        {"registries": ["registry.example.com/"]},
    ),
    "no-secret-in-environment": one(
        POD,
        [
            linux(),
            linux(env=SECRET_REF),
            linux(env=[{"name": "TOKEN_FILE", "value": "/run/token"}]),
            linux(env=[{"name": "DB_PASSWORD", "value": "$(OTHER)"}, {"name": "MODE", "value": UNKNOWN}]),
        ],
        [linux(env=SECRET_ENV)],
        [linux(env=[{"name": "DB_PASSWORD", "value": UNKNOWN}]), linux(env=UNKNOWN)],
        "the variable DB_PASSWORD has its value in the pod itself",
    ),
    "secrets-as-files": one(
        POD,
        [linux(), linux(env=[{"name": "A", "value": "b"}])],
        [linux(env=SECRET_REF), linux(envFrom=[{"secretRef": {"name": "db"}}])],
        [linux(env=UNKNOWN)],
        "gets secrets as variables",
        ALWAYS,
    ),
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
    "default-namespace-unused": Case(
        [[planned(POD, linux())], [planned(POD, pod({}), provider=NAMED.urn), NAMED]],
        [[planned(POD, pod({}))], [planned(POD, pod({}, namespace="default"))]],
        [[planned(POD, pod({}, namespace=UNKNOWN))]],
        "in the default namespace",
        ALWAYS,
    ),
    "config-map-without-secrets": one(
        CONFIG_MAP,
        [{"metadata": {}, "data": {"a": "b"}}, {"metadata": {}}],
        [
            {"metadata": {}, "data": {"kubeconfig": "users:\n- user: {}\n    client-key-data: LS0t"}},
            {"metadata": {}, "data": {"id": "AKIAIOSFODNN7EXAMPLE"}},
        ],
        [{"metadata": {}, "data": {"a": UNKNOWN}}, {"metadata": {}, "data": UNKNOWN}],
        "holds a private key",
    ),
    "rbac-no-wildcards": one(
        CLUSTER_ROLE,
        [rules(allows(["pods"], ["get"]))],
        [rules(allows(["*"], ["get"])), rules(allows(["pods"], ["*"])), rules(allows(["pods"], ["get"], ["*"]))],
        [rules(allows(["pods"], UNKNOWN)), {"metadata": {}, "rules": UNKNOWN}],
        "a star in",
    ),
    "rbac-no-secret-reading": one(
        CLUSTER_ROLE,
        [rules(allows(["pods"], ["get"])), rules(allows(["secrets"], ["get"], resourceNames=["one"]))],
        [rules(allows(["pods", "secrets"], ["list"]))],
        [rules(allows(["secrets"], [UNKNOWN]))],
        "reads every secret",
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
    "namespace-pod-security": one(
        NAMESPACE,
        [{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}],
        [{"metadata": {"name": "a"}}, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}],
        [{"metadata": {"labels": UNKNOWN}}],
        "admits pods with every right",
        ALWAYS,
    ),
    "namespace-network-policy": Case(
        [[planned(NAMESPACE, {"metadata": {"name": "a"}}), planned(NETWORK_POLICY, {"metadata": {"namespace": "a"}})]],
        [
            [planned(NAMESPACE, {"metadata": {"name": "a"}})],
            [
                planned(NAMESPACE, {"metadata": {"name": "a"}}),
                planned(NETWORK_POLICY, {"metadata": {"namespace": "b"}}),
            ],
        ],
        [
            [
                planned(NAMESPACE, {"metadata": {"name": "a"}}),
                planned(NETWORK_POLICY, {"metadata": {"namespace": UNKNOWN}}),
            ]
        ],
        "nothing limits who speaks to the pods",
        ALWAYS,
    ),
    "service-load-balancer-private": one(
        SERVICE,
        [
            balanced(annotations={"scheme": "internet-facing"}),
            balanced(annotations={"internal": "true"}),
            balanced(loadBalancerSourceRanges=["203.0.113.0/24"]),
            {"metadata": {}, "spec": {"type": "ClusterIP"}},
        ],
        [balanced(), balanced(loadBalancerSourceRanges=["0.0.0.0/0"])],
        [balanced(annotations={"scheme": UNKNOWN}), {"metadata": {}, "spec": UNKNOWN}],
        "the whole internet reaches",
    ),
    "service-load-balancer-tls": one(
        SERVICE,
        [balanced(), balanced(80, {"ssl-cert": UNKNOWN}), {"metadata": {}, "spec": {"ports": [{"port": 80}]}}],
        [balanced(80)],
        [balanced(UNKNOWN)],
        "in plain text only",
    ),
    "ingress-tls": one(
        INGRESS,
        [
            {"metadata": {}, "spec": {"tls": [{"hosts": ["a"]}]}},
            {"metadata": {"annotations": {"alb.ingress.kubernetes.io/certificate-arn": UNKNOWN}}, "spec": {}},
            {"metadata": {"annotations": {"alb.ingress.kubernetes.io/listen-ports": '[{"HTTPS": 443}]'}}, "spec": {}},
        ],
        [{"metadata": {}, "spec": {"rules": []}}],
        [{"metadata": {}, "spec": {"tls": UNKNOWN}}],
        "in plain text",
    ),
    "no-beta-labels": one(
        POD,
        [linux({"nodeSelector": {"kubernetes.io/os": "linux"}}), linux()],
        [linux({"nodeSelector": {"beta.kubernetes.io/os": "windows"}})],
        [linux({"nodeSelector": UNKNOWN})],
        "beta.kubernetes.io/os is deprecated",
    ),
}
