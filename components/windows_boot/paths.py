"""Where things lie on a Windows node. Pure; scripts read these paths from the node's document."""

from ..kubeadm import paths as kubeadm
from ..pod_network.flannel_config import WINDOWS_CNI_DIRECTORY, WINDOWS_CONFLIST_DIRECTORY
from ..tables.artefacts import WINDOWS_BIN, WINDOWS_CONTAINERD

BINARIES = WINDOWS_BIN
"""Kubernetes' binaries; flanneld and kube-proxy are started from here by their DaemonSets."""
CNI_BINARIES = WINDOWS_CNI_DIRECTORY
CNI_CONFIGURATION = WINDOWS_CONFLIST_DIRECTORY
KUBERNETES = r"C:\etc\kubernetes"
CERTIFICATE_AUTHORITY = kubeadm.WINDOWS_CLUSTER_CA
BOOTSTRAP_KUBECONFIG = kubeadm.WINDOWS_BOOTSTRAP_KUBECONFIG
KUBECONFIG = kubeadm.WINDOWS_KUBECONFIG
KUBELET = kubeadm.WINDOWS_KUBELET
KUBELET_CONFIGURATION = kubeadm.WINDOWS_KUBELET_CONFIG
CREDENTIAL_PROVIDERS = kubeadm.WINDOWS_CREDENTIAL_PROVIDERS
CREDENTIAL_PROVIDER_CONFIGURATION = kubeadm.WINDOWS_CREDENTIAL_PROVIDER_CONFIG
KUBELET_LOG = r"C:\var\log\kubelet\kubelet.log"
CONTAINERD = WINDOWS_CONTAINERD
CONTAINERD_CONFIGURATION = rf"{CONTAINERD}\config.toml"
CONTAINERD_HOSTS = rf"{CONTAINERD}\certs.d"
CONTAINERD_DATA = r"C:\ProgramData\containerd"
CONTAINERD_LOG = r"C:\var\log\containerd\containerd.log"
CONTAINERD_PIPE = kubeadm.WINDOWS_SOCKET
CRICTL_CONFIGURATION = rf"{BINARIES}\crictl.yaml"
STATE = r"C:\ProgramData\winkube"
"""What the boot code keeps: marks of finished steps, logs, unpacked bundles."""

OWN_DIRECTORIES = (
    BINARIES,
    CREDENTIAL_PROVIDERS,
    CNI_BINARIES,
    CNI_CONFIGURATION,
    rf"{KUBERNETES}\pki",
    KUBELET,
    r"C:\var\log\kubelet",
    r"C:\var\log\containerd",
    CONTAINERD,
    CONTAINERD_HOSTS,
)
"""Made before anything is put into them."""
PROTECTED_DIRECTORIES = (KUBERNETES, KUBELET, STATE)
"""For the system and administrators alone: Windows writes Secrets of pods to the disk in clear text."""
