"""The real kubeadm of every minor reads every document, strictly; and finds what is misspelt."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from winkube.kubeadm import kubeadm_documents, kubeconfig, kubelet, paths
from winkube.kubeadm.config import (
    AuditLog,
    ClusterConfig,
    ExtraArguments,
    KmsPlugin,
    KubeletSettings,
    NodeConfig,
    PodSecurity,
    ServiceAccountIssuer,
)
from winkube.kubeadm.configuration_rules import ALGORITHMS, check_cluster_config
from winkube.kubeadm.rendering import Document, render
from winkube.scheduling.labels import Taint
from winkube.tables.releases import SELF_MANAGED_MINORS

from tests.binaries import binary

from .places import filled, moved

pytestmark = pytest.mark.proof

GOOD = ClusterConfig(cluster_name="prod.example.com", kubernetes_version="1.36", endpoint="api.prod.example.com:6443")
SETTINGS = KubeletSettings(
    max_pods=200,
    system_reserved={"memory": "1Gi", "pid": "1000"},
    eviction_hard={"memory.available": "5%"},
    parallel_image_pulls=1,
    shutdown_grace_period_seconds=0,
    shutdown_grace_period_critical_pods_seconds=0,
    configuration={
        "topologyManagerPolicy": "restricted",
        "cpuManagerPolicy": "static",
        "allowedUnsafeSysctls": ["net.*"],
    },
    arguments={"v": "4"},
)
CLUSTERS: dict[str, dict[str, Any]] = {
    "defaults": {},
    **{algorithm: {"encryption_algorithm": algorithm} for algorithm in ALGORITHMS},
    "open": {"anonymous_access": "all", "audit": None, "secrets_encryption": "none", "event_rate_limit": False},
    "closed": {
        "anonymous_access": "none",
        "always_pull_images": True,
        "pod_security": PodSecurity(enforce="restricted"),
    },
    "kms": {
        "secrets_encryption": "kms",
        "encrypted_resources": ("secrets", "configmaps"),
        "kms": KmsPlugin(
            image="registry.example.com/kms@sha256:" + "a" * 64,
            key_arn="arn:aws:kms:eu-west-1:123456789012:key/1",
            region="eu-west-1",
        ),
    },
    "irsa": {
        "service_account_issuer": ServiceAccountIssuer(
            issuer="https://b.s3.eu-west-1.amazonaws.com", jwks_uri="https://b.s3.eu-west-1.amazonaws.com/openid/v1/jwks"
        )
    },
    "networks": {
        "pod_cidr": "100.64.0.0/14", "service_cidr": "172.20.0.0/16", "node_cidr_mask": 25,
        "cluster_domain": "k8s.example.com", "api_server_names": ("10.1.2.3", "api.internal.example.com"),
    },
    "air gap": {"image_repository": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/k8s", "kube_proxy_mode": "nftables"},
    "settings": {
        "certificate_validity_days": 90, "etcd_quota_gib": 4, "audit": AuditLog(max_age_days=1), "kubelet": SETTINGS,
        "kubelet_serving_certificates": False, "feature_gates": {"WindowsGracefulNodeShutdown": True},
        "extra_arguments": ExtraArguments(
            api_server={"max-requests-inflight": "800"}, controller_manager={"concurrent-rc-syncs": "5"},
            scheduler={"kube-api-qps": "100"}, etcd={"snapshot-count": "20000"},
        ),
    },
}  # fmt: skip
"""Every option, in a few combinations."""
NODES: dict[str, NodeConfig] = {
    "defaults": NodeConfig(),
    "worker": NodeConfig(
        labels={"team": "a", "node.kubernetes.io/pool": "1"}, taints=(Taint(key="a", value="1"), Taint(key="b")),
        kubelet=SETTINGS, ecr_credentials=True,
    ),
    "cri-o": NodeConfig(runtime="cri-o", taints=(), cloud_provider="none", ignored_preflight_errors=("Swap",)),
}  # fmt: skip


def validate(minor: str, several: Sequence[Document], folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``kubeadm config validate`` says to documents, as they stand on the node."""
    text = moved(filled(render(several)), folder)
    discovery = Path(moved(paths.DISCOVERY, folder))
    discovery.parent.mkdir(parents=True, exist_ok=True)
    discovery.write_text(filled(render(kubeconfig.discovery_kubeconfig("c", "api.prod.example.com:6443", "PEM"))))
    file = folder / "kubeadm.yaml"
    file.write_text(text)
    command = [binary("kubeadm", minor=minor), "config", "validate", "--config", file]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cluster(minor: str, name: str) -> ClusterConfig:
    """A cluster of the matrix, which our own checks take as well."""
    made = replace(GOOD, kubernetes_version=minor, **CLUSTERS[name])
    assert [mistake.text() for mistake in check_cluster_config(made)] == []
    return made


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("name", CLUSTERS)
def test_kubeadm_reads_what_init_is_given(minor: str, name: str, tmp_path: Path):
    done = validate(minor, kubeadm_documents.init_documents(cluster(minor, name)), tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "ok", "")


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("control_plane", [False, True])
@pytest.mark.parametrize("name", NODES)
def test_kubeadm_reads_what_init_and_join_are_given_for_a_node(
    minor: str, name: str, control_plane: bool, tmp_path: Path
):
    several: list[Sequence[Document]] = [[kubeadm_documents.join_document(NODES[name], control_plane=control_plane)]]
    if control_plane:
        several.append(kubeadm_documents.init_documents(cluster(minor, "defaults"), NODES[name]))
    for given in several:
        done = validate(minor, given, tmp_path)
        assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("settings", [KubeletSettings(), SETTINGS], ids=["defaults", "settings"])
def test_kubeadm_reads_the_windows_kubelet_configuration_strictly(
    minor: str, settings: KubeletSettings, tmp_path: Path
):
    made = cluster(minor, "defaults")
    taints = (Taint(key="os", value="windows"), Taint(key="empty", effect="NoExecute"))
    windows = kubelet.windows_kubelet_configuration(
        made, settings, taints, feature_gates={"WindowsCPUAndMemoryAffinity": True}
    )
    done = validate(minor, [kubeadm_documents.cluster_configuration(made), windows], tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr
    # The one warning there may be: the client CA has a path of Windows.
    assert all("clientCAFile" in line for line in done.stderr.splitlines() if "recommended value" in line)
    for field, wrong in (("containerLogMaxFile", 5), ("maxPods", "many")):
        done = validate(minor, [kubeadm_documents.cluster_configuration(made), {**windows, field: wrong}], tmp_path)
        assert done.returncode == 1
        assert field in done.stderr


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("InitConfiguration", ("nodeRegistration", "kubeletExtraArg")),
        ("ClusterConfiguration", ("networking", "podSubnett")),
        ("ClusterConfiguration", ("apiServer", "extraArg")),
        ("KubeletConfiguration", ("evictionHart",)),
        ("KubeProxyConfiguration", ("clusterCidr",)),
        ("JoinConfiguration", ("discovery", "fil")),
    ],
)
def test_kubeadm_refuses_a_misspelt_field_in_each_document(
    minor: str, kind: str, path: tuple[str, ...], tmp_path: Path
):
    first = kubeadm_documents.cluster_configuration(cluster(minor, "defaults"))
    several = chain(kubeadm_documents.init_documents(cluster(minor, "defaults")), [kubeadm_documents.join_document()])
    document = next(one for one in several if one["kind"] == kind)
    *outer, wrong = path
    spoilt = {**document, **({outer[0]: {**document[outer[0]], wrong: {}}} if outer else {wrong: {}})}
    # kubeadm judges the configurations of kubelets and kube-proxy only beside that of a cluster.
    done = validate(minor, [spoilt] if "kubeadm" in document["apiVersion"] else [first, spoilt], tmp_path)
    assert done.returncode == 1
    assert "unknown field" in done.stderr
    assert ".".join(path) in done.stderr
