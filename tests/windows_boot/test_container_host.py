"""What a Windows node is made before the kubelet runs: Defender, names of shares, containerd and its files."""

import json
import re
import tomllib

import pytest
from winkube.tables.releases import release
from winkube.windows_boot import paths
from winkube.windows_boot.windows_node_document import node_document, node_files

from .conftest import node
from .powershell import Bundle


def words_of(scripts: Bundle, file: str, function: str, command: str) -> list[str]:
    """The calls of a command in a function of a script, as they are written."""
    script = scripts[file]
    return [script.words(call) for call, name in script.calls()
            if name == command and script.function_of(call) == function]  # fmt: skip


@pytest.mark.parametrize(("volume", "more"), [(None, []), ("D", [r"D:\containerd"])])
def test_defender_leaves_alone_what_is_there(volume: str | None, more: list[str]) -> None:
    """The volume of the images, where there is one; and no program that is not installed under that very path."""
    document = json.loads(node_document(node(data_volume=volume)))
    excluded = document["windows"]["defender"]
    assert excluded["paths"] == [r"C:\ProgramData\containerd", r"C:\var\lib\kubelet", *more]
    assert set(excluded["processes"]) <= {file["path"] for one in document["artefacts"] for file in one["install"]}


def test_the_boot_tells_defender(scripts: Bundle) -> None:
    """Paths as paths and programs as programs, in the step that prepares Windows."""
    read = "$Document.windows.defender"
    assert words_of(scripts, "System.ps1", "Add-DefenderExclusion", "Add-MpPreference") == [
        f"Add-MpPreference -ExclusionPath {read}.paths -ExclusionProcess {read}.processes"
    ]
    assert len(words_of(scripts, "System.ps1", "Initialize-Windows", "Add-DefenderExclusion")) == 1
    assert words_of(scripts, "Start-Node.ps1", "", "Initialize-Windows")


@pytest.mark.parametrize("windows", ["2022", "2025"])
def test_containers_resolve_names_of_shares(windows: str, scripts: Bundle) -> None:
    """The value that HNS reads when it makes a pod's network, on every release."""
    rows = json.loads(node_document(node(windows=windows)))["windows"]["registry"]
    (row,) = [row for row in rows if row["name"] == "EnableCompartmentNamespace"]
    assert (row["path"], row["value"]) == (r"HKLM:\SYSTEM\CurrentControlSet\Services\hns\State", 1)
    (written,) = words_of(scripts, "System.ps1", "Initialize-Windows", "Set-RegistryNumber")
    assert written == "Set-RegistryNumber -Path $row.path -Name $row.name -Value $row.value"


def test_containerd_lies_where_it_belongs_with_a_plain_text_file(scripts: Bundle) -> None:
    """Its reader takes no byte order mark: files of the document are written as UTF-8 without one."""
    document = json.loads(node_document(node()))
    installed = {file["path"] for one in document["artefacts"] for file in one["install"]}
    assert {rf"C:\Program Files\containerd\{name}.exe" for name in ("containerd", "ctr")} <= installed
    assert r"C:\Program Files\containerd\config.toml" in [one["path"] for one in document["files"]]
    assert words_of(scripts, "Artefacts.ps1", "Write-NodeFile", "Write-TextFile") == [
        "Write-TextFile -Path $file.path -Content (Expand-Placeholder -Text $file.content -Node $Node)"
    ]
    encodings = words_of(scripts, "Common.ps1", "Write-TextFile", "New-Object")
    assert encodings == ["New-Object -TypeName Text.UTF8Encoding -ArgumentList $false"]


def test_containerd_is_told_its_pause_image_plugins_and_runtime() -> None:
    """Under the keys of version 4, which containerd 2.3 reads without migrating it."""
    settings = tomllib.loads(node_files(node(kubernetes_version="1.36"))[paths.CONTAINERD_CONFIGURATION])
    assert settings["version"] == 4
    plugins = settings["plugins"]
    assert plugins["io.containerd.cri.v1.images"]["pinned_images"] == {"sandbox": release("1.36").pause_image}
    runtime = plugins["io.containerd.cri.v1.runtime"]
    assert (runtime["cni"]["bin_dirs"], runtime["cni"]["conf_dir"]) == ([r"C:\opt\cni\bin"], r"C:\etc\cni\net.d")
    assert runtime["containerd"]["default_runtime_name"] == "runhcs-wcow-process"


def test_containerd_is_a_service_with_a_log_before_anything_needs_it(scripts: Bundle) -> None:
    """What a service prints is lost otherwise; its own registration makes it start with Windows."""
    calls = words_of(scripts, "Containerd.ps1", "Install-Containerd", "Invoke-Program")
    wanted = "@('--register-service', '--config', $configuration, '--log-file', $log)"
    assert f"Invoke-Program -Path $program -Arguments {wanted}" in calls
    assert words_of(scripts, "Containerd.ps1", "Install-Containerd", "Start-Service")
    steps = re.findall(r"@\{ Name = '(\w+)'", scripts["Start-Node.ps1"].text)
    assert set(steps[steps.index("containerd") + 1 :]) >= {"images", "network", "kubelet", "join"}
    assert set(steps[: steps.index("containerd")]) >= {"windows", "artefacts", "files"}
