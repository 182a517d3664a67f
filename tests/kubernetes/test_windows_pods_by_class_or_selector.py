"""Pods for Windows that say so by class or selector alone, HostProcess pods, and what is left alone in all of them."""

from typing import Any

import pytest
from winkube.kubernetes.windows_pods import (
    HYPER_V_ANNOTATION,
    check_manifest,
    check_windows_pod,
    for_windows,
)

RESOURCES = {"limits": {"memory": "1Gi"}}
CLASS = {"runtimeClassName": "windows-2022"}
SELECTOR = {"nodeSelector": {"kubernetes.io/os": "windows"}}
HOST_PROCESS = {"hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": True}}, **SELECTOR}


def pod(*parts: dict[str, Any], **container: Any) -> dict[str, Any]:
    """A pod of these parts with one container."""
    spec: dict[str, Any] = {"containers": [{"name": "web", "image": "web", "resources": RESOURCES, **container}]}
    for part in parts:
        spec |= part
    return spec


def codes(spec: dict[str, Any]) -> list[tuple[str, str]]:
    return [(mistake.rule.code, str(mistake.path[-1])) for mistake in check_windows_pod(spec)]


@pytest.mark.parametrize("said", [CLASS, SELECTOR])
@pytest.mark.parametrize("field", [{"add": ["NET_ADMIN"]}, {"drop": ["ALL"]}])
def test_capabilities_are_refused_without_os_too(said: dict[str, Any], field: dict[str, Any]):
    """WK-K8S-010 where class or selector says Windows."""
    spec = pod(said, securityContext={"capabilities": field})
    assert for_windows(spec)
    assert codes(spec) == [("WK-K8S-010", "capabilities")]


@pytest.mark.parametrize("field", ["hostPID", "hostIPC", "shareProcessNamespace"])
def test_host_process_pods_share_no_namespaces_either(field: str):
    """WK-K8S-010 for HostProcess pods, which are in the host's network and nothing else."""
    assert codes(pod(HOST_PROCESS)) == []
    assert codes(pod(HOST_PROCESS, {field: True})) == [("WK-K8S-010", field)]


def test_host_process_pods_have_no_host_net_dns_policy():
    """WK-K8S-010: the policy is for Linux."""
    assert codes(pod(HOST_PROCESS, {"dnsPolicy": "ClusterFirstWithHostNet"})) == [("WK-K8S-010", "dnsPolicy")]
    assert codes(pod(HOST_PROCESS, {"dnsPolicy": "ClusterFirst"})) == []


@pytest.mark.parametrize(
    "context",
    [
        {"runAsNonRoot": True},
        {"windowsOptions": {"runAsUserName": "ContainerUser"}},
        {"runAsNonRoot": True, "windowsOptions": {"runAsUserName": "ContainerUser", "gmsaCredentialSpecName": "web"}},
    ],
)
def test_users_by_name_and_no_administrator_are_right(context: dict[str, Any]):
    """What Windows knows of the security context is accepted, in pod and container, with and without os."""
    for said in (CLASS, {**CLASS, "os": {"name": "windows"}}):
        assert codes(pod(said, {"securityContext": context})) == []
        assert codes(pod(said, securityContext=context)) == []


def test_a_number_is_refused_with_the_name_as_remedy():
    """The messages about numeric users recommend ContainerUser."""
    (mistake,) = check_windows_pod(pod(CLASS, {"securityContext": {"runAsUser": 1000}}))
    assert mistake.rule.code == "WK-K8S-010"
    assert "runAsUserName" in mistake.remedy
    assert "ContainerUser" in mistake.remedy


@pytest.mark.parametrize(
    "volume",
    [
        {"emptyDir": {}},
        {"secret": {"secretName": "x"}},
        {"configMap": {"name": "x"}},
        {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
        {"downwardAPI": {"items": []}},
        {"hostPath": {"path": "C:\\data"}},
        {"persistentVolumeClaim": {"claimName": "x"}},
        {"csi": {"driver": "smb.csi.k8s.io"}},
    ],
)
def test_volumes_that_windows_has_pass(volume: dict[str, Any]):
    """Without a mistake."""
    spec = pod(CLASS, {"volumes": [{"name": "data", **volume}]}, volumeMounts=[{"name": "data", "mountPath": "C:\\d"}])
    assert codes(spec) == []


def test_the_termination_message_is_left_alone():
    """Its default path does no harm, and another may be set."""
    assert codes(pod(CLASS, terminationMessagePath="C:\\termination.log")) == []


@pytest.mark.parametrize(
    ("kind", "driver"),
    [
        ("awsElasticBlockStore", "ebs.csi.aws.com"), ("azureDisk", "ebs.csi.aws.com"),
        ("gcePersistentDisk", "ebs.csi.aws.com"), ("vsphereVolume", "ebs.csi.aws.com"), ("cinder", "ebs.csi.aws.com"),
        ("azureFile", "smb.csi.k8s.io"), ("flexVolume", "smb.csi.k8s.io"), ("flexVolume", "ebs.csi.aws.com"),
    ],
)  # fmt: skip
def test_volumes_from_before_csi_are_refused_with_the_driver_named(kind: str, driver: str):
    """WK-K8S-016 at the volume of a kind that left Kubernetes, or that nobody installs any more."""
    (mistake,) = check_windows_pod(pod(CLASS, {"volumes": [{"name": "data", kind: {"volumeID": "vol-1"}}]}))
    assert (mistake.rule.code, mistake.path) == ("WK-K8S-016", ("volumes", 0, kind))
    assert mistake.got == {"volumeID": "vol-1"}
    assert driver in mistake.remedy


@pytest.mark.parametrize("handler", ["runhcs-wcow-hypervisor", "runhcs-wcow-hypervisor-20348"])
def test_a_runtime_class_of_hyper_v_is_refused(handler: str):
    """WK-K8S-021 at the handler, with the one of process isolation; other handlers are none of ours."""
    runtime_class = {"kind": "RuntimeClass", "metadata": {"name": "isolated"}, "handler": handler}
    (mistake,) = check_manifest(runtime_class)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-K8S-021", ("handler",), handler)
    assert "runhcs-wcow-process" in mistake.remedy
    assert not check_manifest({**runtime_class, "handler": "runhcs-wcow-process"})
    assert not check_manifest({**runtime_class, "handler": "runc"})


def test_the_annotation_of_hyper_v_is_refused_wherever_a_pod_is_held():
    """WK-K8S-021 in a pod and in a template, whether or not the rest says Windows."""
    metadata = {"annotations": {HYPER_V_ANNOTATION: "hyperv"}}
    way = ("metadata", "annotations", HYPER_V_ANNOTATION)
    (mistake,) = check_manifest({"kind": "Pod", "metadata": metadata, "spec": pod(CLASS)})
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-K8S-021", way, "hyperv")
    template = {"metadata": metadata, "spec": pod()}
    (mistake,) = check_manifest({"kind": "Deployment", "spec": {"template": template}})
    assert (mistake.rule.code, mistake.path) == ("WK-K8S-021", ("spec", "template", *way))
    process = {"annotations": {HYPER_V_ANNOTATION: "process"}}
    assert not check_manifest({"kind": "Pod", "metadata": process, "spec": pod(CLASS)})
