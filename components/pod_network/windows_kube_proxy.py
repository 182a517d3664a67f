"""kube-proxy on the Windows nodes of a self-managed cluster.

- a namespace where pods may act as the node;
- a service account with Kubernetes' own role of kube-proxy;
- its configuration, and a HostProcess DaemonSet that runs the program on the node's disk.
"""

from dataclasses import dataclass

import pulumi

from ..core.mistakes import Mistakes
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import HOST_PROCESS_IMAGE, check_endpoint, check_image
from .flannel_config import OUTER_MTU, POD_NETWORK_NAME, VXLAN_PORT, VXLAN_VNI, check_pod_network
from .kube_proxy_manifests import NAMESPACE, kube_proxy_manifests


@dataclass(frozen=True, kw_only=True)
class WindowsKubeProxyArgs:
    """The arguments of kube-proxy on Windows nodes, with the same network values as :class:`Flannel`."""

    endpoint: str
    """The API server as ``host:port``: kube-proxy starts before Services work."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR."""
    pod_network: str = POD_NETWORK_NAME
    """As in :class:`FlannelArgs`."""
    vni: int = VXLAN_VNI
    """As in :class:`FlannelArgs`."""
    port: int = VXLAN_PORT
    """As in :class:`FlannelArgs`."""
    mtu: int = OUTER_MTU
    """As in :class:`FlannelArgs`."""
    direct_server_return: bool = True
    """Whether to use direct server return (DSR), which local traffic policies and client IP addresses need."""
    host_process_image: str = HOST_PROCESS_IMAGE
    """Base image of the pods, which run the binaries that the boot code installs."""


def check_windows_kube_proxy(args: WindowsKubeProxyArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-022`` to ``WK-K8S-029``)."""
    found = Mistakes()
    found.take(check_endpoint(args.endpoint))
    found.take(check_pod_network(args))
    found.take(check_image(args.host_process_image, ("host_process_image",)))
    return found


class WindowsKubeProxy(KubernetesComponent):
    """Services on Windows nodes.

    :raises WinkubeError: ``WK-K8S-022`` to ``WK-K8S-029``.
    """

    namespace: str
    """Namespace of its pods."""

    def __init__(self, name: str, args: WindowsKubeProxyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_windows_kube_proxy(args))
        self.apply_manifests(name, kube_proxy_manifests(args))
        self.namespace = NAMESPACE
        self.register_outputs({"namespace": self.namespace})
