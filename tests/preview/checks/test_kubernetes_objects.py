"""Kubernetes objects against the schema of the target release."""

import json
import random
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing import Resource as Document
from winkube.preview.checks.plan import check_plan, kubernetes_objects
from winkube.preview.model import SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, Finding, Options, Plan, Resource

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD_SPEC = {"containers": [{"name": "web", "image": "nginx", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}]}


def deployment(pod: dict[str, Any] = POD_SPEC, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod}
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": selector, "template": template} | spec,
    }  # fmt: skip


def plan_of(*objects: tuple[str, dict[str, Any]]) -> Plan:
    resources: list[Resource] = []
    for index, (type_, inputs) in enumerate(objects):
        struct = Struct()
        struct.update(inputs)
        urn = f"urn:pulumi:dev::p::{type_}::it{index}"
        resources.append(Resource(urn, type_, f"it{index}", "", True, struct, Options()))
    return Plan("p", "dev", "preview", "", resources, {}, [])


def findings(type_: str, inputs: dict[str, Any], minor: str | None = "1.36") -> list[Finding]:
    return check_plan(plan_of((type_, inputs)), kubernetes_minor=minor)


def only(type_: str, inputs: dict[str, Any], minor: str | None = "1.36") -> Finding:
    found = findings(type_, inputs, minor)
    assert len(found) == 1, found
    return found[0]


def test_an_object_of_the_release_is_not_reported() -> None:
    assert findings(DEPLOYMENT, deployment()) == []


def test_a_wrong_type_names_path_value_and_release() -> None:
    found = only(DEPLOYMENT, deployment(replicas="two"))
    assert (found.code, found.path) == ("check/kubernetes-schema", "spec.replicas")
    assert found.message == 'must be a whole number, got "two" (Kubernetes 1.36)'


def test_a_misspelt_field_names_the_nearest() -> None:
    found = only(DEPLOYMENT, deployment({"containers": [{"name": "web", "imagePullpolicy": "Always"}]}))
    assert (found.path, found.remedy) == (
        "spec.template.spec.containers[0].imagePullpolicy", "write imagePullPolicy",
    )  # fmt: skip


def test_every_mistake_is_found_not_the_first_only() -> None:
    found = findings(DEPLOYMENT, deployment({"containers": [{"image": 1}], "nodeSelector": ["a"]}))
    assert sorted(finding.path for finding in found) == [
        "spec.template.spec.containers[0].image",
        "spec.template.spec.containers[0].name",
        "spec.template.spec.nodeSelector",
    ]


@pytest.mark.parametrize(
    "pod",
    [
        UNKNOWN_TEXT,
        {"containers": UNKNOWN_TEXT},
        {"containers": [UNKNOWN_TEXT]},
        {"containers": [{"name": UNKNOWN_TEXT, "image": UNKNOWN_TEXT, "ports": [{"containerPort": UNKNOWN_TEXT}]}]},
    ],
)
def test_unknown_parts_raise_no_alarm(pod: Any) -> None:
    assert findings(DEPLOYMENT, deployment(pod, replicas=UNKNOWN_TEXT)) == []


def test_a_secret_is_looked_through_and_not_shown() -> None:
    secret = {SIGNATURE_KEY: SECRET_SIGNATURE, "value": {"password": 12345}}
    found = only("kubernetes:core/v1:Secret", {"metadata": {"name": "s"}, "stringData": secret})
    assert (found.path, found.message) == ("stringData.password", "must be a string, got <secret> (Kubernetes 1.36)")


def test_a_field_of_a_later_release_is_refused_for_an_earlier_one() -> None:
    policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
              "metadata": {"name": "p"}, "spec": {}}  # fmt: skip
    type_ = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
    assert kubernetes_objects.validator_of(type_, "1.37") is not None
    assert findings(type_, policy, "1.25") == [], "the kind itself is unknown there: nothing is said"
    claims = deployment({"containers": [{"name": "a"}], "resourceClaims": [{"name": "c", "resourceClaimName": "d"}]})
    assert findings(DEPLOYMENT, claims, "1.36") == []
    assert "resourceClaims" in findings(DEPLOYMENT, claims, "1.25")[0].path


def test_the_release_is_that_of_the_cluster_in_the_plan() -> None:
    claims = deployment({"containers": [{"name": "a"}], "resourceClaims": [{"name": "c", "resourceClaimName": "d"}]})
    cluster = ("aws:eks/cluster:Cluster", {"version": "1.25"})
    found = check_plan(plan_of(cluster, (DEPLOYMENT, claims)))
    assert [finding.message[-17:] for finding in found if finding.code == "check/kubernetes-schema"] == [
        "(Kubernetes 1.25)"
    ]
    assert check_plan(plan_of((DEPLOYMENT, claims))) == [], "without a cluster the newest schemas are taken"


@pytest.mark.parametrize(("asked", "used"), [("1.36", "1.36"), ("1.99", "1.37"), ("1.2", "1.25"), (None, "1.37")])
def test_the_nearest_release_that_is_not_newer_is_used(asked: str | None, used: str) -> None:
    assert kubernetes_objects.schema_minor(asked) == used


def test_a_patch_may_leave_out_what_is_required() -> None:
    patch = {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [{"image": "nginx:2"}]}}}}
    assert findings("kubernetes:apps/v1:DeploymentPatch", patch) == []
    assert findings("kubernetes:apps/v1:DeploymentPatch", {"spec": {"replicas": "two"}}) != []


@pytest.mark.parametrize(
    "type_",
    [
        "kubernetes:cert-manager.io/v1:Certificate",
        "kubernetes:node.example.com/v1:RuntimeClass",
        "kubernetes:node.extra.k8s.io/v1:RuntimeClass",
        "kubernetes:helm.sh/v3:Nothing",
        "kubernetes:apps/v9:Deployment",
    ],
)
def test_custom_resources_and_unknown_kinds_are_not_judged(type_: str) -> None:
    assert findings(type_, {"spec": {"anything": 1}}) == []


def test_only_the_files_that_are_needed_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole collection of definitions is large: it is opened for types without a file of their own only."""
    read: list[str] = []
    original = kubernetes_objects._read.__wrapped__
    monkeypatch.setattr(kubernetes_objects, "_read", lambda minor, name: read.append(name) or original(minor, name))
    kubernetes_objects._definition.cache_clear()
    kubernetes_objects.validator_of.cache_clear()
    findings(DEPLOYMENT, deployment())
    assert {"deployment-apps-v1", "deploymentspec-apps-v1", "podspec-v1", "quantity-resource"} <= set(read)
    assert len(read) < 20
    assert "_definitions" not in read


# -- compared with a general validator --------------------------------------------------------------------------

KINDS = [
    ("kubernetes:apps/v1:DaemonSet", "daemonset-apps-v1"),
    ("kubernetes:apps/v1:Deployment", "deployment-apps-v1"),
    ("kubernetes:core/v1:ConfigMap", "configmap-v1"),
    ("kubernetes:core/v1:Service", "service-v1"),
    ("kubernetes:networking.k8s.io/v1:NetworkPolicy", "networkpolicy-networking-v1"),
    ("kubernetes:node.k8s.io/v1:RuntimeClass", "runtimeclass-node-v1"),
    ("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "clusterrole-rbac-v1"),
    ("kubernetes:storage.k8s.io/v1:StorageClass", "storageclass-storage-v1"),
    ("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "customresourcedefinition-apiextensions-v1"),
]


def folder() -> Path:
    spec = find_spec("kubernetes_validate")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema" / "v1.36.0-local-strict"


@cache
def definitions() -> dict[str, Any]:
    return json.loads((folder() / "_definitions.json").read_text())


@cache
def validator(file: str) -> tuple[dict[str, Any], Any]:
    schema = json.loads((folder() / f"{file}.json").read_text())
    registry = Registry().with_resource(
        "https://kubernetes.io/api/_definitions.json", Document.from_contents(definitions())
    )
    return schema, Draft202012Validator(schema, registry=registry)


def made_up(schema: dict[str, Any], rng: random.Random, depth: int = 0) -> Any:
    """A value that mostly keeps a schema and now and then breaks it."""
    if rng.random() < 0.02:
        return rng.choice(["text", 1, 1.5, True, [], {}, ["text"], {"a": 1}])
    if "$ref" in schema:
        return made_up(definitions()["$defs"][schema["$ref"].rpartition("/")[2]], rng, depth)
    if "oneOf" in schema:
        return made_up(rng.choice(schema["oneOf"]), rng, depth)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object" and "properties" in schema:
        chosen = [name for name in schema["properties"] if rng.random() < 2.0 / (depth + 2) ** 2]
        names = {*chosen, *schema.get("required", ())} if rng.random() < 0.95 else {*chosen, "notThere"}
        return {name: made_up(schema["properties"].get(name, {}), rng, depth + 1) for name in sorted(names)}
    if kind == "object":
        rest = schema.get("additionalProperties")
        return {"key": made_up(rest, rng, depth + 1)} if isinstance(rest, dict) else {"key": "value"}
    if kind == "array":
        return [made_up(schema.get("items", {}), rng, depth + 1) for _ in range(rng.randrange(3))]
    return {"string": "text", "integer": 3, "number": 1.5, "boolean": True}[kind]


@pytest.mark.parametrize(("type_", "file"), KINDS)
@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_verdict_is_that_of_a_general_validator(type_: str, file: str, rng: random.Random) -> None:
    schema, general = validator(file)
    value = made_up(schema, rng)
    compiled = kubernetes_objects.validator_of(type_, "1.36")
    assert compiled is not None
    assert (compiled(value) is None) == general.is_valid(value)
