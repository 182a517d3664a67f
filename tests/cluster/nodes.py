"""Simulated nodes as the cluster sees them: Linux, Windows Server 2022 and 2025, tainted or not."""

from collections.abc import Mapping, Sequence
from typing import Any

from winkube.tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_TAINT

from .client import Client, Manifest

SIMULATED = {"kwok.x-k8s.io/node": "simulated"}
"""The annotation of nodes that kwok keeps ready."""


def node_manifest(
    name: str,
    windows: str | None = None,
    *,
    tainted: bool = True,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
) -> Manifest:
    """A node of a Windows release, or a Linux node.

    ``tainted`` puts the Windows taint on a Windows node. Labels are those that the kubelet sets by itself.
    """
    own = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "windows" if windows else "linux",
        "kubernetes.io/arch": "amd64",
    }
    if windows:
        own[BUILD_LABEL] = WINDOWS_RELEASES[windows].build
    repelled = [{**WINDOWS_TAINT}] if windows and tainted else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": dict(SIMULATED), "labels": {**own, **(labels or {})}},
        "spec": {"taints": [*repelled, *map(dict, taints)]},
    }


def node_status(windows: str | None = None) -> dict[str, Any]:
    """What such a node reports: room for pods, and its system."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "250", "ephemeral-storage": "100Gi"}
    build = WINDOWS_RELEASES[windows].build if windows else "6.12"
    return {
        "capacity": room,
        "allocatable": room,
        "nodeInfo": {
            "operatingSystem": "windows" if windows else "linux",
            "architecture": "amd64",
            "osImage": f"Windows Server {windows} Datacenter" if windows else "Amazon Linux 2023",
            "kernelVersion": build,
            **dict.fromkeys(
                ("bootID", "containerRuntimeVersion", "kubeProxyVersion", "kubeletVersion", "machineID", "systemUUID"),
                "",
            ),
        },
    }


def add_node(client: Client, name: str, windows: str | None = None, **shape: Any) -> Manifest:
    """Make a node and wait until pods may run on it; the arguments are those of :func:`node_manifest`."""
    (manifest,) = add_nodes(client, {name: windows}, **shape)
    return manifest


def add_nodes(client: Client, releases: Mapping[str, str | None], **shape: Any) -> list[Manifest]:
    """Make nodes, name to Windows release (None is Linux), and wait until pods may run on all of them."""
    made = [node_manifest(name, release, **shape) for name, release in releases.items()]
    for manifest, release in zip(made, releases.values(), strict=True):
        client.create(manifest)
        client.patch_status(manifest, node_status(release))
    for name in releases:
        client.wait(f"readiness of node {name}", lambda name=name: ready(client.get("v1", "Node", name)))
    return made


def ready(node: Mapping[str, Any]) -> bool:
    """Whether the node says that it is ready and no condition taints it any more."""
    conditions = {each["type"]: each["status"] for each in node.get("status", {}).get("conditions", [])}
    own = [taint["key"] for taint in node["spec"].get("taints", [])]
    return conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in own
