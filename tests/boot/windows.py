"""A Windows worker as far as it can be had here, and a fleet that is simulated.

The worker is the real ``kubelet.exe`` under Wine in the network of its instance, with a stand-in for containerd. What
it is told is the node document that the stack put into the bucket, and the token of now.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from _pytest.outcomes import Skipped
from winkube.scheduling.runtime_class_manifests import runtime_class_name

from tests.binaries import binary
from tests.binaries.wine import wine
from tests.cluster.nodes import add_node
from tests.cluster.processes import Process
from tests.cluster.stages import write_stages
from tests.windows_boot.wine.nodes import Facts, RunningNode

from .bed import Bed
from .machine import plug, unplug
from .stack import Group

FLEET = 10
"""Simulated Windows nodes beside the real kubelet."""
PAGE = "web"


def windows_joins(bed: Bed, release: str = "2022") -> None:
    """A Windows node joins, and Windows pods come to it and to its fleet; left out, in words, where Wine is missing."""
    group = next(one for one in bed.stack.groups if one.name.startswith(f"windows-{release}"))
    bed.cloud.launch(group)
    ((instance, address),) = bed.cloud.instances(group)
    try:
        with wine(release, ("nsenter", f"--net={plug(instance, address)}")) as server:
            folder = Path(tempfile.mkdtemp(dir=bed.work))
            facts = Facts(instance, address, bed.cloud.token(), bed.cloud.zone)
            node = RunningNode(server, _document(bed, group), bed.minor, facts, folder)
            try:
                node.join(bed.client)
                bed.say("Windows node Ready", instance=instance)
                _pods(bed, node, release, folder)
            finally:
                node.stop()
    except Skipped as reason:
        bed.say(f"LEFT OUT: {reason}")
    finally:
        unplug(instance)
        bed.cloud.emulation.lose(instance)
        for name in (instance, *(f"fleet-{number}" for number in range(FLEET))):
            bed.client.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})


def _document(bed: Bed, group: Group) -> dict[str, Any]:
    """The document that the group's user data names."""
    (key,) = [key for key in bed.stack.objects if "/nodes/" in key and key in group.user_data]
    return json.loads(bed.cloud.read(key) or b"")


def _pods(bed: Bed, node: RunningNode, release: str, folder: Path) -> None:
    client, instance = bed.client, node.facts.instance_id
    client.apply(_web(release))
    bed.wait("Windows pod on the Windows node", lambda: instance in _where(bed, PAGE), 120)
    handler = f"sandbox default/{PAGE}-"
    bed.wait("its sandbox", lambda: handler in node.runtime_log.read_text(), 120)
    write_stages(folder / "stages.yaml")
    kwok = Process(
        [binary("kwok"), f"--kubeconfig={bed.kubeconfig}", f"--config={folder / 'stages.yaml'}",
         "--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=simulated"],
        folder / "kwok.log",
    )  # fmt: skip
    try:
        for number in range(FLEET):
            add_node(client, f"fleet-{number}", release)
        client.apply(_web(release, replicas=4 * FLEET))
        bed.wait("Windows pods on the fleet", lambda: len(_where(bed, PAGE)) > FLEET, 120)
        everywhere = {one["spec"].get("nodeName") for one in client.list("v1", "Pod", "default")
                      if one["metadata"]["labels"].get("app") != PAGE}  # fmt: skip
        assert not any(str(name).startswith("fleet-") or name == instance for name in everywhere), everywhere
        client.delete(_web(release))
        try:
            bed.wait("end of all Windows pods", lambda: not _where(bed, PAGE), 180)
        except TimeoutError as error:
            raise TimeoutError(
                f"pods are left on {_where(bed, PAGE)}; the kubelet said:\n{node.log[-3000:]}"
            ) from error
    finally:
        kwok.stop()


def _where(bed: Bed, app: str) -> set[str]:
    """Nodes to which the pods of an app are bound."""
    pods = [one for one in bed.client.list("v1", "Pod", "default") if one["metadata"]["labels"].get("app") == app]
    return {str(one["spec"]["nodeName"]) for one in pods if one["spec"].get("nodeName")}


def _web(release: str, replicas: int = 1) -> dict[str, Any]:
    labels = {"app": PAGE}
    container = {"name": "web", "image": "registry.example.com/web:1", "resources": {"limits": {"memory": "200Mi"}}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": PAGE, "namespace": "default"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels},
                         "spec": {"runtimeClassName": runtime_class_name(release), "containers": [container],
                                  "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False}},
        },
    }  # fmt: skip
