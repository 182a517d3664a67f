"""The port matrix: which machine may reach which."""

from dataclasses import fields

import pytest
from winkube.network.ports import EKS_RULES, POD_NETWORKS, Ports, check_ports, self_managed_rules


def reachable(rules, source: str, target: str) -> set[tuple[str, int, int]]:
    return {(rule.protocol, rule.first, rule.last) for rule in rules if (rule.source, rule.target) == (source, target)}


def test_the_matrix_of_a_self_managed_cluster():
    """The published ports of Kubernetes, and VXLAN on 4789 between all nodes."""
    rules = self_managed_rules()
    assert reachable(rules, "client", "api_load_balancer") == {("tcp", 6443, 6443)}
    assert reachable(rules, "api_load_balancer", "control_plane") == {("tcp", 6443, 6443)}
    assert reachable(rules, "control_plane", "windows_worker") == {("tcp", 10250, 10250), ("udp", 4789, 4789)}
    assert reachable(rules, "windows_worker", "linux_worker") == {("udp", 4789, 4789)}
    assert reachable(rules, "control_plane", "control_plane") == {
        ("tcp", 6443, 6443),
        ("tcp", 2379, 2379),
        ("tcp", 2380, 2380),
        ("tcp", 10250, 10250),
        ("tcp", 10257, 10257),
        ("tcp", 10259, 10259),
        ("udp", 4789, 4789),
    }


def test_workers_reach_the_api_servers_but_not_etcd():
    """Their pods come past the load balancer: the Service "kubernetes" leads to the nodes of the control plane."""
    rules = self_managed_rules()
    for worker in ("linux_worker", "windows_worker"):
        assert reachable(rules, worker, "control_plane") == {("tcp", 6443, 6443), ("udp", 4789, 4789)}


def test_the_insecure_ports_of_old_are_not_opened():
    """10251 and 10252 served scheduler and controller manager without TLS until Kubernetes 1.23."""
    assert not {rule.first for rule in self_managed_rules()} & {10251, 10252, 10255}


def test_a_changed_port_moves_its_rules():
    """One source of truth: the rule follows the number."""
    rules = self_managed_rules(Ports(api=8443, kubelet=11250))
    assert reachable(rules, "client", "api_load_balancer") == {("tcp", 8443, 8443)}
    assert ("tcp", 11250, 11250) in reachable(rules, "control_plane", "linux_worker")
    assert not any(rule.first in (6443, 10250) for rule in rules)


def test_external_etcd_and_the_vpc_as_pod_network_open_nothing_of_theirs():
    rules = self_managed_rules(stacked_etcd=False, pod_network="amazon-vpc")
    assert not any(rule.first in (2379, 2380, 4789) for rule in rules)


def test_node_ports_are_opened_on_wish_alone():
    assert not any(rule.last == 32767 for rule in self_managed_rules())
    opened = self_managed_rules(load_balancer_node_ports=True)
    assert reachable(opened, "client", "windows_worker") == {("tcp", 30000, 32767), ("tcp", 10256, 10256)}


def test_eks_asks_for_the_api_the_kubelet_and_dns():
    """CoreDNS runs on Linux; the control plane reaches webhooks and kubelets of both systems."""
    assert reachable(EKS_RULES, "windows_worker", "eks_control_plane") == {("tcp", 443, 443)}
    assert reachable(EKS_RULES, "eks_control_plane", "windows_worker") == {("tcp", 443, 443), ("tcp", 10250, 10250)}
    assert ("tcp", 9443, 9443) in reachable(EKS_RULES, "eks_control_plane", "linux_worker")
    assert reachable(EKS_RULES, "windows_worker", "linux_worker") == {("tcp", 53, 53), ("udp", 53, 53)}


def test_rows_are_found_by_their_target():
    assert {rule.source for rule in self_managed_rules() if rule.target == "api_load_balancer"} == {
        "client",
        "control_plane",
        "linux_worker",
        "windows_worker",
    }


def test_the_defaults_are_accepted():
    assert not check_ports(Ports())
    assert set(POD_NETWORKS) == {"amazon-vpc", "flannel-vxlan"}


@pytest.mark.parametrize("name", [field.name for field in fields(Ports)])
def test_a_port_out_of_range_is_refused(name: str):
    """WK-NET-017."""
    found = [mistake for mistake in check_ports(Ports(**{name: 70000})) if mistake.rule.code == "WK-NET-017"]
    assert found[0].path == (name,)
    assert found[0].got == 70000
    assert "1 to 65535" in found[0].message


def test_a_range_that_ends_before_it_begins_is_refused():
    """WK-NET-017."""
    (mistake,) = check_ports(Ports(node_port_first=32000, node_port_last=31000))
    assert (mistake.rule.code, mistake.path) == ("WK-NET-017", ("node_port_first",))
    assert "31000" in mistake.message


def test_a_port_that_is_taken_is_refused():
    """WK-NET-018, by another service or by the NodePort range."""
    (mistake,) = check_ports(Ports(scheduler=10250))
    assert (mistake.rule.code, mistake.path) == ("WK-NET-018", ("scheduler",))
    assert "kubelet" in mistake.message
    (mistake,) = check_ports(Ports(api=31000))
    assert (mistake.rule.code, mistake.path) == ("WK-NET-018", ("api",))
    assert "30000 to 32767" in mistake.message


def test_vxlan_with_windows_is_4789():
    """WK-NET-019: Linux' own default, 8472, is refused as soon as there are Windows nodes."""
    (mistake,) = check_ports(Ports(vxlan=8472))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-NET-019", ("vxlan",), 8472)
    assert "4789" in mistake.remedy
    assert not check_ports(Ports(vxlan=8472), windows=False)


def test_an_unknown_pod_network_is_refused():
    """WK-NET-020."""
    (mistake,) = check_ports(Ports(), pod_network="flannel")
    assert (mistake.rule.code, mistake.path) == ("WK-NET-020", ("pod_network",))
    assert mistake.remedy == 'write "flannel-vxlan"'
