"""The objects of a stack on a real API server, reached with the kubeconfig that the program itself renders."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.client import ApiError

from .cloud import Cloud
from .engine import ROOT, Engine
from .plugin import name_of, type_of
from .world import World, world

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("world")) as running:
        yield running


def objects(engine: Engine) -> list[str]:
    return [urn for urn in engine.state if type_of(urn).startswith("kubernetes:")]


@pytest.mark.parametrize("stack", ["dev", "kubeadm-dev"])
def test_a_stack_makes_its_objects_repairs_them_and_takes_them_away(stack: str, bed: World, tmp_path: Path) -> None:
    """EKS by the command for tokens, kubeadm by the client certificate of the program's own authority."""
    cloud = Cloud(tmp_path)
    bed.tell(cloud)
    engine, client = Engine(ROOT, stack, cloud, path=str(bed.path)), bed.cluster.client
    up = engine.up()
    assert set(up.did("create")) == set(up.steps)
    kind = client.path("node.k8s.io/v1", "RuntimeClass", "windows-2022")
    made = client.request("GET", kind)
    assert "pulumi" in {it["manager"] for it in made["metadata"]["managedFields"]}

    assert engine.refresh() == []
    assert set(engine.preview().steps.values()) == {"same"}

    client.request("DELETE", kind)
    (drifted,) = engine.refresh()
    assert name_of(drifted).endswith("windows-2022")
    assert engine.up().did("create", "update", "delete") == [drifted]
    assert client.request("GET", kind)["metadata"]["uid"] != made["metadata"]["uid"]

    engine.destroy()
    with pytest.raises(ApiError, match="404"):
        client.request("GET", kind)
