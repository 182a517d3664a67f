"""The PowerShell scripts of our DaemonSets: grammar, house rules, and what the documents beside them say."""

import json
import re

import pytest
import tree_sitter
import tree_sitter_powershell
from winkube.pod_network import powershell
from winkube.pod_network.flannel import FlannelArgs
from winkube.pod_network.flannel_config import (
    RESERVATIONS,
    SOURCE_VIP_OWNER,
    WINDOWS_CNI_DIRECTORY,
    WINDOWS_CONFLIST_DIRECTORY,
)
from winkube.pod_network.flannel_manifests import flannel_manifests
from winkube.pod_network.kube_proxy_manifests import kube_proxy_manifests
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxyArgs

from ..kubernetes.conftest import API

SCRIPTS = ("flannel.ps1", "kube_proxy.ps1")
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
ALLOWED = {
    "ConvertFrom-Json", "ConvertTo-Number", "ForEach-Object", "Get-ChildItem", "Get-HnsNetwork", "Get-HnsPolicyList",
    "Get-NetRoute", "Join-Path", "Move-Item", "New-Item", "New-NetRoute", "New-Object", "Out-Host", "Out-Null",
    "Remove-HnsNetwork", "Remove-HnsPolicyList", "Remove-Item", "Select-Object", "Set-StrictMode", "Sort-Object",
    "Split-Path", "Start-Process", "Start-Sleep", "Stop-Process", "Test-Path", "Where-Object", "Write-Output",
}  # fmt: skip
"""Commands of Windows PowerShell 5.1 and of its module HostNetworkingService that the scripts may call."""
FORBIDDEN = (r"Invoke-Expression", r"\biex\b", r"\?\?", r"\?\.", r"&&", r"\|\|", r"Invoke-WebRequest", r"DownloadFile")
"""What runs text as code, needs PowerShell 7, or fetches something: these scripts fetch nothing."""


def nodes(script: str) -> list[tree_sitter.Node]:
    found, open_ones = [], [PARSER.parse(powershell.script(script).encode()).root_node]
    while open_ones:
        node = open_ones.pop()
        found.append(node)
        open_ones.extend(node.children)
    return found


@pytest.mark.parametrize("script", SCRIPTS)
def test_grammar(script: str):
    """No place that the grammar cannot read."""
    assert not [it.start_point for it in nodes(script) if it.type == "ERROR" or it.is_missing]


@pytest.mark.parametrize("script", SCRIPTS)
def test_only_known_commands_are_called(script: str):
    """Own functions, and a short list; no aliases."""
    text = powershell.script(script)
    own = set(re.findall(r"^function ([\w-]+)", text, re.MULTILINE))
    called = {it.text.decode() for it in nodes(script) if it.type == "command_name"}
    assert called - own <= ALLOWED
    assert own <= called | own


@pytest.mark.parametrize("script", SCRIPTS)
def test_house_rules(script: str):
    """Strict mode first, mistakes end the script, nothing that only PowerShell 7 knows."""
    lines = [it for it in powershell.script(script).splitlines() if it and not it.startswith("#")]
    assert lines[0] == "Set-StrictMode -Version 3.0"
    assert lines[1] == "$ErrorActionPreference = 'Stop'"
    code = "\n".join(lines)
    for pattern in FORBIDDEN:
        assert not re.search(pattern, code)


def test_the_rules_find_what_breaks_them():
    """The grammar reads a broken script as broken."""
    assert [it for it in PARSER.parse(b"function { if (").root_node.children if it.has_error or it.is_missing]
    assert re.search(FORBIDDEN[0], "Invoke-Expression $x")


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_reads_is_written(script: str):
    """Every variable of the environment and every file, and nothing that no script reads."""
    manifests = flannel_manifests(FlannelArgs(endpoint=API)) if script == "flannel.ps1" else kube_proxy_manifests(
        WindowsKubeProxyArgs(endpoint=API)
    )  # fmt: skip
    (container,) = manifests["windows"]["spec"]["template"]["spec"]["containers"]
    configuration = manifests["windows-configuration" if script == "flannel.ps1" else "configuration"]
    text = powershell.script(script)
    given = {it["name"] for it in container["env"]} - {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}
    read = set(re.findall(r"\$env:([A-Z_]+)", text))
    # flanneld itself reads the name of its node.
    assert read | {"NODE_NAME"} == given
    files = set(re.findall(r"Join-Path \$configuration '([^']+)'", text))
    assert files | {script} == set(configuration["data"])
    assert container["command"][-1].endswith(script)
    mount = next(it for it in container["volumeMounts"] if it["name"] == "configuration")
    directory = re.search(r"^\$configuration = '([^']+)'", text, re.MULTILINE)
    assert directory
    assert directory[1].replace("\\", "/") == f"C:{mount['mountPath']}"


def test_flanneld_is_told_the_address_of_its_node_and_the_network():
    """Its name comes by the environment, which flanneld reads itself."""
    given = powershell.script("flannel.ps1").partition("$arguments = @(")[2].partition("\n)")[0]
    words = {line.strip().rstrip(",") for line in given.splitlines()} - {""}
    assert words >= {
        "'--kube-subnet-mgr'", "'--ip-masq'", "('--iface={0}' -f $env:NODE_IP)",
        "('--net-config-path={0}' -f (Join-Path $configuration 'net-conf.json'))",
    }  # fmt: skip
    (container,) = flannel_manifests(FlannelArgs(endpoint=API))["windows"]["spec"]["template"]["spec"]["containers"]
    assert {"NODE_NAME", "NODE_IP"} <= {it["name"] for it in container["env"]}


def test_kube_proxy_is_started_when_its_network_is_there():
    """It waits for the network, reserves an address, writes its configuration and forgets the rules of the last run."""
    _, _, body = powershell.script("kube_proxy.ps1").rpartition("\n}\n$subnet = ")
    steps = ("Wait-PodNetwork", "Get-SourceVip", "Write-Configuration", "Remove-HnsPolicyList", "& $binary")
    places = [f"$subnet = {body}".find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)
    waiting = powershell.script("kube_proxy.ps1").partition("function Wait-PodNetwork {")[2].partition("\n}\n")[0]
    assert "$_.Name -eq $env:NETWORK_NAME -and [string]$_.ManagementIP -ne ''" in waiting
    assert "throw" in waiting


def test_paths_are_those_of_the_documents():
    """Where the runtime looks for CNI, where host-local keeps its book, and under which name."""
    flannel, proxy = powershell.script("flannel.ps1"), powershell.script("kube_proxy.ps1")
    assert rf"{WINDOWS_CONFLIST_DIRECTORY}\10-flannel.conflist" in flannel
    assert rf"{WINDOWS_CNI_DIRECTORY}\host-local.exe" in proxy
    assert "C:" + RESERVATIONS.replace("/", "\\") in proxy
    container, interface = SOURCE_VIP_OWNER
    assert f"$owner = '{container}'" in proxy
    assert f"$interface = '{interface}'" in proxy


def test_scripts_stay_ascii():
    """Windows PowerShell 5.1 takes a script without a byte order mark for one in the code page of the system."""
    for script in SCRIPTS:
        assert powershell.script(script).isascii()
        assert json.dumps(powershell.script(script))
