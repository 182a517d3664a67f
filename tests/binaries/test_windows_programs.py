"""The Windows programs start under Wine, and say which Windows they see."""

import json
from collections.abc import Iterator

import pytest

from . import MINORS, binary, version
from .wine import Wine, wine

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def windows() -> Iterator[Wine]:
    """A prefix that plays Windows Server 2022."""
    with wine("2022") as prefix:
        yield prefix


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("program", ["kubelet", "kube-proxy"])
def test_programs_of_kubernetes_are_stamped(windows: Wine, program: str, minor: str) -> None:
    """Each minor's own, at the pinned patch."""
    done = windows.run(binary(program, minor=minor, os="windows"), "--version")
    assert done.stdout.strip() == f"Kubernetes {version(program, minor=minor, os='windows')}"


def test_containerd_dumps_its_configuration(windows: Wine) -> None:
    """With the folders of Windows."""
    done = windows.run(binary("containerd", os="windows"), "config", "dump")
    assert r"root = 'C:\ProgramData\containerd\root'" in done.stdout, done.stderr


def test_flanneld_knows_vxlan_on_windows(windows: Wine) -> None:
    """It starts and lists its flags: the real program, without the backends that cannot be built."""
    assert "-kube-subnet-mgr" in windows.run(binary("flanneld", os="windows"), "--help").stderr


def test_plug_ins_answer(windows: Wine) -> None:
    """The network plug-in says its versions; flannel's asks the next one, which comes as far as the host's network."""
    done = windows.run(binary("win-overlay", os="windows"), environment={"CNI_COMMAND": "VERSION"})
    assert "1.0.0" in json.loads(done.stdout)["supportedVersions"]


def test_host_local_gives_an_address_and_keeps_it(windows: Wine) -> None:
    """It works completely, its files on drive C: included."""
    program = binary("host-local", os="windows")
    configuration = {
        "cniVersion": "1.0.0",
        "name": "pods",
        "type": "win-overlay",
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": "10.244.7.0/24", "rangeStart": "10.244.7.10"}]],
            "dataDir": "C:\\var\\lib\\cni\\networks",
        },
    }
    call = {"CNI_CONTAINERID": "one", "CNI_NETNS": "none", "CNI_IFNAME": "eth0", "CNI_PATH": "C:\\k"}
    text = json.dumps(configuration)
    done = windows.run(program, text=text, environment={**call, "CNI_COMMAND": "ADD"})
    assert json.loads(done.stdout)["ips"][0]["address"] == "10.244.7.10/24", done.stderr
    assert (windows.path("C:\\var\\lib\\cni\\networks") / "pods" / "10.244.7.10").is_file()
    other = windows.run(program, text=text, environment={**call, "CNI_CONTAINERID": "two", "CNI_COMMAND": "ADD"})
    assert json.loads(other.stdout)["ips"][0]["address"] == "10.244.7.11/24", other.stderr


@pytest.mark.parametrize(("release", "build"), [("2022", "20348"), ("2025", "26100")])
def test_the_registry_plays_the_release(windows: Wine, release: str, build: str) -> None:
    """What the kubelet makes its build label from."""
    windows.play(release)
    key = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion"
    assert build in windows.run("reg", "query", key, "/v", "CurrentBuildNumber").stdout
