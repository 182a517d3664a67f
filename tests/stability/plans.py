"""The plans of released stacks: small enough to be kept, complete enough to be compared with what the code makes now.

``python -m tests.stability.plans`` writes those of this version; run it when a version is released.
"""

import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format, struct_pb2
from winkube.preview.comparison.compare import compare
from winkube.preview.comparison.difference import Difference
from winkube.preview.comparison.replacements import Answer
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.model import SIGNATURE_KEY, Options, Plan, Resource

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).parent
STACKS = ("prod", "kubeadm-prod")
ASSET = "c44067f5952c0a294b673a41bacd8c17"
"""How the engine's protocol marks a file (pulumi/pulumi sdk/go, AssetSig)."""
KEPT = ("protect", "aliases", "ignore_changes", "replace_on_changes", "delete_before_replace", "retain_on_delete")
"""The options that decide what becomes of a resource."""


def current(stack: str) -> Plan:
    """The plan that the code makes now, reduced as a kept one is."""
    return read(written(evaluate(ROOT, stack)))


def written(plan: Plan) -> str:
    """A plan as text: a resource per line, so that two releases can be compared by eye."""
    head = {"project": plan.project, "stack": plan.stack, "mode": plan.mode}
    lines = [json.dumps(head), *(json.dumps(_resource(resource), sort_keys=True) for resource in plan.resources)]
    return "\n".join([*lines, ""])


def read(text: str) -> Plan:
    """A plan from what was written."""
    head, *resources = (json.loads(line) for line in text.splitlines())
    return Plan(**head, directory="", resources=[_read(item) for item in resources], outputs={}, invokes=[])


def _resource(resource: Resource) -> dict[str, Any]:
    options = {name: value for name in KEPT if (value := getattr(resource.options, name))}
    return {
        "urn": resource.urn,
        "parent": resource.parent,
        "custom": resource.custom,
        "inputs": _without_files(json_format.MessageToDict(resource.raw_inputs)),
        **({"options": options} if options else {}),
    }


def _without_files(value: Any) -> Any:
    """What lies in a file has another place on each machine; a digest beside it says whether it changed."""
    if isinstance(value, dict):
        if value.get(SIGNATURE_KEY) == ASSET:
            return "a file"
        return {key: _without_files(item) for key, item in value.items()}
    return [_without_files(item) for item in value] if isinstance(value, list) else value


def _read(item: Mapping[str, Any]) -> Resource:
    inputs = struct_pb2.Struct()
    inputs.update(item["inputs"])
    options = {
        key: tuple(value) if isinstance(value, list) else value for key, value in item.get("options", {}).items()
    }
    _, _, qualified, name = item["urn"].split("::", 3)
    return Resource(
        urn=item["urn"], type=qualified.rpartition("$")[2], name=name, parent=item["parent"], custom=item["custom"],
        raw_inputs=inputs, options=dataclasses.replace(Options(), **options),
    )  # fmt: skip


def lost(base: Plan, head: Plan) -> Iterator[tuple[str, str]]:
    """Type and name of every resource that an upgrade would replace or delete."""
    difference: Difference = compare(base, head)
    for changed in difference.replaced(Answer.YES):
        if changed.custom:
            yield changed.type, changed.name
    for removed in difference.removed:
        if removed.custom and not removed.type.startswith("pulumi:providers:"):
            yield removed.type, removed.name


def released() -> list[Path]:
    """The kept plans of the newest release that has some."""
    versions = sorted(HERE.glob("[0-9]*"), key=lambda folder: [int(part) for part in folder.name.split(".")])
    return sorted(versions[-1].glob("*.jsonl")) if versions else []


def main() -> None:
    """Write the plans of this version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    folder = HERE / version
    folder.mkdir(exist_ok=True)
    for stack in STACKS:
        (folder / f"{stack}.jsonl").write_text(written(evaluate(ROOT, stack)), encoding="utf-8")


if __name__ == "__main__":
    main()
