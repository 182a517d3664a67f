"""The node document of a Windows group: everything that differs between groups, as one JSON object.

Rendered at deployment by pure functions, read on the node by the scripts of the bundle. Its keys are written here and
nowhere else; the tests hold them against what the scripts read. It has no secret in it: the join token comes from the
Parameter Store when a node needs it. What only a node knows stays a placeholder (:data:`PLACEHOLDERS`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..eks.proxy import DIRECT, Proxy
from ..scheduling.labels import TaintLike
from ..objects.flannel_config import WINDOWS_CONFLIST, rendered, windows_cni_conflist
from ..tables.releases import release
from . import host, paths
from .containerd import containerd_configuration, hosts_files, pause_image
from .kubelet import bootstrap_kubeconfig, credential_providers, kubelet_arguments, kubelet_configuration

PLACEHOLDERS = ("${INSTANCE_ID}", "${ZONE}", "${PRIVATE_IP}", "${PROVIDER_ID}", "${JOIN_TOKEN}")
"""Filled in on the node, in the texts of files and in the arguments of the kubelet; nothing else is."""


@dataclass(frozen=True, kw_only=True)
class WindowsNode:
    """What the nodes of one group are told. Plain: ids and certificates are resolved before."""

    cluster_name: str
    kubernetes_version: str
    """The Kubernetes minor, such as ``1.36``; the patch is that of the table."""
    endpoint: str
    """The API as ``host:port``."""
    certificate_authority: str
    """PEM."""
    region: str
    bucket: str
    token_parameter: str
    """Name of the SSM parameter with the bare bootstrap token."""
    group: str
    """Name of the instance group."""
    windows: str = "2022"
    """Release of Windows Server: ``2022`` (default) or ``2025``."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: Sequence[TaintLike] = ()
    kubelet_arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further flags without dashes; they win over ours."""
    kubelet_configuration: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the KubeletConfiguration; they win over ours."""
    auto_scaling_group: str | None = None
    """Physical name of the Auto Scaling group; None: no lifecycle hook is answered."""
    launch_hook: str | None = None
    """Name of the hook at launch, which the boot code completes or abandons."""
    terminate_hook: str | None = None
    """Name of the hook at termination, which is completed when the node is drained."""
    status_prefix: str | None = None
    """Prefix in the bucket under which nodes write ``<instance>.json``; None: tag and console alone."""
    pod_cidr: str = "10.244.0.0/16"
    service_cidr: str = "10.96.0.0/12"
    cluster_domain: str = "cluster.local"
    dns_service_ip: str = "10.96.0.10"
    pod_network: str = "flannel-vxlan"
    """``flannel-vxlan`` (default) puts flannel's CNI configuration on the node; with others its operator does."""
    cloud_provider: str = "external"
    """``external`` (default) or ``none``."""
    image_repository: str | None = None
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    mirror: str | None = None
    """Base address that stands in for all upstream addresses of artefacts."""
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    proxy: Proxy | None = None
    images: Sequence[str] = ()
    """Container images that are pulled before the node joins."""
    page_file_mib: int | None = None
    """Size of a fixed page file; None leaves it to Windows. There is always one: Windows has no OOM killer."""
    bitlocker: bool = False
    """Whether BitLocker encrypts the system volume on top of EBS; needs an image with NitroTPM."""
    data_volume: str | None = None
    """Drive letter for container images and layers on a second, raw volume; the system volume by default."""
    drain_seconds: int = 600
    """How long pods may take to leave before the instance ends; two minutes at most on spot."""
    boot_seconds: int = 1800
    """After how long a start counts as failed."""


def node_document(node: WindowsNode) -> str:
    """The document as canonical JSON: sorted, without spaces, the same text for the same node."""
    return json.dumps(_document(node), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _document(node: WindowsNode) -> dict[str, Any]:
    version = release(node.kubernetes_version)
    pause = pause_image(version.pause_image, node.image_repository)
    features = [*host.FEATURES, *([host.BITLOCKER_FEATURE] if node.bitlocker else [])]
    first, count = host.DYNAMIC_PORTS
    return {
        "version": 1,
        "group": node.group,
        "region": node.region,
        "cluster": {"name": node.cluster_name, "kubernetesVersion": version.patch, "endpoint": node.endpoint},
        "bucket": {"name": node.bucket, "statusPrefix": node.status_prefix},
        "token": {"parameter": node.token_parameter},
        "autoScaling": {
            "group": node.auto_scaling_group,
            "launchHook": node.launch_hook,
            "terminateHook": node.terminate_hook,
        },
        "proxy": _proxy(node),
        "windows": {
            "release": node.windows,
            "features": features,
            "registry": [
                {"path": row.path, "name": row.name, "value": row.value} for row in host.REGISTRY[node.windows]
            ],
            "firewall": [{"name": r.name, "protocol": r.protocol, "port": r.port} for r in host.FIREWALL],
            "dynamicPorts": {"first": first, "count": count},
            "defender": {"paths": list(host.DEFENDER_PATHS), "processes": list(host.DEFENDER_PROCESSES)},
            "pageFileMib": node.page_file_mib,
            "bitLocker": node.bitlocker,
            "dataVolume": node.data_volume,
        },
        "directories": {"own": list(paths.OWN_DIRECTORIES), "protected": list(paths.PROTECTED_DIRECTORIES)},
        "artefacts": [],
        "files": [{"path": path, "content": content} for path, content in node_files(node).items()],
        "containerd": {
            "program": rf"{paths.CONTAINERD}\bin\containerd.exe",
            "configuration": paths.CONTAINERD_CONFIGURATION,
            "log": paths.CONTAINERD_LOG,
            "crictl": rf"{paths.BINARIES}\crictl.exe",
            "crictlConfiguration": paths.CRICTL_CONFIGURATION,
            "images": [pause, *node.images],
        },
        "kubelet": {
            "program": rf"{paths.BINARIES}\kubelet.exe",
            "runner": rf"{paths.BINARIES}\kube-log-runner.exe",
            "kubectl": rf"{paths.BINARIES}\kubectl.exe",
            "log": paths.KUBELET_LOG,
            "arguments": kubelet_arguments(node),
            "kubeconfig": paths.KUBECONFIG,
            "bootstrapKubeconfig": {"path": paths.BOOTSTRAP_KUBECONFIG, "content": bootstrap_kubeconfig(node)},
        },
        "deadlines": {"bootSeconds": node.boot_seconds, "drainSeconds": node.drain_seconds},
    }


def node_files(node: WindowsNode) -> dict[str, str]:
    """Path to text of every file that is written as it stands, placeholders apart."""
    data = rf"{node.data_volume}:\containerd" if node.data_volume else paths.CONTAINERD_DATA
    pause = pause_image(release(node.kubernetes_version).pause_image, node.image_repository)
    files = {
        paths.CERTIFICATE_AUTHORITY: node.certificate_authority,
        paths.KUBELET_CONFIGURATION: rendered(kubelet_configuration(node)),
        paths.CREDENTIAL_PROVIDER_CONFIGURATION: rendered(credential_providers()),
        paths.CONTAINERD_CONFIGURATION: containerd_configuration(pause, data),
        paths.CRICTL_CONFIGURATION: f"runtime-endpoint: {paths.CONTAINERD_PIPE}\nimage-endpoint: "
        f"{paths.CONTAINERD_PIPE}\ntimeout: 60\n",
        **hosts_files(node.registry_mirrors),
    }
    if node.pod_network == "flannel-vxlan":
        conflist = windows_cni_conflist(node.pod_cidr, node.service_cidr)
        files[rf"{paths.CNI_CONFIGURATION}\{WINDOWS_CONFLIST}"] = rendered(conflist)
    return dict(sorted(files.items()))


def _proxy(node: WindowsNode) -> dict[str, Any] | None:
    if node.proxy is None:
        return None
    return {
        "http": node.proxy.http or node.proxy.https,
        "https": node.proxy.https,
        "direct": [*DIRECT, node.pod_cidr, node.service_cidr, *node.proxy.no_proxy],
    }
