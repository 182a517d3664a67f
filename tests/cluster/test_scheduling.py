"""Where pods and DaemonSets come to, decided by the real scheduler: on each minor, six clusters of three nodes."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from typing import Any

import pulumi
import pytest
from winkube.admission.admission_manifests import admission_manifests
from winkube.admission.windows_admission import WindowsAdmissionArgs, mutating_policies
from winkube.pod_network.flannel import Flannel, FlannelArgs
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxy, WindowsKubeProxyArgs
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.scheduling.runtime_class_manifests import runtime_class_manifest

from .bed import Cluster
from .client import ApiError, Client, Manifest
from .nodes import add_nodes
from .notice import take_notice
from .objects import objects_of
from .scheduling_matrix import COLUMNS, DAEMON_SETS, PODS, Row
from .test_rbac import take_away

pytestmark = pytest.mark.proof

NODES = {"L": None, "2": "2022", "5": "2025"}
"""The letters of the table, and the release of the node."""
RELEASES = ("2022", "2025")
SPACE = "scheduling"
ENDPOINT = "api.test.example.com:6443"
OUR_DAEMON_SETS = {"flannel-linux": "L", "flannel-windows": "25", "kube-proxy-windows": "25"}
"""Ours carry selector and toleration themselves: the nodes are the same in each cluster."""


def _ours() -> None:
    Flannel("flannel", FlannelArgs(endpoint=ENDPOINT), pulumi.ResourceOptions())
    WindowsKubeProxy("proxy", WindowsKubeProxyArgs(endpoint=ENDPOINT), pulumi.ResourceOptions())


def _policies(minor: str, kind: str) -> list[Manifest]:
    if kind == "classes":
        return []
    args = WindowsAdmissionArgs(kubernetes_version=minor, releases=RELEASES, linux_default=kind == "linux default")
    return list(admission_manifests(args, mutating=mutating_policies(minor)).values())


class Outcome:
    """What came of every row in one cluster."""

    def __init__(self, minor: str, kind: str, tainted: bool) -> None:
        self.minor = minor
        self.kind = kind if mutating_policies(minor) else "classes"
        """Before MutatingAdmissionPolicy v1 the policies speak, but place nothing."""
        self.tainted = tainted
        self.nodes: dict[str, str] = {}
        """Title to the letters of the nodes."""
        self.refused: dict[str, str] = {}


class Stage:
    """What the clusters of the table have in common, and the policies that hold at the moment.

    One API server plays all of them, one after the other: only what differs is made and taken away in between.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.minor, self.client = cluster.minor, cluster.client
        self._cluster = cluster
        self.ours = objects_of(evaluate_function(_ours, mode="update"))
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
        self._around = [*(runtime_class_manifest(it) for it in RELEASES), space]
        self._policies: list[Manifest] = []

    def prepare(self) -> None:
        """Make what every cluster has."""
        for manifest in (*self._around, *self.ours):
            if manifest["kind"] != "DaemonSet":
                self.client.apply(manifest)
        self.client.wait("service account", lambda: self.client.get("v1", "ServiceAccount", "default", SPACE))

    def play(self, kind: str) -> None:
        """Have the policies of a kind of cluster and no others; return when the server acts by them."""
        wanted = _policies(self.minor, kind)
        names = {(it["kind"], it["metadata"]["name"]) for it in wanted}
        for manifest in reversed(self._policies):
            if (manifest["kind"], manifest["metadata"]["name"]) not in names:
                self.client.delete(manifest)
        for manifest in wanted:
            self.client.apply(manifest)
        self._policies = wanted
        take_notice(self._cluster)

    def end(self) -> None:
        """Leave the cluster to others."""
        self.play("classes")
        take_away(self.client, [*self._around, *self.ours])


@pytest.fixture(scope="module")
def stage(cluster: Cluster) -> Iterator[Stage]:
    """The stage of a minor."""
    made = Stage(cluster)
    try:
        made.prepare()
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module", params=COLUMNS, ids=lambda it: f"{it[0]}-{'tainted' if it[1] else 'bare'}")
def outcome(stage: Stage, request: pytest.FixtureRequest) -> Iterator[Outcome]:
    """One cluster of the table with everything in it, when the scheduler has come to rest."""
    kind, tainted = request.param
    client = stage.client
    result = Outcome(stage.minor, kind, tainted)
    stage.play(kind)
    nodes = add_nodes(client, {_node(letter): release for letter, release in NODES.items()}, tainted=tainted)
    try:
        for manifest in stage.ours:
            if manifest["kind"] == "DaemonSet":
                client.apply(manifest)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(partial(_create, client, result), (*PODS, *DAEMON_SETS)))
        _rest(client)
        _read(client, result)
        yield result
    finally:
        _clear(client)  # before the nodes: a pod of a node that is gone would wait for the garbage collector
        for manifest in nodes:
            client.delete(manifest)


@pytest.mark.parametrize("row", PODS, ids=lambda row: row.name)
def test_pods_come_to_the_nodes_of_the_table(outcome: Outcome, row: Row) -> None:
    """Three pods that keep away from each other take every node that would take one."""
    _judge(outcome, row)


@pytest.mark.parametrize("row", DAEMON_SETS, ids=lambda row: row.name)
def test_daemon_sets_of_others_come_to_the_nodes_of_the_table(outcome: Outcome, row: Row) -> None:
    """Pods that are bound; their controller looks at the template, not at the class."""
    _judge(outcome, row)


@pytest.mark.parametrize("name", OUR_DAEMON_SETS)
def test_our_daemon_sets_come_to_their_nodes_in_every_cluster(outcome: Outcome, name: str) -> None:
    """With and without the taint, with and without the policies."""
    assert outcome.nodes[name] == OUR_DAEMON_SETS[name]


def _judge(outcome: Outcome, row: Row) -> None:
    if row.refused:
        assert row.refused in outcome.refused[_title(row)]
    else:
        assert outcome.refused.get(_title(row)) is None
        assert outcome.nodes.get(_title(row), "") == row.nodes(outcome.kind, tainted=outcome.tainted)


def _title(row: Row) -> str:
    words = "".join(letter if letter.isalnum() else "-" for letter in row.name.lower())
    return ("set-" if row.daemon_set else "pod-") + words.replace("--", "-")


def _create(client: Client, result: Outcome, row: Row) -> None:
    title = _title(row)
    marks = {"row": title}
    spec = {"containers": [{"name": "main", "image": "registry.example/app:1"}], **deepcopy(row.spec)}
    metadata = {"namespace": SPACE, "labels": marks}
    if row.daemon_set:
        template = {"metadata": {"labels": marks}, "spec": spec}
        wanted = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": title, **metadata},
                   "spec": {"selector": {"matchLabels": marks}, "template": template}}]  # fmt: skip
    else:
        term = {"labelSelector": {"matchLabels": marks}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        wanted = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{title}-{number}", **metadata},
                   "spec": spec} for number in range(len(NODES))]  # fmt: skip
    try:
        for manifest in wanted:
            client.create(manifest)
    except ApiError as error:
        result.refused[title] = error.message


def _rest(client: Client, seconds: float = 60) -> None:
    """Wait until every DaemonSet has its pods and every pod is bound or said to fit nowhere, for a while."""
    until = time.monotonic() + seconds
    before: object = None
    since = time.monotonic()
    while time.monotonic() < until:
        sets = client.list("apps/v1", "DaemonSet")
        pods = client.list("v1", "Pod")
        now = sorted((it["metadata"]["name"], it["spec"].get("nodeName")) for it in pods)
        wanted = sum(it["status"].get("desiredNumberScheduled", 0) for it in sets)
        owned = [it for it in pods if it["metadata"].get("ownerReferences")]
        settled = (
            all(it["status"].get("observedGeneration") for it in sets)
            and len(owned) == wanted
            and all(it["spec"].get("nodeName") or _unschedulable(it) for it in pods)
        )
        if now != before or not settled:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > 0.5:
            return
        time.sleep(0.1)
    raise TimeoutError(f"the scheduler did not come to rest in {seconds:g} s")


def _unschedulable(pod: Mapping[str, Any]) -> bool:
    return any(it.get("reason") == "Unschedulable" for it in pod["status"].get("conditions", []))


def _read(client: Client, result: Outcome) -> None:
    letters = {_node(letter): letter for letter in NODES}
    for pod in client.list("v1", "Pod"):
        labels = pod["metadata"].get("labels", {})
        owner = pod["metadata"].get("ownerReferences", [{}])[0].get("name")
        title = labels.get("row") or owner
        if title and (node := pod["spec"].get("nodeName")):
            result.nodes[title] = "".join(
                letter for letter in NODES if letter in result.nodes.get(title, "") + letters[node]
            )


def _clear(client: Client) -> None:
    """Take away every DaemonSet, then every pod, those too that a controller makes in the last moment."""
    for each in client.list("apps/v1", "DaemonSet"):
        client.delete({**each, "apiVersion": "apps/v1", "kind": "DaemonSet"})
    client.wait("end of the pods", lambda: not _left(client))


def _left(client: Client) -> list[Manifest]:
    """The pods that are there, told to go at once."""
    pods = client.list("v1", "Pod")
    for space in {it["metadata"]["namespace"] for it in pods}:
        client.request("DELETE", client.path("v1", "Pod", None, space), {"gracePeriodSeconds": 0})
    return pods


def _node(letter: str) -> str:
    return f"scheduling-{letter.lower()}"
