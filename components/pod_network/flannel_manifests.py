"""flannel on Linux and Windows nodes as plain manifests. Pure.

The Linux DaemonSet is upstream's with two differences: it finds the API server by name, and it is told the name of its
node, so that it needs no right to read pods. On Windows flanneld is the program on the node's own disk, started in a
HostProcess pod. Sources: flannel 0.28.9 ``Documentation/kube-flannel.yml``, ``pkg/subnet/kube``; the flannel set of
kubernetes-sigs/sig-windows-tools before its removal (729ae7c).
"""

from typing import Any, Protocol

from ..kubernetes import manifests
from ..kubernetes.manifests import Manifest
from .flannel_config import (
    LINUX_CONFLIST,
    PodNetworkSettings,
    linux_cni_conflist,
    net_conf,
    network_name,
    rendered,
    windows_cni_conflist,
)
from .powershell import script

NAMESPACE = "kube-flannel"
APP = "flannel"
FLANNEL_IMAGE = "ghcr.io/flannel-io/flannel:v0.28.9"
CNI_IMAGE = "ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel3"
HEALTH_PORT = 8081
CONFIGURATION = "kube-flannel-cfg"
WINDOWS_CONFIGURATION = "kube-flannel-windows-cfg"
RIGHTS: manifests.Rules = (
    ("", "nodes", "get list watch"),
    ("", "nodes/status", "patch"),
)
"""All that flanneld calls when it is told the name of its node: leases are annotations of nodes."""


class FlannelSettings(PodNetworkSettings, Protocol):
    """What the manifests are made from."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def windows(self) -> bool: ...  # noqa: D102
    @property
    def image(self) -> str: ...  # noqa: D102
    @property
    def cni_image(self) -> str: ...  # noqa: D102
    @property
    def host_process_image(self) -> str: ...  # noqa: D102


def flannel_manifests(settings: FlannelSettings) -> dict[str, Manifest]:
    """Every object of flannel by part; those for Windows only where there are Windows nodes."""
    configuration = linux_configuration(settings)
    objects = {
        "namespace": manifests.namespace(NAMESPACE, host_process=True),
        "account": manifests.service_account(APP, NAMESPACE),
        "role": manifests.role(APP, RIGHTS),
        "binding": manifests.binding(APP, APP, NAMESPACE, role_name=APP),
        "configuration": configuration,
        "linux": linux_daemon_set(settings, manifests.digest_of(*configuration["data"].values())),
    }
    if settings.windows:
        told = windows_configuration(settings)
        objects["windows-configuration"] = told
        objects["windows"] = windows_daemon_set(settings, manifests.digest_of(*told["data"].values()))
    return objects


def linux_configuration(settings: FlannelSettings) -> Manifest:
    """The files of Linux nodes."""
    data = {
        "cni-conf.json": rendered(linux_cni_conflist()),
        "net-conf.json": rendered(_net_conf(settings)),
    }
    return manifests.config_map(CONFIGURATION, NAMESPACE, data, app=APP)


def windows_configuration(settings: FlannelSettings) -> Manifest:
    """The files of Windows nodes: the same network, the CNI configuration for HNS, and our script."""
    data = {
        "cni.conflist": rendered(windows_cni_conflist(settings.pod_cidr, settings.service_cidr, vni=settings.vni)),
        "net-conf.json": rendered(_net_conf(settings)),
        "flannel.ps1": script("flannel.ps1"),
    }
    return manifests.config_map(WINDOWS_CONFIGURATION, NAMESPACE, data, app=APP)


def linux_daemon_set(settings: FlannelSettings, digest: str) -> Manifest:
    """The manifest of flanneld on Linux nodes."""
    configuration = {"name": "configuration", "mountPath": "/etc/kube-flannel"}
    plugins = {"name": "plugins", "mountPath": "/opt/cni/bin"}
    networks = {"name": "networks", "mountPath": "/etc/cni/net.d"}
    install = {"requests": {"cpu": "10m", "memory": "20Mi"}, "limits": {"memory": "100Mi"}}
    pod = {
        **_common(manifests.LINUX_ONLY),
        "initContainers": [
            {
                "name": "install-plugin",
                "image": settings.cni_image,
                "command": ["cp", "-f", "/flannel", "/opt/cni/bin/flannel"],
                "resources": install,
                "volumeMounts": [plugins],
            },
            {
                "name": "install-configuration",
                "image": settings.image,
                "command": ["/opt/bin/install-conf"],
                "args": ["/etc/kube-flannel/cni-conf.json", f"/etc/cni/net.d/{LINUX_CONFLIST}"],
                "resources": install,
                "volumeMounts": [networks, configuration],
            },
        ],
        "containers": [
            {
                "name": "flannel",
                "image": settings.image,
                "command": ["/opt/bin/flanneld"],
                "args": ["--ip-masq", "--kube-subnet-mgr", "--healthz-ip=127.0.0.1", f"--healthz-port={HEALTH_PORT}"],
                "env": _environment(settings),
                "resources": {"requests": {"cpu": "100m", "memory": "50Mi"}, "limits": {"memory": "200Mi"}},
                "securityContext": {"privileged": False, "capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
                **_probes(10),
                "volumeMounts": [
                    {"name": "run", "mountPath": "/run/flannel"},
                    {"name": "lock", "mountPath": "/run/xtables.lock"},
                    configuration,
                    manifests.token_mount(),
                ],
            }
        ],
        "volumes": [
            {"name": "run", "hostPath": {"path": "/run/flannel", "type": "DirectoryOrCreate"}},
            {"name": "plugins", "hostPath": {"path": "/opt/cni/bin", "type": "DirectoryOrCreate"}},
            {"name": "networks", "hostPath": {"path": "/etc/cni/net.d", "type": "DirectoryOrCreate"}},
            {"name": "lock", "hostPath": {"path": "/run/xtables.lock", "type": "FileOrCreate"}},
            manifests.config_volume("configuration", CONFIGURATION),
            manifests.token_volume(),
        ],
    }
    return manifests.daemon_set("flannel-linux", NAMESPACE, pod, app=APP, digest=digest)


def windows_daemon_set(settings: FlannelSettings, digest: str) -> Manifest:
    """The manifest of flanneld on Windows nodes, of every build."""
    network = manifests.value("NETWORK_NAME", network_name(settings.vni))
    pod = {
        **_common(manifests.WINDOWS_ONLY),
        "os": {"name": "windows"},
        "securityContext": manifests.host_process(),
        "containers": [
            {
                "name": "flannel",
                "image": settings.host_process_image,
                "command": manifests.powershell(r"C:\etc\kube-flannel\flannel.ps1"),
                "env": [*_environment(settings), manifests.field_of_pod("NODE_IP", "status.hostIP"), network,
                        manifests.value("HEALTH_PORT", str(HEALTH_PORT))],
                "resources": manifests.memory("300Mi"),
                # PowerShell alone takes seconds to start on a busy node, and the switch takes the network away.
                **_probes(120),
                "volumeMounts": [
                    {"name": "configuration", "mountPath": "/etc/kube-flannel", "readOnly": True},
                    manifests.token_mount(),
                ],
            }
        ],
        "volumes": [manifests.config_volume("configuration", WINDOWS_CONFIGURATION), manifests.token_volume()],
    }  # fmt: skip
    return manifests.daemon_set("flannel-windows", NAMESPACE, pod, app=APP, digest=digest)


def _net_conf(settings: FlannelSettings) -> dict[str, Any]:
    return net_conf(settings.pod_cidr, vni=settings.vni, port=settings.port, mtu=settings.mtu)


def _common(selector: dict[str, str]) -> Manifest:
    return {
        "serviceAccountName": APP,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": "system-node-critical",
        "nodeSelector": dict(selector),
        "tolerations": [dict(it) for it in manifests.TOLERATE_ALL],
        "terminationGracePeriodSeconds": 10,
    }


def _environment(settings: FlannelSettings) -> list[Manifest]:
    return [manifests.field_of_pod("NODE_NAME", "spec.nodeName"), *manifests.api_server(settings.endpoint)]


def _probes(first_seconds: int) -> Manifest:
    # On the node's own address, where nobody else sees it; the kubelet asks from the same node.
    def probe(path: str, delay: int, period: int) -> Manifest:
        return {"httpGet": {"path": path, "port": HEALTH_PORT, "host": "127.0.0.1"},
                "initialDelaySeconds": delay, "periodSeconds": period}  # fmt: skip

    return {"livenessProbe": probe("/healthz", first_seconds, 30), "readinessProbe": probe("/readyz", 5, 10)}
