"""Workloads that Windows nodes cannot run, and permissions that nobody should have."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

CORE = "mcr.microsoft.com/windows/servercore"
WINDOWS = {"kubernetes.io/os": "windows"}
LIMITS = {"limits": {"memory": "1Gi"}}


def build(provider: kubernetes.Provider) -> None:
    """All of them, in the cluster of the provider."""
    opts = pulumi.ResourceOptions(provider=provider)
    kubernetes.core.v1.Namespace("shop", metadata={"name": "shop"}, opts=opts)
    _linux(opts)
    _windows(opts)
    _volumes(opts)
    _services(opts)
    _permissions(opts)


def deployment(
    name: str,
    opts: pulumi.ResourceOptions,
    containers: Sequence[Any],
    spec: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
    namespace: str | None = "shop",
) -> None:
    named = {"app": name, **(labels or {})}
    kubernetes.apps.v1.Deployment(
        name,
        metadata={"name": name, **({"namespace": namespace} if namespace else {})},
        spec={
            "selector": {"match_labels": named},
            "template": {
                "metadata": {"labels": named},
                "spec": {"containers": containers, "service_account_name": "app", **(spec or {})},
            },
        },
        opts=opts,
    )


def _linux(opts: pulumi.ResourceOptions) -> None:
    deployment(
        "agent",
        opts,
        [
            {
                "name": "agent",
                "image": "agent:latest",
                "security_context": {"privileged": True, "allow_privilege_escalation": True},
                "ports": [{"container_port": 80, "host_port": 80}],
                "env": [
                    {"name": "API_TOKEN", "value": "0123456789"},
                    {"name": "OTHER", "value_from": {"secret_key_ref": {"name": "a", "key": "b"}}},
                ],
            }
        ],
        {
            "host_network": True,
            "service_account_name": None,
            "node_selector": {"beta.kubernetes.io/os": "linux"},
            "volumes": [{"name": "root", "host_path": {"path": "/"}}],
        },
        namespace=None,
    )
    kubernetes.apps.v1.DaemonSet(
        "weave",
        metadata={"name": "weave", "namespace": "kube-system"},
        spec={
            "selector": {"match_labels": {"app": "weave"}},
            "template": {
                "metadata": {"labels": {"app": "weave"}},
                "spec": {
                    "service_account_name": "weave",
                    "containers": [{"name": "weave", "image": "docker.io/weaveworks/weave-kube:2.8.1"}],
                },
            },
        },
        opts=opts,
    )


def _windows(opts: pulumi.ResourceOptions) -> None:
    deployment(
        "web",
        opts,
        [
            {
                "name": "web",
                "image": f"{CORE}:ltsc2022",
                "security_context": {
                    "privileged": True,
                    "run_as_user": 1000,
                    "read_only_root_filesystem": True,
                    "allow_privilege_escalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "proc_mount": "Default",
                },
                "resources": {"limits": {"hugepages-2Mi": "4Mi"}},
            },
            {"name": "sidecar", "image": "alpine:3.20", "resources": LIMITS},
        ],
        {
            "node_selector": WINDOWS,
            "host_network": True,
            "share_process_namespace": True,
            "host_pid": True,
            "dns_policy": "ClusterFirstWithHostNet",
            "host_users": False,
            "security_context": {"sysctls": [{"name": "net.core.somaxconn", "value": "1024"}]},
        },
        {"tier": "front"},
    )
    deployment(
        "named",
        opts,
        [
            {
                "name": "app",
                "image": f"{CORE}:1909",
                "resources": LIMITS,
                "security_context": {"windows_options": {"run_as_user_name": "ContainerAdministrator"}},
            }
        ],
        {"os": {"name": "windows"}, "security_context": {"fs_group": 1000}},
    )
    deployment(
        "host",
        opts,
        [{"name": "host", "image": f"{CORE}:ltsc2019", "resources": LIMITS}],
        {"node_selector": WINDOWS, "security_context": {"windows_options": {"host_process": True}}},
    )
    kubernetes.node.v1.RuntimeClass(
        "windows-2022",
        metadata={"name": "windows-2022"},
        handler="runhcs-wcow-process",
        scheduling={"node_selector": {**WINDOWS, "node.kubernetes.io/windows-build": "10.0.17763"}},
        opts=opts,
    )


def _volumes(opts: pulumi.ResourceOptions) -> None:
    kubernetes.storage.v1.StorageClass(
        "linux", metadata={"name": "linux"}, provisioner="ebs.csi.aws.com", parameters={"type": "gp3"}, opts=opts
    )
    kubernetes.storage.v1.StorageClass(
        "ntfs",
        metadata={"name": "ntfs"},
        provisioner="ebs.csi.aws.com",
        allow_volume_expansion=True,
        parameters={"csi.storage.k8s.io/fstype": "ntfs"},
        opts=opts,
    )
    kubernetes.core.v1.PersistentVolumeClaim(
        "data",
        metadata={"name": "data", "namespace": "shop"},
        spec={
            "storage_class_name": "linux",
            "access_modes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
        },
        opts=opts,
    )
    deployment(
        "files",
        opts,
        [
            {
                "name": "files",
                "image": f"{CORE}:ltsc2019",
                "resources": LIMITS,
                "volume_devices": [{"name": "data", "device_path": "/dev/xvdb"}],
                "volume_mounts": [
                    {"name": "data", "mount_path": "data", "sub_path": "a", "mount_propagation": "Bidirectional"}
                ],
            }
        ],
        {
            "node_selector": WINDOWS,
            "volumes": [
                {"name": "data", "persistent_volume_claim": {"claim_name": "data"}},
                {"name": "cache", "empty_dir": {"medium": "Memory"}},
                {"name": "home", "nfs": {"server": "10.0.0.1", "path": "/"}},
                {"name": "key", "secret": {"secret_name": "key", "default_mode": 256}},
            ],
        },
    )


def _services(opts: pulumi.ResourceOptions) -> None:
    kubernetes.core.v1.Service(
        "web",
        metadata={"name": "web", "namespace": "shop"},
        spec={
            "type": "LoadBalancer",
            "selector": {"app": "web"},
            "ports": [{"port": 80}],
            "ip_families": ["IPv6"],
            "session_affinity": "ClientIP",
            "session_affinity_config": {"client_ip": {"timeout_seconds": 60}},
        },
        opts=opts,
    )
    kubernetes.networking.v1.Ingress(
        "web",
        metadata={"name": "web", "namespace": "shop"},
        spec={"default_backend": {"service": {"name": "web", "port": {"number": 80}}}},
        opts=opts,
    )
    kubernetes.networking.v1.NetworkPolicy(
        "front",
        metadata={"name": "front", "namespace": "other"},
        spec={"pod_selector": {"match_labels": {"tier": "front"}}},
        opts=opts,
    )


def _permissions(opts: pulumi.ResourceOptions) -> None:
    rules = [
        {"api_groups": [""], "resources": ["*"], "verbs": ["get"]},
        {"api_groups": [""], "resources": ["secrets"], "verbs": ["list"]},
        {"api_groups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
        {"api_groups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["escalate"]},
    ]
    kubernetes.rbac.v1.ClusterRole("too-much", metadata={"name": "too-much"}, rules=rules, opts=opts)
    subjects = [
        {"kind": "ServiceAccount", "name": "default", "namespace": "shop"},
        {"kind": "User", "name": "system:anonymous", "api_group": "rbac.authorization.k8s.io"},
    ]
    kubernetes.rbac.v1.ClusterRoleBinding(
        "everybody",
        metadata={"name": "everybody"},
        subjects=subjects,
        role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        opts=opts,
    )
    kubernetes.core.v1.ConfigMap(
        "keys",
        metadata={"name": "keys", "namespace": "shop"},
        data={"tls.key": "-----BEGIN PRIVATE KEY-----\n"},
        opts=opts,
    )
