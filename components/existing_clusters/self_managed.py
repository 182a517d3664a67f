"""Existing self-managed clusters as targets of instance groups: made by kops, Kubespray or kubeadm.

Each description has the tool's own defaults, and each helper refuses those that Windows nodes cannot use. What must be
changed in the cluster itself is in ``docs/join-existing-clusters.md``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pulumi

from ..core.cidr import network_or_none, nth_address
from ..core.errors import refuse
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..ec2.proxy import Proxy
from ..instance_groups.join_target import JoinTarget, check_join_target
from ..instance_groups.target_rules import WINDOWS_VNI, check_vxlan
from ..network.ports import Ports

KOPS_NETWORKING = Rule(
    "WK-IG-060",
    "A kops cluster with Windows nodes must not install its own pod network.",
    "https://kops.sigs.k8s.io/networking/",
)
KUBESPRAY_PLUGIN = Rule(
    "WK-IG-061",
    "A Kubespray cluster with Windows nodes needs flannel with VNI 4096 and port 4789.",
    "https://kubespray.io/#/docs/CNI/flannel",
)

KOPS_REFUSED: Mapping[str, str] = {
    "flannel": f"flannel of kops uses VNI 1 and UDP port 8472, which cannot be changed; Windows needs VNI "
    f"{WINDOWS_VNI} and UDP port {Ports.vxlan}",
    "amazonvpc": "kops turns off Windows IPAM of the VPC CNI, and only EKS runs the controller that it needs",
    "calico": "kops installs Calico without its operator, which manages Windows nodes",
    "cilium": "Cilium has no agent for Windows",
    "kubenet": "kubenet was removed with dockershim and never ran on Windows",
    "kindnet": "kindnet needs Linux routing",
    "kube-router": "kube-router runs only on Linux",
}
"""What ``spec.networking`` of a kops cluster can be, and why not with Windows nodes."""
KUBESPRAY_REFUSED: Mapping[str, str] = {
    "calico": "Kubespray installs Calico without its operator, which manages Windows nodes",
    "cilium": "Cilium has no agent for Windows",
    "kube-ovn": "Kube-OVN does not support HostProcess containers on Windows",
    "kube-router": "kube-router runs only on Linux",
    "weave": "Weave Net was archived in 2024 and never ran on Windows",
}
"""What ``kube_network_plugin`` can be, and why not with Windows nodes."""
OWN_CNI = "cni"
"""The word of both tools for a pod network that somebody else installs: the ``Flannel`` of winkube, for example."""


@dataclass(frozen=True, kw_only=True)
class _ExistingCluster:
    """What is the same whichever tool made the cluster; each field means what it means in ``JoinTarget``."""

    cluster_name: str
    """The cluster's name, such as ``prod.example.com``."""
    kubernetes_version: str
    """Its Kubernetes minor, such as ``1.36``."""
    region: str
    """The Region of the nodes, the bucket and the token."""
    token_parameter: str
    """Name of the SSM parameter (SecureString) that holds a valid bootstrap token."""
    certificate_authority: pulumi.Input[str]
    """Its certificate authority as PEM."""
    vpc_id: pulumi.Input[str]
    """The VPC of the nodes."""
    bucket: pulumi.Input[str]
    """Name of a bucket for boot files. Never the state store of kops: whoever reads that administers the cluster."""
    bucket_arn: pulumi.Input[str]
    """ARN of that bucket."""
    bucket_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key that encrypts the bucket, if it is a customer managed key."""
    token_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key that encrypts the token; ``aws/ssm`` by default."""
    cluster_domain: str = JoinTarget.cluster_domain
    """The domain that the cluster's DNS serves; ``cluster.local`` by default."""
    node_cidr_mask: int = JoinTarget.node_cidr_mask
    """Prefix length of each node's share of the pod CIDR; 24 by default."""
    incarnation: int = JoinTarget.incarnation
    """The cluster's number in its bucket; 1 by default."""
    control_plane_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of the control plane; they may reach the kubelets."""
    node_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of all nodes that share the pod network, including the control plane."""
    api_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups in front of the API; workers' groups get an ingress rule there. None by default."""
    linux_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups for Linux workers; by default each instance group creates its own."""
    windows_security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups for Windows workers; by default each instance group creates its own."""
    mirror: str | None = None
    """Base address (https, http or s3) of a mirror of upstream downloads; upstream itself by default."""
    registry_mirrors: Mapping[str, str] = field(default_factory=dict[str, str])
    """Host of a container registry to the address of its mirror; none by default."""
    artefact_digests: Mapping[str, str] = field(default_factory=dict[str, str])
    """File name of a download to its SHA-256 digest, to add or replace a known one."""
    image_repository: str | None = None
    """Registry of the system's container images; ``registry.k8s.io`` by default."""
    proxy: Proxy | None = None
    """The proxy through which nodes reach the internet; none by default."""


@dataclass(frozen=True, kw_only=True)
class KopsCluster(_ExistingCluster):
    """A cluster made by kops; the defaults are those of kops."""

    networking: str = OWN_CNI
    """The key of ``spec.networking``; only ``cni`` works with Windows nodes."""
    endpoint: str | None = None
    """The API as ``host:port``; ``api.internal.<cluster>:443`` by default."""
    pod_cidr: str = "100.96.0.0/11"
    """``spec.podCIDR``."""
    service_cidr: str = "100.64.0.0/13"
    """``spec.serviceClusterIPRange``."""


@dataclass(frozen=True, kw_only=True)
class KubesprayCluster(_ExistingCluster):
    """A cluster made by Kubespray; the defaults are those of Kubespray, whose VNI and port Windows cannot use."""

    endpoint: str
    """The API as ``host:port``."""
    network_plugin: str = "flannel"
    """``kube_network_plugin``: ``flannel``, or ``cni`` where something else installs the pod network."""
    flannel_vxlan_vni: int = 1
    """``flannel_vxlan_vni``; Windows nodes need 4096."""
    flannel_vxlan_port: int = 8472
    """``flannel_vxlan_port``; Windows nodes need 4789."""
    pod_cidr: str = "10.233.64.0/18"
    """``kube_pods_subnet``."""
    service_cidr: str = "10.233.0.0/18"
    """``kube_service_addresses``."""
    cloud_provider: str = "none"
    """``external`` where ``cloud_provider`` is; ``none`` by default."""


@dataclass(frozen=True, kw_only=True)
class KubeadmCluster(_ExistingCluster):
    """A cluster made with kubeadm; what kubeadm and flannel leave to you has no default."""

    endpoint: str
    """The API as ``host:port``."""
    pod_cidr: str
    """``networking.podSubnet``."""
    vxlan_vni: int
    """``Backend.VNI`` in flannel's ``net-conf.json``; upstream has 1, Windows nodes need 4096."""
    vxlan_port: int
    """``Backend.Port`` in flannel's ``net-conf.json``; upstream has 8472, Windows nodes need 4789."""
    service_cidr: str = "10.96.0.0/12"
    """``networking.serviceSubnet``."""
    pod_network: str = "flannel-vxlan"
    """``flannel-vxlan`` (default), or ``calico-vxlan`` where Calico's operator manages the nodes."""
    cloud_provider: str = "none"
    """``external`` where the AWS cloud controller manager runs; ``none`` by default."""


def target_of_kops(cluster: KopsCluster) -> JoinTarget:
    """The join target of a kops cluster.

    :raises WinkubeError: ``WK-IG-060``, and what ``check_join_target`` finds.
    """
    target = JoinTarget(
        **_shared(cluster),
        endpoint=cluster.endpoint or f"api.internal.{cluster.cluster_name}:443",
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
    )
    return _checked("target_of_kops", target, check_kops_networking(cluster.networking))


def target_of_kubespray(cluster: KubesprayCluster) -> JoinTarget:
    """The join target of a Kubespray cluster.

    :raises WinkubeError: ``WK-IG-061``, and what ``check_join_target`` finds.
    """
    found = check_kubespray_network(cluster.network_plugin, cluster.flannel_vxlan_vni, cluster.flannel_vxlan_port)
    services = network_or_none(cluster.service_cidr)
    target = JoinTarget(
        **_shared(cluster),
        endpoint=cluster.endpoint,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        # Kubespray gives CoreDNS the third address; its cache on 169.254.25.10 runs on Linux nodes only.
        dns_ip=None if services is None or services.num_addresses < 4 else str(nth_address(services, 3)),
        cloud_provider=cluster.cloud_provider,
    )
    return _checked("target_of_kubespray", target, found)


def target_of_kubeadm(cluster: KubeadmCluster) -> JoinTarget:
    """The join target of a kubeadm cluster.

    :raises WinkubeError: what ``check_join_target`` finds.
    """
    target = JoinTarget(
        **_shared(cluster),
        endpoint=cluster.endpoint,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        pod_network=cluster.pod_network,
        vxlan_vni=cluster.vxlan_vni,
        vxlan_port=cluster.vxlan_port,
        cloud_provider=cluster.cloud_provider,
    )
    return _checked("target_of_kubeadm", target, Mistakes())


def check_kops_networking(networking: str) -> Mistakes:
    """Whether the pod network of a kops cluster goes with Windows nodes (``WK-IG-060``)."""
    found = Mistakes()
    if networking != OWN_CNI:
        reason = KOPS_REFUSED.get(networking.lower(), f"is not a network of kops: {one_of([OWN_CNI, *KOPS_REFUSED])}")
        found.add(KOPS_NETWORKING, ("networking",), reason, "write spec.networking as cni: {}, roll the cluster, and "
                  "use Flannel of winkube on Linux and Windows nodes", networking)  # fmt: skip
    return found


def check_kubespray_network(plugin: str, vni: int, port: int) -> Mistakes:
    """Whether the pod network of a Kubespray cluster goes with Windows nodes (``WK-IG-061``, ``WK-IG-006``)."""
    found = Mistakes()
    if plugin == "flannel":
        for mistake in check_vxlan(vni, port):
            field = f"flannel_{mistake.path[0]}"
            right = WINDOWS_VNI if field.endswith("vni") else Ports.vxlan
            found.add(mistake.rule, (field,), mistake.message, f"set {field}: {right} in Kubespray's inventory, run it "
                      "again, and write it here", mistake.got)  # fmt: skip
    elif plugin != OWN_CNI:
        guess = nearest(plugin, ("flannel", OWN_CNI)) or "flannel"
        reason = KUBESPRAY_REFUSED.get(plugin, "works only with Linux nodes")
        found.add(KUBESPRAY_PLUGIN, ("network_plugin",), reason, f'set kube_network_plugin to "{guess}"', plugin)
    return found


def _shared(cluster: _ExistingCluster) -> dict[str, Any]:
    """What goes into the target unchanged."""
    return {one.name: getattr(cluster, one.name) for one in fields(_ExistingCluster)}


def _checked(kind: str, target: JoinTarget, found: Mistakes) -> JoinTarget:
    found.take(check_join_target(target))
    refuse(kind, target.cluster_name, found)
    return target
