"""Documents as data and as text: the same text for the same data, and nothing in it that YAML would misread."""

import base64
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from winkube.kubeadm import api_server, kubeadm_documents, kubeconfig, kubelet, paths
from winkube.kubeadm.config import ClusterConfig, ExtraArguments, KmsPlugin, KubeletSettings, NodeConfig
from winkube.kubeadm.rendering import render
from winkube.node_agent import containerd, crio
from winkube.scheduling.labels import Taint
from winkube.tables.releases import SELF_MANAGED_MINORS

from tests.binaries import binary

from .places import FACTS, filled, moved

CLUSTER = ClusterConfig(
    cluster_name="prod.example.com", kubernetes_version="1.36", endpoint="api.prod.example.com:6443"
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["1e5", "0x1f", "0o17", "12:30:45", "2026-01-01", "yes", "On", "~", "null", "", "1_000", ".inf",
                     "=", "a: b", "- a", "a #b", "${INSTANCE_ID}", "*.x", "{}", "a\nb\n", "a\n\n", " a\nb", "\u2028"]),
)  # fmt: skip
DATA = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, DATA, max_size=4))
def test_what_is_rendered_is_read_back_as_it_was(data: dict[str, Any]):
    assert yaml.safe_load(render(data)) == data
    assert render(data) == render(data)


@given(st.from_regex(r"[0-9][0-9._:eExo+-]{0,20}", fullmatch=True))
def test_texts_that_begin_with_a_digit_are_quoted(text: str):
    """Other readers than ours take more for numbers, ``1e5`` for example."""
    assert render({"a": text}) == f'a: "{text}"\n'


def test_keys_keep_their_order_and_nothing_is_an_anchor():
    shared = ["x"]
    assert render({"b": shared, "a": shared}) == "b:\n- x\na:\n- x\n"


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_init_says_the_patch_of_the_table_and_v1beta4_alone(minor: str):
    several = kubeadm_documents.init_documents(replace(CLUSTER, kubernetes_version=minor))
    assert [one["apiVersion"] for one in several[:2]] == ["kubeadm.k8s.io/v1beta4"] * 2
    assert several[1]["kubernetesVersion"].startswith(f"v{minor}.")


def test_nothing_but_the_known_placeholders_is_left_to_the_node():
    node = NodeConfig(ecr_credentials=True)
    several = [*kubeadm_documents.init_documents(CLUSTER, node),
               kubeadm_documents.join_document(node, control_plane=True),
               kubelet.windows_kubelet_configuration(CLUSTER),
               kubeconfig.discovery_kubeconfig("c", "h:1", "PEM")]  # fmt: skip
    assert "${" not in filled(render(several))
    assert {name for name in FACTS if name in render(several)} == {
        "${INSTANCE_ID}", "${PRIVATE_IP}", "${PROVIDER_ID}", "${JOIN_TOKEN}",
    }  # fmt: skip


def test_the_discovery_file_has_the_token_as_its_users_and_no_other_credential():
    config = kubeconfig.discovery_kubeconfig("prod", "api.prod.example.com:6443", "PEM")
    assert config["users"] == [{"name": "winkube-join", "user": {"token": paths.JOIN_TOKEN}}]
    assert config["contexts"][0]["name"] == config["current-context"]
    assert config["clusters"][0]["cluster"]["server"] == "https://api.prod.example.com:6443"
    assert "tlsBootstrapToken" not in render(kubeadm_documents.join_document())


def test_the_admin_kubeconfig_holds_certificate_and_key():
    config = kubeconfig.admin_kubeconfig("prod", "h:6443", "CA", "CERT", "KEY")
    user = config["users"][0]["user"]
    assert [base64.b64decode(user[f"client-{part}-data"]) for part in ("certificate", "key")] == [b"CERT", b"KEY"]


def test_windows_nodes_keep_two_gibibytes_and_register_with_their_taint():
    config = kubelet.windows_kubelet_configuration(CLUSTER, KubeletSettings(), (Taint(key="os", value="windows"),))
    assert config["systemReserved"]["memory"] == "2Gi"
    assert config["registerWithTaints"] == [{"key": "os", "value": "windows", "effect": "NoSchedule"}]
    assert (config["cgroupsPerQOS"], config["enforceNodeAllocatable"], config["resolvConf"]) == (False, ["none"], "")
    assert config["clusterDNS"] == ["10.96.0.10"]


def test_kubeadm_is_told_both_networks():
    """Pods and Services have ranges of their own, and both are written down, default or not."""
    networking = kubeadm_documents.cluster_configuration(CLUSTER)["networking"]
    assert (networking["podSubnet"], networking["serviceSubnet"]) == ("10.244.0.0/16", "10.96.0.0/12")
    other = replace(CLUSTER, pod_cidr="100.64.0.0/16", service_cidr="172.20.0.0/16")
    networking = kubeadm_documents.cluster_configuration(other)["networking"]
    assert (networking["podSubnet"], networking["serviceSubnet"]) == ("100.64.0.0/16", "172.20.0.0/16")


@pytest.mark.parametrize(
    ("field", "component"),
    [("api_server", "apiServer"), ("controller_manager", "controllerManager"), ("scheduler", "scheduler")],
)
def test_extra_arguments_stand_beside_ours_and_over_them(field: str, component: str):
    """Each program gets its own, and no other one."""
    extra = ExtraArguments(**{field: {"v": "4", "profiling": "true"}})
    document = kubeadm_documents.cluster_configuration(replace(CLUSTER, extra_arguments=extra))
    flags = {it["name"]: it["value"] for it in document[component]["extraArgs"]}
    assert (flags["v"], flags["profiling"]) == ("4", "true")
    assert flags["tls-min-version"] == api_server.TLS_MINIMUM
    others = {"apiServer", "controllerManager", "scheduler"} - {component}
    assert not [it for other in others for it in document[other]["extraArgs"] if it["name"] == "v"]
    manager = {it["name"]: it["value"] for it in document["controllerManager"]["extraArgs"]}
    assert manager["cloud-provider"] == "external"


@pytest.mark.parametrize(
    ("service_cidr", "address"), [("10.96.0.0/12", "10.96.0.10"), ("172.20.4.0/24", "172.20.4.10")]
)
def test_every_kubelet_asks_the_tenth_address_of_the_services_for_names(service_cidr: str, address: str):
    """Linux and Windows alike."""
    cluster = replace(CLUSTER, service_cidr=service_cidr)
    linux = kubelet.linux_kubelet_configuration(cluster)
    windows = kubelet.windows_kubelet_configuration(cluster, KubeletSettings(), ())
    assert linux["clusterDNS"] == windows["clusterDNS"] == [address]


def test_kubelets_are_told_the_node_s_own_address():
    """An interface of several addresses leaves them no choice: the placeholder stands for the primary private one."""
    linux, windows = kubelet.linux_kubelet_arguments(NodeConfig()), kubelet.windows_kubelet_arguments(NodeConfig())
    assert linux["node-ip"] == windows["node-ip"] == paths.PRIVATE_IP == "${PRIVATE_IP}"


def test_a_groups_reservations_stand_over_the_defaults():
    settings = KubeletSettings(system_reserved={"memory": "4Gi"}, configuration={"kubeAPIQPS": 20})
    config = kubelet.windows_kubelet_configuration(CLUSTER, settings)
    assert config["systemReserved"] == {"cpu": "500m", "memory": "4Gi", "ephemeral-storage": "1Gi"}
    assert config["kubeAPIQPS"] == 20


def test_windows_kubelets_are_services_of_high_priority():
    flags = kubelet.windows_kubelet_arguments(NodeConfig(labels={"b": "2", "a": "1"}))
    assert flags["windows-priorityclass"] == "ABOVE_NORMAL_PRIORITY_CLASS"
    assert flags["windows-service"] == "true"
    assert flags["node-labels"] == "a=1,b=2"
    assert flags["cloud-provider"] == "external"


def test_a_group_without_settings_of_its_own_has_no_patch():
    assert kubelet.kubelet_patch(KubeletSettings()) is None
    assert kubeadm_documents.node_files(NodeConfig()) == {}
    assert "patches" not in kubeadm_documents.join_document()
    assert kubelet.kubelet_patch(KubeletSettings(max_pods=50)) == {"maxPods": 50}


def test_encryption_keeps_old_keys_behind_the_new_one_and_reads_what_is_clear():
    keys = [api_server.EncryptionKey(name=name, secret="c2VjcmV0") for name in ("new", "old")]
    (resource,) = api_server.encryption_configuration(CLUSTER, keys)["resources"]
    assert [key["name"] for key in resource["providers"][0]["secretbox"]["keys"]] == ["new", "old"]
    assert resource["providers"][-1] == {"identity": {}}
    assert "c2VjcmV0" not in repr(keys)


def test_the_kms_plugin_stands_beside_the_api_server():
    plugin = KmsPlugin(image="r/kms@sha256:1", key_arn="arn:aws:kms:eu-west-1:1:key/1", region="eu-west-1")
    cluster = replace(CLUSTER, secrets_encryption="kms", kms=plugin)
    files = api_server.api_server_files(cluster)
    (container,) = files[paths.KMS_MANIFEST]["spec"]["containers"]
    assert container["image"] == "r/kms@sha256:1"
    assert f"--listen={paths.KMS_SOCKET}" in container["args"]
    provider = files[paths.ENCRYPTION]["resources"][0]["providers"][0]["kms"]
    assert (provider["apiVersion"], provider["endpoint"]) == ("v2", f"unix://{paths.KMS_SOCKET}")
    mounts = kubeadm_documents.cluster_configuration(cluster)["apiServer"]["extraVolumes"]
    assert paths.KMS_SOCKETS in [mount["hostPath"] for mount in mounts]


@pytest.mark.proof
@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.skipif(os.geteuid() != 0, reason="kubeadm init needs root, even for a dry run")
def test_kubeadm_inits_dry_and_gives_the_kubelet_what_we_said(minor: str, tmp_path: Path):
    """The whole of ``kubeadm init``, with every check of the host only warned about: this host is no node."""
    node = NodeConfig(kubelet=KubeletSettings(max_pods=50), labels={"team": "a"}, ignored_preflight_errors=("all",))
    cluster = replace(CLUSTER, kubernetes_version=minor)
    for path, patch in kubeadm_documents.node_files(node).items():
        place = Path(moved(path, tmp_path))
        place.parent.mkdir(parents=True)
        place.write_text(render(patch))
    config, out = tmp_path / "kubeadm.yaml", tmp_path / "dry"
    out.mkdir()
    config.write_text(moved(filled(render(kubeadm_documents.init_documents(cluster, node))), tmp_path))
    command = [binary("kubeadm", minor=minor), "init", "--dry-run", "--config", config]
    environment = {"KUBEADM_INIT_DRYRUN_DIR": str(out), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "unknown field" not in done.stderr
    written = yaml.safe_load((out / "config.yaml").read_text())
    ours = yaml.safe_load(render(kubelet.linux_kubelet_configuration(cluster)))
    assert written["maxPods"] == 50
    # A zero is left out where it is written back, and means the same.
    assert {key: written.get(key, 0) for key in ours} == ours
    flags = (out / "kubeadm-flags.env").read_text()
    for flag, value in kubelet.linux_kubelet_arguments(node).items():
        assert f"--{flag}={filled(value)}" in flags


@pytest.mark.parametrize("node", [NodeConfig(), NodeConfig(ecr_credentials=True)])
def test_every_file_of_ours_that_the_flags_of_a_kubelet_name_is_written(node: NodeConfig) -> None:
    """A kubelet whose credential provider has no configuration ends at its start, so the node never joins."""
    named = {one for one in kubelet.linux_kubelet_arguments(node).values() if one.startswith("/etc/kubernetes/")}
    assert named == set(kubeadm_documents.node_files(node))


def test_a_token_of_digits_stays_a_text():
    """Unquoted, ``123456.1234567890123456`` is a number for YAML, and no kubeconfig has such a token."""
    discovery = yaml.safe_load(filled(render(kubeconfig.discovery_kubeconfig("prod", CLUSTER.endpoint, "PEM"))))
    assert discovery["users"][0]["user"] == {"token": "123456.1234567890123456"}


def test_kubeadm_makes_the_token_of_init_itself():
    """A node that makes a cluster has none, and kubeadm takes no empty one."""
    (token,) = kubeadm_documents.init_documents(CLUSTER)[0]["bootstrapTokens"]
    assert "token" not in token
    assert token["ttl"] == "1h0m0s"


def test_the_files_hold_no_secret_but_one():
    every = replace(CLUSTER, encryption_algorithm="ECDSA-P256", certificate_validity_days=90, always_pull_images=True)
    files = api_server.api_server_files(every)
    assert paths.ENCRYPTION not in files


def registrations(node: NodeConfig) -> list[dict[str, Any]]:
    """What init and both joins are told of a node."""
    several = [kubeadm_documents.init_documents(CLUSTER, node)[0],
               *(kubeadm_documents.join_document(node, control_plane=plane) for plane in (False, True))]  # fmt: skip
    return [one["nodeRegistration"] for one in several]


@pytest.mark.parametrize(
    ("runtime", "socket"),
    [("containerd", "unix:///run/containerd/containerd.sock"), ("cri-o", "unix:///var/run/crio/crio.sock")],
)
def test_kubeadm_is_told_the_one_socket_of_the_runtime(runtime: str, socket: str):
    """Two runtimes on an image would make it guess; Docker's sockets stand for no runtime."""
    assert {one["criSocket"] for one in registrations(NodeConfig(runtime=runtime))} == {socket}
    assert {"containerd": containerd.SOCKET, "cri-o": crio.SOCKET} == paths.SOCKETS
    windows = kubelet.windows_kubelet_configuration(CLUSTER)
    assert windows["containerRuntimeEndpoint"] == "npipe:////./pipe/containerd-containerd"


def test_an_empty_list_of_taints_is_written_out_and_a_control_plane_keeps_kubeadm_s():
    """Left out, kubeadm gives a control plane its taint; an empty list takes it away."""
    assert [one["taints"] for one in registrations(NodeConfig(taints=()))] == [[]] * 3
    assert "taints: []" in render(registrations(NodeConfig(taints=()))[0])
    assert not any("taints" in one for one in registrations(NodeConfig()))


def test_a_node_is_called_by_its_instance_on_both_systems():
    """kubeadm, both kubelets and the cloud controller know it by one name and one provider's id."""
    assert {one["name"] for one in registrations(NodeConfig())} == {"${INSTANCE_ID}"}
    linux, windows = kubelet.linux_kubelet_arguments(NodeConfig()), kubelet.windows_kubelet_arguments(NodeConfig())
    assert windows["hostname-override"] == "${INSTANCE_ID}"
    provider = {linux["provider-id"], kubelet.windows_kubelet_configuration(CLUSTER)["providerID"]}
    assert provider == {"${PROVIDER_ID}"}


def test_the_api_server_advertises_the_address_of_its_node():
    init, join = kubeadm_documents.init_documents(CLUSTER)[0], kubeadm_documents.join_document(control_plane=True)
    for endpoint in (init["localAPIEndpoint"], join["controlPlane"]["localAPIEndpoint"]):
        assert endpoint == {"advertiseAddress": "${PRIVATE_IP}", "bindPort": 6443}


COMPONENTS = {
    "api_server": lambda one: one["apiServer"],
    "controller_manager": lambda one: one["controllerManager"],
    "scheduler": lambda one: one["scheduler"],
    "etcd": lambda one: one["etcd"]["local"],
}


@pytest.mark.parametrize("component", COMPONENTS)
def test_flags_of_a_user_stand_among_ours_as_names_and_values(component: str):
    """Commas in a value stay in it: no command line takes it apart."""
    extra = ExtraArguments(**{component: {"v": "4", "a-list": "one,two"}})
    flags = COMPONENTS[component](kubeadm_documents.cluster_configuration(replace(CLUSTER, extra_arguments=extra)))
    assert {"name": "v", "value": "4"} in flags["extraArgs"]
    assert {"name": "a-list", "value": "one,two"} in flags["extraArgs"]
    usual = COMPONENTS[component](kubeadm_documents.cluster_configuration(CLUSTER))["extraArgs"]
    assert all(one in flags["extraArgs"] for one in usual)
    assert len(flags["extraArgs"]) == len(usual) + 2


def test_the_scheduler_is_not_profiled_and_keeps_to_its_own_machine():
    """Without a bind address of ours, kubeadm's stays: that of the machine itself."""
    written = kubeadm_documents.cluster_configuration(CLUSTER)["scheduler"]["extraArgs"]
    flags = {one["name"]: one["value"] for one in written}
    assert flags["profiling"] == "false"
    assert "bind-address" not in flags


@pytest.mark.parametrize(("always", "more"), [(False, set()), (True, {"AlwaysPullImages"})])
def test_admission_plugins_come_on_top_of_the_defaults(always: bool, more: set[str]):
    """Neither the flag that replaces them all nor the one that takes some away is written."""
    flags = api_server.api_server_arguments(replace(CLUSTER, always_pull_images=always))
    usual = {"NodeRestriction", "DenyServiceExternalIPs", "EventRateLimit"}
    assert set(flags["enable-admission-plugins"].split(",")) == usual | more
    assert not {"admission-control", "disable-admission-plugins"} & set(flags)


def test_etcd_stands_beside_each_api_server_with_our_flags_alone():
    """Stacked; names, addresses and certificates of a member are kubeadm's, from the node itself."""
    etcd = kubeadm_documents.cluster_configuration(CLUSTER)["etcd"]
    assert set(etcd) == {"local"}
    assert set(etcd["local"]) == {"dataDir", "extraArgs"}
    flags = [one["name"] for one in etcd["local"]["extraArgs"]]
    assert flags == ["cipher-suites", "quota-backend-bytes"]


def test_init_brings_the_settings_of_all_kubelets_and_a_join_brings_none():
    """A join takes them from the cluster: they are rendered once."""
    several = {one["kind"]: one for one in kubeadm_documents.init_documents(CLUSTER)}
    assert list(several) == [
        "InitConfiguration", "ClusterConfiguration", "KubeletConfiguration", "KubeProxyConfiguration",
    ]  # fmt: skip
    assert several["KubeletConfiguration"] == kubelet.linux_kubelet_configuration(CLUSTER)
    join = kubeadm_documents.join_document(NodeConfig(kubelet=KubeletSettings(max_pods=50)))
    assert (join["kind"], join["patches"]) == ("JoinConfiguration", {"directory": paths.PATCHES})
    assert "clusterDNS" not in render(join)
