"""The cases speak of resources and properties that the providers really have."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pulumi_aws
import pytest
from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import KNOWN_TYPES
from winkube.preview import model
from winkube.preview.checks.sdk_inputs import validator_of

from .test_cases import CASES

WITHOUT_CLASS = (
    "kubernetes:helm.sh/", "kubernetes:operator.tigera.io/", "kubernetes:vpcresources.k8s.aws/", "pulumi:providers:",
)  # fmt: skip
"""Custom resources, charts and providers: no SDK class describes them all."""


def module_of(token: str) -> str:
    package, middle, _ = token.split(":")
    if package == "aws":
        return f"pulumi_aws.{middle.partition('/')[0]}"
    group, _, version = middle.partition("/")
    group = {"rbac.authorization.k8s.io": "rbac", "node.k8s.io": "node", "networking.k8s.io": "networking",
             "storage.k8s.io": "storage"}.get(group, group)  # fmt: skip
    return f"pulumi_kubernetes.{group}.{version}"


def converted(value: Any) -> Any:
    if value is UNKNOWN:
        return model.UNKNOWN
    if isinstance(value, Mapping):
        return {key: converted(inner) for key, inner in cast(Mapping[str, Any], value).items()}
    return [converted(item) for item in cast(list[Any], value)] if isinstance(value, list | tuple) else value


def problems(token: str, props: Mapping[str, Any]) -> Iterator[str]:
    """What the SDK's class does not take; what a case leaves out does not matter to it."""
    getattr(importlib.import_module(module_of(token)), token.rpartition(":")[2])  # the SDK loads its classes late
    validator = validator_of(token)
    assert validator is not None, token
    for problem in validator(converted(props)) or ():
        text = problem.text()
        if "missing" not in text and "required" not in text:
            yield f"{token}: {problem.path}: {text}"


@pytest.mark.parametrize("token", sorted(kind for kind in KNOWN_TYPES if not kind.startswith(WITHOUT_CLASS)))
def test_every_type_is_one_that_the_provider_has(token: str) -> None:
    module = importlib.import_module(module_of(token))
    assert hasattr(module, token.rpartition(":")[2])
    if token.startswith("aws:"):
        name = token.split("/")[1].partition(":")[0]
        folder = Path(pulumi_aws.__file__).parent / token.split(":")[1].partition("/")[0]
        assert any(f"'{token}'" in path.read_text(encoding="utf-8") for path in folder.glob(f"{name[0]}*.py")), token


def test_the_cases_use_properties_that_the_providers_have() -> None:
    plans = [plan for case in CASES.values() for kind in (case.good, case.bad, case.unknown) for plan in kind]
    resources = {id(resource): resource for plan in plans for resource in plan}
    wrong = [
        problem
        for resource in resources.values()
        if not resource.type.startswith(WITHOUT_CLASS)
        for problem in problems(resource.type, resource.props)
    ]
    assert wrong == []


def test_a_wrong_property_would_be_found() -> None:
    assert list(problems("aws:eks/cluster:Cluster", {"versoin": "1.36"}))
