"""Every object of every stack and every component is taken by a real API server, strictly, and stays as it is."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pulumi
import pytest
from winkube.admission.windows_admission import mutating_policies
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.project import read_configuration, read_project
from winkube.preview.model import Plan
from winkube.tables.artefacts import artefacts_for
from winkube.tables.kubernetes import EKS_MINORS
from winkube.tables.releases import SELF_MANAGED_MINORS
from winkube.tables.windows import releases_for

import stacks
from tests.binaries import DEFAULT_MINOR
from tests.test_contract import COMPONENTS

from .bed import Cluster
from .client import Client, Manifest
from .nodes import node_manifest
from .objects import not_served, objects_of
from .test_rbac import take_away

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_DEFINITION = {
    "windows.k8s.io/v1/GMSACredentialSpec": "its definition comes with the chart of the gMSA webhook",
    "karpenter.sh/v1/NodePool": "its definition comes with Karpenter's chart",
    "karpenter.k8s.aws/v1/EC2NodeClass": "its definition comes with Karpenter's chart",
}
"""Kinds that are not tried here, and why."""


SINCE_1_36 = {
    f"admissionregistration.k8s.io/v1/{kind}" for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
}
"""What the component for admission, made for a cluster of 1.36, has more than an older server knows."""


def _stack(name: str, minor: str) -> Plan:
    """A stack as its file says, but for the minor where its flavour runs it."""
    values = dict(read_configuration(read_project(ROOT), name).values)
    cluster = json.loads(values["winkube:cluster"])
    if values["winkube:flavour"] == "kubeadm":
        if minor not in SELF_MANAGED_MINORS:
            pytest.skip(f"winkube makes no cluster of {minor} itself: EKS alone has it")
        rows = artefacts_for(minor, os="windows", optional=("kubectl",))
        missing = {row.key: f"sha256:{'0' * 64}" for row in rows if row.digest is None}
        cluster |= {"kubernetesVersion": minor, "artefactDigests": missing}
        addons = json.loads(values.get("winkube:addons", "[]"))
        for addon in addons:
            if addon["name"] == "cluster-autoscaler":  # the table has no release for the newest minor yet
                addon["values"] = {"image": {"tag": f"v{minor}.0"}}
        values["winkube:addons"] = json.dumps(addons)
    elif minor in EKS_MINORS:
        cluster["kubernetesVersion"] = minor
        groups = json.loads(values["winkube:instanceGroups"])
        for group in groups:
            if group.get("windows") not in (None, *releases_for(minor)):
                group["windows"] = "2022"
        values["winkube:instanceGroups"] = json.dumps(groups)
    values["winkube:cluster"] = json.dumps(cluster)
    return evaluate_function(stacks.deploy, mode="update", config=values, project="winkube", stack=name)


def _component(name: str, minor: str) -> Plan:
    return evaluate_function(lambda: COMPONENTS[name]("c", pulumi.ResourceOptions()), mode="update")


PROGRAMS: dict[str, Callable[[str], Plan]] = {
    **{f"stack {name}": partial(_stack, name) for name in read_project(ROOT).stacks()},
    **{name: partial(_component, name) for name in COMPONENTS},
}


@cache
def _manifests(program: str, minor: str = DEFAULT_MINOR) -> tuple[Manifest, ...]:
    return tuple(objects_of(PROGRAMS[program](minor)))


@pytest.mark.parametrize("program", [name for name in PROGRAMS if _manifests(name)])
def test_objects_are_accepted_and_a_second_apply_changes_nothing(cluster: Cluster, program: str) -> None:
    """Server-side apply with strict validation; then again, with the same version of the object as the answer."""
    client = cluster.client
    manifests = _manifests(program, cluster.minor)
    unknown = not_served(client, manifests)
    newer = SINCE_1_36 if program == "WindowsAdmission" and not mutating_policies(cluster.minor) else set[str]()
    assert unknown <= WITHOUT_DEFINITION.keys() | newer
    served = [it for it in manifests if f"{it['apiVersion']}/{it['kind']}" not in unknown]
    around = _surroundings(client, served)
    try:
        first = [client.apply(it, force=it["kind"] == "Node") for it in served]
        second = [client.apply(it, force=it["kind"] == "Node") for it in served]
        assert [_state(it) for it in second] == [_state(it) for it in first]
    finally:
        take_away(client, [*around, *served])


def test_kinds_that_are_not_tried_are_still_in_use() -> None:
    """An entry of the list that no program needs any more has to go."""
    used = {f"{it['apiVersion']}/{it['kind']}" for program in PROGRAMS for it in _manifests(program)}
    assert WITHOUT_DEFINITION.keys() <= used


def _surroundings(client: Client, manifests: list[Manifest]) -> list[Manifest]:
    """What the objects expect to be there: namespaces, and nodes that are only patched."""
    own = {it["metadata"]["name"] for it in manifests if it["kind"] == "Namespace"}
    wanted = {it["metadata"].get("namespace") for it in manifests} - own - {None}
    there = {it["metadata"]["name"] for it in client.list("v1", "Namespace")}
    around = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(wanted - there)]
    around += [node_manifest(it["metadata"]["name"]) for it in manifests if it["kind"] == "Node"]
    for manifest in around:
        client.create(manifest)
    return around


def _state(answer: Manifest) -> tuple[object, ...]:
    """What a change would change; controllers may write a status in between, which counts no generation."""
    metadata = answer["metadata"]
    spec = {key: value for key, value in answer.items() if key not in ("metadata", "status")}
    own = [{**it, "time": None} for it in metadata.get("managedFields", []) if it["manager"] == "winkube"]
    if answer["kind"] == "Node":  # its taints are the controllers' too, who add and remove theirs meanwhile
        return metadata["name"], metadata["uid"], own
    return metadata["name"], metadata["uid"], metadata.get("generation"), metadata.get("labels"), own, spec
