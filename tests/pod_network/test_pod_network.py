"""flannel and kube-proxy: one network for Linux and Windows nodes, with the least rights."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from winkube.core.errors import WinkubeError
from winkube.kubernetes import manifests as parts
from winkube.pod_network.flannel import Flannel, FlannelArgs, check_flannel
from winkube.pod_network.flannel_config import (
    NODE_IP,
    linux_cni_conflist,
    net_conf,
    network_name,
    source_vip_environment,
    source_vip_request,
    windows_cni_conflist,
)
from winkube.pod_network.flannel_manifests import flannel_manifests
from winkube.pod_network.kube_proxy_manifests import kube_proxy_configuration, kube_proxy_manifests
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxy, WindowsKubeProxyArgs, check_windows_kube_proxy
from winkube.preview.model import Plan

from ..kubernetes.conftest import API, said

FLANNEL = FlannelArgs(endpoint=API)
PROXY = WindowsKubeProxyArgs(endpoint=API)


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest["spec"]["template"]["spec"]


def test_every_node_is_told_the_same_network():
    """The text of net-conf.json is one and the same; VNI and port are what Windows can speak."""
    manifests = flannel_manifests(FLANNEL)
    linux, windows = (manifests[part]["data"]["net-conf.json"] for part in ("configuration", "windows-configuration"))
    assert linux == windows
    backend = json.loads(linux)["Backend"]
    assert backend == {"Type": "vxlan", "VNI": 4096, "Port": 4789, "MTU": 1500}
    wide = flannel_manifests(replace(FLANNEL, pod_cidr="100.64.0.0/10"))["configuration"]
    assert json.loads(wide["data"]["net-conf.json"])["Network"] == "100.64.0.0/10"


def test_linux_nodes_get_flannel_and_port_mappings_in_one_list():
    """As flannel ships it: hairpin mode, the bridge as gateway, and ports of the host by portmap behind it."""
    text = flannel_manifests(FLANNEL)["configuration"]["data"]["cni-conf.json"]
    assert json.loads(text)["cniVersion"] == "1.0.0"
    assert json.loads(text)["plugins"] == [
        {"type": "flannel", "delegate": {"hairpinMode": True, "isDefaultGateway": True}},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]


def test_flannel_runs_on_both_systems_each_from_a_daemon_set_of_its_own():
    """The Linux image cannot run on Windows; selectors are those of today, never of the beta."""
    manifests = flannel_manifests(FLANNEL)
    for part, system in (("linux", "linux"), ("windows", "windows")):
        assert manifests[part]["metadata"]["namespace"] == "kube-flannel"
        assert pod_of(manifests[part])["nodeSelector"] == {"kubernetes.io/os": system}
    assert "windowsOptions" not in pod_of(manifests["linux"]).get("securityContext", {})
    assert manifests["configuration"]["metadata"]["name"] == "kube-flannel-cfg"
    assert set(manifests["configuration"]["data"]) == {"cni-conf.json", "net-conf.json"}
    assert "beta.kubernetes.io" not in json.dumps(manifests)


def test_the_mtu_is_that_of_the_node_s_interface():
    """flannel takes the 50 bytes of VXLAN off itself; None leaves the interface's."""
    assert net_conf("10.244.0.0/16", mtu=9001)["Backend"]["MTU"] == 9001
    assert "MTU" not in net_conf("10.244.0.0/16", mtu=None)["Backend"]


def test_windows_pods_reach_services_through_the_tunnel_and_the_rest_as_the_node():
    conflist = windows_cni_conflist("10.244.0.0/16", "10.96.0.0/12")
    (plugin,) = conflist["plugins"]
    assert conflist["name"] == network_name()
    assert (plugin["type"], plugin["delegate"]["type"]) == ("flannel", "win-overlay")
    assert plugin["capabilities"]["dns"] is True
    assert plugin["delegate"]["apiVersion"] == 2
    policies = {it["value"]["Type"]: it["value"]["Settings"] for it in plugin["delegate"]["policies"]}
    assert policies["OutBoundNAT"] == {"Exceptions": ["10.244.0.0/16", "10.96.0.0/12"]}
    assert policies["SDNRoute"] == {"DestinationPrefix": "10.96.0.0/12", "NeedEncap": True}
    assert policies["ProviderAddress"] == {"ProviderAddress": NODE_IP}


@pytest.mark.parametrize("vni", [4096, 5000])
def test_every_program_on_windows_calls_the_network_by_one_name(vni: int):
    """flanneld makes it from the VNI; the CNI configuration, both scripts and kube-proxy look for it by that name."""
    flannel, proxy = flannel_manifests(replace(FLANNEL, vni=vni)), kube_proxy_manifests(replace(PROXY, vni=vni))
    told, asked = flannel["windows-configuration"]["data"], proxy["configuration"]["data"]
    names = {
        f"flannel.{json.loads(told['net-conf.json'])['Backend']['VNI']}",
        json.loads(told["cni.conflist"])["name"],
        json.loads(asked["kube-proxy.json"])["winkernel"]["networkName"],
        json.loads(asked["source-vip.json"])["name"],
    }
    for manifests in (flannel, proxy):
        (container,) = pod_of(manifests["windows"])["containers"]
        names |= {it["value"] for it in container["env"] if it["name"] == "NETWORK_NAME"}
    assert names == {f"flannel.{vni}"}


def test_the_address_of_kube_proxy_comes_from_the_pods_own_book():
    """Another name would be another book, and a pod would be given the same address."""
    assert source_vip_request()["name"] == windows_cni_conflist("10.244.0.0/16", "10.96.0.0/12")["name"]
    assert source_vip_environment("DEL")["CNI_COMMAND"] == "DEL"
    assert linux_cni_conflist()["plugins"][0]["type"] == "flannel"


@pytest.mark.parametrize(
    "manifests", [flannel_manifests(FLANNEL), kube_proxy_manifests(PROXY)], ids=["flannel", "proxy"]
)
def test_the_objects_are_those_of_kubernetes(manifests: dict[str, Any], validated: Callable[..., None]):
    """Strictly, and by our own rules of Windows pods."""
    for manifest in manifests.values():
        validated(manifest)


@pytest.mark.parametrize("pod", [
    pod_of(flannel_manifests(FLANNEL)["windows"]), pod_of(kube_proxy_manifests(PROXY)["windows"])
], ids=["flannel", "proxy"])  # fmt: skip
def test_programs_on_windows_act_as_the_node(pod: dict[str, Any]):
    """Selector and toleration stand in the template, where the DaemonSet's controller looks; the token is short."""
    assert pod["nodeSelector"] == {"kubernetes.io/os": "windows"}
    assert pod["os"] == {"name": "windows"}
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["hostNetwork"] is True
    assert pod["securityContext"]["windowsOptions"]["hostProcess"] is True
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["memory"] == container["resources"]["requests"]["memory"]
    environment = {it["name"]: it for it in container["env"]}
    assert environment["KUBERNETES_SERVICE_HOST"]["value"] == "api.prod.example.com"
    assert environment["KUBERNETES_SERVICE_PORT"]["value"] == "6443"
    assert environment["NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
    assert environment["NODE_IP"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.hostIP"
    assert pod["automountServiceAccountToken"] is False
    (token,) = [it for it in pod["volumes"] if it["name"] == "token"]
    sources = {kind: it for source in token["projected"]["sources"] for kind, it in source.items()}
    assert sources["configMap"]["name"] == "kube-root-ca.crt"
    seconds = sources["serviceAccountToken"]["expirationSeconds"]
    assert 600 <= seconds <= 3600


@pytest.mark.parametrize("manifest", [
    flannel_manifests(FLANNEL)["linux"], flannel_manifests(FLANNEL)["windows"], kube_proxy_manifests(PROXY)["windows"]
], ids=["flannel-linux", "flannel-windows", "proxy"])  # fmt: skip
def test_what_a_node_needs_to_become_ready_runs_before_it_is(manifest: dict[str, Any]):
    """On control planes too, and before the cloud controller manager has told the node's addresses."""
    tolerations = pod_of(manifest)["tolerations"]
    for key in ("node.cloudprovider.kubernetes.io/uninitialized", "node-role.kubernetes.io/control-plane",
                "node.kubernetes.io/not-ready"):  # fmt: skip
        assert [it for it in tolerations if it.get("key", key) == key and "effect" not in it]


def test_flannel_may_read_nodes_and_write_its_lease():
    """It is told its node, so it reads no pods."""
    manifests = flannel_manifests(FLANNEL)
    assert {tuple(rule["resources"]): set(rule["verbs"]) for rule in manifests["role"]["rules"]} == {
        ("nodes",): {"get", "list", "watch"},
        ("nodes/status",): {"patch"},
    }
    assert all(rule["apiGroups"] == [""] for rule in manifests["role"]["rules"])
    (subject,) = manifests["binding"]["subjects"]
    assert (subject["kind"], subject["name"], subject["namespace"]) == (
        "ServiceAccount", manifests["account"]["metadata"]["name"], manifests["account"]["metadata"]["namespace"],
    )  # fmt: skip
    assert manifests["binding"]["roleRef"]["name"] == manifests["role"]["metadata"]["name"]
    for part in ("linux", "windows"):
        (container,) = pod_of(manifests[part])["containers"]
        assert "NODE_NAME" in {it["name"] for it in container["env"]}


def test_namespaces_say_that_their_pods_act_as_the_node():
    for manifests in (flannel_manifests(FLANNEL), kube_proxy_manifests(PROXY)):
        marks = manifests["namespace"]["metadata"]["labels"]
        assert marks["pod-security.kubernetes.io/enforce"] == "privileged"


def test_linux_alone_gets_no_objects_for_windows():
    assert "windows" not in flannel_manifests(replace(FLANNEL, windows=False))


def test_a_changed_configuration_is_rolled_out():
    """The pods carry its digest: of the files, our script among them."""

    def digest(args: FlannelArgs) -> str:
        template = flannel_manifests(args)["windows"]["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/configuration"]

    assert digest(FLANNEL) == digest(FlannelArgs(endpoint=API))
    assert digest(FLANNEL) != digest(replace(FLANNEL, mtu=9001))


def test_kube_proxy_reads_a_file_and_the_token_of_its_pod():
    configuration = kube_proxy_configuration(PROXY)
    assert configuration["mode"] == "kernelspace"
    assert configuration["clientConnection"] == {"kubeconfig": ""}
    # Another name than the kubelet's, and it would take the endpoints of the node for somebody else's.
    assert configuration["hostnameOverride"] == "${NODE_NAME}"
    assert configuration["winkernel"] == {
        "networkName": "flannel.4096", "sourceVip": "${SOURCE_VIP}", "enableDSR": True,
    }  # fmt: skip
    assert kube_proxy_configuration(replace(PROXY, direct_server_return=False))["winkernel"]["enableDSR"] is False
    assert "featureGates" not in configuration


def test_placeholders_are_those_that_the_scripts_fill_in():
    """Nothing else is left open in what a node is told."""
    for manifests, script in (
        (flannel_manifests(FLANNEL)["windows-configuration"], "flannel.ps1"),
        (kube_proxy_manifests(PROXY)["configuration"], "kube_proxy.ps1"),
    ):
        data = dict(manifests["data"])
        code = data.pop(script)
        open_ones = {it for text in data.values() for it in re.findall(r"\$\{[A-Z_]+\}", text)}
        assert open_ones == set(re.findall(r"'(\$\{[A-Z_]+\})'", code))


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"pod_network": "host-gw"}, "WK-K8S-022", ("pod_network",), "source/destination"),
        ({"pod_network": "weave"}, "WK-K8S-022", ("pod_network",), "never ran on Windows"),
        ({"pod_network": "winnat"}, "WK-K8S-022", ("pod_network",), "cannot reach"),
        ({"pod_network": "l2tunnel"}, "WK-K8S-022", ("pod_network",), "Azure"),
        ({"pod_network": "calico"}, "WK-K8S-022", ("pod_network",), "operator"),
        ({"pod_network": "flanel-vxlan"}, "WK-K8S-022", ("pod_network",), 'write "flannel-vxlan"'),
        ({"vni": 1}, "WK-K8S-023", ("vni",), "4096"),
        ({"vni": 65536}, "WK-K8S-023", ("vni",), "65535"),
        ({"port": 8472}, "WK-K8S-024", ("port",), "4789"),
        ({"pod_cidr": "fd00::/56"}, "WK-K8S-025", ("pod_cidr",), "10.244.0.0/16"),
        ({"pod_cidr": "10.244.0.0/16,fd00::/56"}, "WK-K8S-025", ("pod_cidr",), "IPv6"),
        ({"service_cidr": "10.96.0.1/12"}, "WK-K8S-026", ("service_cidr",), "host bits"),
        ({"service_cidr": "10.244.128.0/17"}, "WK-K8S-026", ("service_cidr",), "10.244.0.0/16"),
        ({"mtu": 1200}, "WK-K8S-027", ("mtu",), "1280 to 9001"),
        ({"endpoint": "https://api.example.com:6443/"}, "WK-K8S-028", ("endpoint",), 'write "api.example.com:6443"'),
        ({"endpoint": "api.example.com"}, "WK-K8S-028", ("endpoint",), "host:port"),
        ({"host_process_image": "base:latest"}, "WK-K8S-029", ("host_process_image",), "not pinned"),
    ],
)
def test_what_nodes_cannot_share_is_refused(change: dict[str, Any], code: str, path: tuple[str, ...], words: str):
    """With the reason and what to write; for both components alike."""
    for found in (check_flannel(replace(FLANNEL, **change)), check_windows_kube_proxy(replace(PROXY, **change))):
        mistake = said(found, code)
        assert mistake.path == path
        assert words in mistake.text()


def test_all_mistakes_are_said_at_once(record: Callable[..., Plan]):
    args = replace(FLANNEL, vni=1, port=8472, mtu=1, endpoint="x")
    with pytest.raises(WinkubeError) as refusal:
        record(lambda: Flannel("network", args))
    assert {it.rule.code for it in refusal.value.mistakes} == {f"WK-K8S-0{n}" for n in (23, 24, 27, 28)}


@pytest.mark.parametrize("preview", [True, False])
def test_the_components_make_the_namespace_first(record: Callable[..., Plan], preview: bool):
    def build() -> None:
        Flannel("network", FLANNEL)
        WindowsKubeProxy("proxy", PROXY)

    plan = record(build, preview=preview)
    flannel = next(it for it in plan.resources if it.name == "network")
    assert flannel.outputs == {"namespace": "kube-flannel", "networkName": "flannel.4096"}
    objects = [it for it in plan.resources if it.type.startswith("kubernetes:") and it.name.startswith("network-")]
    assert len(objects) == 8
    first = next(it.urn for it in objects if it.name == "network-namespace")
    assert all(first in it.options.dependencies for it in objects if it.name != "network-namespace")


def test_tokens_are_not_of_the_age_that_is_stretched():
    """The API server makes a token of 3607 seconds last a year (--service-account-extend-token-expiration)."""
    assert parts.TOKEN_SECONDS != 3607


def test_the_plugin_comes_from_a_mirror_where_one_is_named():
    """The image of the CNI plug-in is another one than flannel's."""
    manifests = flannel_manifests(replace(FLANNEL, cni_image="mirror.example.com/flannel-cni-plugin:v1.9.1"))
    plugin, configuration = pod_of(manifests["linux"])["initContainers"]
    assert plugin["image"] == "mirror.example.com/flannel-cni-plugin:v1.9.1"
    assert configuration["image"] == FLANNEL.image
