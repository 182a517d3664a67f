"""The API server's flags and the files that they name: authentication, audit, encryption, admission. Pure.

Sources: https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/ and ``…-audit.v1``; the policy's shape is
that of kubespray and GCE; https://kubernetes.io/docs/tutorials/security/cluster-level-pss/; CIS Kubernetes Benchmark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import paths
from .config import HOST_PROCESS_NAMESPACES, ClusterConfig, KmsPlugin, PodSecurity
from .kubelet import TLS_CIPHERS, TLS_MINIMUM
from .rendering import Document

APISERVER_API = "apiserver.config.k8s.io/v1"
HEALTH_PATHS = ("/livez", "/readyz", "/healthz")
"""What anybody may read: the load balancer's health check has no credentials."""
KMS_NAME = "aws-kms"

OWN_PLUGINS = ("NodeRestriction",)


def api_server_arguments(cluster: ClusterConfig) -> dict[str, str]:
    """Flags of kube-apiserver that kubeadm does not set itself, or sets otherwise."""
    plugins = [*OWN_PLUGINS, "DenyServiceExternalIPs"]
    if cluster.event_rate_limit:
        plugins.append("EventRateLimit")
    if cluster.always_pull_images:
        plugins.append("AlwaysPullImages")
    flags = {
        "admission-control-config-file": paths.ADMISSION,
        "enable-admission-plugins": ",".join(plugins),
        "profiling": "false",
        "service-account-extend-token-expiration": "false",
        "tls-cipher-suites": ",".join(TLS_CIPHERS),
        "tls-min-version": TLS_MINIMUM,
        **feature_gates(cluster),
    }
    if cluster.anonymous_access == "health":
        flags["authentication-config"] = paths.AUTHENTICATION
    elif cluster.anonymous_access == "none":
        flags["anonymous-auth"] = "false"
    if cluster.audit is not None:
        flags |= {
            "audit-policy-file": paths.AUDIT_POLICY,
            "audit-log-path": paths.AUDIT_LOG,
            # Written out: since 1.36 the defaults are 366 days and 100 files, which fill a small disk.
            "audit-log-maxage": str(cluster.audit.max_age_days),
            "audit-log-maxbackup": str(cluster.audit.max_backups),
            "audit-log-maxsize": str(cluster.audit.max_size_mib),
        }
    if cluster.secrets_encryption != "none":
        flags["encryption-provider-config"] = paths.ENCRYPTION
    if cluster.kubelet_serving_certificates:
        flags["kubelet-certificate-authority"] = paths.CLUSTER_CA
    if cluster.service_account_issuer is not None:
        flags |= {
            "service-account-issuer": cluster.service_account_issuer.issuer,
            "service-account-jwks-uri": cluster.service_account_issuer.jwks_uri,
            # The API takes tokens for itself alone: one that was made for AWS must not open it.
            "api-audiences": f"https://kubernetes.default.svc.{cluster.cluster_domain}",
        }
    return flags


def volumes(cluster: ClusterConfig) -> dict[str, Any]:
    """What the API server's pod needs of the host, beside what kubeadm mounts."""
    mounts = [_volume("winkube", paths.API_SERVER_FILES, read_only=True, kind="Directory")]
    if cluster.audit is not None:
        mounts.append(_volume("audit-logs", paths.AUDIT_LOGS, read_only=False, kind="DirectoryOrCreate"))
    if cluster.secrets_encryption == "kms":
        mounts.append(_volume("kms", paths.KMS_SOCKETS, read_only=False, kind="DirectoryOrCreate"))
    return {"extraVolumes": mounts}


def feature_gates(cluster: ClusterConfig) -> dict[str, str]:
    """The flag for the cluster's feature gates, if there are any."""
    text = ",".join(f"{gate}={str(on).lower()}" for gate, on in sorted(cluster.feature_gates.items()))
    return {"feature-gates": text} if text else {}


def api_server_files(cluster: ClusterConfig) -> dict[str, Document]:
    """The files on every control plane that hold no secret: path to document."""
    files: dict[str, Document] = {paths.ADMISSION: admission_configuration(cluster)}
    if cluster.anonymous_access == "health":
        files[paths.AUTHENTICATION] = authentication_configuration()
    if cluster.audit is not None:
        files[paths.AUDIT_POLICY] = audit_policy()
    if cluster.secrets_encryption == "kms":
        assert cluster.kms is not None  # noqa: S101 (check_cluster_config refuses the other case)
        files[paths.ENCRYPTION] = encryption_configuration(cluster)
        files[paths.KMS_MANIFEST] = kms_manifest(cluster.kms)
    return dict(sorted(files.items()))


def authentication_configuration() -> Document:
    """Anonymous requests are answered on the health paths and nowhere else."""
    return {
        "apiVersion": APISERVER_API,
        "kind": "AuthenticationConfiguration",
        "anonymous": {"enabled": True, "conditions": [{"path": path} for path in HEALTH_PATHS]},
    }


@dataclass(frozen=True, kw_only=True)
class EncryptionKey:
    """A key of ``secretbox``."""

    name: str
    """Stands in front of every value in etcd; a new key has a new name."""
    secret: str = field(repr=False)
    """32 random bytes, base64."""


def encryption_configuration(cluster: ClusterConfig, keys: Sequence[EncryptionKey] = ()) -> Document:
    """How the API server writes to etcd; with ``secretbox`` the document is a secret.

    The first key encrypts, the others still decrypt: a rotation puts the new one in front. ``identity`` comes last, so
    that what was written before can be read.
    """
    if cluster.secrets_encryption == "secretbox":
        provider: dict[str, Any] = {"secretbox": {"keys": [{"name": key.name, "secret": key.secret} for key in keys]}}
    else:
        provider = {
            "kms": {"apiVersion": "v2", "name": KMS_NAME, "endpoint": f"unix://{paths.KMS_SOCKET}", "timeout": "3s"}
        }
    return {
        "apiVersion": APISERVER_API,
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": list(cluster.encrypted_resources), "providers": [provider, {"identity": {}}]}],
    }


def kms_manifest(plugin: KmsPlugin) -> Document:
    """The static pod of the KMS v2 plug-in; it stands on every control plane before the API server starts."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "kms-plugin", "namespace": "kube-system", "labels": {"component": "kms-plugin"}},
        "spec": {
            "hostNetwork": True,
            "priorityClassName": "system-node-critical",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "kms-plugin",
                    "image": plugin.image,
                    "args": [
                        f"--key={plugin.key_arn}",
                        f"--region={plugin.region}",
                        f"--listen={paths.KMS_SOCKET}",
                        "--health-port=127.0.0.1:8083",
                    ],
                    "livenessProbe": {
                        "httpGet": {"host": "127.0.0.1", "path": "/healthz", "port": 8083},
                        "initialDelaySeconds": 15,
                        "periodSeconds": 30,
                    },
                    "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
                    "volumeMounts": [{"name": "kms", "mountPath": paths.KMS_SOCKETS}],
                }
            ],
            "volumes": [{"name": "kms", "hostPath": {"path": paths.KMS_SOCKETS, "type": "DirectoryOrCreate"}}],
        },
    }


def admission_configuration(cluster: ClusterConfig) -> Document:
    """The configuration of the admission plug-ins that need one."""
    plugins: list[dict[str, Any]] = []
    if cluster.event_rate_limit:
        plugins.append({"name": "EventRateLimit", "configuration": event_rate_limit()})
    plugins.append({"name": "PodSecurity", "configuration": pod_security_configuration(cluster.pod_security)})
    return {"apiVersion": APISERVER_API, "kind": "AdmissionConfiguration", "plugins": plugins}


def event_rate_limit() -> Document:
    """How many events the API server takes, as kubespray's hardening guide has it for each namespace and user."""
    return {
        "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "limits": [
            {"type": "Namespace", "qps": 50, "burst": 100, "cacheSize": 2000},
            {"type": "User", "qps": 10, "burst": 50, "cacheSize": 2000},
        ],
    }


def pod_security_configuration(settings: PodSecurity) -> Document:
    """The standard of namespaces without labels; ``kube-system`` and HostProcess pods are left alone."""
    levels = {"enforce": settings.enforce, "audit": settings.audit, "warn": settings.warn}
    defaults = {
        key: text for mode, level in levels.items() for key, text in ((mode, level), (f"{mode}-version", "latest"))
    }
    exempt = dict.fromkeys(["kube-system", *HOST_PROCESS_NAMESPACES, *settings.exempt_namespaces])
    return {
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": defaults,
        "exemptions": {"usernames": [], "runtimeClasses": [], "namespaces": list(exempt)},
    }


_READS = ("get", "list", "watch")
_KNOWN_GROUPS = (
    "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps",
    "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
    "coordination.k8s.io", "discovery.k8s.io", "metrics.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
    "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
)  # fmt: skip


def audit_policy() -> Document:
    """What the audit log holds: nothing of the noise, no content of what is secret, everything that changes something.

    The rules are tried from above; the first that fits decides.
    """
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            _silent(users=["system:kube-proxy"], verbs=["watch"],
                    resources=[_group("", "endpoints", "services", "services/status"),
                               _group("discovery.k8s.io", "endpointslices")]),
            _silent(userGroups=["system:nodes"], verbs=["get"], resources=[_group("", "nodes", "nodes/status")]),
            _silent(users=["system:kube-controller-manager", "system:kube-scheduler",
                           "system:serviceaccount:kube-system:endpoint-controller"],
                    verbs=["get", "update"], namespaces=["kube-system"], resources=[_group("", "endpoints")]),
            _silent(users=["system:apiserver"], verbs=["get"],
                    resources=[_group("", "namespaces", "namespaces/status", "namespaces/finalize")]),
            _silent(users=["system:kube-controller-manager"], verbs=["get", "list"],
                    resources=[_group("metrics.k8s.io")]),
            _silent(verbs=["get", "update", "patch"], userGroups=["system:nodes", "system:serviceaccounts:kube-system"],
                    resources=[_group("coordination.k8s.io", "leases")]),
            _silent(nonResourceURLs=["/healthz*", "/livez*", "/readyz*", "/version", "/swagger*", "/openapi*"]),
            _silent(resources=[_group("", "events"), _group("events.k8s.io", "events")]),
            # Status of nodes and pods is written all the time; the log says that, not what.
            _rule("Request", userGroups=["system:nodes"], verbs=["update", "patch"],
                  resources=[_group("", "nodes/status", "pods/status")]),
            # What is secret is never written out, neither question nor answer.
            _rule("Metadata", resources=[_group("", "secrets", "configmaps", "serviceaccounts/token"),
                                         _group("authentication.k8s.io", "tokenreviews"),
                                         _group("certificates.k8s.io", "certificatesigningrequests")]),
            _rule("Request", verbs=list(_READS), resources=[_group(name) for name in _KNOWN_GROUPS]),
            _rule("RequestResponse", resources=[_group(name) for name in _KNOWN_GROUPS]),
            _rule("Metadata"),
        ],
    }  # fmt: skip


def _group(group: str, *resources: str) -> dict[str, Any]:
    return {"group": group, **({"resources": list(resources)} if resources else {})}


def _rule(level: str, **fields: Any) -> dict[str, Any]:
    return {"level": level, **fields}


def _silent(**fields: Any) -> dict[str, Any]:
    return _rule("None", **fields)


def _volume(name: str, path: str, *, read_only: bool, kind: str) -> Mapping[str, Any]:
    return {"name": name, "hostPath": path, "mountPath": path, "readOnly": read_only, "pathType": kind}
