"""The files of a Linux node that are the same in its whole group: runtime, kubelet, proxy, mirrors. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..tables.artefacts import Runtime
from . import containerd, crio
from .loader import NodeProxy

KUBELET_UNIT_PATH = "/etc/systemd/system/kubelet.service"
KUBELET_DROP_IN_PATH = "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"
KUBELET_CONFIGURATION = "/var/lib/kubelet/config.yaml"
CRICTL_PATH = "/etc/crictl.yaml"
KUBELET_UNIT = f"""\
[Unit]
Description=kubelet: the Kubernetes node agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target {{runtime}}
# kubeadm writes it and starts the kubelet then; before that there is nothing to start with.
ConditionPathExists={KUBELET_CONFIGURATION}
StartLimitIntervalSec=0

[Service]
# kubeadm makes it on a control plane alone; without it a kubelet complains every second.
ExecStartPre=-/bin/mkdir -p /etc/kubernetes/manifests
ExecStart=/usr/local/bin/kubelet
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
"""
KUBELET_DROP_IN = f"""\
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config={KUBELET_CONFIGURATION}"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS
"""
"""kubeadm's own drop-in, with the place where the kubelet is installed here."""
RUNTIME_SERVICES: Mapping[str, str] = {"containerd": "containerd.service", "cri-o": "crio.service"}

MODULES = ("overlay", "br_netfilter")
SYSCTLS: Mapping[str, str] = {
    "net.bridge.bridge-nf-call-ip6tables": "1",
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.ipv4.ip_forward": "1",
    # What the kubelet asks for with protectKernelDefaults.
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "vm.overcommit_memory": "1",
    # Many pods watch many files.
    "fs.inotify.max_user_instances": "8192",
    "fs.inotify.max_user_watches": "524288",
}
"""https://kubernetes.io/docs/setup/production-environment/container-runtimes/ and image-builder's ``sysctl`` role."""


@dataclass(frozen=True, slots=True)
class NodeFile:
    """A file without secrets; placeholders in it are filled in on the node."""

    path: str
    content: str
    mode: int = 0o644


def runtime_files(
    runtime: Runtime, release: str, pause_image: str, registry_mirrors: Mapping[str, str] = {}
) -> list[NodeFile]:
    """Configuration and unit of the container runtime, and where it finds mirrors.

    :param release: the release of containerd; not read for CRI-O.
    """
    if runtime == "cri-o":
        mirrors = [NodeFile(crio.REGISTRIES_PATH, crio.registries(registry_mirrors))] if registry_mirrors else []
        return [
            NodeFile(crio.PATH, crio.configuration(pause_image)),
            NodeFile(crio.UNIT_PATH, crio.UNIT),
            NodeFile(CRICTL_PATH, _crictl(crio.SOCKET)),
            *mirrors,
        ]
    return [
        NodeFile(containerd.PATH, containerd.configuration(release, pause_image)),
        NodeFile(containerd.UNIT_PATH, containerd.UNIT),
        NodeFile(CRICTL_PATH, _crictl(containerd.SOCKET)),
        *(
            NodeFile(f"{containerd.HOSTS}/{registry}/hosts.toml", containerd.hosts_toml(mirror))
            for registry, mirror in sorted(registry_mirrors.items())
        ),
    ]


def kubelet_files(runtime: Runtime) -> list[NodeFile]:
    """The kubelet's unit, and the drop-in by which kubeadm tells it what to do."""
    return [
        NodeFile(KUBELET_UNIT_PATH, KUBELET_UNIT.format(runtime=RUNTIME_SERVICES[runtime])),
        NodeFile(KUBELET_DROP_IN_PATH, KUBELET_DROP_IN),
    ]


def proxy_files(proxy: NodeProxy | None, runtime: Runtime, networks: Sequence[str]) -> list[NodeFile]:
    """The proxy for the runtime, which pulls images; the kubelet and pods talk within the VPC.

    :param networks: pod and service CIDR, and what else the runtime reaches by itself.
    """
    if proxy is None:
        return []
    lines = [f'Environment="{name.upper()}={value}"' for name, value in proxy.variables(networks).items()]
    service = RUNTIME_SERVICES[runtime]
    return [NodeFile(f"/etc/systemd/system/{service}.d/20-proxy.conf", "\n".join(["[Service]", *lines]) + "\n")]


def _crictl(socket: str) -> str:
    return f"runtime-endpoint: {socket}\nimage-endpoint: {socket}\ntimeout: 10\n"
