"""The Linux node document: canonical, read by the agent, free of secrets; and the files of a node."""

import configparser
import hashlib
import json
import re
import subprocess

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from winkube.node_agent import node_files
from winkube.node_agent.loader import NodeProxy
from winkube.node_agent.node_document import (
    ENDPOINT,
    FILES,
    KUBEADM_TEXTS,
    NO_SECRET,
    PLACEHOLDER,
    PLACEHOLDERS,
    SLOTS,
    TOKEN_TIMES,
    LinuxNode,
    NodeAuthorities,
    NodeBackup,
    NodeCluster,
    NodeKubeadm,
    NodeSecret,
    NodeToken,
    check_document,
    linux_node_document,
)
from winkube.node_agent.node_files import NodeFile
from winkube.node_agent.winkube_agent import document as agent_document
from winkube.node_agent.winkube_agent.machine import Machine
from winkube.tables.linux_hosts import LINUX_HOSTS
from winkube.tables.releases import SELF_MANAGED_RELEASES

DISCOVERY = "users: [{name: node, user: {token: '${JOIN_TOKEN}'}}]\n"
JOIN = "nodeRegistration: {name: '${INSTANCE_ID}'}\n"


def worker(**more):
    """The document of a group of workers."""
    known = {
        "role": "worker", "group": "general", "region": "eu-west-1", "minor": "1.36", "bucket": "state",
        "prefix": "clusterconfigs/dev/", "kubeadm": NodeKubeadm(join=JOIN, discovery=DISCOVERY),
        "cluster": NodeCluster(name="dev", kubernetes_version="1.36.4", endpoint="api.dev.example.com:6443"),
        "token": NodeToken(parameter="/winkube/dev/join-token"),
    }  # fmt: skip
    return linux_node_document(LinuxNode(**{**known, **more}))


def plane(**more):
    """The document of a slot of a control plane."""
    known = {
        "role": "control_plane", "group": "cp-0", "slot": "cp-0", "slots": ("cp-0", "cp-1", "cp-2"),
        "kubeadm": NodeKubeadm(init="kind: InitConfiguration\n", join=JOIN, discovery=DISCOVERY),
        "secrets": (NodeSecret(path="/etc/kubernetes/pki/ca.key", key="clusterconfigs/dev/pki/1/ca.key"),),
        "backup": NodeBackup(),
    }  # fmt: skip
    return worker(**{**known, **more})


@pytest.mark.parametrize("make", [worker, plane])
@pytest.mark.parametrize("minor", SELF_MANAGED_RELEASES)
@pytest.mark.parametrize("runtime", ["containerd", "cri-o"])
def test_the_agent_reads_what_is_rendered(make, minor, runtime):
    """By its own parser, for every minor and both runtimes."""
    one = make(minor=minor, runtime=runtime)
    assert not check_document(one)
    read = agent_document.parse(json.loads(one.text()))
    assert read.role == one.role
    assert read.endpoint == "api.dev.example.com:6443"
    assert read.slots == tuple(one.slots)
    assert read.retention.keep_last == 96
    assert bool(read.backup_seconds) == (make is plane)


def test_renderer_and_agent_know_the_same_placeholders():
    assert PLACEHOLDERS == agent_document.PLACEHOLDERS


@pytest.mark.parametrize("runtime", ["containerd", "cri-o"])
def test_the_machine_can_carry_out_what_is_rendered(tmp_path, runtime):
    """Files and services below a temporary root, with commands that do nothing."""
    calls = []

    def run(call, **_):
        calls.append(" ".join(call))
        return subprocess.CompletedProcess(call, 0, "", "")

    machine = Machine(worker(runtime=runtime).value(), {"INSTANCE_ID": "i-1"}, lambda *_: b"", tmp_path, run)
    machine.kernel()
    machine.files()
    machine.services()
    machine.images()
    service = node_files.RUNTIME_SERVICES[runtime]
    assert [f"systemctl restart {service}", "systemctl restart kubelet.service"] == [c for c in calls if "restart" in c]
    assert [f"systemctl enable {service}", "systemctl enable kubelet.service"] == [c for c in calls if "enable" in c]
    assert (tmp_path / f"etc/systemd/system/{service}").exists()
    assert "WantedBy=multi-user.target" in (tmp_path / "etc/systemd/system/kubelet.service").read_text()
    assert "crictl inspecti --quiet registry.k8s.io/pause:3.10.2" in calls


def test_the_text_is_canonical_and_known_by_its_digest():
    one, other = worker(), worker(deadlines={"b": 1, "a": 2})
    assert one.text() == worker().text()
    assert one.sha256() == hashlib.sha256(one.text().encode()).hexdigest()
    assert other.sha256() == worker(deadlines={"a": 2, "b": 1}).sha256() != one.sha256()
    assert json.loads(one.text()) == one.value()


@given(st.text(), st.text())
def test_any_text_arrives_as_it_was(group, content):
    """Whatever a file holds."""
    one = worker(group=group, files=(NodeFile("/etc/x", content),))
    read = json.loads(one.text())
    assert (read["group"], read["files"][-1]["content"]) == (group, content)


def test_every_artefact_of_a_document_has_a_digest_and_a_place():
    for minor in SELF_MANAGED_RELEASES:
        for one in plane(minor=minor).value()["artefacts"]:
            assert re.fullmatch(r"sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})", one["digest"])
            assert all(
                re.fullmatch(r"/\S+", place["path"]) and place["mode"] in ("0755", "0644") for place in one["install"]
            )


def test_mirrors_and_proxy_reach_the_node():
    proxy = NodeProxy(https="http://proxy:3128", no_proxy=(".example.com",))
    one = worker(mirror="s3://m/p", registry_mirrors={"registry.k8s.io": "https://r.test"}, proxy=proxy).value()
    assert all(artefact["url"].startswith("s3://m/p/") for artefact in one["artefacts"])
    files = {file["path"]: file["content"] for file in one["files"]}
    assert "server = 'https://r.test'" in files["/etc/containerd/certs.d/registry.k8s.io/hosts.toml"]
    drop_in = files["/etc/systemd/system/containerd.service.d/20-proxy.conf"]
    assert 'Environment="HTTPS_PROXY=http://proxy:3128"' in drop_in
    past = re.search(r"NO_PROXY=([^\"]*)", drop_in)[1].split(",")
    assert {"169.254.169.254", ".example.com", "10.244.0.0/16", "10.96.0.0/12"} <= set(past)
    assert one["proxy"]["no_proxy"] == ",".join(past)


@pytest.mark.parametrize(
    ("document", "rule", "path", "part"),
    [
        (plane(slot="cp-7"), SLOTS, ("slot",), '"cp-0", "cp-1" or "cp-2"'),
        (worker(slot="cp-0"), SLOTS, ("slot",), "remove slot"),
        (worker(kubeadm=NodeKubeadm(init="x", join=JOIN, discovery=DISCOVERY)), KUBEADM_TEXTS, ("kubeadm", "init"),
         "remove kubeadm.init"),
        (plane(kubeadm=NodeKubeadm(join=JOIN, discovery=DISCOVERY)), KUBEADM_TEXTS, ("kubeadm", "init"),
         "set kubeadm.init"),
        (worker(kubeadm=NodeKubeadm(join="${INSTANCE}", discovery=DISCOVERY)), PLACEHOLDER, ("kubeadm", "join"),
         "${INSTANCE_ID}"),
        (worker(files=(NodeFile("etc/x", ""),)), FILES, ("files", 5, "path"), "/etc/"),
        (worker(files=(NodeFile("/etc/../x", ""),)), FILES, ("files", 5, "path"), "/etc/"),
        (worker(files=(NodeFile("/etc/crictl.yaml", ""),)), FILES, ("files", 5, "path"), "keep one"),
        (worker(secrets=(NodeSecret(path="/etc/kubernetes/pki/ca.key", key="k"),)), NO_SECRET, ("secrets",), "remove"),
        (worker(authorities=NodeAuthorities(prefix="clusterconfigs/dev/pki/1/", key_arn="k")), NO_SECRET,
         ("authorities",), "remove authorities"),
        (plane(secrets=(NodeSecret(path="/etc/x", key="k", content="${SECRETBOX_KEY}"),)), NO_SECRET,
         ("secrets", 0, "content"), "let the nodes create"),
        (worker(token=NodeToken(parameter="/p", ttl_seconds=3600, refresh_seconds=1801)), TOKEN_TIMES,
         ("token", "refresh_seconds"), "1800 or less"),
        (worker(cluster=NodeCluster(name="dev", kubernetes_version="1.36.4", endpoint="https://api:6443")), ENDPOINT,
         ("cluster", "endpoint"), "without a scheme"),
    ],
)  # fmt: skip
def test_what_the_agent_could_not_work_with_is_refused(document, rule, path, part):
    found = check_document(document)
    assert [(one.rule, one.path) for one in found] == [(rule, path)]
    assert part in found[0].remedy + found[0].message


@pytest.mark.parametrize(
    "secret",
    ["-----BEGIN RSA PRIVATE KEY-----\n", "token: abcdef.0123456789abcdef", "client-key-data: aaaa",
     f"certificateKey: '{'a' * 64}'", "-----BEGIN PRIVATE KEY-----"],
)  # fmt: skip
def test_a_secret_in_any_text_is_refused_and_not_shown(secret):
    for one, path in (
        (worker(files=(NodeFile("/etc/x", secret),)), ("files", 5, "content")),
        (worker(kubeadm=NodeKubeadm(join=JOIN, discovery=secret)), ("kubeadm", "discovery")),
    ):
        found = check_document(one)
        assert [(mistake.rule, mistake.path) for mistake in found] == [(NO_SECRET, path)]
        assert secret not in found[0].text()


def test_what_looks_like_a_secret_and_is_none_is_allowed():
    text = "image: registry.k8s.io/kube-proxy:v1.36.4\nissuer: https://oidc.example.com\n-----BEGIN CERTIFICATE-----\n"
    assert not check_document(worker(files=(NodeFile("/etc/x", text),)))


@pytest.mark.parametrize("runtime", ["containerd", "cri-o"])
def test_units_have_the_form_of_units(runtime):
    units = [one for one in worker(runtime=runtime).files if one.path.startswith("/etc/systemd/system/")]
    assert len(units) == 3
    for one in units:
        parser = configparser.RawConfigParser(strict=False, interpolation=None)
        parser.optionxform = str
        parser.read_string(one.content)
        assert parser.has_section("Service")
    drop_in = next(one.content for one in units if one.path.endswith("10-kubeadm.conf"))
    assert "KUBELET_KUBEADM_ARGS" in drop_in
    assert "/var/lib/kubelet/kubeadm-flags.env" in drop_in


def test_the_kubelet_waits_for_kubeadm():
    """Started without its configuration it would only fail again and again."""
    unit = next(one.content for one in worker().files if one.path.endswith("kubelet.service"))
    assert "ConditionPathExists=/var/lib/kubelet/config.yaml" in unit
    assert "After=network-online.target containerd.service" in unit


def test_the_kubelet_s_flags_keep_the_order_of_kubeadm():
    """What stands later wins: kubeadm's flags of the node do, and nothing of the distribution comes behind them."""
    drop_in = next(one.content for one in worker().files if one.path.endswith("10-kubeadm.conf"))
    assert drop_in.splitlines()[-2:] == [
        "ExecStart=",
        "ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS",
    ]
    assert "/etc/default/kubelet" not in drop_in
    assert "/etc/sysconfig/kubelet" not in drop_in


@pytest.mark.parametrize("name", LINUX_HOSTS)
def test_hosts_have_an_image_for_each_architecture(name):
    host = LINUX_HOSTS[name]
    assert set(host.parameters) == {"x86_64", "arm64"}
    assert all(one.startswith("/aws/service/") for one in host.parameters.values())
    assert host.parameters["x86_64"] != host.parameters["arm64"]
    assert host.root_device.startswith("/dev/")
    assert host.fetches in ("aws", "curl")


def test_crictl_talks_to_the_runtime_that_runs():
    for runtime, socket in (("containerd", "containerd/containerd.sock"), ("cri-o", "crio/crio.sock")):
        text = next(one.content for one in worker(runtime=runtime).files if one.path == "/etc/crictl.yaml")
        assert yaml.safe_load(text)["runtime-endpoint"].endswith(socket)


@pytest.mark.parametrize("made", [worker, plane])
def test_the_kernel_forwards_packets_of_pods(made):
    """Every Linux node: without it no pod reaches another node."""
    kernel = json.loads(made().text())["sysctls"]
    assert (kernel["net.ipv4.ip_forward"], kernel["net.bridge.bridge-nf-call-iptables"]) == ("1", "1")


@pytest.mark.parametrize("made", [worker, plane])
@pytest.mark.parametrize("runtime", ["containerd", "cri-o"])
def test_the_kernel_is_prepared_alike_for_every_runtime(made, runtime, tmp_path):
    """Modules and sysctls, now and after a restart, by the agent itself below a temporary root."""
    calls = []

    def run(call, **_):
        calls.append(" ".join(call))
        return subprocess.CompletedProcess(call, 0, "", "")

    Machine(made(runtime=runtime).value(), {}, lambda *_: b"", tmp_path, run).kernel()
    assert calls[:2] == ["modprobe overlay", "modprobe br_netfilter"]
    assert (tmp_path / "etc/modules-load.d/90-winkube.conf").read_text() == "overlay\nbr_netfilter\n"
    bridged = {f"net.bridge.bridge-nf-call-{table} = 1" for table in ("iptables", "ip6tables")}
    lines = (tmp_path / "etc/sysctl.d/90-winkube.conf").read_text().splitlines()
    assert {"net.ipv4.ip_forward = 1", *bridged} <= set(lines)
    assert {f"sysctl -w {line.replace(' = ', '=')}" for line in lines} == set(calls[2:])
