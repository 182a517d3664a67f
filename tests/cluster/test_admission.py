"""What the API server does with pods, workloads and Services under our admission policies, on every minor."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import pytest
from winkube.admission.admission_manifests import admission_manifests
from winkube.admission.windows_admission import WindowsAdmissionArgs, mutating_policies
from winkube.scheduling.runtime_class_manifests import runtime_class_manifest

from .admission_matrix import CASES, DAEMON_SETS, Case
from .bed import Cluster
from .client import ApiError, Client, Manifest
from .notice import take_notice

pytestmark = pytest.mark.proof

RELEASES = ("2022", "2025")
NAMESPACES: dict[str, dict[str, str]] = {
    "matrix": {},
    "matrix-host": {"pod-security.kubernetes.io/enforce": "privileged"},
}


def policies(minor: str, **settings: Any) -> list[Manifest]:
    """The objects of the component, for this minor."""
    args = WindowsAdmissionArgs(kubernetes_version=minor, releases=RELEASES, **settings)
    return list(admission_manifests(args, mutating=mutating_policies(minor)).values())


def named(case: Case, name: str = "m") -> Manifest:
    """The object of a case in its namespace."""
    manifest = deepcopy(case.manifest)
    manifest["metadata"] = {**manifest.get("metadata", {}), "name": name, "namespace": case.namespace}
    return manifest


def tried(client: Client, manifest: Manifest) -> Manifest:
    """What the API server would make of an object."""
    return client.create(manifest, dryRun="All")


def pod_of(answer: Manifest) -> dict[str, Any]:
    """The spec of the pod in an object."""
    spec = answer["spec"]
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return spec.get("template", {}).get("spec", spec)


@pytest.fixture(scope="module")
def admission(cluster: Cluster) -> Iterator[Cluster]:
    """The cluster with classes and policies in mode ``deny``, once they hold; then without them again."""
    client = cluster.client
    around = [runtime_class_manifest(it) for it in RELEASES]
    around += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
               for name, labels in NAMESPACES.items()]  # fmt: skip
    made = [*around, *policies(cluster.minor, mode="deny", linux_default=True)]
    for manifest in made:
        client.apply(manifest)
    take_notice(cluster)
    yield cluster
    for manifest in reversed(made):
        client.delete(manifest)
    take_notice(cluster)


@pytest.mark.parametrize("case", [it for it in CASES if it.refused], ids=lambda it: it.name)
def test_what_windows_cannot_do_is_refused_with_our_message(admission: Cluster, case: Case) -> None:
    """The text says what offends, what to write instead, and the code; some Kubernetes refuses by itself."""
    with pytest.raises(ApiError) as refusal:
        tried(admission.client, named(case))
    assert refusal.value.status in (403, 404, 422)
    for text in case.refused:
        assert text in refusal.value.message


@pytest.mark.parametrize("case", [it for it in CASES if not it.refused], ids=lambda it: it.name)
def test_what_is_right_is_accepted_and_put_where_it_belongs(admission: Cluster, case: Case) -> None:
    """Class, os, selector and toleration after admission; None for a field that stays away."""
    if case.becomes and not mutating_policies(admission.minor):
        pytest.skip(f"needs MutatingAdmissionPolicy v1, which Kubernetes {admission.minor} does not have")
    spec = pod_of(tried(admission.client, named(case)))
    for field, value in case.becomes.items():
        assert spec.get(field) == value or (value is None and not _own(spec.get(field)))


def _own(value: Any) -> Any:
    """Tolerations without those that Kubernetes gives every pod."""
    if not isinstance(value, list):
        return value
    return [it for it in cast(list[dict[str, Any]], value) if "node.kubernetes.io" not in it.get("key", "")]


def test_the_matrix_is_as_large_as_promised() -> None:
    """At least forty pods and Services; names say apart what is tried."""
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_second_apply_changes_nothing(admission: Cluster) -> None:
    """Each policy stays: nothing that we write is written differently by the API server.

    The version of the object is not compared: a controller writes the result of the type check into its status.
    """
    manifests = policies(admission.minor, mode="deny", linux_default=True)
    first = [admission.client.apply(it)["metadata"]["generation"] for it in manifests]
    before = [admission.client.get(it["apiVersion"], it["kind"], it["metadata"]["name"]) for it in manifests]
    second = [admission.client.apply(it) for it in manifests]
    assert [it["metadata"]["generation"] for it in second] == first
    assert [it["spec"] for it in second] == [it["spec"] for it in before]


def test_expressions_are_typed_right(admission: Cluster) -> None:
    """A misspelt field would show here, and in a mutating policy only when a request fails."""
    client = admission.client
    validating = [it for it in policies(admission.minor, mode="deny") if it["kind"] == "ValidatingAdmissionPolicy"]
    for policy in validating:
        name = policy["metadata"]["name"]
        status = client.wait(
            f"type check of {name}",
            lambda name=name: client.get("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", name).get(
                "status"
            ),
        )
        assert not status.get("typeChecking", {}).get("expressionWarnings"), status


def test_a_daemon_set_stays_the_applier_s(admission: Cluster) -> None:
    """What a policy added does not belong to the applier: the next apply neither takes it away nor changes anything."""
    if not mutating_policies(admission.minor):
        pytest.skip(f"needs MutatingAdmissionPolicy v1, which Kubernetes {admission.minor} does not have")
    manifest = named(next(it for it in DAEMON_SETS if it.name == "DaemonSet by class"), "kept")
    first = admission.client.apply(manifest)
    second = admission.client.apply(manifest)
    assert pod_of(second)["tolerations"] == pod_of(first)["tolerations"]
    assert second["metadata"]["generation"] == first["metadata"]["generation"]
    admission.client.delete(manifest)
