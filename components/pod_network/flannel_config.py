"""What flannel and its neighbours are told, as plain data: one network for Linux and Windows nodes.

- ``net-conf.json`` of flanneld, the same on every node: VXLAN with a VNI and the port that Windows can speak;
- the CNI configuration of Linux nodes and that of Windows nodes (``win-overlay`` through the HCN interface);
- what ``host-local`` is asked for, so that kube-proxy on Windows has one address of the node's pods for good.

Per-node facts stay placeholders (``${PRIVATE_IP}``, ``${POD_SUBNET}``), filled in on the node. Sources: flannel 0.28.9,
``Documentation/backends.md``, ``pkg/backend/vxlan``; containernetworking/plugins 1.9.1, ``win-overlay`` and
``host-local``; rancher/rke2 ``pkg/windows/flannel.go``, which runs the same on Windows.
"""

import json
from collections.abc import Mapping
from ipaddress import IPv6Network, ip_network
from typing import Any, Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of

BACKENDS_PAGE = "https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md"
WINDOWS_NETWORK_PAGE = "https://kubernetes.io/docs/concepts/services-networking/windows-networking/"

POD_NETWORK = Rule(
    "WK-K8S-022", "The pod network of a cluster with Windows nodes is flannel with VXLAN.", WINDOWS_NETWORK_PAGE
)
VNI_RANGE = Rule("WK-K8S-023", "The VNI of the pod network is 4096 to 65535.", BACKENDS_PAGE)
VXLAN_PORT_RULE = Rule("WK-K8S-024", "VXLAN on Windows uses UDP port 4789.", BACKENDS_PAGE)
IPV4_ONLY = Rule(
    "WK-K8S-025",
    "Pods and Services on an overlay network with Windows nodes need IPv4 addresses.",
    WINDOWS_NETWORK_PAGE,
)
CIDRS = Rule("WK-K8S-026", "Pods and Services need separate networks in CIDR notation.", BACKENDS_PAGE)
MTU_RANGE = Rule(
    "WK-K8S-027", "The MTU must be one that every node's interface supports: 1280 to 9001 bytes.", BACKENDS_PAGE
)

VXLAN_VNI = 4096
"""The least VNI that Windows takes; flannel's own default on Linux is 1."""
VXLAN_VNI_LAST = 65535
"""flannel keeps the VNI in sixteen bits of its lease."""
VXLAN_PORT = 4789
"""The only port that the host network service of Windows speaks; flannel's own default on Linux is 8472."""
OUTER_MTU = 1500
"""MTU of the interfaces under the tunnel, in bytes.

Linux on EC2 starts with 9001 and Windows with 1500, and flannel cannot set it on Windows: pods on Linux would send
packets that Windows nodes drop. flannel takes off the 50 bytes of VXLAN itself, so pods get 1450.
"""

POD_NETWORK_NAME = "flannel-vxlan"
"""What a :class:`JoinTarget` calls this network."""

CNI_VERSION = "1.0.0"
LINUX_CONFLIST = "10-flannel.conflist"
WINDOWS_CONFLIST_DIRECTORY = r"C:\etc\cni\net.d"
WINDOWS_CNI_DIRECTORY = r"C:\opt\cni\bin"
WINDOWS_CNI_PLUGINS = ("flannel.exe", "win-overlay.exe", "host-local.exe")
"""What has to lie in :data:`WINDOWS_CNI_DIRECTORY` before the first pod."""

NODE_IP = "${PRIVATE_IP}"
POD_SUBNET = "${POD_SUBNET}"

RESERVATIONS = "/var/lib/cni/networks"
"""Where host-local keeps its addresses, below the drive that it runs on."""
SOURCE_VIP_OWNER = ("kube-proxy", "source-vip")
"""Container id and interface under which the address of kube-proxy is kept: the same at every start."""

_UNFIT: Mapping[str, str] = {
    "host-gw": "it needs all nodes in one subnet and their source/destination check off; a cluster here spans zones",
    "l2bridge": "it needs the network to route pod addresses to nodes, which a VPC does not",
    "l2tunnel": "it exists only on Azure",
    "winnat": "it hides pods behind their own node: pods of other nodes cannot reach them",
    "nat": "it hides pods behind their own node: pods of other nodes cannot reach them",
    "transparent": "it needs addresses from DHCP for pods, which EC2 does not assign",
    "weave": "it is no longer developed, and never ran on Windows",
    "calico": "it has its own operator and cannot run beside flannel: remove Flannel and follow "
              "docs/pod-network.md",
    "cilium": "it runs on Linux only",
    "wireguard": "flannel has this backend on Linux only",
    "ipsec": "flannel has this backend on Linux only",
    "ipip": "flannel has this backend on Linux only",
    "udp": "flannel has this backend on Linux only",
    "amazon-vpc": "only the EKS control plane runs its controller for Windows addresses",
}  # fmt: skip
"""Pod networks that people ask for, with the reason why Windows nodes on EC2 cannot take them."""


class PodNetworkSettings(Protocol):
    """What is judged of a pod network."""

    @property
    def pod_network(self) -> str: ...  # noqa: D102
    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def service_cidr(self) -> str: ...  # noqa: D102
    @property
    def vni(self) -> int: ...  # noqa: D102
    @property
    def port(self) -> int: ...  # noqa: D102
    @property
    def mtu(self) -> int: ...  # noqa: D102


def network_name(vni: int = VXLAN_VNI) -> str:
    """What flanneld calls the HNS network on Windows, and the CNI configuration with it.

    >>> network_name()
    'flannel.4096'
    """
    return f"flannel.{vni}"


def net_conf(
    pod_cidr: str, *, vni: int = VXLAN_VNI, port: int = VXLAN_PORT, mtu: int | None = OUTER_MTU
) -> dict[str, Any]:
    """``net-conf.json`` of flanneld, one for all nodes; ``mtu`` counts on Linux alone, None leaves the interface's."""
    backend: dict[str, Any] = {"Type": "vxlan", "VNI": vni, "Port": port}
    if mtu is not None:
        backend["MTU"] = mtu
    return {"Network": pod_cidr, "EnableIPv4": True, "EnableIPv6": False, "Backend": backend}


def linux_cni_conflist() -> dict[str, Any]:
    """The CNI configuration of Linux nodes, as flannel ships it."""
    return {
        "name": "cbr0",
        "cniVersion": CNI_VERSION,
        "plugins": [
            {"type": "flannel", "delegate": {"hairpinMode": True, "isDefaultGateway": True}},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def windows_cni_conflist(
    pod_cidr: str, service_cidr: str, *, node_ip: str = NODE_IP, vni: int = VXLAN_VNI
) -> dict[str, Any]:
    """The CNI configuration of a Windows node.

    ``apiVersion`` 2 is the HCN interface, the only one that containerd works with. Traffic to pods and Services leaves
    with the pod's address, all other with the node's; Services are reached through the tunnel.
    """
    policies = [
        {"Type": "OutBoundNAT", "Settings": {"Exceptions": [pod_cidr, service_cidr]}},
        {"Type": "SDNRoute", "Settings": {"DestinationPrefix": service_cidr, "NeedEncap": True}},
        {"Type": "ProviderAddress", "Settings": {"ProviderAddress": node_ip}},
    ]
    return {
        "name": network_name(vni),
        "cniVersion": CNI_VERSION,
        "plugins": [
            {
                "type": "flannel",
                "capabilities": {"portMappings": True, "dns": True},
                "delegate": {
                    "type": "win-overlay",
                    "apiVersion": 2,
                    "policies": [{"name": "EndpointPolicy", "value": policy} for policy in policies],
                },
            }
        ],
    }


def source_vip_request(pod_subnet: str = POD_SUBNET, *, vni: int = VXLAN_VNI) -> dict[str, Any]:
    """What ``host-local`` is asked on standard input for the address of kube-proxy.

    The name is that of the pod network, so that pods draw from the same book: under another name a pod would be given
    the same address.
    """
    return {
        "cniVersion": CNI_VERSION,
        "name": network_name(vni),
        "ipam": {"type": "host-local", "ranges": [[{"subnet": pod_subnet}]], "dataDir": RESERVATIONS},
    }


def source_vip_environment(command: str = "ADD") -> dict[str, str]:
    """The environment of that call; ``DEL`` gives the address back."""
    container, interface = SOURCE_VIP_OWNER
    return {
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": container,
        "CNI_IFNAME": interface,
        "CNI_NETNS": "none",
        "CNI_PATH": WINDOWS_CNI_DIRECTORY,
    }


def rendered(document: Mapping[str, Any]) -> str:
    """A document as the text of a file: the same text for the same data."""
    return json.dumps(document, indent=2) + "\n"


def check_pod_network(settings: PodNetworkSettings) -> Mistakes:
    """Every mistake in a pod network that Windows nodes are to be part of (``WK-K8S-022`` to ``WK-K8S-027``)."""
    found = Mistakes()
    if settings.pod_network != POD_NETWORK_NAME:
        _refuse_network(settings.pod_network, found)
    if not VXLAN_VNI <= settings.vni <= VXLAN_VNI_LAST:
        found.add(VNI_RANGE, ("vni",), f"Windows accepts no VNI below {VXLAN_VNI}, and flannel none above "
                  f"{VXLAN_VNI_LAST}", f"set vni to {VXLAN_VNI}", settings.vni)  # fmt: skip
    if settings.port != VXLAN_PORT:
        found.add(VXLAN_PORT_RULE, ("port",), f"VXLAN on Windows works only on UDP port {VXLAN_PORT}",
                  f"set port to {VXLAN_PORT}, on all nodes", settings.port)  # fmt: skip
    if not 1280 <= settings.mtu <= 9001:
        found.add(MTU_RANGE, ("mtu",), "the MTU of an EC2 network interface is 1280 to 9001 bytes",
                  f"set mtu to {OUTER_MTU}, or to 9001 if Windows nodes use jumbo frames too",
                  settings.mtu)  # fmt: skip
    pods = _check_cidr(settings.pod_cidr, ("pod_cidr",), "10.244.0.0/16", found)
    services = _check_cidr(settings.service_cidr, ("service_cidr",), "10.96.0.0/12", found)
    if pods and services and pods.overlaps(services):
        found.add(CIDRS, ("service_cidr",), f"overlaps the pod CIDR {pods}",
                  "choose a separate network", settings.service_cidr)  # fmt: skip
    return found


def _refuse_network(name: str, found: Mistakes) -> None:
    why = _UNFIT.get(name.lower())
    if why:
        found.add(POD_NETWORK, ("pod_network",), why, f'write "{POD_NETWORK_NAME}"', name)
        return
    near = nearest(name, (POD_NETWORK_NAME,)) or POD_NETWORK_NAME
    found.add(POD_NETWORK, ("pod_network",), f"the pod network is {one_of((POD_NETWORK_NAME,))}",
              f'write "{near}"', name)  # fmt: skip


def _check_cidr(text: str, path: Path, example: str, found: Mistakes) -> Any:
    network = network_or_none(text)
    if network is not None:
        return network
    if _ipv6(text):
        found.add(
            IPV4_ONLY,
            path,
            "Windows does not support IPv6 on overlay networks",
            f'write an IPv4 network such as "{example}"',
            text,
        )
    else:
        found.add(CIDRS, path, "is not an IPv4 network in CIDR notation without host bits", f'write one such as '
                  f'"{example}"', text)  # fmt: skip
    return None


def _ipv6(text: str) -> bool:
    # Two networks with a comma between are dual-stack in Kubernetes' own notation.
    for part in text.split(","):
        try:
            if isinstance(ip_network(part.strip(), strict=False), IPv6Network):
                return True
        except ValueError:
            continue
    return False
