"""Every object of every stack and every component is taken by a real API server, strictly, and stays as it is."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pulumi
import pytest
from winkube.preview.evaluate import evaluate, evaluate_function
from winkube.preview.invokes import read_answers
from winkube.preview.model import Plan
from winkube.preview.project import read_project

from tests.test_contract import COMPONENTS

from .bed import Cluster
from .client import Client, Manifest
from .nodes import node_manifest
from .objects import not_served, objects_of

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_DEFINITION = {
    "windows.k8s.io/v1/GMSACredentialSpec": "its definition comes with the chart of the gMSA webhook",
    "vpcresources.k8s.aws/v1beta1/SecurityGroupPolicy": "its definition comes with EKS itself",
    "karpenter.sh/v1/NodePool": "its definition comes with Karpenter's chart",
    "karpenter.k8s.aws/v1/EC2NodeClass": "its definition comes with Karpenter's chart",
}
"""Kinds that are not tried here, and why."""


def _stack(folder: Path, name: str) -> Plan:
    answers = folder / "answers.yaml"
    return evaluate(folder, name, mode="update", answers=read_answers(answers) if answers.exists() else None)


def _component(name: str) -> Plan:
    return evaluate_function(lambda: COMPONENTS[name]("c", pulumi.ResourceOptions()), mode="update")


PROGRAMS: dict[str, Callable[[], Plan]] = {
    **{f"stack {name}": partial(_stack, ROOT, name) for name in read_project(ROOT).stacks()},
    **{name: partial(_component, name) for name in COMPONENTS},
}


@cache
def _manifests(program: str) -> tuple[Manifest, ...]:
    return tuple(objects_of(PROGRAMS[program]()))


@pytest.mark.parametrize("program", [name for name in PROGRAMS if _manifests(name)])
def test_objects_are_accepted_and_a_second_apply_changes_nothing(cluster: Cluster, program: str) -> None:
    """Server-side apply with strict validation; then again, with the same version of the object as the answer."""
    client = cluster.client
    manifests = _manifests(program)
    unknown = not_served(client, manifests)
    assert unknown <= WITHOUT_DEFINITION.keys()
    served = [it for it in manifests if f"{it['apiVersion']}/{it['kind']}" not in unknown]
    around = _surroundings(client, served)
    try:
        first = [client.apply(it, force=it["kind"] == "Node") for it in served]
        second = [client.apply(it, force=it["kind"] == "Node") for it in served]
        assert [_state(it) for it in second] == [_state(it) for it in first]
    finally:
        for manifest in [*reversed(served), *around]:
            client.delete(manifest)
        spaces = {it["metadata"]["name"] for it in (*served, *around) if it["kind"] == "Namespace"}
        client.wait("end of the namespaces", lambda: not spaces & _namespaces(client))


def test_kinds_that_are_not_tried_are_still_in_use() -> None:
    """An entry of the list that no program needs any more has to go."""
    used = {f"{it['apiVersion']}/{it['kind']}" for program in PROGRAMS for it in _manifests(program)}
    assert WITHOUT_DEFINITION.keys() <= used


def _surroundings(client: Client, manifests: list[Manifest]) -> list[Manifest]:
    """What the objects expect to be there: namespaces, and nodes that are only patched."""
    own = {it["metadata"]["name"] for it in manifests if it["kind"] == "Namespace"}
    wanted = {it["metadata"].get("namespace") for it in manifests} - own - {None}
    around = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted(wanted - _namespaces(client))
    ]
    around += [node_manifest(it["metadata"]["name"]) for it in manifests if it["kind"] == "Node"]
    for manifest in around:
        client.create(manifest)
    return around


def _namespaces(client: Client) -> set[str]:
    return {it["metadata"]["name"] for it in client.list("v1", "Namespace")}


def _state(answer: Manifest) -> tuple[object, ...]:
    """What a change would change; controllers may write a status in between, which counts no generation."""
    metadata = answer["metadata"]
    spec = {key: value for key, value in answer.items() if key not in ("metadata", "status")}
    own = [it for it in metadata.get("managedFields", []) if it["manager"] == "winkube"]
    return metadata["name"], metadata["uid"], metadata.get("generation"), metadata.get("labels"), own, spec
