"""Configuration of the container runtimes: read by the real containerd, and by parsers."""

import subprocess
import tomllib
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from winkube.kubeadm.config import ClusterConfig
from winkube.kubeadm.flags import check_extra_args, check_kubelet_fields
from winkube.kubeadm.kubelet import linux_kubelet_configuration
from winkube.node_agent import containerd, crio
from winkube.node_agent.containerd import config_version, configuration, hosts_toml
from winkube.node_agent.node_files import MODULES
from winkube.node_agent.winkube_agent.machine import BUDGETS, Machine
from winkube.tables.releases import SELF_MANAGED_RELEASES

from tests.binaries import binary

PAUSE = "registry.k8s.io/pause:3.10.2"
CLUSTER = ClusterConfig(cluster_name="c", kubernetes_version="1.36", endpoint="api.example.com:6443")
IMAGES, RUNTIME = "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"


def dumped(tmp_path, text):
    """What the real containerd makes of a configuration."""
    program = binary("containerd")
    path = tmp_path / "config.toml"
    path.write_text(text)
    done = subprocess.run(
        [str(program), "--config", str(path), "config", "dump"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return tomllib.loads(done.stdout), done.stderr


@pytest.mark.proof
@pytest.mark.parametrize("release", sorted({one.containerd for one in SELF_MANAGED_RELEASES.values()}))
def test_the_real_containerd_shows_our_settings(tmp_path, release):
    """``config dump`` prints what it will run with: defaults, and ours over them."""
    whole, said = dumped(tmp_path, configuration(release, PAUSE))
    plugins = whole["plugins"]
    assert whole["version"] == 4
    assert plugins[IMAGES]["pinned_images"]["sandbox"] == PAUSE
    assert plugins[IMAGES]["registry"]["config_path"] == "/etc/containerd/certs.d"
    assert plugins[IMAGES]["snapshotter"] == "overlayfs"
    runtimes = plugins[RUNTIME]["containerd"]
    assert runtimes["default_runtime_name"] == "runc"
    runc = runtimes["runtimes"]["runc"]
    assert runc["runtime_type"] == "io.containerd.runc.v2"
    assert runc["options"]["SystemdCgroup"] is True
    assert runc["options"]["BinaryName"] == "/usr/local/sbin/runc"
    assert plugins[RUNTIME]["cni"]["bin_dirs"] == ["/opt/cni/bin"]
    assert plugins[RUNTIME]["cni"]["conf_dir"] == "/etc/cni/net.d"
    assert whole["oom_score"] == -999
    assert not [line for line in said.splitlines() if "level=warn" in line or "deprecated" in line.lower()]


@pytest.mark.proof
def test_the_real_containerd_reads_the_older_version_of_the_file_too(tmp_path):
    """Nodes with 2.2 get version 3, which 2.3 would migrate to the same settings."""
    whole, _ = dumped(tmp_path, configuration("2.2.7", PAUSE))
    assert whole["plugins"][IMAGES]["pinned_images"]["sandbox"] == PAUSE
    assert whole["plugins"][RUNTIME]["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] is True


@pytest.mark.parametrize("release", ["2.2.7", "2.3.4"])
def test_runtimes_and_kubelets_leave_cgroups_to_systemd(release):
    """All of them say so themselves: one that fell back to cgroupfs would count what another limits."""
    runc = tomllib.loads(configuration(release, PAUSE))["plugins"][RUNTIME]["containerd"]["runtimes"]["runc"]
    assert runc["options"]["SystemdCgroup"] is True
    assert tomllib.loads(crio.configuration(PAUSE))["crio"]["runtime"]["cgroup_manager"] == "systemd"
    assert linux_kubelet_configuration(CLUSTER)["cgroupDriver"] == "systemd"
    for found in (
        check_kubelet_fields("1.36", {"cgroupDriver": "cgroupfs"}),
        check_extra_args("kubelet", "1.36", {"cgroup-driver": "cgroupfs"}),
    ):
        (mistake,) = found
        assert "systemd" in mistake.text()


def test_containerd_keeps_its_own_snapshotter_and_finds_the_module_of_it():
    """overlayfs is its default; the kernel is prepared before services are started."""
    assert "snapshotter" not in configuration("2.3.4", PAUSE)
    assert "overlay" in MODULES
    done = []
    machine = SimpleNamespace(_phase=lambda name: nullcontext(done.append(name)))
    for name in BUDGETS:
        setattr(machine, name, Mock(__name__=name))
    Machine.prepare(machine)
    assert done.index("kernel") < done.index("services")


@pytest.mark.parametrize(
    ("release", "version"), [("2.0.5", 3), ("2.2.7", 3), ("2.3.0", 4), ("2.3.4", 4), ("2.10.0", 4), ("3.0.0", 4)]
)
def test_the_version_of_the_file_follows_the_release(release, version):
    assert config_version(release) == version
    assert tomllib.loads(configuration(release, PAUSE))["version"] == version


def test_a_mirror_stands_alone():
    """With the registry as ``server``, containerd would go on to it when the mirror lacks an image."""
    whole = tomllib.loads(hosts_toml("https://mirror.example.com/"))
    assert whole == {
        "server": "https://mirror.example.com", "capabilities": ["pull", "resolve"],
        "host": {"https://mirror.example.com": {"capabilities": ["pull", "resolve"]}},
    }  # fmt: skip


def test_a_mirror_with_a_path_overrides_the_path():
    whole = tomllib.loads(hosts_toml("https://m.example.com:5000/v2/k8s"))
    assert whole["override_path"] is True
    assert whole["host"]["https://m.example.com:5000/v2/k8s"]["override_path"] is True


def test_cri_o_is_told_the_same():
    whole = tomllib.loads(crio.configuration(PAUSE))["crio"]
    assert whole["image"]["pause_image"] == PAUSE
    assert whole["runtime"]["cgroup_manager"] == "systemd"
    assert whole["runtime"]["default_runtime"] in whole["runtime"]["runtimes"]
    assert whole["network"]["plugin_dirs"] == ["/opt/cni/bin/"]


def test_cri_o_reads_mirrors_as_registries():
    whole = tomllib.loads(
        crio.registries({"registry.k8s.io": "https://m.test/v2/k8s/", "ghcr.io": "http://10.0.0.1:5000"})
    )
    assert [(one["prefix"], one["mirror"]) for one in whole["registry"]] == [
        ("ghcr.io", [{"location": "10.0.0.1:5000", "insecure": True}]),
        ("registry.k8s.io", [{"location": "m.test/v2/k8s", "insecure": False}]),
    ]


@pytest.mark.parametrize("unit", [containerd.UNIT, crio.UNIT])
def test_units_leave_containers_alone_when_the_runtime_is_started_again(unit):
    assert "KillMode=process\n" in unit
    assert "Delegate=yes\n" in unit
