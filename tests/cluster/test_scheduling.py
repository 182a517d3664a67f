"""Where pods and DaemonSets come to, decided by the real scheduler: on each minor, six clusters of three nodes."""

import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pulumi
import pytest
from winkube.objects.admission_manifests import admission_manifests
from winkube.objects.flannel import Flannel, FlannelArgs
from winkube.objects.runtime_class_manifests import runtime_class_manifest
from winkube.objects.windows_admission import WindowsAdmissionArgs, mutating_policies
from winkube.objects.windows_kube_proxy import WindowsKubeProxy, WindowsKubeProxyArgs
from winkube.preview.evaluate import evaluate_function

from .bed import Cluster
from .client import ApiError, Client, Manifest
from .nodes import add_node
from .objects import objects_of
from .scheduling_matrix import COLUMNS, DAEMON_SETS, PODS, Row

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


@pytest.fixture(scope="module", params=COLUMNS, ids=lambda it: f"{it[0]}-{'tainted' if it[1] else 'bare'}")
def outcome(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Outcome]:
    """One cluster of the table with everything in it, when the scheduler has come to rest."""
    kind, tainted = request.param
    client = cluster.client
    result = Outcome(cluster.minor, kind, tainted)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    nodes: list[Manifest] = []
    made = [*(runtime_class_manifest(it) for it in RELEASES), space, *_policies(cluster.minor, kind)]
    made += objects_of(evaluate_function(_ours, mode="update"))
    try:
        nodes += [add_node(client, _node(letter), release, tainted=tainted) for letter, release in NODES.items()]
        for manifest in made:
            client.apply(manifest)
        client.wait("service account", lambda: client.get("v1", "ServiceAccount", "default", SPACE))
        client.wait("policies", lambda: _placed(client) == result.kind)
        for row in (*PODS, *DAEMON_SETS):
            _create(client, row, result)
        _rest(client)
        _read(client, result)
        yield result
    finally:
        _clear(client)  # before the nodes: a pod of a node that is gone would wait for the garbage collector
        for manifest in (*reversed(made), *nodes):
            client.delete(manifest)
        client.wait("end of the namespaces", lambda: not _left(client), 60)
        client.wait("end of the policies", lambda: _placed(client, "default") == "classes")


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


def _create(client: Client, row: Row, result: Outcome) -> None:
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
        elif time.monotonic() - since > 1.5:
            return
        time.sleep(0.25)
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


def _placed(client: Client, namespace: str = SPACE) -> str:
    """Which of the clusters the API server behaves as, seen by what it would make of two pods and a DaemonSet."""
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}
    plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": namespace}, "spec": spec}
    windows = {**plain, "spec": spec | {"os": {"name": "windows"}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": windows["spec"]}
    daemons = {**plain, "apiVersion": "apps/v1", "kind": "DaemonSet",
               "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}  # fmt: skip
    found = (
        "runtimeClassName" in client.create(windows, dryRun="All")["spec"],
        "nodeSelector" in client.create(daemons, dryRun="All")["spec"]["template"]["spec"],
        "nodeSelector" in client.create(plain, dryRun="All")["spec"],
    )
    known = {(False,) * 3: "classes", (True, True, False): "admission", (True,) * 3: "linux default"}
    return known.get(found, "")


def _clear(client: Client) -> None:
    """Take away every DaemonSet, then every pod."""
    now = {"gracePeriodSeconds": 0, "propagationPolicy": "Orphan"}
    for each in client.list("apps/v1", "DaemonSet"):
        client.request("DELETE", client.path_of({**each, "apiVersion": "apps/v1", "kind": "DaemonSet"}), now)
    client.wait("end of the DaemonSets", lambda: not client.list("apps/v1", "DaemonSet"))
    for space in {it["metadata"]["namespace"] for it in client.list("v1", "Pod")}:
        client.request("DELETE", client.path("v1", "Pod", None, space), now)
    client.wait("end of the pods", lambda: not client.list("v1", "Pod"))


def _left(client: Client) -> list[str]:
    spaces = [it["metadata"]["name"] for it in client.list("v1", "Namespace")]
    return [name for name in spaces if name in (SPACE, "kube-flannel", "kube-proxy-windows")]


def _node(letter: str) -> str:
    return f"scheduling-{letter.lower()}"
