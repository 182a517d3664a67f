"""The most common failures of Windows nodes: each has a guard in the code, and a line on the page."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from winkube.pod_network.flannel_config import OUTER_MTU, net_conf, source_vip_environment
from winkube.tables.releases import PAUSE_MINIMUM_SERVER_2025, SELF_MANAGED_RELEASES
from winkube.windows_boot import host
from winkube.windows_boot.bundle import script
from winkube.windows_boot.kubelet import kubelet_arguments, kubelet_configuration
from winkube.windows_boot.paths import CNI_CONFIGURATION, CONTAINERD_CONFIGURATION
from winkube.windows_boot.user_data import BootSource, windows_user_data
from winkube.windows_boot.windows_node_document import node_files

from docs.ledger import rule_codes

from .conftest import node

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting-windows-selfmanaged.md"
SOURCE = BootSource(region="r", bucket="b", bundle_key="k", bundle_sha256="0", document_key="d", document_sha256="1")


def containerd_text() -> str:
    return node_files(node())[CONTAINERD_CONFIGURATION]


def flag(name: str) -> str:
    (found,) = [one.partition("=")[2] for one in kubelet_arguments(node()) if one.startswith(f"--{name}=")]
    return found


def one_cni_file() -> bool:
    cleared = script("System.ps1").partition("function Clear-StaleNetwork")[2]
    one = "max_conf_num = 1" in containerd_text() and f"conf_dir = '{CNI_CONFIGURATION}'" in containerd_text()
    return one and "$Document.network.configuration" in cleared and "$Document.network.stale" in cleared


def right_interface() -> bool:
    text = script("Metadata.ps1")
    return "Get-NetIPAddress -InterfaceIndex $index" in text and "Get-NetAdapter" not in text


def pause_new_enough() -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".")]

    images = [row.pause_image.rpartition(":")[2] for row in SELF_MANAGED_RELEASES.values()]
    return all(numbers(one) >= numbers(PAUSE_MINIMUM_SERVER_2025) for one in images)


def metadata_route_kept() -> bool:
    return "Repair-MetadataRoute" in script("Watch-Node.ps1") and "'-p', 'ADD'" in script("Metadata.ps1")


def updates_off() -> bool:
    return all(("NoAutoUpdate", 1) in {(row.name, row.value) for row in rows} for rows in host.REGISTRY.values())


FAILURES: dict[str, tuple[str, Callable[[], bool]]] = {
    "VNI or port of the pod network": ("VNI 1", lambda: net_conf("10.244.0.0/16")["Backend"]["VNI"] == 4096),
    "a nat network wins": ("172.x", one_cni_file),
    "flanneld before HNS": ("management address", lambda: "-Attempts 15" in script("Metadata.ps1")),
    "wrong interface": ("wrong interface", right_interface),
    "no source VIP": ("source VIP", lambda: source_vip_environment()["CNI_CONTAINERID"] == "kube-proxy"),
    "removed flags": ("locked gate", lambda: not any("pod-infra" in one for one in kubelet_arguments(node()))),
    "metadata route": ("instance metadata", metadata_route_kept),
    "name of the node": ("uninitialized", lambda: flag("hostname-override") == "${INSTANCE_ID}"),
    "provider id": ("provider id", lambda: kubelet_configuration(node())["providerID"] == "${PROVIDER_ID}"),
    "pause image": ("does not match the host", pause_new_enough),
    "build of the image": (
        "another build",
        lambda: "throw" in script("System.ps1").partition("Test-WindowsRelease")[2],
    ),
    "monthly patches": ("monthly patch", updates_off),
    "stale policies": ("stale HNS policies", lambda: "Remove-HnsPolicyList" in script("System.ps1")),
    "ping": ("ping fails", lambda: "with TCP" in PAGE.read_text(encoding="utf-8")),
    "MTU": ("large packets", lambda: net_conf("10.244.0.0/16")["Backend"]["MTU"] == OUTER_MTU == 1500),
    "csi-proxy": ("csi-proxy", lambda: "windowsHostProcess=true" in PAGE.read_text(encoding="utf-8")),
    "restart": ("exits with 3010", lambda: "detach: false" in windows_user_data(SOURCE)),
    "containerd's configuration": ("bin_dirs", lambda: "bin_dirs = [" in containerd_text()),
}
"""Failure to a phrase of its line on the page, and to its guard."""


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_has_a_guard_and_a_line(name: str) -> None:
    """What people report most is prevented or handled here, and the page says how."""
    phrase, guard = FAILURES[name]
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert any(phrase in line for line in lines), phrase
    assert guard()


def test_the_page_has_all_of_them() -> None:
    """At least fifteen failures stand on the page, each with what stands against it and what is left to do."""
    text = PAGE.read_text(encoding="utf-8").partition("## What fails most often")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| failure"))]
    assert len(rows) >= 15
    assert all(len([cell for cell in row.strip("| ").split(" | ") if cell]) == 3 for row in rows)


def test_the_page_names_the_states_that_the_scripts_report() -> None:
    """Tag and states on the page are those that are written."""
    text = PAGE.read_text(encoding="utf-8")
    states = script("Report.ps1").partition("[ValidateSet(")[2].partition(")]")[0]
    for state in states.replace("'", "").split(", "):
        assert f"`{state}" in text, state
    assert "`winkube:boot`" in text
    assert "'winkube:boot'" in script("Report.ps1")


def test_codes_on_the_page_exist() -> None:
    """The page names codes that there are."""
    assert set(re.findall(r"WK-[A-Z0-9]+-\d{3}", PAGE.read_text(encoding="utf-8"))) <= set(rule_codes(PAGE.parents[1]))
