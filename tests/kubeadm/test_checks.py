"""What a cluster's configuration is refused for, before a machine reads it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import Mistakes
from winkube.kubeadm import configuration_rules
from winkube.kubeadm.config import (
    AuditLog,
    ClusterConfig,
    ExtraArguments,
    KmsPlugin,
    KubeletSettings,
    PodSecurity,
    ServiceAccountIssuer,
)
from winkube.kubeadm.configuration_rules import (
    check_cluster_config,
    check_dns_name,
    check_endpoint,
    check_kubelet_settings,
    check_pause_image,
    node_pods,
)
from winkube.tables.releases import SELF_MANAGED_MINORS

GOOD = ClusterConfig(cluster_name="prod.example.com", kubernetes_version="1.36", endpoint="api.prod.example.com:6443")
KEY = "arn:aws:kms:eu-west-1:123456789012:key/0d2a"
IMAGE = "registry.example.com/aws-encryption-provider@sha256:" + "a" * 64


def texts(found: Mistakes) -> list[str]:
    return [mistake.text("winkube:") for mistake in found]


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_the_defaults_are_right_for_every_minor(minor: str):
    assert texts(check_cluster_config(replace(GOOD, kubernetes_version=minor), vpc_cidr="172.20.0.0/16")) == []


def test_everything_set_rightly_is_right():
    cluster = replace(
        GOOD,
        api_server_names=("api.internal.prod.example.com", "10.0.0.7", "*.prod.example.com"),
        secrets_encryption="kms",
        kms=KmsPlugin(image=IMAGE, key_arn=KEY, region="eu-west-1"),
        service_account_issuer=ServiceAccountIssuer(
            issuer="https://b.s3.eu-west-1.amazonaws.com/x", jwks_uri="https://b.s3.eu-west-1.amazonaws.com/x/keys.json"
        ),
        pod_security=PodSecurity(exempt_namespaces=("gmsa",)),
        kubelet=KubeletSettings(max_pods=250, eviction_hard={"memory.available": "5%"}, kube_reserved={"cpu": "100m"}),
        feature_gates={"WindowsGracefulNodeShutdown": True},
    )
    assert texts(check_cluster_config(cluster, vpc_cidr="172.20.0.0/16", node_count=256)) == []


WRONG: list[tuple[dict[str, Any], str, str, tuple[str, ...]]] = [
    ({"kubernetes_version": "1.34"}, "WK-KAD-001", "kubernetes_version", ('set kubernetes_version to "1.35"',)),
    ({"node_cidr_mask": 16}, "WK-KAD-003", "node_cidr_mask", ("must be 17 to 28, got 16", "set node_cidr_mask to 24")),
    ({"node_cidr_mask": 30}, "WK-KAD-003", "node_cidr_mask", ("set node_cidr_mask to 24",)),
    ({"pod_cidr": "10.240.0.0/24", "node_cidr_mask": 24}, "WK-KAD-003", "node_cidr_mask", ("must be 25 to 28",)),
    ({"pod_cidr": "10.244.0.0/8"}, "WK-NET-003", "pod_cidr", ('write "10.0.0.0/8"',)),
    ({"pod_cidr": "10.244.0.0"}, "WK-NET-002", "pod_cidr", ("is not an IPv4 network",)),
    ({"service_cidr": "fd00::/108"}, "WK-NET-002", "service_cidr", ("IPv6",)),
    ({"service_cidr": "10.244.128.0/17"}, "WK-NET-015", "service_cidr", ("overlaps pod_cidr (10.244.0.0/16)",)),
    ({"service_cidr": "10.0.0.0/8", "pod_cidr": "192.168.0.0/16"}, "WK-KAD-009", "service_cidr", ("/16",)),
    ({"service_cidr": "10.96.0.0/29"}, "WK-KAD-009", "service_cidr", ("12 to 28",)),
    ({"endpoint": "https://api.prod.example.com:6443"}, "WK-KAD-006", "endpoint", ('"api.prod.example.com:6443"',)),
    ({"endpoint": "api.prod.example.com"}, "WK-KAD-006", "endpoint", ('write "api.prod.example.com:6443"',)),
    ({"endpoint": "a" * 64 + ".example.com:6443"}, "WK-KAD-024", "endpoint", ("64 characters", "shorten it by 1")),
    ({"cluster_domain": "Cluster.local"}, "WK-KAD-024", "cluster_domain", ('write "cluster.local"',)),
    ({"api_server_names": ("ok.example.com", "a_b")}, "WK-KAD-024", "api_server_names[1]", ('write "a-b"',)),
    ({"encryption_algorithm": "ECDSA-P521"}, "WK-KAD-020", "encryption_algorithm", ('"ECDSA-P384"', "ECDSA-P256")),
    ({"anonymous_access": "helth"}, "WK-KAD-020", "anonymous_access", ('write "health"',)),
    ({"secrets_encryption": "aescbc"}, "WK-KAD-020", "secrets_encryption", ('"secretbox", "kms" or "none"',)),
    ({"kube_proxy_mode": "ipvs"}, "WK-KAD-020", "kube_proxy_mode", ('"iptables" or "nftables"',)),
    ({"certificate_validity_days": 0}, "WK-KAD-023", "certificate_validity_days", ("must be 1 to 3650, got 0",)),
    ({"etcd_quota_gib": 16}, "WK-KAD-023", "etcd_quota_gib", ("write 8",)),
    ({"audit": AuditLog(max_backups=0)}, "WK-KAD-023", "audit.max_backups", ("write 1",)),
    ({"secrets_encryption": "kms"}, "WK-KAD-021", "kms", ("kms.image", '"secretbox"')),
    ({"kms": KmsPlugin(image=IMAGE, key_arn=KEY, region="eu-west-1")}, "WK-KAD-021", "secrets_encryption",
     ("kms is set",)),
    ({"encrypted_resources": ()}, "WK-KAD-021", "encrypted_resources", ('write ["secrets"]',)),
    (
        {"service_account_issuer": ServiceAccountIssuer(issuer="http://b.example.com/", jwks_uri="https://b.example.com/k")},
        "WK-KAD-022", "service_account_issuer.issuer", ('write "https://b.example.com"',),
    ),
    ({"pod_security": PodSecurity(enforce="strict")}, "WK-KAD-020", "pod_security.enforce", ("restricted",)),
    ({"pod_security": PodSecurity(exempt_namespaces=("Kube",))}, "WK-KAD-024", "pod_security.exempt_namespaces[0]",
     ('write "kube"',)),
    ({"feature_gates": {"WinDSR": False}}, "WK-KAD-015", "feature_gates.WinDSR", ("locked to true, got false",)),
    ({"extra_arguments": ExtraArguments(api_server={"cloud-provider": "aws"})}, "WK-KAD-010",
     "extra_arguments.api_server.cloud-provider", ("Kubernetes 1.33 removed",)),
    ({"kubelet": KubeletSettings(max_pods=300)}, "WK-KAD-005", "kubelet.max_pods",
     ("/24 subnet", "253 pods, got 300", "set max_pods to 253", "to 23")),
    ({"kubelet": KubeletSettings(configuration={"maxpods": 3})}, "WK-KAD-016", "kubelet.configuration.maxpods",
     ('write "maxPods"',)),
    ({"kubelet": KubeletSettings(arguments={"max-pods": "3"})}, "WK-KAD-012", "kubelet.arguments.max-pods",
     ("set max_pods",)),
    ({"secrets_encryption": "kms", "kms": KmsPlugin(image="x:1", key_arn=KEY, region="eu-west-1")}, "WK-KAD-021",
     "kms.image", ("by digest",)),
    ({"secrets_encryption": "kms", "kms": KmsPlugin(image=IMAGE, key_arn="alias/x", region="eu-west-1")}, "WK-KAD-021",
     "kms.key_arn", ("not of an alias",)),
    ({"secrets_encryption": "kms", "kms": KmsPlugin(image=IMAGE, key_arn=KEY, region="us-east-1")}, "WK-KAD-021",
     "kms.region", ('write "eu-west-1"',)),
]  # fmt: skip


@pytest.mark.parametrize(("change", "code", "path", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_cluster_is_refused_where_it_is_wrong(
    change: dict[str, Any], code: str, path: str, words: tuple[str, ...]
):
    found = texts(check_cluster_config(replace(GOOD, **change)))
    ours = [text for text in found if text.endswith(f"[{code}]") and text.startswith(f"winkube:{path}: ")]
    assert len(ours) == 1, found
    for word in words:
        assert word in ours[0]


def test_all_mistakes_are_told_at_once():
    cluster = replace(GOOD, kubernetes_version="1.30", endpoint="x", kube_proxy_mode="ipvs", etcd_quota_gib=0)
    codes = {mistake.rule.code for mistake in check_cluster_config(cluster)}
    assert codes == {"WK-KAD-001", "WK-KAD-006", "WK-KAD-020", "WK-KAD-023"}


def test_machines_services_and_pods_must_lie_apart():
    found = texts(check_cluster_config(GOOD, vpc_cidr="10.96.0.0/16"))
    assert any("service_cidr: overlaps vpc_cidr (10.96.0.0/16)" in text and "[WK-NET-015]" in text for text in found)


def test_more_nodes_than_parts_of_the_pod_network_are_refused_with_the_network_that_holds_them():
    (text,) = texts(check_cluster_config(GOOD, node_count=300))
    assert "10.244.0.0/16 has 256 subnets of /24, and the groups may have 300 nodes" in text
    assert "set pod_cidr to a /15 network" in text
    assert "[WK-KAD-004]" in text


@given(mask=st.integers(17, 28), count=st.integers(1, 5000))
def test_node_count_is_refused_exactly_above_the_number_of_parts(mask: int, count: int):
    found = check_cluster_config(replace(GOOD, node_cidr_mask=mask), node_count=count)
    refused = any(mistake.rule is configuration_rules.NODE_COUNT for mistake in found)
    assert refused == (count > 2 ** (mask - 16))


@given(mask=st.integers(17, 28), pods=st.integers(1, 1000), windows=st.booleans())
def test_the_mask_that_is_offered_holds_the_pods_and_is_the_longest_that_does(mask: int, pods: int, windows: bool):
    found = check_kubelet_settings(KubeletSettings(max_pods=pods), "1.36", windows=windows, node_cidr_mask=mask)
    assert bool(found) == (pods > node_pods(mask, windows=windows))
    if found:
        offered = int(found[0].remedy.rpartition(" ")[2])
        assert node_pods(offered, windows=windows) >= pods > node_pods(offered + 1, windows=windows)


KUBELET: list[tuple[KubeletSettings, bool, str, str, str]] = [
    (KubeletSettings(max_pods=0), False, "WK-KAD-023", "max_pods", "write 1"),
    (KubeletSettings(max_pods=253), True, "WK-KAD-005", "max_pods", "addresses for 252 pods, got 253"),
    (KubeletSettings(container_log_max_files=1), False, "WK-KAD-023", "container_log_max_files", "must be 2 to 100"),
    (KubeletSettings(image_gc_low_threshold_percent=90), False, "WK-KAD-023", "image_gc_low_threshold_percent", "85"),
    (KubeletSettings(shutdown_grace_period_seconds=15), True, "WK-KAD-023",
     "shutdown_grace_period_critical_pods_seconds", "which is 15, got 20; set it to 5"),
    (KubeletSettings(container_log_max_size="10 MB"), False, "WK-KAD-025", "container_log_max_size", 'write "10Mi"'),
    (KubeletSettings(system_reserved={"memory": "2 GiB"}), True, "WK-KAD-025", "system_reserved.memory", '"500Mi"'),
    (KubeletSettings(system_reserved={"memory": "10%"}), True, "WK-KAD-025", "system_reserved.memory", "quantity"),
    (KubeletSettings(system_reserved={"memmory": "2Gi"}), True, "WK-KAD-026", "system_reserved.memmory", '"memory"'),
    (KubeletSettings(eviction_hard={"nodefs.inodesFree": "5%"}), True, "WK-KAD-026", "eviction_hard.nodefs.inodesFree",
     '"memory.available"'),
    (KubeletSettings(configuration={"cgroupDriver": "systemd"}), True, "WK-KAD-019", "configuration.cgroupDriver",
     "exists only on Linux, and these nodes run Windows"),
    (KubeletSettings(arguments={"windows-service": "true"}), True, "WK-KAD-012", "arguments.windows-service",
     "remove it"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "windows", "code", "path", "words"), KUBELET, ids=lambda value: str(value)[:30])
def test_wrong_kubelet_settings_are_refused(settings: KubeletSettings, windows: bool, code: str, path: str, words: str):
    found = texts(check_kubelet_settings(settings, "1.36", windows=windows, node_cidr_mask=24))
    ours = [text for text in found if f"[{code}]" in text and text.startswith(f"winkube:{path}: ")]
    assert len(ours) == 1, found
    assert words in ours[0]


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("windows", [True, False])
def test_the_default_kubelet_settings_are_right(minor: str, windows: bool):
    assert texts(check_kubelet_settings(KubeletSettings(), minor, windows=windows, node_cidr_mask=24)) == []


@pytest.mark.parametrize("image", ["registry.k8s.io/pause:3.10.1", "mirror.example.com/k8s/pause:3.9", "x/pause:3.10"])
def test_old_pause_image_is_refused_on_server_2025_alone(image: str):
    (text,) = texts(check_pause_image(image, windows="2025"))
    assert 'write "registry.k8s.io/pause:3.10.2"' in text
    assert "[WK-KAD-007]" in text
    assert texts(check_pause_image(image, windows="2022")) == []


@pytest.mark.parametrize(
    ("containerd", "refused"), [("2.2.5", False), ("2.3.0", True), ("2.3.3", True), ("2.3.4", False)]
)
def test_pinned_pause_image_is_refused_with_the_containerd_that_cannot_start_it(containerd: str, refused: bool):
    image = "registry.k8s.io/pause:3.10.2@sha256:" + "0" * 64
    found = texts(check_pause_image(image, windows="2025", containerd=containerd))
    assert bool(found) == refused
    if refused:
        assert f"containerd {containerd} cannot start pods" in found[0]
        assert "use containerd 2.3.4 or newer" in found[0]
        assert "[WK-KAD-008]" in found[0]
    assert texts(check_pause_image("registry.k8s.io/pause:3.10.2", containerd=containerd)) == []


@pytest.mark.parametrize("endpoint", ["api.example.com:6443", "10.0.0.1:443", "internal-x.elb.amazonaws.com:6443"])
def test_endpoints_of_names_and_addresses_are_right(endpoint: str):
    assert not check_endpoint(endpoint)


def test_a_name_of_254_characters_is_refused_and_one_of_253_is_not():
    name = ".".join(["a" * 62] * 4)[:250]
    assert not check_dns_name(name + ".bb", ("endpoint",))
    (mistake,) = check_dns_name(name + ".bbb", ("endpoint",))
    assert "at most 253 characters, and this has 254" in mistake.message
