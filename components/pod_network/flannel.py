"""The pod network of a self-managed cluster: flannel by VXLAN on Linux and Windows nodes.

- the namespace ``kube-flannel``, where pods may act as the node;
- a service account that may read nodes and write its lease on them, nothing else;
- one configuration for all nodes, and a DaemonSet for each operating system.

Calico is the alternative, by its own operator; see ``docs/pod-network.md``.
"""

from dataclasses import dataclass

import pulumi

from ..core.mistakes import Mistakes
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import HOST_PROCESS_IMAGE, check_endpoint, check_image
from .flannel_config import OUTER_MTU, POD_NETWORK_NAME, VXLAN_PORT, VXLAN_VNI, check_pod_network, network_name
from .flannel_manifests import CNI_IMAGE, FLANNEL_IMAGE, NAMESPACE, flannel_manifests


@dataclass(frozen=True, kw_only=True)
class FlannelArgs:
    """The pod network of a cluster."""

    endpoint: str
    """The API server as ``host:port``, such as ``api.prod.example.com:6443``: flannel starts before Services work."""
    pod_cidr: str = "10.244.0.0/16"
    """The pod CIDR; each node gets a /24 of it."""
    service_cidr: str = "10.96.0.0/12"
    """The service CIDR."""
    pod_network: str = POD_NETWORK_NAME
    """``flannel-vxlan``, the only pod network that Linux and Windows nodes on EC2 can share."""
    vni: int = VXLAN_VNI
    """VNI of the VXLAN; Windows supports 4096 (default) and above."""
    port: int = VXLAN_PORT
    """UDP port of the VXLAN; Windows supports only 4789."""
    mtu: int = OUTER_MTU
    """MTU of the nodes' network interfaces in bytes; 1500 (default) on Windows, while Linux on EC2 starts with 9001."""
    windows: bool = True
    """Whether the cluster has Windows nodes, now or later."""
    image: str = FLANNEL_IMAGE
    """Image of flanneld for Linux."""
    cni_image: str = CNI_IMAGE
    """Image of flannel's CNI plug-in for Linux."""
    host_process_image: str = HOST_PROCESS_IMAGE
    """Base image of the Windows pods, which run the binaries that the boot code installs."""


def check_flannel(args: FlannelArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-022`` to ``WK-K8S-029``)."""
    found = Mistakes()
    found.take(check_endpoint(args.endpoint))
    found.take(check_pod_network(args))
    for field in ("image", "cni_image", "host_process_image"):
        found.take(check_image(getattr(args, field), (field,)))
    return found


class Flannel(KubernetesComponent):
    """The pod network of Linux and Windows nodes.

    :raises WinkubeError: ``WK-K8S-022`` to ``WK-K8S-029``.
    """

    network_name: str
    """Name of the network on Windows nodes, for :class:`WindowsKubeProxy`."""

    def __init__(self, name: str, args: FlannelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_flannel(args))
        self.apply_manifests(name, flannel_manifests(args))
        self.network_name = network_name(args.vni)
        self.register_outputs({"namespace": NAMESPACE, "networkName": self.network_name})
