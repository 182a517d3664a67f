"""Admission policies as they come and go: their modes, older pods, and minors without mutation."""

import pytest
from winkube.admission.admission_manifests import admission_manifests
from winkube.admission.windows_admission import WindowsAdmissionArgs
from winkube.scheduling.runtime_class_manifests import runtime_class_manifest

from .admission_matrix import windows
from .bed import Cluster
from .client import ApiError, Client, Manifest
from .notice import take_notice
from .test_admission import RELEASES, policies, tried

pytestmark = pytest.mark.proof


def test_older_pods_can_still_be_labelled(cluster: Cluster, client: Client, namespace: str) -> None:
    """Pods from before the policies are not judged when something else of them changes."""
    old = windows(resources={})
    old["metadata"] = {"name": "old", "namespace": namespace}
    around = [runtime_class_manifest("2022")]
    made = policies(cluster.minor, mode="deny")
    for manifest in around:
        client.apply(manifest)
    client.wait("class to be seen", lambda: client.apply(old))
    try:
        for manifest in made:
            client.apply(manifest)
        take_notice(cluster)
        labelled = client.apply({**old, "metadata": {**old["metadata"], "labels": {"seen": "yes"}}})
        assert labelled["metadata"]["labels"] == {"seen": "yes"}
    finally:
        for manifest in [*made, old, *around]:
            client.delete(manifest)
        take_notice(cluster)


@pytest.mark.parametrize(("mode", "spoken"), [("warn", True), ("audit", False)])
def test_first_they_only_speak(cluster: Cluster, client: Client, namespace: str, mode: str, spoken: bool) -> None:
    """``warn`` (the default) tells the caller and lets the pod by; ``audit`` says nothing to the caller."""
    bad = windows(resources={})
    bad["metadata"] = {"name": "bad", "namespace": namespace}
    made = [runtime_class_manifest("2022"), *policies(cluster.minor, mode=mode, rules={"volumes": "deny"})]
    for manifest in made:
        client.apply(manifest)
    nfs = windows(volumes=[{"name": "share", "nfs": {"server": "s", "path": "/p"}}])
    nfs["metadata"] = {"name": "nfs", "namespace": namespace}
    try:
        take_notice(cluster)
        assert "WK-K8S-016" in _answer(client, nfs)
        assert any("WK-K8S-011" in it for it in _warnings(client, bad)) is spoken
    finally:
        for manifest in reversed(made):
            client.delete(manifest)
        take_notice(cluster)


def test_on_a_minor_without_mutation_the_caller_is_told(cluster: Cluster, client: Client, namespace: str) -> None:
    """Where nothing places a pod that only says ``os``, the rule ``placement`` says what to write."""
    args = WindowsAdmissionArgs(kubernetes_version="1.35", releases=RELEASES, mode="deny")
    made = [runtime_class_manifest("2022"), *admission_manifests(args, mutating=False).values()]
    for manifest in made:
        client.apply(manifest)
    pod = windows(os={"name": "windows"})
    del pod["spec"]["runtimeClassName"]
    pod["metadata"] = {"name": "unplaced", "namespace": namespace}
    try:
        take_notice(cluster)
        assert "WK-K8S-013" in _answer(client, pod)
        assert "set runtimeClassName to windows-2022" in _answer(client, pod)
    finally:
        for manifest in reversed(made):
            client.delete(manifest)
        take_notice(cluster)


def _answer(client: Client, manifest: Manifest) -> str:
    try:
        tried(client, manifest)
    except ApiError as error:
        return error.message
    return ""


def _warnings(client: Client, manifest: Manifest) -> list[str]:
    client.warnings.clear()
    tried(client, manifest)
    return client.warnings
