"""A cluster of each minor, one after the other, for all tests of this room."""

import itertools
from collections.abc import Iterator

import pytest

from tests.binaries import EKS_ONLY, MINORS

from .bed import Cluster
from .client import Client

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="package", params=(*MINORS, *EKS_ONLY))
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A running cluster; tests that use it run once per minor."""
    with Cluster(request.param, scheduler={"clientConnection": {"qps": 500, "burst": 1000}}) as running:
        yield running
    assert not running.folder.exists()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    """The cluster's administrator."""
    return cluster.client


@pytest.fixture
def namespace(client: Client) -> str:
    """A namespace of the test's own, with its service account.

    It stays, as all namespaces of these tests do: the end of one takes five seconds of grace by the controller and a
    request for each kind there is, and the cluster ends anyway. What is made in it, its maker takes away.
    """
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"test-{next(_NUMBERS)}"}}
    name = client.create(manifest)["metadata"]["name"]
    client.wait("service account", lambda: client.get("v1", "ServiceAccount", "default", name))
    return name
