"""Rules of pods on Windows nodes."""

from copy import deepcopy
from typing import Any

import pytest
from winkube.kubernetes.windows_pods import (
    check_fargate_selectors,
    check_manifest,
    check_windows_pod,
    for_windows,
    image_build,
    pod_spec,
)

POD: dict[str, Any] = {
    "os": {"name": "windows"},
    "runtimeClassName": "windows-2022",
    "containers": [
        {
            "name": "web",
            "image": "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022",
            "resources": {"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi", "cpu": "100m"}},
            "volumeMounts": [{"name": "data", "mountPath": "C:\\data"}, {"name": "cache", "mountPath": "/cache"}],
        }
    ],
    "volumes": [{"name": "data", "emptyDir": {}}, {"name": "cache", "emptyDir": {"medium": ""}}],
}


def pod(way: str, value: Any) -> dict[str, Any]:
    """The good pod with one value set, the way written with dots."""
    spec: Any = deepcopy(POD)
    found, keys = spec, way.split(".")
    for key in keys[:-1]:
        found = found[int(key)] if isinstance(found, list) else found.setdefault(key, {})
    if isinstance(found, list):
        found[int(keys[-1])] = value
    else:
        found[keys[-1]] = value
    return spec


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def test_a_good_pod_passes():
    """A pod with RuntimeClass, limit and an image of the right build."""
    assert not check_windows_pod(POD)


@pytest.mark.parametrize(
    "way",
    [
        "hostPID", "hostIPC", "shareProcessNamespace", "hostNetwork",
        "securityContext.runAsUser", "securityContext.runAsGroup",
        "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
        "securityContext.seLinuxChangePolicy", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
        "securityContext.sysctls", "securityContext.seLinuxOptions", "securityContext.seccompProfile",
        "securityContext.appArmorProfile", "containers.0.securityContext.privileged",
        "containers.0.securityContext.allowPrivilegeEscalation", "containers.0.securityContext.readOnlyRootFilesystem",
        "containers.0.securityContext.capabilities", "containers.0.securityContext.procMount",
        "containers.0.securityContext.runAsUser", "containers.0.securityContext.runAsGroup",
        "containers.0.securityContext.seLinuxOptions", "containers.0.securityContext.seccompProfile",
        "containers.0.securityContext.appArmorProfile", "containers.0.volumeDevices",
    ],
)  # fmt: skip
def test_linux_fields_are_refused(way: str):
    """WK-K8S-010 at the field, whatever its value."""
    mistake = only(check_windows_pod(pod(way, True)))
    assert mistake.rule.code == "WK-K8S-010"
    assert ".".join(map(str, mistake.path)) == way
    assert mistake.got is True
    assert mistake.remedy


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ("dnsPolicy", "ClusterFirstWithHostNet"),
        ("containers.0.volumeMounts.0.mountPropagation", "Bidirectional"),
        ("containers.0.resources.requests.hugepages-2Mi", "4Mi"),
    ],
)
def test_linux_values_are_refused(way: str, value: Any):
    """WK-K8S-010 for values that mean something on Linux only."""
    mistake = only(check_windows_pod(pod(way, value)))
    assert (mistake.rule.code, mistake.got) == ("WK-K8S-010", value)


def test_false_is_refused_where_the_api_server_does():
    """With os.name the field itself is forbidden; without it, false changes nothing."""
    spec = pod("containers.0.securityContext.allowPrivilegeEscalation", False)
    assert only(check_windows_pod(spec)).rule.code == "WK-K8S-010"
    del spec["os"]
    assert not check_windows_pod(spec)
    assert not check_windows_pod(pod("hostPID", False))


def test_memory_has_a_limit_equal_to_the_request():
    """WK-K8S-011 without a limit, and for a request that promises less."""
    mistake = only(check_windows_pod(pod("containers.0.resources", {})))
    assert (mistake.rule.code, mistake.path[-1]) == ("WK-K8S-011", "limits")
    mistake = only(check_windows_pod(pod("containers.0.resources.requests.memory", "300Mi")))
    assert (mistake.rule.code, mistake.got) == ("WK-K8S-011", "300Mi")
    assert "1Gi" in mistake.message
    assert not check_windows_pod(pod("containers.0.resources.requests.memory", "1024Mi"))


@pytest.mark.parametrize(
    ("image", "build"),
    [
        ("mcr.microsoft.com/windows/nanoserver:ltsc2025", "10.0.26100"),
        ("mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022", "10.0.20348"),
        ("mcr.microsoft.com/windows/servercore:10.0.20348.2966", "10.0.20348"),
        ("mcr.microsoft.com/windows/nanoserver:1809", "10.0.17763"),
        ("registry:5000/web:8.0-nanoserver-ltsc2022@sha256:abc", "10.0.20348"),
        ("web:20H2", "10.0.19042"),
        ("web:v1.1809", "10.0.17763"),
        ("web:18090", None),
        ("web", None),
        ("registry:1809/web", None),
    ],
)
def test_the_build_is_read_from_the_tag(image: str, build: str | None):
    """Only the tag counts, and only a whole part of it."""
    assert image_build(image) == build


def test_image_and_node_are_of_one_build():
    """WK-K8S-012 with the tag that would do; by RuntimeClass and by the build label."""
    mistake = only(check_windows_pod(pod("runtimeClassName", "windows-2025")))
    assert (mistake.rule.code, mistake.path) == ("WK-K8S-012", ("containers", 0, "image"))
    assert "10.0.20348" in mistake.message
    assert "ltsc2025" in mistake.remedy
    spec = pod("nodeSelector", {"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.17763"})
    assert only(check_windows_pod(spec)).remedy.startswith("use an image tagged ltsc2019")


def test_affinity_is_not_enough():
    """WK-K8S-013: without node selector or RuntimeClass the pod gets no address, or lands on Linux."""
    spec = pod("affinity", {"nodeAffinity": {}})
    del spec["runtimeClassName"]
    mistake = only(check_windows_pod(spec))
    assert (mistake.rule.code, mistake.path) == ("WK-K8S-013", ("nodeSelector",))
    assert not check_windows_pod({**spec, "nodeSelector": {"kubernetes.io/os": "windows"}})


def test_host_process_pods():
    """WK-K8S-014: all containers or none, and in the host's network; then hostNetwork is right."""
    options = {"windowsOptions": {"hostProcess": True}}
    spec = pod("securityContext", options)
    assert only(check_windows_pod(spec)).path == ("hostNetwork",)
    spec["hostNetwork"] = True
    assert not check_windows_pod(spec)
    mixed = pod("containers.0.securityContext", options)
    mixed["hostNetwork"] = True
    mixed["containers"].append({**deepcopy(POD["containers"][0]), "name": "other"})
    mistake = only(check_windows_pod(mixed))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-K8S-014", ("containers",), [True, None])


@pytest.mark.parametrize("path", ["C:\\etc\\foo", "C:/etc/foo", "/cache", "c:", "\\cache"])
def test_mount_paths_of_windows(path: str):
    """With a drive or rooted, with either slash."""
    assert not check_windows_pod(pod("containers.0.volumeMounts.0.mountPath", path))


def test_a_relative_mount_path_is_refused():
    """WK-K8S-015 with the path on drive C."""
    mistake = only(check_windows_pod(pod("containers.0.volumeMounts.0.mountPath", "data")))
    assert (mistake.rule.code, mistake.remedy) == ("WK-K8S-015", 'write "C:/data"')


@pytest.mark.parametrize(
    ("volume", "path"),
    [
        ({"emptyDir": {"medium": "Memory"}}, ("volumes", 0, "emptyDir", "medium")),
        ({"nfs": {"server": "x", "path": "/"}}, ("volumes", 0, "nfs")),
        ({"csi": {"driver": "efs.csi.aws.com"}}, ("volumes", 0, "csi", "driver")),
    ],
)
def test_volumes_that_windows_cannot_mount(volume: dict[str, Any], path: tuple[Any, ...]):
    """WK-K8S-016 for memory, NFS and drivers without a Windows part."""
    mistake = only(check_windows_pod(pod("volumes.0", {"name": "data", **volume})))
    assert (mistake.rule.code, mistake.path) == ("WK-K8S-016", path)


def test_fargate_does_not_claim_windows_pods():
    """WK-K8S-020 for a namespace of Windows workloads, also by a pattern; labels make a difference."""
    mistake = only(check_fargate_selectors([{"namespace": "kube-system"}, {"namespace": "web-*"}], ["web-1"]))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-K8S-020", ("selectors", 1, "namespace"), "web-*")
    assert not check_fargate_selectors([{"namespace": "web", "labels": {"os": "linux"}}], ["web"])


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("Pod", ("spec",)),
        ("Deployment", ("spec", "template", "spec")),
        ("DaemonSet", ("spec", "template", "spec")),
        ("CronJob", ("spec", "jobTemplate", "spec", "template", "spec")),
    ],
)
def test_pods_are_found_in_every_kind(kind: str, way: tuple[str, ...]):
    """The paths of mistakes start at the manifest's root."""
    manifest: Any = pod("hostPID", True)
    for key in reversed(way):
        manifest = {key: manifest}
    manifest["kind"] = kind
    assert pod_spec(manifest) == (way, pod("hostPID", True))
    assert only(check_manifest(manifest)).path == (*way, "hostPID")
    assert pod_spec({"kind": "Service", "spec": {}}) is None


def test_linux_pods_are_left_alone():
    """Nothing is said of a pod that does not claim to be for Windows."""
    spec = {"containers": [{"securityContext": {"privileged": True}}], "hostPID": True}
    assert not for_windows(spec)
    assert not check_manifest({"kind": "Pod", "spec": spec})
    assert for_windows({"nodeSelector": {"kubernetes.io/os": "windows"}})
    assert for_windows({"containers": [{"securityContext": {"windowsOptions": {}}}]})
