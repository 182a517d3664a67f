"""What the tests of the add-ons share: a cluster, and the walk through a plan."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import kubernetes_validate
import pytest
from winkube.eks.target import EksTarget
from winkube.preview.model import Plan, Resource
from winkube.tables.kubernetes import EKS_MINORS

from tests.golden import has_schema

MINORS = tuple(filter(has_schema, EKS_MINORS))
TAGS = {"team": "platform"}
PROVIDER_ARN = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE"
ISSUER = "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE"
CLUSTER = EksTarget(name="dev", kubernetes_version="1.36", service_cidr="10.100.0.0/16")
UNTAGGABLE = ("rolePolicy", "rolePolicyAttachment")


def of_type(plan: Plan, kind: str) -> list[Resource]:
    """The resources whose type ends so."""
    return [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]


def the(plan: Plan, kind: str, name: str = "") -> Resource:
    """The one resource of a type, or of a type and name."""
    (resource,) = [it for it in of_type(plan, kind) if not name or it.name == name]
    return resource


def assert_well_made(plan: Plan, component: str, outputs: Iterable[str]) -> None:
    """What holds of every component: parents, names, tags, registered outputs, no provider of its own."""
    top = the(plan, component)
    assert set(outputs) == set(top.outputs)
    urns = {resource.urn for resource in plan.resources}
    assert len(urns) == len(plan.resources)
    for resource in plan.resources:
        if resource is not top:
            assert resource.name.startswith(f"{top.name}-")
            assert resource.parent in urns
        assert not resource.type.startswith("pulumi:providers")
        if resource.type.startswith("aws:"):
            kind = resource.type.rpartition("/")[2].partition(":")[0]
            if kind not in UNTAGGABLE:
                assert resource.inputs["tags"].items() >= TAGS.items()


@pytest.fixture
def validated() -> Callable[[Mapping[str, Any]], None]:
    """Holds a manifest against the strict schema of each Kubernetes minor that EKS has."""

    def check(manifest: Mapping[str, Any]) -> None:
        for minor in MINORS:
            kubernetes_validate.validate(dict(manifest), minor, strict=True)

    return check
