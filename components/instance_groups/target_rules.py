"""What must hold for the description of a self-managed cluster that workers join. Pure."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Protocol

from ..core.cidr import network_or_none
from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of, shown
from ..ec2.proxy import Proxy, check_proxy
from ..network.ports import POD_NETWORKS, Ports
from ..state_bucket.layout import check_key_part
from ..tables.artefacts import check_mirrors
from ..tables.regions import check_region
from ..tables.releases import check_minor
from .rule_protocols import TargetLike

FLANNEL_PAGE = "https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md"

TARGET_ENDPOINT = Rule(
    "WK-IG-001",
    "The endpoint of a cluster is written as host:port, without a scheme.",
    "https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/",
)
TOKEN_PARAMETER = Rule(
    "WK-IG-002",
    "The join token is in one SSM parameter, given by its full name.",
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-su-create.html",
)
TARGET_NETWORKS = Rule(
    "WK-IG-003",
    "Pods and Services need separate IPv4 networks.",
    "https://kubernetes.io/docs/concepts/cluster-administration/networking/",
)
NODE_MASK = Rule(
    "WK-IG-004",
    "A node's subnet must be smaller than the pod CIDR and large enough for pods.",
    "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/",
)
POD_NETWORK = Rule("WK-IG-005", "The pod network must be one that self-managed Windows nodes can join.", FLANNEL_PAGE)
VXLAN = Rule("WK-IG-006", "VXLAN with Windows nodes uses VNI 4096 and UDP port 4789 on every node.", FLANNEL_PAGE)
CLUSTER_DOMAIN = Rule(
    "WK-IG-007", "The cluster domain is a DNS name in lower case.",
    "https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/",
)  # fmt: skip
IMAGE_REPOSITORY = Rule(
    "WK-IG-008",
    "An image repository is written as host and path, without a scheme.",
    "https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/",
)
CLOUD_PROVIDER = Rule(
    "WK-IG-009",
    "The cloud provider is external or none.",
    "https://kubernetes.io/docs/tasks/administer-cluster/running-cloud-controller/",
)
TARGET_SECURITY = Rule(
    "WK-IG-010",
    "Workers need security groups, or the security groups of the other nodes to create one from.",
    "https://kubernetes.io/docs/reference/networking/ports-and-protocols/",
)

WINDOWS_VNI = 4096
CLOUD_PROVIDERS = ("external", "none")
CALICO = "calico-vxlan"
"""Calico's own operator on Linux and Windows nodes; its VXLAN has the VNI and the port that Windows wants."""
KNOWN_POD_NETWORKS = (POD_NETWORKS[0], CALICO)
REFUSED_POD_NETWORKS: Mapping[str, str] = {
    "host-gw": "host-gw needs the source and destination check of EC2 off and all nodes in one subnet",
    "flannel-host-gw": "host-gw needs the source and destination check of EC2 off and all nodes in one subnet",
    "weave": "Weave Net was archived in 2024 and never ran on Windows",
    "winnat": "WinNAT gives pods no addresses that other nodes can reach",
    "l2tunnel": "L2tunnel works only on Azure",
    "l2bridge": "l2bridge needs the source and destination check of EC2 off and routes for every node",
    "kubenet": "kubenet was removed with dockershim and never ran on Windows",
    "cilium": "Cilium has no agent for Windows",
    "amazon-vpc": "only EKS runs the controller that assigns VPC addresses to Windows pods",
    "ipv6": "overlays of flannel and Calico support only IPv4 on Windows",
    "dual-stack": "overlays of flannel and Calico support only IPv4 on Windows",
}
"""Pod networks that people ask for, and why they are refused."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_PARAMETER = re.compile(r"(/[A-Za-z0-9_.-]+){1,15}")
_REPOSITORY = re.compile(r"[a-z0-9.-]+(:\d+)?(/[a-z0-9._-]+)*")


class JoinTargetLike(TargetLike, Protocol):
    """What the checks need of a cluster."""

    @property
    def region(self) -> str: ...  # noqa: D102
    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def token_parameter(self) -> str: ...  # noqa: D102
    @property
    def service_cidr(self) -> str: ...  # noqa: D102
    @property
    def cluster_domain(self) -> str: ...  # noqa: D102
    @property
    def dns_ip(self) -> str | None: ...  # noqa: D102
    @property
    def pod_network(self) -> str: ...  # noqa: D102
    @property
    def vxlan_vni(self) -> int: ...  # noqa: D102
    @property
    def vxlan_port(self) -> int: ...  # noqa: D102
    @property
    def cloud_provider(self) -> str: ...  # noqa: D102
    @property
    def image_repository(self) -> str | None: ...  # noqa: D102
    @property
    def proxy(self) -> Proxy | None: ...  # noqa: D102
    @property
    def linux_security_group_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def windows_security_group_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def control_plane_security_group_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def node_security_group_ids(self) -> Sequence[Any]: ...  # noqa: D102


def check_join_target(target: JoinTargetLike) -> Mistakes:
    """Every mistake in the description of a cluster (``WK-IG-001`` to ``-009``, ``WK-KAD-001``, ``WK-ART``).

    Paths are relative to it.
    """
    found = check_key_part(target.cluster_name, ("cluster_name",))
    found.take(check_minor(target.kubernetes_version))
    found.take(check_region(target.region))
    found.take(check_endpoint(target.endpoint))
    found.take(_check_token(target.token_parameter))
    found.take(_check_networks(target))
    found.take(check_pod_network(target.pod_network))
    found.take(check_vxlan(target.vxlan_vni, target.vxlan_port))
    if not _HOST.fullmatch(target.cluster_domain):
        found.add(CLUSTER_DOMAIN, ("cluster_domain",), "the cluster domain must be a DNS name in lower case",
                  'write the domain that CoreDNS serves, usually "cluster.local"', target.cluster_domain)  # fmt: skip
    if target.cloud_provider not in CLOUD_PROVIDERS:
        guess = nearest(target.cloud_provider, CLOUD_PROVIDERS) or "external"
        found.add(
            CLOUD_PROVIDER,
            ("cloud_provider",),
            f"the cloud provider is {one_of(CLOUD_PROVIDERS)}; Kubernetes 1.27 removed the in-tree provider",
            f'write "{guess}"',
            target.cloud_provider,
        )
    found.take(check_mirrors(target.mirror, target.registry_mirrors))
    found.take(check_image_repository(target.image_repository))
    if target.proxy is not None:
        found.take(check_proxy(target.proxy))
    return found


def check_image_repository(repository: str | None) -> Mistakes:
    """Whether images can be named in this repository (``WK-IG-008``)."""
    found = Mistakes()
    if repository is not None and not _REPOSITORY.fullmatch(repository):
        plain = repository.rpartition("://")[2].strip("/").lower()
        found.add(
            IMAGE_REPOSITORY,
            ("image_repository",),
            "an image repository is written as host and path, without a scheme",
            f"write {shown(plain if _REPOSITORY.fullmatch(plain) else 'registry.example.com/kubernetes')}",
            repository,
        )
    return found


def check_target_security(target: JoinTargetLike, system: str) -> Mistakes:
    """Whether the security groups of workers of one system can be told (``WK-IG-010``)."""
    found = Mistakes()
    given = target.windows_security_group_ids if system == "windows" else target.linux_security_group_ids
    if given:
        return found
    for field in ("control_plane_security_group_ids", "node_security_group_ids"):
        if not getattr(target, field):
            found.add(TARGET_SECURITY, (field,), f"the target has no security groups for {system} workers, and "
                      f"winkube needs {field} to create one",
                      f"set {field}, or {system}_security_group_ids", [])  # fmt: skip
    return found


def check_endpoint(endpoint: str, path: Path = ("endpoint",)) -> Mistakes:
    """Whether this is ``host:port`` (``WK-IG-001``)."""
    found = Mistakes()
    host, _, port = endpoint.rpartition(":")
    if not (_HOST.fullmatch(host) and port.isdigit() and 1 <= int(port) <= 65535):
        plain = endpoint.rpartition("://")[2].rstrip("/").lower()
        guess = plain if ":" in plain else f"{plain or 'api.dev.example.com'}:6443"
        found.add(TARGET_ENDPOINT, path, "the endpoint is written as host:port, without a scheme",
                  f"write {shown(guess)}", endpoint)  # fmt: skip
    return found


def _check_token(parameter: str) -> Mistakes:
    found = Mistakes()
    if not _PARAMETER.fullmatch(parameter) or parameter.lower().startswith(("/aws", "/ssm")):
        plain = "/" + re.sub(r"[^A-Za-z0-9_./-]+", "-", parameter.strip("/")) if parameter.strip("/") else ""
        usable = plain if _PARAMETER.fullmatch(plain) and not plain.lower().startswith(("/aws", "/ssm")) else ""
        found.add(TOKEN_PARAMETER, ("token_parameter",), "a parameter name begins with a slash, has letters, digits "
                  "and . - _, and must not begin with /aws or /ssm",
                  f'write a name such as "{usable or "/winkube/dev/join-token"}"', parameter)  # fmt: skip
    return found


def _check_networks(target: JoinTargetLike) -> Mistakes:
    found = Mistakes()
    known: dict[str, IPv4Network] = {}
    for field, example in (("pod_cidr", "10.244.0.0/16"), ("service_cidr", "10.96.0.0/12")):
        text = getattr(target, field)
        network = network_or_none(text)
        if network is None:
            why = "Windows pods and Services support IPv4 only" if ":" in text else "is not an IPv4 network "
            why = why if ":" in text else f"{why}without host bits"
            found.add(TARGET_NETWORKS, (field,), why, f'write the cluster\'s own, such as "{example}"', text)
        else:
            known[field] = network
    if len(known) == 2 and known["pod_cidr"].overlaps(known["service_cidr"]):
        found.add(TARGET_NETWORKS, ("service_cidr",), f"overlaps the pod CIDR {target.pod_cidr}",
                  "write the actual networks of the cluster, which do not overlap", target.service_cidr)  # fmt: skip
    if "service_cidr" in known and known["service_cidr"].num_addresses < 16:
        found.add(TARGET_NETWORKS, ("service_cidr",), "cluster DNS uses the tenth address of the service CIDR",
                  "write a network of 16 addresses or more", target.service_cidr)  # fmt: skip
    if target.dns_ip is not None and "service_cidr" in known and not _lies_in(target.dns_ip, known["service_cidr"]):
        found.add(
            TARGET_NETWORKS,
            ("dns_ip",),
            f"is not in the service CIDR {target.service_cidr}; a node-local cache, "
            "such as that of Kubespray, does not run on Windows nodes",
            "write the address that kubectl -n kube-system get service shows for CoreDNS",
            target.dns_ip,
        )
    if "pod_cidr" in known:
        found.take(_check_mask(known["pod_cidr"], target.node_cidr_mask))
    return found


def _lies_in(address: str, network: IPv4Network) -> bool:
    try:
        return IPv4Address(address) in network
    except ValueError:
        return False


def _check_mask(pods: IPv4Network, mask: int) -> Mistakes:
    found = Mistakes()
    least = pods.prefixlen + 1
    if not least <= mask <= 28:
        found.add(NODE_MASK, ("node_cidr_mask",), f"each node's subnet of {pods} must be /{least} to /28",
                  f"set node_cidr_mask to {min(max(mask, least), 28)}" if least <= 28 else
                  "write a larger pod_cidr", mask)  # fmt: skip
    elif mask - pods.prefixlen > 16:
        found.add(NODE_MASK, ("node_cidr_mask",), "kube-controller-manager can divide a pod CIDR by at most 16 bits",
                  f"set node_cidr_mask to {pods.prefixlen + 16} or less", mask)  # fmt: skip
    return found


def check_pod_network(pod_network: str, path: Path = ("pod_network",)) -> Mistakes:
    """Whether nodes know the pod network (``WK-IG-005``); those that people ask for are refused with the reason."""
    found = Mistakes()
    if pod_network not in KNOWN_POD_NETWORKS:
        reason = REFUSED_POD_NETWORKS.get(pod_network.lower().replace("_", "-"))
        guess = nearest(pod_network, KNOWN_POD_NETWORKS) or KNOWN_POD_NETWORKS[0]
        found.add(POD_NETWORK, path, reason or f"the pod network is {one_of(KNOWN_POD_NETWORKS)}",
                  f'use "{guess if reason is None else KNOWN_POD_NETWORKS[0]}"', pod_network)  # fmt: skip
    return found


def check_vxlan(vni: int, port: int) -> Mistakes:
    """Whether Windows nodes can take part in the VXLAN (``WK-IG-006``)."""
    found = Mistakes()
    if vni != WINDOWS_VNI:
        found.add(
            VXLAN,
            ("vxlan_vni",),
            f"the Windows Host Network Service accepts VNIs from {WINDOWS_VNI} on, and a Windows "
            f"node ignores the leases of networks other than flannel.{WINDOWS_VNI}",
            f"set the VNI to {WINDOWS_VNI} in flannel's net-conf.json on all nodes, and here",
            vni,
        )
    if port != Ports.vxlan:
        found.add(
            VXLAN,
            ("vxlan_port",),
            f"the Windows Host Network Service supports VXLAN only on UDP port {Ports.vxlan}",
            f"set the port to {Ports.vxlan} in flannel's net-conf.json on all nodes, and here",
            port,
        )
    return found
