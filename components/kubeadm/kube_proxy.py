"""KubeProxyConfiguration of Linux nodes; the one of Windows nodes is that of their DaemonSet. Pure.

Source: https://kubernetes.io/docs/reference/config-api/kube-proxy-config.v1alpha1/.
"""

from .config import ClusterConfig
from .rendering import Document

KUBE_PROXY_API = "kubeproxy.config.k8s.io/v1alpha1"
METRICS = "127.0.0.1:10249"


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
