"""What kwok does with simulated nodes and their pods: nodes are ready, pods run, pods of Jobs end, deletes finish."""

import json
from pathlib import Path
from typing import Any

_PENDING = {"key": ".status.phase", "operator": "In", "values": ["Pending"]}
_RUNNING = {"key": ".status.phase", "operator": "In", "values": ["Running"]}
_OF_JOB = {"key": ".metadata.ownerReferences.[].kind", "operator": "In", "values": ["Job"]}
_STAYS = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
_GOES = {"key": ".metadata.deletionTimestamp", "operator": "Exists"}
_NOT_READY = {
    "key": '.status.conditions.[] | select( .type == "Ready" ) | .status',
    "operator": "NotIn",
    "values": ["True"],
}

_NODE_READY = """
conditions:
{{ range NodeConditions }}
- {lastHeartbeatTime: {{ Now | Quote }}, lastTransitionTime: {{ Now | Quote }}, type: {{ .type | Quote }},
   status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, message: {{ .message | Quote }}}
{{ end }}
"""
_POD_RUNS = """
phase: Running
startTime: {{ Now | Quote }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: 0
  state: {running: {startedAt: {{ Now | Quote }}}}
{{ end }}
"""
_POD_ENDS = """
phase: Succeeded
conditions:
- {type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
"""


def write_stages(file: Path) -> None:
    """Write kwok's configuration file."""
    stages = [
        _stage("node-ready", "Node", [_STAYS, _NOT_READY], {"statusTemplate": _NODE_READY}),
        _stage("pod-runs", "Pod", [_STAYS, _PENDING], {"statusTemplate": _POD_RUNS}),
        _stage("pod-ends", "Pod", [_STAYS, _RUNNING, _OF_JOB], {"statusTemplate": _POD_ENDS}),
        _stage("pod-goes", "Pod", [_GOES], {"finalizers": {"empty": True}, "delete": True}),
    ]
    file.write_text("---\n".join(json.dumps(stage, indent=1) + "\n" for stage in stages))


def _stage(name: str, kind: str, conditions: list[dict[str, Any]], result: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": conditions},
            "next": result,
        },
    }
