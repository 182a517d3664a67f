"""KubeProxyConfiguration of Linux and Windows nodes. Pure.

Source: https://kubernetes.io/docs/reference/config-api/kube-proxy-config.v1alpha1/.
"""

from ..tables.kubernetes import at_least
from . import paths
from .config import ClusterConfig, JoinableCluster
from .rendering import Document

KUBE_PROXY_API = "kubeproxy.config.k8s.io/v1alpha1"
METRICS = "127.0.0.1:10249"
WINDOWS_NETWORK = "flannel.4096"
"""The HNS network that flannel makes with the one VNI that Windows can use."""


def linux_kube_proxy_configuration(cluster: ClusterConfig) -> Document:
    """The configuration that ``kubeadm init`` gives its DaemonSet."""
    return {
        "apiVersion": KUBE_PROXY_API,
        "kind": "KubeProxyConfiguration",
        # Written out: 1.37 warns without it, and upstream has announced another default.
        "mode": cluster.kube_proxy_mode,
        "clusterCIDR": cluster.pod_cidr,
        "metricsBindAddress": METRICS,
    }


def windows_kube_proxy_configuration(
    cluster: JoinableCluster,
    *,
    kubeconfig: str,
    source_vip: str,
    hostname: str = paths.INSTANCE_ID,
    network_name: str = WINDOWS_NETWORK,
) -> Document:
    """The configuration of ``kube-proxy.exe``; the source VIP is an address of the node's own part of the pod network.

    Gates for overlay and DSR are not written: both are locked since 1.34, and an unknown gate stops the program.
    """
    if not at_least(cluster.kubernetes_version, "1.34"):
        raise ValueError(f"kube-proxy of Kubernetes {cluster.kubernetes_version} needs gates for overlay and DSR")
    return {
        "apiVersion": KUBE_PROXY_API,
        "kind": "KubeProxyConfiguration",
        "mode": "kernelspace",
        "clusterCIDR": cluster.pod_cidr,
        "hostnameOverride": hostname,
        "clientConnection": {"kubeconfig": kubeconfig},
        "metricsBindAddress": METRICS,
        "winkernel": {"networkName": network_name, "sourceVip": source_vip, "enableDSR": True},
    }
