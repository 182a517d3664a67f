"""The node document of Windows nodes: its contract with the scripts, its texts, and what is refused."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from winkube.network.ports import self_managed_rules
from winkube.tables.releases import SELF_MANAGED_MINORS, release
from winkube.windows_boot import paths
from winkube.windows_boot.containerd import hosts_files, hosts_text
from winkube.windows_boot.windows_node_document import (
    PLACEHOLDERS,
    check_windows_boot,
    node_artefacts,
    node_document,
    node_files,
    optional_artefacts,
)

from .conftest import CERTIFICATE, node
from .powershell import Bundle, bundle_of, document_reads
from .test_scripts import HEAD


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Every path of a document; a list of objects is ``name[]``, a list of plain values ends there."""
    if isinstance(value, dict):
        for name, inner in value.items():
            here = f"{path}.{name}" if path else name
            yield here
            yield from keys(inner, here)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from keys(inner, f"{path}[]")


def leaves(value: Any, path: str = "") -> set[str]:
    found = set(keys(value, path))
    return {one for one in found if not any(other.startswith((f"{one}.", f"{one}[]")) for other in found)}


DOCUMENT = json.loads(node_document(node()))


def test_every_key_that_a_script_reads_is_written(scripts: Bundle) -> None:
    """Under strict mode a key that is not there ends the boot: none is read that Python does not write."""
    reads = document_reads(scripts)
    assert {path: place for path, place in reads.items() if path not in set(keys(DOCUMENT))} == {}
    assert len(reads) > 50


def test_every_key_that_is_written_is_read(scripts: Bundle) -> None:
    """What no script reads would be a promise that nothing keeps."""
    assert leaves(DOCUMENT) - set(document_reads(scripts)) == set()


def test_the_node_s_own_firewall_lets_in_what_the_security_group_does() -> None:
    """Both are made from the port matrix: the kubelet's port and that of VXLAN, under names that no other rule has."""
    rows = {(it.protocol, it.first, it.last) for it in self_managed_rules() if it.target == "windows_worker"}
    rules = DOCUMENT["windows"]["firewall"]
    assert {(rule["protocol"].lower(), rule["port"], rule["port"]) for rule in rules} == rows
    assert rows == {("tcp", 10250, 10250), ("udp", 4789, 4789)}
    assert len({rule["name"] for rule in rules}) == len(rules)


def test_the_virus_scanner_leaves_the_runtime_the_kubelet_and_the_pod_network_alone() -> None:
    """Their data and their programs; nothing of the system is left out."""
    defender = DOCUMENT["windows"]["defender"]
    assert set(defender["paths"]) == {paths.CONTAINERD_DATA, r"D:\containerd", paths.KUBELET}
    assert {program.rpartition("\\")[2] for program in defender["processes"]} == {
        "containerd.exe", "containerd-shim-runhcs-v1.exe", "kubelet.exe", "kube-proxy.exe", "flanneld.exe",
        "win-overlay.exe",
    }  # fmt: skip


def test_the_contract_finds_both_kinds_of_breach() -> None:
    """A misspelt key is found when it is read, in a loop and in a text as well."""
    text = (
        "Start-Sleep -Seconds $Document.deadline\n"
        "foreach ($one in $Document.files) { Get-Item -LiteralPath $one.pth }\n"
        'Get-Item -LiteralPath "$($Document.bucket.nam)"\n'
    )
    reads = set(document_reads(bundle_of({"Common.ps1": HEAD + text})))
    assert {"deadline", "files[].pth", "bucket.nam"} == reads - set(keys(DOCUMENT))


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("windows", ["2022", "2025"])
def test_all_documents_have_the_same_keys(minor: str, windows: str) -> None:
    """A node without proxy, hooks or mirrors has the same keys: absent things are null or empty, never missing."""
    least = node(
        kubernetes_version=minor, windows=windows, proxy=None, auto_scaling_group=None, launch_hook=None,
        terminate_hook=None, status_prefix=None, registry_mirrors={}, images=(), page_file_mib=None, bitlocker=False,
        data_volume=None, labels={}, taints=(), kubelet_log=False, ecr_credentials=False, pod_network="calico-vxlan",
    )  # fmt: skip
    missing = set(keys(DOCUMENT)) - set(keys(json.loads(node_document(least))))
    assert {path.partition(".")[0] for path in missing} <= {"proxy"}


def test_the_same_node_has_the_same_text() -> None:
    """Its digest decides whether a group is rolled: neither the order of a mapping nor spaces may change it."""
    one = node(labels={"b.example.com/x": "1", "a.example.com/x": "2"})
    other = node(labels={"a.example.com/x": "2", "b.example.com/x": "1"})
    assert node_document(one) == node_document(other)
    assert node_document(one) != node_document(node(labels={"a.example.com/x": "2"}))
    assert node_document(one).isascii()


def test_the_document_has_no_secret() -> None:
    """The token is a placeholder in the one text that will hold it; everything else of that file is public."""
    text = node_document(node())
    assert text.count("${JOIN_TOKEN}") == 1
    assert "PRIVATE KEY" not in text
    assert "${JOIN_TOKEN}" in DOCUMENT["kubelet"]["bootstrapKubeconfig"]["content"]


def test_placeholders_are_those_of_the_contract() -> None:
    """No text has a placeholder that no script fills in."""
    found = set(re.findall(r"\$\{[^}]*\}", node_document(node())))
    assert found <= set(PLACEHOLDERS)
    assert {"${INSTANCE_ID}", "${PRIVATE_IP}", "${PROVIDER_ID}", "${JOIN_TOKEN}"} <= found


def test_certificate_authority_and_bootstrap_kubeconfig() -> None:
    """The kubelet trusts the cluster's own authority, and asks for a certificate with the token alone."""
    files = node_files(node())
    assert files[paths.CERTIFICATE_AUTHORITY] == CERTIFICATE
    config = yaml.safe_load(DOCUMENT["kubelet"]["bootstrapKubeconfig"]["content"])
    (cluster,) = [it["cluster"] for it in config["clusters"]]
    assert set(cluster) == {"server", "certificate-authority-data"}
    assert cluster["server"] == "https://api.prod.example.com:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]).decode() == CERTIFICATE
    assert config["users"][0]["user"] == {"token": "${JOIN_TOKEN}"}
    configuration = json.loads(files[paths.KUBELET_CONFIGURATION])
    assert configuration["authentication"]["x509"]["clientCAFile"] == paths.CERTIFICATE_AUTHORITY


def test_what_the_kubelet_reads_is_written_where_it_looks() -> None:
    """Every path that a flag names is a file of the document, one that the boot writes, or a folder that it makes."""
    made = {paths.BOOTSTRAP_KUBECONFIG, paths.KUBECONFIG, *node_files(node()), *paths.OWN_DIRECTORIES}
    for argument in DOCUMENT["kubelet"]["arguments"]:
        _, _, value = argument.partition("=")
        if value.startswith("C:\\"):
            assert value in made or value.rpartition("\\")[0] in made, argument


def test_the_log_of_the_kubelet_is_kept_and_turned_over_where_its_runner_is() -> None:
    """Without the program the kubelet is the service alone; containerd has a log file in any case."""
    program, *arguments = DOCUMENT["kubelet"]["runner"]
    assert program.rpartition("\\")[2] == "kube-log-runner.exe"
    said = dict(word.lstrip("-").split("=") for word in arguments)
    assert said["log-file"] == r"C:\var\log\kubelet\kubelet.log"
    assert (said["log-file-size"], said["log-file-age"]) == ("50Mi", "168h")
    assert json.loads(node_document(node(kubelet_log=False)))["kubelet"]["runner"] == []
    logs = (said["log-file"], DOCUMENT["containerd"]["log"])
    assert {log.rpartition("\\")[0] for log in logs} <= set(DOCUMENT["directories"]["own"])


def test_programs_that_scripts_run_are_installed() -> None:
    """Each program that the document names comes out of an artefact, with a digest."""
    installed = {file["path"] for one in DOCUMENT["artefacts"] for file in one["install"]}
    wanted = [DOCUMENT["containerd"][name] for name in ("program", "crictl")]
    wanted += [DOCUMENT["kubelet"]["program"], DOCUMENT["kubelet"]["kubectl"], DOCUMENT["kubelet"]["runner"][0]]
    wanted += [rf"{paths.BINARIES}\kube-proxy.exe", rf"{paths.BINARIES}\flanneld.exe"]
    wanted += [rf"{paths.CNI_BINARIES}\{name}" for name in ("flannel.exe", "win-overlay.exe", "host-local.exe")]
    assert set(wanted) <= installed
    assert all(one["digest"] for one in DOCUMENT["artefacts"])


def test_a_mirror_stands_in_for_every_address() -> None:
    """Behind a mirror nothing is asked of upstream, and the digests stay the same."""
    mirrored = node_artefacts(node(mirror="https://mirror.example.com/files"))
    assert all(one.url.startswith("https://mirror.example.com/files/") for one in mirrored)
    assert [one.digest for one in mirrored] == [one.digest for one in node_artefacts(node())]


def test_optional_artefacts_follow_the_node() -> None:
    """The log runner and the credential provider come when they are used; kubectl always, for draining."""
    assert optional_artefacts() == ("kubectl", "kube-log-runner")
    assert optional_artefacts(kubelet_log=False, ecr_credentials=True) == ("kubectl", "ecr-credential-provider")


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_the_pause_image_is_that_of_the_runtime(minor: str) -> None:
    """containerd has the pause image of the table, the node pulls it first, and no flag names it."""
    one = node(kubernetes_version=minor)
    document = json.loads(node_document(one))
    pause = release(minor).pause_image
    assert f"sandbox = '{pause}'" in node_files(one)[paths.CONTAINERD_CONFIGURATION]
    assert document["containerd"]["images"][0] == pause
    assert not any("pod-infra" in argument for argument in document["kubelet"]["arguments"])


def test_a_repository_of_images_holds_pause_too() -> None:
    """A closed network takes the pause image from where the other images are."""
    one = node(image_repository="registry.example.com/k8s")
    assert json.loads(node_document(one))["containerd"]["images"][0].startswith("registry.example.com/k8s/pause:")


def test_registry_mirrors() -> None:
    """A mirror with a path brings /v2 in front of it; a port cannot stand in the name of a folder."""
    files = hosts_files({"registry.example.com:5000": "https://mirror.example.com/v2/cache"})
    (path,) = files
    assert path == rf"{paths.CONTAINERD_HOSTS}\registry.example.com_5000_\hosts.toml"
    assert "[host.'https://mirror.example.com/v2/cache']" in files[path]
    assert "override_path = true" in files[path]
    assert "override_path" not in hosts_text("quay.io", "https://mirror.example.com")
    assert "[host.'https://mirror.example.com/v2/k8s']" in hosts_text("registry.k8s.io", "mirror.example.com/k8s/")
    assert "server = 'https://registry-1.docker.io'" in hosts_text("docker.io", "https://mirror.example.com")


def test_a_second_volume_holds_the_images() -> None:
    """With a drive of its own, containerd keeps everything there; without, on the system's."""
    assert r"root = 'D:\containerd\root'" in node_files(node())[paths.CONTAINERD_CONFIGURATION]
    own = node_files(node(data_volume=None))[paths.CONTAINERD_CONFIGURATION]
    assert r"root = 'C:\ProgramData\containerd\root'" in own


def test_releases_differ_in_build_and_registry() -> None:
    """Each release has its own build to be checked and its own fixes; updates are off in both."""
    old, new = (json.loads(node_document(node(windows=one)))["windows"] for one in ("2022", "2025"))
    assert (old["build"], new["build"]) == ("20348", "26100")
    assert {row["name"] for row in old["registry"]} ^ {row["name"] for row in new["registry"]} == {
        "1114842764", "520997518",
    }  # fmt: skip
    assert all({"NoAutoUpdate", "EnableCompartmentNamespace"} <= {row["name"] for row in one["registry"]}
               for one in (old, new))  # fmt: skip


def test_the_pod_network_brings_its_own_configuration() -> None:
    """The boot writes no CNI configuration and clears old ones: a node is Ready when its pod network works."""
    assert not [path for path in node_files(node()) if path.startswith(paths.CNI_CONFIGURATION)]
    assert DOCUMENT["network"] == {"configuration": paths.CNI_CONFIGURATION, "stale": ["nat", "overlay"]}
    other = json.loads(node_document(node(pod_network="calico-vxlan")))
    assert other["network"]["stale"] == ["nat"]


def test_the_proxy_leaves_out_what_is_near() -> None:
    """The API, pods, Services and the metadata service are never reached through the proxy."""
    direct = DOCUMENT["proxy"]["direct"]
    assert {"api.prod.example.com", "10.244.0.0/16", "10.96.0.0/12", "169.254.169.254"} <= set(direct)


@pytest.mark.parametrize(
    ("changes", "code", "path", "words"),
    [
        ({"data_volume": "C"}, "WK-WIN-002", ("data_volume",), 'write "D"'),
        ({"data_volume": "data"}, "WK-WIN-002", ("data_volume",), "one capital letter from D to Z"),
        ({"boot_seconds": 60}, "WK-WIN-003", ("boot_seconds",), "set boot_seconds to 600"),
        ({"drain_seconds": 9000}, "WK-WIN-003", ("drain_seconds",), "set drain_seconds to 3600"),
        ({"page_file_mib": 0}, "WK-WIN-004", ("page_file_mib",), "at least 1024 MiB"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, path: tuple[str, ...], words: str) -> None:
    """Each wrong value is found with its code, its place, the limit, and what to write instead."""
    (mistake,) = check_windows_boot(node(**changes))
    assert (mistake.rule.code, mistake.path) == (code, path)
    assert words in mistake.text()


def test_all_mistakes_at_once() -> None:
    """A node with three mistakes is told of three."""
    assert len(check_windows_boot(node(data_volume="c", boot_seconds=1, page_file_mib=1))) == 3
    assert not check_windows_boot(node())
