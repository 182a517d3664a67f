"""Parts that the manifests of this room share, as plain data. Pure."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ..core.mistakes import Mistakes, Rule
from ..core.mistakes import Path as Way

Manifest = dict[str, Any]
Rules = Sequence[tuple[str, str, str]]
"""Rows of a role: API group, resources (with names after a colon), verbs; each a text with spaces between."""

ENDPOINT = Rule(
    "WK-K8S-028",
    "The API server is written as host:port, without a scheme.",
    "https://kubernetes.io/docs/reference/networking/ports-and-protocols/",
)
IMAGE_PINNED = Rule(
    "WK-K8S-029",
    "Images must be pinned to a version or a digest.",
    "https://kubernetes.io/docs/concepts/containers/images/#image-names",
)

PART_OF = "app.kubernetes.io/part-of"
OS_LABEL = "kubernetes.io/os"
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
TOKEN_SECONDS = 3600
"""Life of the tokens of our pods. Not 3607: tokens of exactly that age are the ones that the API server stretches to
a year."""
TOKEN_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path
HOST_PROCESS_IMAGE = "mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image:v1.0.0"
"""A few kilobytes, for every Windows build: HostProcess pods run what lies on the node."""
POWERSHELL = r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe"
WINDOWS_ONLY = {OS_LABEL: "windows"}
LINUX_ONLY = {OS_LABEL: "linux"}
TOLERATE_ALL: tuple[Mapping[str, str], ...] = ({"operator": "Exists"},)

NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""The name of a namespace."""
_ENDPOINT = re.compile(r"(?P<host>[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):(?P<port>\d{1,5})")


def labels(name: str) -> dict[str, str]:
    """The labels of everything that belongs to one program."""
    return {"app.kubernetes.io/name": name, PART_OF: "winkube"}


def metadata(name: str, namespace: str | None = None, *, app: str | None = None) -> Manifest:
    """The metadata of an object."""
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "labels": labels(app or name)}


def namespace(name: str, *, host_process: bool = False, more: Mapping[str, str] | None = None) -> Manifest:
    """A namespace; Pod Security allows pods of the node's own rights in it only where ``host_process`` says so."""
    level = "privileged" if host_process else "baseline"
    marks = {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "audit", "warn")}
    return {"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {**labels(name), **marks, **(more or {})}}}  # fmt: skip


def service_account(name: str, namespace: str) -> Manifest:
    """A service account whose token nobody gets who does not ask for one."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(name, namespace),
        "automountServiceAccountToken": False,
    }


def config_map(name: str, namespace: str, data: Mapping[str, Any], *, app: str | None = None) -> Manifest:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name, namespace, app=app),
            "data": dict(data)}  # fmt: skip


def role(name: str, rows: Rules, namespace: str | None = None, *, app: str | None = None) -> Manifest:
    """A ClusterRole, or a Role where a namespace is named.

    >>> role("r", [("", "nodes/status", "patch"), ("coordination.k8s.io", "leases:me", "get update")])["rules"][1]
    {'apiGroups': ['coordination.k8s.io'], 'resources': ['leases'], 'verbs': ['get', 'update'], 'resourceNames': ['me']}
    """
    rules: list[Manifest] = []
    for group, resources, verbs in rows:
        what, _, names = resources.partition(":")
        rule: Manifest = {"apiGroups": [group], "resources": what.split(), "verbs": verbs.split()}
        rules.append({**rule, "resourceNames": names.split()} if names else rule)
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata(name, namespace, app=app),
        "rules": rules,
    }


def binding(
    name: str, account: str, account_namespace: str, *, role_name: str, role_kind: str = "ClusterRole",
    namespace: str | None = None, app: str | None = None,
) -> Manifest:  # fmt: skip
    """A ClusterRoleBinding, or a RoleBinding where a namespace is named."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": metadata(name, namespace, app=app or account),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role_name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": account_namespace}],
    }


def token_volume() -> Manifest:
    """A token that the kubelet renews before the hour is over, with what in-cluster clients look for beside it."""
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace",
                                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]  # fmt: skip
    return {"name": "token", "projected": {"sources": sources}}


def token_mount() -> Manifest:
    """Where in-cluster clients look for the token; on Windows below the drive of the container."""
    return {"name": "token", "mountPath": TOKEN_DIRECTORY, "readOnly": True}


def config_volume(name: str, config: str) -> Manifest:
    """A ConfigMap as a directory."""
    return {"name": name, "configMap": {"name": config}}


def field_of_pod(name: str, path: str) -> Manifest:
    """An environment variable with a fact about the pod or its node."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def value(name: str, text: Any) -> Manifest:
    """An environment variable."""
    return {"name": name, "value": text}


def api_server(endpoint: str) -> list[Manifest]:
    """The environment by which in-cluster clients find the API server by its own name.

    The Service ``kubernetes`` works only once kube-proxy does, and these are what kube-proxy waits for.
    """
    host, _, port = endpoint.rpartition(":")
    return [value("KUBERNETES_SERVICE_HOST", host), value("KUBERNETES_SERVICE_PORT", port)]


def host_process() -> Manifest:
    """The security context of pods that act as the Windows node itself."""
    return {"windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"}}


def powershell(script: str) -> list[str]:
    """The command that runs a script of ours with Windows' own PowerShell 5.1."""
    return [POWERSHELL, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script]


def memory(amount: str, cpu: str = "100m", limit: str | None = None) -> Manifest:
    """Resources: on Windows the limit has to be the request."""
    return {"requests": {"cpu": cpu, "memory": amount}, "limits": {"memory": limit or amount}}


def daemon_set(name: str, namespace: str, pod: Mapping[str, Any], *, app: str, digest: str) -> Manifest:
    """A DaemonSet that is replaced a tenth of the nodes at a time, also when its configuration changes."""
    marks = labels(app) | {"app.kubernetes.io/component": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": marks},
        "spec": {
            "selector": {"matchLabels": {"app.kubernetes.io/component": name}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {
                "metadata": {"labels": marks, "annotations": {"checksum/configuration": digest}},
                "spec": dict(pod),
            },
        },
    }


def digest_of(*texts: str) -> str:
    """SHA-256 over some texts: a changed configuration is a changed pod, so it is rolled out."""
    return sha256("\0".join(texts).encode()).hexdigest()


def check_endpoint(endpoint: str, path: Way = ("endpoint",)) -> Mistakes:
    """Whether the API server is named as ``host:port`` (``WK-K8S-028``)."""
    found = Mistakes()
    said = _ENDPOINT.fullmatch(endpoint)
    if said is None or not 1 <= int(said["port"]) <= 65535:
        bare = re.sub(r"^[a-z]+://", "", endpoint).rstrip("/")
        found.add(ENDPOINT, path, "the API server is written as host:port, without a scheme",
                  f'write "{bare if _ENDPOINT.fullmatch(bare) else "api.prod.example.com:6443"}"',
                  endpoint)  # fmt: skip
    return found


def check_image(image: str, path: Way = ("image",)) -> Mistakes:
    """Whether an image is pinned (``WK-K8S-029``)."""
    found = Mistakes()
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    if not digest and tag in ("", "latest"):
        found.add(IMAGE_PINNED, path, "the image is not pinned, so nodes may run different versions",
                  "write a tag with a version, or a digest", image)  # fmt: skip
    return found
