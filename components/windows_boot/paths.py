"""Where things lie on a Windows node. Pure; scripts read these paths from the node's document."""

from ..objects.flannel_config import WINDOWS_CNI_DIRECTORY, WINDOWS_CONFLIST_DIRECTORY

BINARIES = r"C:\k"
"""Kubernetes' binaries; flanneld and kube-proxy are started from here by their DaemonSets."""
CNI_BINARIES = WINDOWS_CNI_DIRECTORY
CNI_CONFIGURATION = WINDOWS_CONFLIST_DIRECTORY
KUBERNETES = r"C:\etc\kubernetes"
CERTIFICATE_AUTHORITY = rf"{KUBERNETES}\pki\ca.crt"
BOOTSTRAP_KUBECONFIG = rf"{KUBERNETES}\bootstrap-kubelet.conf"
KUBECONFIG = rf"{KUBERNETES}\kubelet.conf"
STATIC_PODS = rf"{KUBERNETES}\manifests"
KUBELET = r"C:\var\lib\kubelet"
KUBELET_CONFIGURATION = rf"{KUBELET}\config.json"
KUBELET_CERTIFICATES = rf"{KUBELET}\pki"
CREDENTIAL_PROVIDERS = r"C:\k\credential-providers"
CREDENTIAL_PROVIDER_CONFIGURATION = rf"{KUBELET}\credential-provider.json"
KUBELET_LOG = r"C:\var\log\kubelet\kubelet.log"
CONTAINERD = r"C:\Program Files\containerd"
CONTAINERD_CONFIGURATION = rf"{CONTAINERD}\config.toml"
CONTAINERD_HOSTS = rf"{CONTAINERD}\certs.d"
CONTAINERD_DATA = r"C:\ProgramData\containerd"
CONTAINERD_LOG = r"C:\var\log\containerd\containerd.log"
CONTAINERD_PIPE = "npipe:////./pipe/containerd-containerd"
CRICTL_CONFIGURATION = rf"{BINARIES}\crictl.yaml"
STATE = r"C:\ProgramData\winkube"
"""What the boot code keeps: marks of finished steps, logs, unpacked bundles."""
LOGS = r"C:\var\log"

OWN_DIRECTORIES = (
    BINARIES,
    CREDENTIAL_PROVIDERS,
    CNI_BINARIES,
    CNI_CONFIGURATION,
    STATIC_PODS,
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
