"""What the boot code asks of Windows' own services, and a drain of the API: over the syntax trees of the scripts."""

import json
import re

from winkube.tables.releases import release
from winkube.windows_boot.windows_node_document import node_artefacts, node_document

from .conftest import node
from .powershell import Bundle, Script


def calls_in(script: Script, function: str) -> list[tuple[str, str]]:
    """Name and words of each call of a function, in order."""
    return [(name, script.words(call)) for call, name in script.calls() if script.function_of(call) == function]


def test_services_are_those_of_windows_itself(scripts: Bundle) -> None:
    """containerd registers itself; the kubelet is made as a service behind it; both get their environment."""
    kubelet = dict(calls_in(scripts["Kubelet.ps1"], "Install-Kubelet"))
    assert "-Name 'kubelet'" in kubelet["New-Service"]
    assert "-DependsOn 'containerd'" in kubelet["New-Service"]
    assert "-BinaryPathName $line -StartupType Manual" in kubelet["New-Service"]
    line = scripts["Kubelet.ps1"].words(scripts["Kubelet.ps1"].functions["Install-Kubelet"])
    assert "(@($Document.kubelet.runner) + @($Document.kubelet.program) + $arguments)" in line
    registered = [words for _, words in calls_in(scripts["Containerd.ps1"], "Install-Containerd")]
    assert any("@('--register-service', '--config', $configuration, '--log-file', $log)" in it for it in registered)
    made = {name for script in scripts.values() for _, name in script.calls() if name == "New-Service"}
    assert made == {"New-Service"}
    for script, function in (("Kubelet.ps1", "Install-Kubelet"), ("Containerd.ps1", "Install-Containerd")):
        assert "Set-ServiceEnvironment" in dict(calls_in(scripts[script], function))


def steps(scripts: Bundle) -> dict[str, str]:
    """The steps of a boot in order: name to the code of its action."""
    return dict(re.findall(r"@\{ Name = '(\w+)'; Once = .*; Action = \{ (.*) \} \}", scripts["Start-Node.ps1"].text))


def test_a_boot_installs_programs_and_files_before_it_starts_them(scripts: Bundle) -> None:
    """Each step is a function of the bundle, which is given the document; the kubelet is started last."""
    found = steps(scripts)
    assert list(found) == [
        "directories", "release", "proxy", "windows", "volume", "artefacts", "files", "containerd", "images",
        "network", "kubelet", "watch", "join",
    ]  # fmt: skip
    called = {name: action.partition(" ")[0] for name, action in found.items()}
    assert (called["artefacts"], called["files"]) == ("Install-Artefacts", "Write-NodeFile")
    assert (called["containerd"], called["kubelet"], called["join"]) == (
        "Install-Containerd", "Install-Kubelet", "Join-Cluster",
    )  # fmt: skip
    assert set(called.values()) <= {name for script in scripts.values() for name in script.functions}
    text = scripts["Start-Node.ps1"].text
    assert "foreach ($step in $todo)" in text
    assert "$todo = $steps + $joining" in text


def test_an_image_of_another_build_ends_the_boot_before_anything_is_installed(scripts: Bundle) -> None:
    """With both builds in the words; nothing of the boot installs a patch."""
    names = list(steps(scripts))
    assert steps(scripts)["release"] == "Test-WindowsRelease -Document $document"
    assert names.index("release") < names.index("windows") < names.index("artefacts")
    system = scripts["System.ps1"]
    check = system.words(system.functions["Test-WindowsRelease"])
    refusal = check.partition("if ($build -ne $Document.windows.build) {")[2]
    assert refusal.strip().startswith("throw")
    assert "$build of Windows" in refusal
    assert "$($Document.windows.build)" in refusal
    assert "[string][Environment]::OSVersion.Version.Build" in check
    updates = re.compile(r"wusa|WindowsUpdate|Add-WindowsPackage|dism", re.IGNORECASE)
    assert not [script.name for script in scripts.values() if updates.search(script.text)]


def test_a_kubelet_that_fails_is_started_again(scripts: Bundle) -> None:
    """After 10, 10 and 30 seconds, also when it ends with an error instead of crashing."""
    programs = [
        words for name, words in calls_in(scripts["Kubelet.ps1"], "Install-Kubelet") if name == "Invoke-Program"
    ]
    actions = "'restart/10000/restart/10000/restart/30000'"
    assert [re.findall(r"@\((.*)\)", words)[0] for words in programs] == [
        f"'failure', 'kubelet', 'reset=', '0', 'actions=', {actions}",
        "'failureflag', 'kubelet', '1'",
    ]
    assert all(r"$System32\sc.exe" in words for words in programs)


def test_no_service_wrapper_is_fetched_or_run(scripts: Bundle) -> None:
    """Neither NSSM nor another one; what stands before the kubelet only keeps its log."""
    wrappers = re.compile(r"nssm|winsw|srvany|servy", re.IGNORECASE)
    assert not [script.name for script in scripts.values() if wrappers.search(script.text)]
    names = {artefact.name for artefact in node_artefacts(node())}
    assert {"kubelet", "containerd"} <= names
    assert not [name for name in names if wrappers.search(name)]


def test_a_leaving_node_is_cordoned_and_its_pods_are_evicted(scripts: Bundle) -> None:
    """By the Eviction API, which keeps budgets; pods of DaemonSets, static and finished ones are left alone."""
    drain = scripts["Drain.ps1"]
    names = [name for name, _ in calls_in(drain, "Invoke-Drain")]
    assert names.index("Invoke-WithRetry") < names.index("Get-PodToEvict") < names.index("Send-Eviction")
    (cordon,) = [words for name, words in calls_in(drain, "Invoke-Drain") if name == "Invoke-Kubectl"]
    assert "@('patch', 'node', $Node.InstanceId, '--patch-file', \"$StatePath\\cordon.json\")" in cordon
    (written,) = [words for name, words in calls_in(drain, "Invoke-Drain") if name == "Write-TextFile"]
    assert '{"spec":{"unschedulable":true}}' in written
    (asked,) = [words for name, words in calls_in(drain, "Send-Eviction") if name == "Invoke-Kubectl"]
    assert "@('create', '--raw', $address, '--filename', $file)" in asked
    evicting = drain.words(drain.functions["Send-Eviction"])
    assert "/api/v1/namespaces/$($Pod.Namespace)/pods/$($Pod.Name)/eviction" in evicting
    chosen = drain.words(drain.functions["Get-PodToEvict"])
    assert "$_.kind -eq 'DaemonSet'" in chosen
    assert "($daemons.Count -eq 0) -and ($null -eq $mirror) -and ($phase -notin @('Succeeded', 'Failed'))" in chosen


def test_the_hook_of_a_leaving_instance_is_answered_behind_the_drain(scripts: Bundle) -> None:
    names = [name for name, _ in calls_in(scripts["Watch-Node.ps1"], "Invoke-Leave")]
    assert names.index("Invoke-Drain") < names.index("Complete-Hook")


def test_the_kubelet_joins_without_kubeadm() -> None:
    """By TLS bootstrap, as a kubelet of the cluster's patch that says its labels and taints itself."""
    names = {artefact.name: artefact.version for artefact in node_artefacts(node())}
    assert "kubeadm" not in names
    assert names["kubelet"] == release("1.36").patch
    document = json.loads(node_document(node()))
    flags = dict(word[2:].partition("=")[::2] for word in document["kubelet"]["arguments"])
    assert flags["bootstrap-kubeconfig"] == document["kubelet"]["bootstrapKubeconfig"]["path"]
    assert flags["node-labels"]
    (text,) = [file["content"] for file in document["files"] if file["path"] == flags["config"]]
    assert {"key": "os", "value": "windows", "effect": "NoSchedule"} in json.loads(text)["registerWithTaints"]
