"""kube-proxy on Windows nodes as plain manifests. Pure.

kubeadm's own DaemonSet runs on Linux nodes only. On Windows it is the program on the node's disk, started in a
HostProcess pod, in mode ``kernelspace``; one address of the node's pods is kept for it under a fixed name, so that a
restart keeps its rules valid. Sources: kubernetes ``pkg/proxy/winkernel``, ``pkg/proxy/apis/config``; KEP-5100;
rancher/rke2 ``pkg/windows/flannel.go``.
"""

from typing import Any, Protocol

from ..kubernetes import manifests
from ..kubernetes.manifests import Manifest
from .flannel_config import NODE_IP, network_name, rendered, source_vip_request
from .powershell import script

NAMESPACE = "kube-proxy-windows"
"""Of its own: pods with the rights of the node are not let into ``kube-system`` for its sake."""
APP = "kube-proxy-windows"
CONFIGURATION = "kube-proxy-windows"
NODE_NAME = "${NODE_NAME}"
SOURCE_VIP = "${SOURCE_VIP}"
HEALTH_PORT = 10256
BUILT_IN_ROLE = "system:node-proxier"
"""Kubernetes' own role of kube-proxy; it follows what each version reads."""


class KubeProxySettings(Protocol):
    """What the manifests are made from."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def vni(self) -> int: ...  # noqa: D102
    @property
    def direct_server_return(self) -> bool: ...  # noqa: D102
    @property
    def host_process_image(self) -> str: ...  # noqa: D102


def kube_proxy_configuration(settings: KubeProxySettings) -> dict[str, Any]:
    """``KubeProxyConfiguration`` of a Windows node; what differs from node to node is a placeholder."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "kernelspace",
        "hostnameOverride": NODE_NAME,
        "bindAddress": NODE_IP,
        "clusterCIDR": settings.pod_cidr,
        "healthzBindAddress": f"0.0.0.0:{HEALTH_PORT}",
        "metricsBindAddress": "127.0.0.1:10249",
        # Empty: the token of the pod, read anew when it changes, and the API server of the environment.
        "clientConnection": {"kubeconfig": ""},
        "winkernel": {
            "networkName": network_name(settings.vni),
            "sourceVip": SOURCE_VIP,
            "enableDSR": settings.direct_server_return,
        },
    }


def kube_proxy_manifests(settings: KubeProxySettings) -> dict[str, Manifest]:
    """Every object of kube-proxy on Windows by part."""
    configuration = manifests.config_map(
        CONFIGURATION,
        NAMESPACE,
        {
            "kube-proxy.json": rendered(kube_proxy_configuration(settings)),
            "source-vip.json": rendered(source_vip_request(vni=settings.vni)),
            "kube_proxy.ps1": script("kube_proxy.ps1"),
        },
    )
    return {
        "namespace": manifests.namespace(NAMESPACE, host_process=True),
        "account": manifests.service_account(APP, NAMESPACE),
        "binding": manifests.binding(APP, APP, NAMESPACE, role_name=BUILT_IN_ROLE),
        "configuration": configuration,
        "windows": windows_daemon_set(settings, manifests.digest_of(*configuration["data"].values())),
    }


def windows_daemon_set(settings: KubeProxySettings, digest: str) -> Manifest:
    """The manifest of kube-proxy on Windows nodes, of every build."""
    pod = {
        "serviceAccountName": APP,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "os": {"name": "windows"},
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": "system-node-critical",
        "nodeSelector": dict(manifests.WINDOWS_ONLY),
        "tolerations": [dict(it) for it in manifests.TOLERATE_ALL],
        "terminationGracePeriodSeconds": 10,
        "securityContext": manifests.host_process(),
        "containers": [
            {
                "name": "kube-proxy",
                "image": settings.host_process_image,
                "command": manifests.powershell(r"C:\etc\kube-proxy\kube_proxy.ps1"),
                "env": [
                    manifests.field_of_pod("NODE_NAME", "spec.nodeName"),
                    manifests.field_of_pod("NODE_IP", "status.hostIP"),
                    manifests.value("NETWORK_NAME", network_name(settings.vni)),
                    *manifests.api_server(settings.endpoint),
                ],
                "resources": manifests.memory("500Mi"),
                # It waits for the pod network first, for up to five minutes.
                "livenessProbe": {
                    "httpGet": {"path": "/livez", "port": HEALTH_PORT, "host": "127.0.0.1"},
                    "initialDelaySeconds": 360,
                    "periodSeconds": 30,
                },
                "volumeMounts": [
                    {"name": "configuration", "mountPath": "/etc/kube-proxy", "readOnly": True},
                    manifests.token_mount(),
                ],
            }
        ],
        "volumes": [manifests.config_volume("configuration", CONFIGURATION), manifests.token_volume()],
    }
    return manifests.daemon_set("kube-proxy-windows", NAMESPACE, pod, app=APP, digest=digest)
