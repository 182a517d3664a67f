"""Clusters that other tools made, as targets of instance groups: kops, Kubespray, kubeadm by hand.

Each helper knows the tool's own defaults and what of them Windows nodes cannot live with; the rest is said in plain
words. What has to be done in the cluster itself is in ``docs/join-existing-clusters.md``.
"""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import TypedDict, Unpack

import pulumi

from ..core.cidr import network_or_none, nth_address
from ..core.errors import refuse
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..ec2.proxy import Proxy
from ..instance_groups.join_target import JoinTarget, check_join_target
from ..instance_groups.target_rules import WINDOWS_VNI, check_vxlan
from ..network.ports import Ports

KOPS_NETWORKING = Rule("WK-IG-060", "A kops cluster with Windows nodes leaves the pod network to others.",
                       "https://kops.sigs.k8s.io/networking/")  # fmt: skip
KUBESPRAY_PLUGIN = Rule("WK-IG-061", "A Kubespray cluster with Windows nodes has flannel with their VNI and port.",
                        "https://kubespray.io/#/docs/CNI/flannel")  # fmt: skip

KOPS_REFUSED: Mapping[str, str] = {
    "flannel": f"kops' flannel has VNI 1 and UDP 8472 and no field for others; Windows needs VNI {WINDOWS_VNI} and UDP "
    f"{Ports.vxlan}",
    "amazonvpc": "kops switches Windows IPAM of the VPC CNI off, and the controller that it needs runs on EKS alone",
    "calico": "kops installs Calico without its operator, which looks after Windows nodes",
    "cilium": "Cilium has no agent for Windows",
    "kubenet": "kubenet was removed with dockershim and never ran on Windows",
    "kindnet": "kindnet routes by the tables of Linux",
    "kube-router": "kube-router runs on Linux alone",
}
"""What ``spec.networking`` of a kops cluster can be, and why not with Windows nodes."""
KUBESPRAY_REFUSED: Mapping[str, str] = {
    "calico": "Kubespray installs Calico without its operator, which looks after Windows nodes",
    "cilium": "Cilium has no agent for Windows",
    "kube-ovn": "Kube-OVN's support for Windows is not of HostProcess containers",
    "kube-router": "kube-router runs on Linux alone",
    "weave": "Weave Net was archived in 2024 and never ran on Windows",
}
"""What ``kube_network_plugin`` can be, and why not with Windows nodes."""
OWN_CNI = "cni"
"""The word of both tools for a pod network that somebody else installs: the ``Flannel`` of winkube, for example."""


class TargetFields(TypedDict, total=False):
    """What every helper hands on as it is; the meaning of each is that of ``JoinTarget``."""

    bucket_key_arn: pulumi.Input[str] | None
    token_key_arn: pulumi.Input[str] | None
    cluster_domain: str
    node_cidr_mask: int
    incarnation: int
    control_plane_security_group_ids: Sequence[pulumi.Input[str]]
    node_security_group_ids: Sequence[pulumi.Input[str]]
    api_security_group_ids: Sequence[pulumi.Input[str]]
    linux_security_group_ids: Sequence[pulumi.Input[str]]
    windows_security_group_ids: Sequence[pulumi.Input[str]]
    mirror: str | None
    registry_mirrors: Mapping[str, str]
    artefact_digests: Mapping[str, str]
    image_repository: str | None
    proxy: Proxy | None


def target_of_kops(
    *,
    cluster_name: str,
    kubernetes_version: str,
    region: str,
    token_parameter: str,
    certificate_authority: pulumi.Input[str],
    vpc_id: pulumi.Input[str],
    bucket: pulumi.Input[str],
    bucket_arn: pulumi.Input[str],
    networking: str = OWN_CNI,
    endpoint: str | None = None,
    pod_cidr: str = "100.96.0.0/11",
    service_cidr: str = "100.64.0.0/13",
    **more: Unpack[TargetFields],
) -> JoinTarget:
    """A cluster of kops.

    :param networking: the key of its ``spec.networking``; only ``cni`` goes with Windows nodes.
    :param endpoint: ``api.internal.<cluster>:443`` by default.
    :param bucket: one for the boot files, not kops' state store: whoever reads that administers the cluster.
    :raises WinkubeError: ``WK-IG-060``, and what ``check_join_target`` finds.
    """
    found = check_kops_networking(networking)
    target = JoinTarget(
        cluster_name=cluster_name,
        kubernetes_version=kubernetes_version,
        region=region,
        endpoint=endpoint or f"api.internal.{cluster_name}:443",
        token_parameter=token_parameter,
        certificate_authority=certificate_authority,
        vpc_id=vpc_id,
        bucket=bucket,
        bucket_arn=bucket_arn,
        pod_cidr=pod_cidr,
        service_cidr=service_cidr,
        **more,
    )
    return _checked("target_of_kops", target, found)


def target_of_kubespray(
    *,
    cluster_name: str,
    kubernetes_version: str,
    region: str,
    endpoint: str,
    token_parameter: str,
    certificate_authority: pulumi.Input[str],
    vpc_id: pulumi.Input[str],
    bucket: pulumi.Input[str],
    bucket_arn: pulumi.Input[str],
    network_plugin: str = "flannel",
    flannel_vxlan_vni: int = 1,
    flannel_vxlan_port: int = 8472,
    pod_cidr: str = "10.233.64.0/18",
    service_cidr: str = "10.233.0.0/18",
    cloud_provider: str = "none",
    **more: Unpack[TargetFields],
) -> JoinTarget:
    """A cluster of Kubespray. The defaults are its own: VNI and port have to be changed there first.

    :param network_plugin: ``kube_network_plugin``: ``flannel``, or ``cni`` where somebody else installs the network.
    :param flannel_vxlan_vni: ``flannel_vxlan_vni``, which has to be 4096.
    :param flannel_vxlan_port: ``flannel_vxlan_port``, which has to be 4789.
    :param cloud_provider: ``external`` where ``cloud_provider`` is, ``none`` by default.
    :raises WinkubeError: ``WK-IG-061``, and what ``check_join_target`` finds.
    """
    found = check_kubespray_network(network_plugin, flannel_vxlan_vni, flannel_vxlan_port)
    services = network_or_none(service_cidr)
    target = JoinTarget(
        cluster_name=cluster_name,
        kubernetes_version=kubernetes_version,
        region=region,
        endpoint=endpoint,
        token_parameter=token_parameter,
        certificate_authority=certificate_authority,
        vpc_id=vpc_id,
        bucket=bucket,
        bucket_arn=bucket_arn,
        pod_cidr=pod_cidr,
        service_cidr=service_cidr,
        # Kubespray's CoreDNS has the third address; its cache on 169.254.25.10 is on Linux nodes alone.
        dns_ip=None if services is None or services.num_addresses < 4 else _third(services),
        cloud_provider=cloud_provider,
        **more,
    )
    return _checked("target_of_kubespray", target, found)


def target_of_kubeadm(
    *,
    cluster_name: str,
    kubernetes_version: str,
    region: str,
    endpoint: str,
    token_parameter: str,
    certificate_authority: pulumi.Input[str],
    vpc_id: pulumi.Input[str],
    bucket: pulumi.Input[str],
    bucket_arn: pulumi.Input[str],
    pod_cidr: str,
    vxlan_vni: int,
    vxlan_port: int,
    service_cidr: str = "10.96.0.0/12",
    pod_network: str = "flannel-vxlan",
    cloud_provider: str = "none",
    **more: Unpack[TargetFields],
) -> JoinTarget:
    """A cluster that was made by hand with kubeadm.

    :param pod_cidr: ``networking.podSubnet``: kubeadm has no default for it.
    :param vxlan_vni: the VNI in flannel's ``net-conf.json``; upstream's manifest has 1, Windows needs 4096.
    :param vxlan_port: the port there; upstream's manifest has 8472, Windows needs 4789.
    :param cloud_provider: ``external`` where the AWS cloud controller manager runs, ``none`` by default.
    :raises WinkubeError: what ``check_join_target`` finds.
    """
    target = JoinTarget(
        cluster_name=cluster_name,
        kubernetes_version=kubernetes_version,
        region=region,
        endpoint=endpoint,
        token_parameter=token_parameter,
        certificate_authority=certificate_authority,
        vpc_id=vpc_id,
        bucket=bucket,
        bucket_arn=bucket_arn,
        pod_cidr=pod_cidr,
        service_cidr=service_cidr,
        pod_network=pod_network,
        vxlan_vni=vxlan_vni,
        vxlan_port=vxlan_port,
        cloud_provider=cloud_provider,
        **more,
    )
    return _checked("target_of_kubeadm", target, Mistakes())


def check_kops_networking(networking: str) -> Mistakes:
    """Whether the pod network of a kops cluster goes with Windows nodes (``WK-IG-060``)."""
    found = Mistakes()
    if networking != OWN_CNI:
        reason = KOPS_REFUSED.get(networking.lower(), f"is none of kops' networks: {one_of([OWN_CNI, *KOPS_REFUSED])}")
        found.add(KOPS_NETWORKING, ("networking",), reason, "write spec.networking as cni: {}, roll the cluster, and "
                  "let winkube install flannel on Linux and Windows nodes", networking)  # fmt: skip
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
        reason = KUBESPRAY_REFUSED.get(plugin, "goes with Linux nodes alone")
        found.add(KUBESPRAY_PLUGIN, ("network_plugin",), reason, f'set kube_network_plugin to "{guess}"', plugin)
    return found


def _third(services: IPv4Network) -> str:
    return str(nth_address(services, 3))


def _checked(kind: str, target: JoinTarget, found: Mistakes) -> JoinTarget:
    found.take(check_join_target(target))
    refuse(kind, target.cluster_name, found)
    return target
