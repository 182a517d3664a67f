"""The real Windows programs read what is rendered for them."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from winkube.pod_network.flannel_config import (
    network_name,
    rendered,
    source_vip_environment,
    source_vip_request,
    windows_cni_conflist,
)
from winkube.tables.releases import release
from winkube.windows_boot import paths
from winkube.windows_boot.windows_node_document import node_files

from tests.binaries import MINORS, binary
from tests.binaries.wine import Wine
from tests.cluster.pki import write_pki
from tests.windows_boot.conftest import node

from .nodes import DescribedNode, Facts, node_ip

pytestmark = pytest.mark.proof

JOB = "Creating a Windows job object"
COMPLAINTS = ("unknown flag", "unknown field", "strict decoding", "not supported", "unrecognized feature gate",
              "has been deprecated", "is deprecated", "Setting GA feature gate", "failed to load kubelet config",
              "Warning:", "W1")  # fmt: skip

OF_ITS_OWN = ("MemoryQoS feature only works with cgroups v2 on Linux",)
"""What kubelet.exe of 1.37 says whatever it is told: a gate that is on by default, which nothing here sets."""


@pytest.fixture
def kubelet(server: Wine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[DescribedNode]:
    """A kubelet with everything that a group can switch on; nothing answers at its API server."""
    write_pki(tmp_path, ["127.0.0.1"])
    authority = (tmp_path / "ca.crt").read_text()
    one = node(kubernetes_version=request.param, endpoint="127.0.0.1:9", certificate_authority=authority, proxy=None)
    running = DescribedNode(server, one, Facts("i-0reading", node_ip()), tmp_path)
    yield running
    running.stop()


def complaints(log: str) -> list[str]:
    lines = [line for line in log.splitlines() if any(word in line for word in COMPLAINTS)]
    return [line for line in lines if not any(word in line for word in OF_ITS_OWN)]


@pytest.mark.parametrize("kubelet", MINORS, indirect=True)
def test_the_kubelet_takes_flags_and_configuration(kubelet: DescribedNode) -> None:
    """Each minor's kubelet.exe takes every flag, decodes the configuration strictly, and warns of nothing.

    It makes its job object with the priority class behind that, and goes on to ask for its certificate.
    """
    kubelet.start()
    kubelet.wait_said(JOB)
    kubelet.wait_said("bootstrap")
    assert 'windowsPriorityClass="ABOVE_NORMAL_PRIORITY_CLASS"' in kubelet.log
    assert complaints(kubelet.log) == []


@pytest.mark.parametrize("kubelet", MINORS, indirect=True)
def test_the_kubelet_is_a_service(kubelet: DescribedNode) -> None:
    """With the flag that the test leaves out otherwise, it asks for the service manager, which Wine has not."""
    done = kubelet.server.run(kubelet.program, *kubelet.arguments, "--windows-service=true")
    assert "Service controller connect failed" in done.stderr
    assert complaints(done.stderr) == []


COUNTER: list[tuple[str, dict[str, Any], str, str]] = [
    ("flag", {}, "--pod-infra-container-image=pause:3.10.2", "unknown flag: --pod-infra-container-image"),
    ("gate", {}, "--feature-gates=WinOverlay=true", "WinOverlay"),
    ("field", {"cgroupDriverr": "systemd"}, "", "cgroupDriverr"),
    ("cgroups", {"cgroupsPerQOS": True, "enforceNodeAllocatable": ["pods"]}, "", "not supported on Windows"),
    ("type", {"maxPods": "many"}, "", "maxPods"),
]  # fmt: skip


@pytest.mark.parametrize("kubelet", MINORS, indirect=True)
@pytest.mark.parametrize(("fields", "flag", "said"), [row[1:] for row in COUNTER], ids=[row[0] for row in COUNTER])
def test_the_kubelet_complains_of_what_is_wrong(
    kubelet: DescribedNode, fields: dict[str, Any], flag: str, said: str
) -> None:
    """The silence of the other test says something: the same kubelet refuses or warns of each of these."""
    path = kubelet.server.path(paths.KUBELET_CONFIGURATION)
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    kubelet.start(*([flag] if flag else []))
    kubelet.wait_said(said)
    assert complaints(kubelet.log)


def test_containerd_shows_our_settings(server: Wine) -> None:
    """containerd.exe reads its file without migrating it, and runs with what the file says."""
    one = node(data_volume=None)
    server.write(paths.CONTAINERD_CONFIGURATION, node_files(one)[paths.CONTAINERD_CONFIGURATION])
    program = binary("containerd", os="windows")
    done = server.run(program, "--config", paths.CONTAINERD_CONFIGURATION, "config", "dump")
    assert done.returncode == 0
    assert "migrat" not in done.stderr
    dump = tomllib.loads(done.stdout)
    runtime, images = (dump["plugins"][f"io.containerd.cri.v1.{name}"] for name in ("runtime", "images"))
    assert images["pinned_images"] == {"sandbox": release("1.36").pause_image}
    assert images["registry"]["config_path"] == paths.CONTAINERD_HOSTS
    assert runtime["cni"]["bin_dirs"] == [paths.CNI_BINARIES]
    assert runtime["cni"]["bin_dir"] == ""
    assert (runtime["cni"]["conf_dir"], runtime["cni"]["max_conf_num"]) == (paths.CNI_CONFIGURATION, 1)
    assert runtime["containerd"]["default_runtime_name"] == "runhcs-wcow-process"
    assert (dump["root"], dump["state"]) == (rf"{paths.CONTAINERD_DATA}\root", rf"{paths.CONTAINERD_DATA}\state")
    assert "\\\\.\\pipe\\containerd-containerd" in str(dump).replace("\\\\", "\\")


def test_containerd_complains_of_a_wrong_type(server: Wine) -> None:
    """A setting of another type ends containerd: what the other test sees was decoded."""
    text = node_files(node())[paths.CONTAINERD_CONFIGURATION].replace("max_conf_num = 1", "max_conf_num = 'one'")
    server.write(r"C:\k\wrong.toml", text)
    done = server.run(binary("containerd", os="windows"), "--config", r"C:\k\wrong.toml", "config", "dump")
    assert done.returncode != 0 or "max_conf_num" in done.stderr


def plugin(document: dict[str, Any]) -> dict[str, Any]:
    """The one plug-in of a conflist, as a runtime hands it over."""
    return {"name": document["name"], "cniVersion": document["cniVersion"], **document["plugins"][0]}


CALL = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "pod", "CNI_IFNAME": "eth0", "CNI_NETNS": "none"}
SUBNET = "FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.3.1/24\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n"
OLD_CNI_VERSION = "0.4.0"
"""flannel.exe here is the last one of containernetworking: flannel-io's own module cannot be had from a proxy."""


def call(server: Wine, program: str, document: dict[str, Any]) -> str:
    """Call a plug-in from drive C:, where it finds the next one."""
    folder = server.path(paths.CNI_BINARIES)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("win-overlay", "host-local"):
        (folder / f"{name}.exe").write_bytes(binary(name, os="windows").read_bytes())
    server.write(r"C:\run\flannel\subnet.env", SUBNET)
    done = server.run(
        binary(program, os="windows"),
        text=json.dumps(document),
        environment={**CALL, "CNI_PATH": paths.CNI_BINARIES},
        folder=server.path("C:\\"),
    )
    return done.stdout + done.stderr


def rendered_plugin() -> dict[str, Any]:
    return plugin(windows_cni_conflist("10.244.0.0/16", "10.96.0.0/12", node_ip=node_ip()))


def delegate() -> dict[str, Any]:
    """What flannel.exe hands to win-overlay.exe, in the version that is rendered."""
    document = rendered_plugin()
    subnet = {"type": "host-local", "subnet": "10.244.3.0/24"}
    return {"name": document["name"], "cniVersion": document["cniVersion"], **document["delegate"], "ipam": subnet}


def test_flannel_fills_in_the_subnet_and_calls_win_overlay(server: Wine) -> None:
    """flannel.exe makes of our plug-in and of flanneld's file what win-overlay.exe gets, policies unchanged."""
    # Paths without a drive do not work for this program under Wine.
    server.path(r"C:\cni").mkdir(exist_ok=True)
    here = {"subnetFile": r"C:\run\flannel\subnet.env", "dataDir": r"C:\cni"}
    said = call(server, "flannel", {**rendered_plugin(), "cniVersion": OLD_CNI_VERSION, **here})
    assert f"GetNetworkByName({network_name()})" in said, said
    handed = json.loads(server.path(rf"C:\cni\{CALL['CNI_CONTAINERID']}").read_text())
    assert handed["ipam"]["subnet"] == "10.244.3.0/24"
    assert (handed["type"], handed["apiVersion"], handed["name"]) == ("win-overlay", 2, network_name())
    kinds = [one["value"]["Type"] for one in handed["policies"] if "Type" in one.get("value", {})]
    assert kinds[:3] == ["OutBoundNAT", "SDNRoute", "ProviderAddress"]


def test_win_overlay_comes_as_far_as_the_network(server: Wine) -> None:
    """win-overlay.exe decodes everything and asks HNS for the network by the name that flanneld gives it."""
    said = call(server, "win-overlay", delegate())
    assert f"GetNetworkByName({network_name()})" in said, said


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("policies", "none", "policies"), ("apiVersion", "two", "apiVersion"), ("name", 1, "name")],
)
def test_win_overlay_refuses_a_wrong_type(server: Wine, field: str, value: Any, said: str) -> None:
    """What it decodes is judged: a wrong type is refused with the field's name, before HNS is asked."""
    answer = call(server, "win-overlay", {**delegate(), field: value})
    assert said in answer
    assert "GetNetworkByName" not in answer


def test_host_local_gives_and_keeps_the_source_vip(server: Wine) -> None:
    """kube-proxy's address is the first of the node's pods, is kept under its owner, and no pod gets it."""
    program, drive = binary("host-local", os="windows"), server.path("C:\\")
    request = rendered(source_vip_request("10.244.9.0/24"))
    first = server.run(program, text=request, environment=source_vip_environment(), folder=drive)
    assert json.loads(first.stdout)["ips"][0]["address"] == "10.244.9.2/24"
    again = server.run(program, text=request, environment=source_vip_environment(), folder=drive)
    assert "10.244.9.2 has been allocated to kube-proxy" in again.stdout
    kept = server.path(rf"C:\var\lib\cni\networks\{network_name()}\10.244.9.2").read_text()
    assert kept.split() == ["kube-proxy", "source-vip"]
    pod = server.run(program, text=request, environment={**source_vip_environment(), **CALL}, folder=drive)
    assert json.loads(pod.stdout)["ips"][0]["address"] == "10.244.9.3/24"
