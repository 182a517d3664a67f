"""What the kubelet of a Windows node is told, as the texts that the boot code writes out. Pure."""

from typing import Any

from ..kubeadm.config import NodeConfig
from ..kubeadm.kubeconfig import discovery_kubeconfig
from ..kubeadm.kubelet import credential_provider_config, windows_kubelet_arguments, windows_kubelet_configuration
from ..kubeadm.rendering import render
from ..pod_network.flannel_config import rendered
from . import paths
from .node import WindowsNode

LOG_SIZE = "50Mi"
LOG_AGE = "168h"

RUNNER_ARGUMENTS = (f"-log-file={paths.KUBELET_LOG}", f"-log-file-size={LOG_SIZE}", f"-log-file-age={LOG_AGE}",
                    "-flush-interval=5s")  # fmt: skip
"""``kube-log-runner.exe`` keeps what the kubelet prints, and turns it over: a service has no console."""


def kubelet_arguments(node: WindowsNode) -> list[str]:
    """The arguments of ``kubelet.exe``, sorted."""
    return [f"--{flag}={value}" for flag, value in windows_kubelet_arguments(_node_config(node)).items()]


def kubelet_configuration(node: WindowsNode) -> dict[str, Any]:
    """The complete KubeletConfiguration; its taints are those with which the node registers."""
    return dict(windows_kubelet_configuration(node, node.kubelet, node.taints, feature_gates=node.feature_gates))


def kubelet_files(node: WindowsNode) -> dict[str, str]:
    """Path to text of what the kubelet reads, but for the bootstrap kubeconfig, which holds a secret for a while."""
    files = {
        paths.CERTIFICATE_AUTHORITY: node.certificate_authority,
        paths.KUBELET_CONFIGURATION: rendered(kubelet_configuration(node)),
    }
    if node.ecr_credentials:
        files[paths.CREDENTIAL_PROVIDER_CONFIGURATION] = rendered(credential_provider_config())
    return files


def bootstrap_kubeconfig(node: WindowsNode) -> str:
    """The kubeconfig with which a kubelet asks for its certificate; the token is put in on the node."""
    return render(discovery_kubeconfig(node.cluster_name, node.endpoint, node.certificate_authority))


def _node_config(node: WindowsNode) -> NodeConfig:
    return NodeConfig(
        labels=node.labels,
        taints=node.taints,
        kubelet=node.kubelet,
        cloud_provider=node.cloud_provider,
        ecr_credentials=node.ecr_credentials,
    )
