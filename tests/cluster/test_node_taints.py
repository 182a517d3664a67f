"""Marks on nodes of others, by the API server's own rules of server-side apply."""

import pytest
from winkube.scheduling.labels import Taint
from winkube.scheduling.node_taints import node_patch

from .bed import Cluster

pytestmark = pytest.mark.proof


def test_labels_join_and_taints_replace(cluster: Cluster) -> None:
    """The node's own label stays; the list of taints is the one given; a second patch changes nothing."""
    client = cluster.client
    node = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "marked", "labels": {"own": "yes"}},
        "spec": {"taints": [{"key": "own", "effect": "PreferNoSchedule"}]},
    }  # fmt: skip
    client.create(node)
    try:
        labelled = client.apply(node_patch("marked", {"team": "web"}, None), manager="marks", force=True)
        assert {"own": "yes", "team": "web"}.items() <= labelled["metadata"]["labels"].items()
        assert "own" in {it["key"] for it in labelled["spec"]["taints"]}
        patch = node_patch("marked", {"team": "web"}, [Taint(key="os", value="windows"), Taint(key="team")])
        first = client.apply(patch, manager="marks", force=True)
        assert {it["key"] for it in first["spec"]["taints"]} - {"node.kubernetes.io/not-ready"} == {"os", "team"}
        assert client.apply(patch, manager="marks", force=True)["spec"]["taints"] == first["spec"]["taints"]
    finally:
        client.delete(node)
