"""Labels and taints on nodes that others made, without owning the nodes.

Each node is patched by server-side apply: its labels are added one by one and taken away again with the component; its
taints are one list to the API server, so the list given here is the whole list, and what somebody else writes into it
afterwards is taken back at the next update. Kubernetes' own taints of unready nodes come back by themselves.

Nodes that a group makes get theirs from the group's ``labels`` and ``taints``, from their first second on: this is for
the nodes of others. Source: Kubernetes API reference, ``NodeSpec`` (``taints`` is an atomic list).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from ..core.component import Component, known
from ..core.mistakes import Mistakes, Rule
from ..kubernetes.manifests import Manifest
from .labels import Taint, check_labels, check_taints

APPLY_PAGE = "https://kubernetes.io/docs/reference/using-api/server-side-apply/"
NODES = Rule("WK-K8S-035", "Each node can be listed only once, and needs at least one label or taint.", APPLY_PAGE)

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, kw_only=True)
class NodeMarks:
    """The labels and taints of one node."""

    node: pulumi.Input[str]
    """Name of the node; nodes of winkube are named by their instance ID."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels to add to the node."""
    taints: Sequence[Taint] | None = None
    """All taints of the node. None (default) does not change them; an empty list removes them."""


@dataclass(frozen=True, kw_only=True)
class NodeTaintsArgs:
    """The arguments of labels and taints on existing nodes."""

    nodes: Sequence[NodeMarks]
    """The nodes; each can be listed only once."""


def node_patch(node: Any, labels: Mapping[str, str], taints: Sequence[Taint] | None) -> Manifest:
    """The patch of one node. It wins over what another program wrote into the same fields."""
    patch: Manifest = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node, "annotations": {"pulumi.com/patchForce": "true"}},
    }
    if labels:
        patch["metadata"]["labels"] = dict(sorted(labels.items()))
    if taints is not None:
        patch["spec"] = {"taints": [_taint(it) for it in taints]}
    return patch


def _taint(taint: Taint) -> dict[str, str]:
    # The API server leaves an empty value out; written, it would be a difference for ever.
    return {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect}


def check_node_taints(args: NodeTaintsArgs) -> Mistakes:
    """Everything that is wrong with the marks (``WK-K8S-035``, ``WK-SCH-001`` to ``-005``)."""
    found = Mistakes()
    if not args.nodes:
        found.add(NODES, ("nodes",), "no node is listed", "name at least one, or remove the component")
    seen: dict[str, int] = {}
    for index, marks in enumerate(args.nodes):
        here = ("nodes", index)
        if isinstance(marks.node, str):
            if not _NAME.fullmatch(marks.node):
                found.add(NODES, (*here, "node"), "a node name has lower-case letters, digits, hyphens and dots",
                          'write the name that kubectl shows, such as "i-0123456789abcdef0"', marks.node)  # fmt: skip
            first = seen.setdefault(marks.node, index)
            if first != index:
                found.add(NODES, (*here, "node"), f"the node is listed before, at [{first}]",
                          "put all its labels and taints there", marks.node)  # fmt: skip
        if not marks.labels and marks.taints is None:
            found.add(NODES, here, "the node has neither labels nor taints", "add some, or remove the node")
        found.take(check_labels(marks.labels, managed=False, eks=False), *here)
        found.take(check_taints(marks.taints or (), managed=False, eks=False), *here)
    return found


class NodeTaints(Component):
    """Labels and taints on existing nodes. Needs a Kubernetes provider in ``opts.providers``.

    :raises WinkubeError: ``WK-K8S-035``, ``WK-SCH-001`` to ``WK-SCH-005``.
    """

    nodes: pulumi.Output[list[str]]
    """Names of the nodes."""

    def __init__(self, name: str, args: NodeTaintsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_node_taints(args))
        for index, marks in enumerate(args.nodes):
            part = str(marks.node) if known(marks.node) else str(index)
            patch = node_patch(marks.node, marks.labels, marks.taints)
            pulumi.CustomResource("kubernetes:core/v1:NodePatch", f"{name}-{part}", patch, self.child())
        self.nodes = pulumi.Output.all(*(marks.node for marks in args.nodes)).apply(
            lambda names: [str(it) for it in names]
        )
        self.register_outputs({"nodes": self.nodes})
