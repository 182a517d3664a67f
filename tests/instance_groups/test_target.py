"""Clusters that workers join: what is wrong with their description."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.errors import WinkubeError
from winkube.ec2.proxy import Proxy
from winkube.existing_clusters.self_managed import (
    KOPS_REFUSED,
    KUBESPRAY_REFUSED,
    KopsCluster,
    KubeadmCluster,
    KubesprayCluster,
    target_of_kops,
    target_of_kubeadm,
    target_of_kubespray,
)
from winkube.instance_groups.join_target import JoinTarget, check_join_target
from winkube.instance_groups.target_rules import REFUSED_POD_NETWORKS, check_pod_network, check_target_security

from .samples import PEM, make_target


def test_an_ordinary_target_passes():
    """What our own control plane says of itself is right."""
    assert not check_join_target(make_target())
    assert make_target().dns_service_ip == "10.96.0.10"
    assert make_target(region="cn-north-1").partition == "aws-cn"


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"kubernetes_version": "1.34"}, "WK-KAD-001", ("kubernetes_version",), "out of support"),
        ({"endpoint": "https://api.prod.example.com"}, "WK-IG-001", ("endpoint",), '"api.prod.example.com:6443"'),
        ({"endpoint": "api.prod.example.com:70000"}, "WK-IG-001", ("endpoint",), "without a scheme"),
        ({"token_parameter": "winkube prod"}, "WK-IG-002", ("token_parameter",), '"/winkube-prod"'),
        ({"token_parameter": "/aws/token"}, "WK-IG-002", ("token_parameter",), "/winkube/dev/join-token"),
        ({"pod_cidr": "10.244.0.1/16"}, "WK-IG-003", ("pod_cidr",), "host bits"),
        ({"pod_cidr": "fd00::/56"}, "WK-IG-003", ("pod_cidr",), "support IPv4 only"),
        ({"service_cidr": "10.244.0.0/20"}, "WK-IG-003", ("service_cidr",), "10.244.0.0/16"),
        ({"service_cidr": "10.96.0.0/30"}, "WK-IG-003", ("service_cidr",), "tenth address"),
        ({"dns_ip": "169.254.25.10"}, "WK-IG-003", ("dns_ip",), "kubectl"),
        ({"node_cidr_mask": 16}, "WK-IG-004", ("node_cidr_mask",), "set node_cidr_mask to 17"),
        ({"node_cidr_mask": 30}, "WK-IG-004", ("node_cidr_mask",), "set node_cidr_mask to 28"),
        ({"pod_cidr": "10.0.0.0/9", "service_cidr": "172.20.0.0/16", "node_cidr_mask": 26}, "WK-IG-004",
         ("node_cidr_mask",), "25 or less"),
        ({"pod_network": "flanel-vxlan"}, "WK-IG-005", ("pod_network",), '"flannel-vxlan"'),
        ({"vxlan_vni": 1}, "WK-IG-006", ("vxlan_vni",), "4096"),
        ({"vxlan_port": 8472}, "WK-IG-006", ("vxlan_port",), "4789"),
        ({"cluster_domain": "Cluster.Local"}, "WK-IG-007", ("cluster_domain",), "cluster.local"),
        ({"image_repository": "https://registry.example.com/k8s/"}, "WK-IG-008", ("image_repository",),
         '"registry.example.com/k8s"'),
        ({"cloud_provider": "aws"}, "WK-IG-009", ("cloud_provider",), "1.27"),
        ({"mirror": "mirror.example.com"}, "WK-ART-004", ("mirror",), "https://"),
        ({"registry_mirrors": {"https://docker.io": "x"}}, "WK-ART-005", None, "registry"),
        ({"proxy": Proxy(https="proxy")}, "WK-EKS-088", ("proxy", "https"), "http://proxy"),
        ({"region": "eu-west-1a"}, "WK-NET-001", ("region",), '"eu-west-1"'),
        ({"cluster_name": ".prod"}, "WK-BKT-009", ("cluster_name",), "begin with a dot"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_cluster_is_said(change: dict[str, Any], code: str, path: Any, words: str):
    """Each rule: its code, where, and the value or limit that would do."""
    found = [mistake for mistake in check_join_target(make_target(**change)) if mistake.rule.code == code]
    assert found, [mistake.text() for mistake in check_join_target(make_target(**change))]
    assert path is None or found[0].path == path
    assert words in found[0].text()


def test_all_mistakes_are_told_at_once():
    """Nobody mends one mistake to meet the next."""
    codes = {m.rule.code for m in check_join_target(make_target(endpoint="x", vxlan_vni=1, pod_cidr="no"))}
    assert codes == {"WK-IG-001", "WK-IG-003", "WK-IG-006"}


@pytest.mark.parametrize("pod_network", REFUSED_POD_NETWORKS)
def test_pod_networks_that_people_ask_for_are_refused_with_the_reason(pod_network: str):
    """WK-IG-005 says why, not only that."""
    (mistake,) = check_pod_network(pod_network)
    assert (mistake.rule.code, mistake.message) == ("WK-IG-005", REFUSED_POD_NETWORKS[pod_network])


def test_calico_of_the_operator_is_a_pod_network():
    """Its VXLAN is the one that Windows speaks."""
    assert not check_join_target(make_target(pod_network="calico-vxlan"))


def test_no_cluster_is_described_without_a_bucket_to_boot_from():
    """There is no default: nodes fetch boot code and documents there."""
    whole = make_target()
    facts = {field.name: getattr(whole, field.name) for field in fields(JoinTarget) if field.init}
    assert JoinTarget(**facts) == whole
    del facts["bucket"]
    with pytest.raises(TypeError, match="'bucket'"):
        JoinTarget(**facts)


def test_security_groups_are_given_or_made():
    """WK-IG-010 where neither the groups of workers nor those of other nodes are known."""
    nothing = make_target(control_plane_security_group_ids=(), node_security_group_ids=())
    found = check_target_security(nothing, "windows")
    assert [m.path for m in found] == [("control_plane_security_group_ids",), ("node_security_group_ids",)]
    assert {m.rule.code for m in found} == {"WK-IG-010"}
    assert not check_target_security(replace(nothing, windows_security_group_ids=("sg-1",)), "windows")
    assert check_target_security(replace(nothing, windows_security_group_ids=("sg-1",)), "linux")


@given(prefix=st.integers(8, 24), mask=st.integers(0, 32))
def test_a_mask_passes_exactly_where_parts_lie_in_the_network(prefix: int, mask: int):
    """A part is smaller than the whole, holds pods, and is one of at most 2^16."""
    target = make_target(pod_cidr=f"10.0.0.0/{prefix}", service_cidr="172.20.0.0/16", node_cidr_mask=mask)
    right = prefix < mask <= 28 and mask - prefix <= 16
    assert right == (not [m for m in check_join_target(target) if m.rule.code == "WK-IG-004"])


FACTS = {
    "cluster_name": "old.example.com", "kubernetes_version": "1.36", "region": "eu-west-1",
    "token_parameter": "/winkube/old/join-token", "certificate_authority": PEM, "vpc_id": "vpc-1", "bucket": "boot",
    "bucket_arn": "arn:aws:s3:::boot",
}  # fmt: skip


DESCRIPTIONS = (KopsCluster, KubesprayCluster, KubeadmCluster)


def test_a_kops_cluster_has_its_own_defaults():
    """Ranges, internal name and port are those of kops."""
    target = target_of_kops(KopsCluster(**FACTS))
    assert target.endpoint == "api.internal.old.example.com:443"
    assert (target.pod_cidr, target.service_cidr, target.dns_service_ip) == (
        "100.96.0.0/11", "100.64.0.0/13", "100.64.0.10",
    )  # fmt: skip
    assert target.cloud_provider == "external"


@pytest.mark.parametrize("networking", [*KOPS_REFUSED, "romana"])
def test_networks_of_kops_are_refused_with_what_to_write(networking: str):
    """WK-IG-060: kops' flannel, for one, cannot be given VNI 4096."""
    with pytest.raises(WinkubeError) as raised:
        target_of_kops(KopsCluster(**FACTS, networking=networking))
    (mistake,) = raised.value.mistakes
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-IG-060", ("networking",), networking)
    assert "cni: {}" in mistake.remedy
    if networking == "flannel":
        assert "4096" in mistake.message


def test_a_kubespray_cluster_needs_another_vni_and_port():
    """Its defaults are refused by name; with the right ones its third address is the DNS'."""
    with pytest.raises(WinkubeError) as raised:
        target_of_kubespray(KubesprayCluster(**FACTS, endpoint="10.0.0.5:6443"))
    assert [m.path for m in raised.value.mistakes] == [("flannel_vxlan_vni",), ("flannel_vxlan_port",)]
    assert "flannel_vxlan_vni: 4096" in raised.value.mistakes[0].remedy
    target = target_of_kubespray(
        KubesprayCluster(
            **FACTS,
            endpoint="10.0.0.5:6443",
            flannel_vxlan_vni=4096,
            flannel_vxlan_port=4789,
            cloud_provider="external",
        )
    )
    assert (target.dns_service_ip, target.cloud_provider) == ("10.233.0.3", "external")


@pytest.mark.parametrize("plugin", [*KUBESPRAY_REFUSED, "canal"])
def test_other_plugins_of_kubespray_are_refused(plugin: str):
    """WK-IG-061 with the reason."""
    with pytest.raises(WinkubeError, match="WK-IG-061"):
        target_of_kubespray(KubesprayCluster(**FACTS, endpoint="10.0.0.5:6443", network_plugin=plugin))


def test_a_kubeadm_cluster_is_asked_for_its_flannel():
    """VNI and port have no default: upstream's manifest has others than Windows needs."""
    facts = {**FACTS, "endpoint": "a:6443", "pod_cidr": "10.244.0.0/16", "mirror": "https://mirror.example.com"}
    with pytest.raises(WinkubeError, match="WK-IG-006"):
        target_of_kubeadm(KubeadmCluster(**facts, vxlan_vni=1, vxlan_port=8472))
    target = target_of_kubeadm(KubeadmCluster(**facts, vxlan_vni=4096, vxlan_port=4789))
    assert (target.cloud_provider, target.mirror) == ("none", "https://mirror.example.com")


def test_a_description_hands_on_what_a_target_knows():
    """Each field that the tools share is one of the target's, with the same default."""
    target = {one.name: one.default for one in fields(JoinTarget)}
    shared = set.intersection(*({one.name for one in fields(kind)} for kind in DESCRIPTIONS))
    for one in fields(KopsCluster):
        if one.name in shared - {"endpoint", "pod_cidr", "service_cidr"}:
            assert one.default == target[one.name], one.name
