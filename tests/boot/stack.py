"""A stack, evaluated as an update with real keys: what it would put into the cloud, as plain data."""

import base64
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.model import Plan, Secret

from tests.cluster.objects import objects_of
from tests.tls_mocks import TLS

ROOT = Path(__file__).parents[2]
BUCKET = "kubeadm-state-1a2b3c4"


@dataclass(frozen=True)
class Group:
    """An Auto Scaling group with what its instances are told."""

    name: str
    slot: str | None
    user_data: str
    tags: Mapping[str, str]
    hooks: list[dict[str, Any]]


@dataclass(frozen=True)
class Stack:
    """What the driver puts into the emulated cloud."""

    plan: Plan
    name: str
    """Of the cluster."""
    region: str
    objects: Mapping[str, bytes]
    parameter: Mapping[str, Any]
    groups: list[Group]
    manifests: list[dict[str, Any]]

    @property
    def api(self) -> str:
        """Host of the API."""
        return f"api.{self.name}"

    def group(self, name: str) -> Group:
        """By slot, or by the beginning of the name."""
        return next(one for one in self.groups if name == one.slot or one.name.startswith(f"{name}."))


def evaluate_stack(name: str, work: Path, changes: Mapping[str, Any]) -> Stack:
    """Evaluate a stack of the repository with further settings of the cluster (mirrors, digests, slots)."""
    settings = yaml.safe_load((ROOT / f"Pulumi.{name}.yaml").read_text())
    cluster = settings["config"]["winkube:cluster"]
    cluster |= changes
    # A container has no disks: etcd lies on the root of its machine.
    cluster.pop("etcdVolumeSizeGib", None)
    copy = work / "program"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for part in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / part, copy / part)
    (copy / "stacks").symlink_to(ROOT / "stacks")
    (copy / f"Pulumi.{name}.yaml").write_text(yaml.safe_dump(settings))
    mocks = {**TLS, "aws:s3/bucket:Bucket": _bucket}
    plan = evaluate(copy, name, mode="update", mocks=mocks)
    return _read(plan, settings["config"])


def _bucket(name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"bucket": BUCKET, "id": BUCKET, "arn": f"arn:aws:s3:::{BUCKET}"}


def _read(plan: Plan, config: Mapping[str, Any]) -> Stack:
    objects: dict[str, bytes] = {}
    templates: dict[str, str] = {}
    parameter: dict[str, Any] = {}
    for one in plan.resources:
        inputs = one.inputs
        if one.type == "aws:s3/bucketObjectv2:BucketObjectv2":
            source = _value(inputs.get("source"))
            content = Path(source["path"]).read_bytes() if source else str(_value(inputs["content"])).encode()
            objects[str(inputs["key"])] = content
        elif one.type == "aws:ec2/launchTemplate:LaunchTemplate":
            templates[one.name] = base64.b64decode(_value(inputs["userData"])).decode()
        elif one.type == "aws:ssm/parameter:Parameter":
            parameter = {key: _value(value) for key, value in inputs.items()}
    groups: list[Group] = []
    for one in plan.resources:
        if one.type != "aws:autoscaling/group:Group":
            continue
        tags = {tag["key"]: tag["value"] for tag in one.inputs["tags"]}
        base = one.name.removesuffix("-group")
        data = templates.get(one.name) or templates[f"{base}-template"]
        groups.append(Group(str(one.inputs.get("name", one.name)), tags.get("winkube.io/slot"), data, tags,
                            list(one.inputs.get("initialLifecycleHooks") or [])))  # fmt: skip
    cluster = config["winkube:cluster"]
    return Stack(plan, cluster["name"], config["aws:region"], objects, parameter, groups, objects_of(plan))


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Secret) else value


def documents(stack: Stack) -> dict[str, Any]:
    """The node documents by their keys."""
    return {key: json.loads(body) for key, body in stack.objects.items() if "/nodes/" in key}
