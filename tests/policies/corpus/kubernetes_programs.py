"""Programs for Kubernetes, after patterns that are common in public examples."""

from typing import Any

import pulumi_kubernetes as kubernetes

CORE = "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022"


def _deployment(name: str, container: Any, namespace: str | None = None, **spec: Any) -> None:
    labels = {"app": name}
    kubernetes.apps.v1.Deployment(
        name,
        metadata={"name": name, **({"namespace": namespace} if namespace else {})},
        spec={
            "selector": {"match_labels": labels},
            "replicas": 2,
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, **container}], **spec}},
        },
    )


def _service(name: str, port: int, kind: str = "ClusterIP", namespace: str | None = None, **annotations: str) -> None:
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    if annotations:
        prefix = "service.beta.kubernetes.io/aws-load-balancer-"
        metadata["annotations"] = {prefix + key.replace("_", "-"): value for key, value in annotations.items()}
    kubernetes.core.v1.Service(
        name, metadata=metadata, spec={"type": kind, "ports": [{"port": port}], "selector": {"app": name}}
    )


def guestbook() -> None:
    """The guestbook: two stores and a front end behind a load balancer."""
    for name in ("redis-leader", "redis-replica"):
        _deployment(name, {"image": "redis:7", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}})
        _service(name, 6379)
    frontend = {"image": "registry.k8s.io/guestbook/php-redis:v4", "env": [{"name": "GET_HOSTS_FROM", "value": "dns"}]}
    _deployment("frontend", frontend)
    _service("frontend", 80, "LoadBalancer")


def web_with_ingress() -> None:
    """A web application behind an ingress with TLS."""
    kubernetes.core.v1.Namespace("web", metadata={"name": "web"})
    context = {
        "allow_privilege_escalation": False,
        "run_as_non_root": True,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    }
    container = {
        "image": "nginxinc/nginx-unprivileged:1.27-alpine",
        "security_context": context,
        "env": [{"name": "TOKEN_PATH", "value": "/run/token"}, {"name": "KEY_NAME", "value": "main"}],
    }
    _deployment("web", container, "web", service_account_name="web", automount_service_account_token=False)
    _service("web", 80, namespace="web")
    kubernetes.networking.v1.Ingress(
        "web",
        metadata={"name": "web", "namespace": "web"},
        spec={
            "tls": [{"hosts": ["shop.example.com"], "secret_name": "shop"}],
            "ingress_class_name": "nginx",
            "rules": [],
        },
    )


def node_metrics() -> None:
    """An exporter of metrics on every node, as the charts have it."""
    kubernetes.apps.v1.DaemonSet(
        "node-exporter",
        metadata={"name": "node-exporter", "namespace": "monitoring"},
        spec={
            "selector": {"match_labels": {"app": "node-exporter"}},
            "template": {
                "metadata": {"labels": {"app": "node-exporter"}},
                "spec": {
                    "host_network": True,
                    "host_pid": True,
                    "service_account_name": "node-exporter",
                    "node_selector": {"kubernetes.io/os": "linux"},
                    "containers": [
                        {
                            "name": "node-exporter",
                            "image": "quay.io/prometheus/node-exporter:v1.9.1",
                            "ports": [{"container_port": 9100, "host_port": 9100}],
                            "volume_mounts": [{"name": "root", "mount_path": "/host/root", "read_only": True}],
                        }
                    ],
                    "volumes": [{"name": "root", "host_path": {"path": "/"}}],
                },
            },
        },
    )


def database_with_secret() -> None:
    """A stateful set with a password from a Secret and a volume."""
    kubernetes.core.v1.Secret("db", metadata={"name": "db"}, string_data={"password": "generated"})
    password = {"name": "POSTGRES_PASSWORD", "value_from": {"secret_key_ref": {"name": "db", "key": "password"}}}
    kubernetes.apps.v1.StatefulSet(
        "db",
        metadata={"name": "db"},
        spec={
            "service_name": "db",
            "selector": {"match_labels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {
                    "containers": [
                        {
                            "name": "db",
                            "image": "postgres:17.2",
                            "env": [password],
                            "volume_mounts": [{"name": "data", "mount_path": "/data"}],
                        }
                    ]
                },
            },
            "volume_claim_templates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {
                        "access_modes": ["ReadWriteOnce"],
                        "storage_class_name": "gp3",
                        "resources": {"requests": {"storage": "10Gi"}},
                    },
                }
            ],
        },
    )
    kubernetes.storage.v1.StorageClass(
        "gp3",
        metadata={"name": "gp3"},
        provisioner="ebs.csi.aws.com",
        allow_volume_expansion=True,
        parameters={"type": "gp3", "encrypted": "true"},
    )


def controller_permissions() -> None:
    """A controller's own service account, role and binding."""
    kubernetes.core.v1.ServiceAccount("controller", metadata={"name": "controller", "namespace": "system"})
    rules = [
        {"api_groups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "watch"]},
        {"api_groups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]},
        {"api_groups": [""], "resources": ["events"], "verbs": ["create"]},
    ]
    kubernetes.rbac.v1.ClusterRole("controller", metadata={"name": "controller"}, rules=rules)
    kubernetes.rbac.v1.ClusterRoleBinding(
        "controller",
        metadata={"name": "controller"},
        role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "controller"},
        subjects=[{"kind": "ServiceAccount", "name": "controller", "namespace": "system"}],
    )


def windows_web() -> None:
    """A web server on Windows nodes, done as it should be."""
    kubernetes.core.v1.Namespace("iis", metadata={"name": "iis"})
    container = {
        "image": CORE,
        "ports": [{"container_port": 80}],
        "resources": {"limits": {"memory": "1Gi", "cpu": "1"}},
        "security_context": {"windows_options": {"run_as_user_name": "ContainerUser"}},
        "volume_mounts": [{"name": "logs", "mount_path": "C:\\inetpub\\logs"}],
    }
    _deployment(
        "iis",
        container,
        "iis",
        os={"name": "windows"},
        volumes=[{"name": "logs", "empty_dir": {}}],
        node_selector={"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.20348"},
        tolerations=[{"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}],
    )
    _service("iis", 80, "LoadBalancer", "iis", scheme="internal", ssl_cert="arn:aws:acm:x:1:certificate/1")


def windows_exporter() -> None:
    """The exporter of metrics on every Windows node: a HostProcess pod."""
    options = {"host_process": True, "run_as_user_name": "NT AUTHORITY\\system"}
    kubernetes.apps.v1.DaemonSet(
        "windows-exporter",
        metadata={"name": "windows-exporter", "namespace": "kube-system"},
        spec={
            "selector": {"match_labels": {"app": "windows-exporter"}},
            "template": {
                "metadata": {"labels": {"app": "windows-exporter"}},
                "spec": {
                    "security_context": {"windows_options": options},
                    "host_network": True,
                    "service_account_name": "windows-exporter",
                    "node_selector": {"kubernetes.io/os": "windows"},
                    "containers": [
                        {
                            "name": "windows-exporter",
                            "image": "ghcr.io/prometheus-community/windows-exporter:0.30.5",
                            "ports": [{"container_port": 9182, "host_port": 9182}],
                        }
                    ],
                },
            },
        },
    )


def scheduled_job() -> None:
    """A job every night."""
    kubernetes.batch.v1.CronJob(
        "report",
        metadata={"name": "report", "namespace": "reports"},
        spec={
            "schedule": "0 3 * * *",
            "job_template": {
                "spec": {
                    "template": {
                        "spec": {
                            "restart_policy": "Never",
                            "service_account_name": "report",
                            "containers": [{"name": "report", "image": "registry.example.com/report:2.4"}],
                        }
                    }
                }
            },
        },
    )
