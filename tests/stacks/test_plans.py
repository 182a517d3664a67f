"""Every stack and example as a whole: evaluated, without a finding, and as it was.

The files of tests/snapshots say how it was; ``make snapshots`` writes them anew.
"""

import dataclasses
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from winkube.node_agent import loader, zipapp
from winkube.preview.checks.plan import check_plan
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.model import SIGNATURE_KEY, Finding, Options, Plan, Resource, Severity
from winkube.windows_boot import bundle

from ..plans.document import PlanDocument
from ..plans.files import SHARED, loader_lines, plan_files
from ..plans.modes import contradictions
from ..plans.stacks import (
    EXAMPLES,
    IN_PYTHON,
    OPAQUE,
    RENEW,
    ROOT,
    STACKS,
    current_files,
    difference,
    evaluated,
    evaluated_now,
    kept_files,
    kept_mode,
    name_of,
)
from ..plans.yaml_text import written
from .conftest import WaitsFor

MODES = ("preview", "update")
CASES = [(folder, stack, mode) for mode in MODES for folder, stack in STACKS
         if mode == "preview" or folder.name not in OPAQUE]  # fmt: skip
every_case = pytest.mark.parametrize(
    ("folder", "stack", "mode"), CASES, ids=[f"{mode}-{name_of(folder, stack)}" for folder, stack, mode in CASES]
)
every_stack = pytest.mark.parametrize(
    ("folder", "stack"), STACKS, ids=[name_of(folder, stack) for folder, stack in STACKS]
)
KOPS = ROOT / "examples" / "windows_for_kops"
"""A small program with boot code, node documents of Windows and objects in the cluster."""


def weighty(plan: Plan) -> list[Any]:
    findings = [*plan.findings, *check_plan(plan), *run_policies(plan, ROOT / "policies")]
    return [finding for finding in findings if finding.severity is not Severity.NOTE]


@every_case
def test_a_stack_evaluates_without_a_finding(folder: Path, stack: str, mode: str) -> None:
    """As a preview and as an update, with all checks and policies on."""
    assert weighty(evaluated(folder, stack, mode)) == []


def of_folder(files: Any, name: str) -> dict[str, str]:
    return {path: text for path, text in files.items() if path.startswith(f"{name}/")}


@pytest.mark.parametrize("name", [*(name_of(folder, stack) for folder, stack in STACKS), SHARED])
def test_a_stack_is_as_it_was(name: str) -> None:
    """The whole plan, and in "shared" what several have in common. Renew and review: make snapshots."""
    if said := difference(of_folder(kept_files(), name), of_folder(current_files(), name)):
        pytest.fail(said, pytrace=False)


def test_no_file_of_a_snapshot_is_left_over() -> None:
    """A stack that is gone takes its files along."""
    assert kept_files().keys() - current_files().keys() == set()


def test_a_difference_is_shown_with_the_way_to_accept_it() -> None:
    """A changed line, a new file and a left-over one."""
    said = difference({"a": "same\nold\n", "b": ""}, {"a": "same\nnew\n", "c": ""}).splitlines()
    assert {"-old", "+new", "b: nothing makes this file any more", "c: a new file"} <= set(said)
    assert RENEW in said[-1]
    assert difference({"a": "same"}, {"a": "same"}) == ""


@pytest.mark.parametrize(
    ("folder", "stack"), [case for case in STACKS if case[0].name not in OPAQUE], ids=lambda it: getattr(it, "name", it)
)
def test_the_mode_that_is_not_kept_says_nothing_else(folder: Path, stack: str) -> None:
    """A preview knows less than an update, and contradicts it nowhere."""
    assert list(contradictions(evaluated(folder, stack, "preview"), evaluated(folder, stack, "update"))) == []


def with_resource(plan: Plan, resource: Resource) -> Plan:
    resources = [resource if it.urn == resource.urn else it for it in plan.resources]
    return dataclasses.replace(plan, resources=resources)


def with_inputs(resource: Resource, inputs: Any) -> Resource:
    struct = Struct()
    struct.update(inputs)
    return dataclasses.replace(resource, raw_inputs=struct)


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values that hold no other."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        if key != SIGNATURE_KEY:
            yield from leaves(inner, (*at, key))
    if not isinstance(value, dict | list) or not value:
        yield at


def changed(value: Any, at: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """A copy with one value changed."""
    if not at:
        return change(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], change)
    return copy


def other(value: Any, chance: random.Random) -> Any:
    """Another value, of the same kind and, if it is a text, with another character somewhere."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value:
        place = chance.randrange(len(value))
        return value[:place] + ("x" if value[place] != "x" else "y") + value[place + 1 :]
    return "x"


def test_the_modes_can_contradict_each_other() -> None:
    """The check of the modes finds a value, a key, an option, an output and a resource that is another one."""
    plan = evaluated(KOPS, "dev")
    resource = next(it for it in plan.resources if it.custom and it.inputs.get("tags"))
    inputs = json_format.MessageToDict(resource.raw_inputs)
    for wrong in (
        with_resource(plan, with_inputs(resource, {**inputs, "more": 1})),
        with_resource(plan, with_inputs(resource, {**inputs, "tags": {**inputs["tags"], "Name": "another"}})),
        with_resource(
            plan,
            dataclasses.replace(
                resource, options=dataclasses.replace(resource.options, protect=not resource.options.protect)
            ),
        ),
        dataclasses.replace(plan, outputs={**plan.outputs, "more": 1}),
        dataclasses.replace(plan, resources=[it for it in plan.resources if it is not resource]),
    ):
        assert list(contradictions(wrong, plan))


@every_stack
def test_every_value_of_a_plan_is_seen_in_its_snapshot(folder: Path, stack: str) -> None:
    """Of each resource some of its inputs, each changed by one character: what is shown of it changes."""
    plan = evaluated(folder, stack, kept_mode(folder))
    document = PlanDocument(plan)
    chance = random.Random(name_of(folder, stack))  # noqa: S311
    for resource in plan.resources:
        inputs, shown = json_format.MessageToDict(resource.raw_inputs), written(document.resource(resource))
        found = [path for path in leaves(inputs) if path]
        for path in chance.sample(found, min(len(found), 4)):
            changed_inputs = changed(inputs, path, lambda value: other(value, chance))
            again = written(document.resource(with_inputs(resource, changed_inputs)))
            assert again != shown, f"{resource.name}: {path}"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Options)])
def test_every_option_of_a_resource_is_seen_in_its_snapshot(field: str) -> None:
    """Dropped, added or another one, of resources and of components."""
    plan = evaluated(KOPS, "dev", "update")
    document = PlanDocument(plan)
    for resource in plan.resources:
        value = getattr(resource.options, field)
        for new in others(value, plan.resources[0].urn):
            again = dataclasses.replace(resource, options=dataclasses.replace(resource.options, **{field: new}))
            assert document.resource(again) != document.resource(resource), (resource.name, new)


def others(value: Any, urn: str) -> list[Any]:
    """Other values for an option."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [f"{urn}::x", *([""] if value else [])]
    if isinstance(value, tuple):
        return [
            tuple(it for it in value if it != urn) if urn in value else (*value, urn),
            *([value[1:]] if value else []),
        ]
    return [{**value, "more": (urn,) if any(isinstance(it, tuple) for it in value.values()) else urn},
            *([dict(list(value.items())[1:])] if value else [])]  # fmt: skip


@pytest.mark.parametrize(("field", "new"), [("parent", ""), ("custom", None), ("remote", True), ("read", True),
                                            ("id", "x"), ("raw_outputs", None)])  # fmt: skip
def test_every_fact_of_a_resource_is_seen_in_its_snapshot(field: str, new: Any) -> None:
    """What the engine is told beside inputs and options."""
    plan = evaluated(KOPS, "dev", "update")
    document = PlanDocument(plan)
    for resource in plan.resources:
        value = not resource.custom if field == "custom" else new
        if value != getattr(resource, field) and (field != "raw_outputs" or resource.outputs):
            again = dataclasses.replace(resource, **{field: value})
            assert document.resource(again) != document.resource(resource), resource.name


def test_what_is_said_beside_the_resources_is_seen_too() -> None:
    """Outputs, calls of functions, warnings, findings, and a resource more or less."""
    plan = evaluated(KOPS, "dev", "update")
    before = plan_files({"it": plan})
    call = plan.invokes[0]
    finding = Finding("check/it", Severity.WARNING, "is wrong")
    for change in (
        {"project": "other"},
        {"stack": "other"},
        {"outputs": {**plan.outputs, "more": 1}},
        {"invokes": plan.invokes[1:]},
        {"invokes": [*plan.invokes, call]},
        {"invokes": [dataclasses.replace(call, arguments={"name": "other"}), *plan.invokes[1:]]},
        {"invokes": [dataclasses.replace(call, known=not call.known), *plan.invokes[1:]]},
        {"logs": []},
        {"findings": [finding]},
        {"resources": plan.resources[:-1]},
    ):
        assert plan_files({"it": dataclasses.replace(plan, **change)}) != before, change
    others = [dataclasses.replace(finding, **{field: "x"}) for field in ("code", "message", "urn", "path", "remedy")]
    findings = [finding, *others, dataclasses.replace(finding, severity=Severity.ERROR)]
    shown = {json.dumps(plan_files({"it": dataclasses.replace(plan, findings=[it])})) for it in findings}
    assert len(shown) == len(findings)


def test_what_has_a_file_of_its_own_is_seen_too() -> None:
    """User data, documents, objects and scripts: one changed character in one of them changes the files."""
    plan = evaluated(KOPS, "dev", "update")
    before = plan_files({"kops": plan})
    chance = random.Random(1)  # noqa: S311
    tried = 0
    for resource in plan.resources:
        inputs = json_format.MessageToDict(resource.raw_inputs)
        for path in leaves(inputs):
            if path and path[-1] in ("userData", "content", "flannel.ps1", "kube_proxy.ps1", "hostNetwork"):
                again = with_inputs(resource, changed(inputs, path, lambda value: other(value, chance)))
                assert plan_files({"kops": with_resource(plan, again)}) != before, (resource.name, path)
                tried += 1
    assert tried > 4


def test_files_of_plans_are_yaml_and_name_each_other() -> None:
    """A reader's tools can read them, and each file that a plan names is there."""
    files = current_files()
    for path, text in files.items():
        if path.startswith(("program-dev/", "program-kubeadm-dev/", SHARED)) and path.endswith(".yaml"):
            # Two marks on one value are two too many for YAML.
            assert list(yaml.parse(re.sub(r"(!\w+ )+!", "!", text), yaml.CSafeLoader)), path
        assert set(re.findall(r"!file ([\w./@-]+)", text)) <= files.keys()
    named = {name for text in files.values() for name in re.findall(rf"!file ([\w./@-]+)|<({SHARED}/[\w.]+)>", text)}
    assert {one or two for one, two in named} == {path for path in files if not path.endswith("/plan.yaml")}


@pytest.fixture
def boot_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the code that boots nodes, in use instead of the library's own."""
    shutil.copytree(bundle.SCRIPTS, tmp_path / "windows")
    shutil.copytree(zipapp._FOLDER / zipapp.AGENT, tmp_path / "linux" / zipapp.AGENT)
    shutil.copy(zipapp._FOLDER / "zip_main.py", tmp_path / "linux")
    shutil.copy(zipapp._FOLDER / "loader.sh", tmp_path / "linux")
    monkeypatch.setattr(bundle, "SCRIPTS", tmp_path / "windows")
    monkeypatch.setattr(zipapp, "_FOLDER", tmp_path / "linux")
    monkeypatch.setattr(loader, "__file__", str(tmp_path / "linux" / "loader.py"))
    forget_boot_code()
    yield tmp_path
    monkeypatch.undo()
    forget_boot_code()


def forget_boot_code() -> None:
    """What was read of it once is read again."""
    for cached in (bundle.bundle, zipapp.zipapp, zipapp.zipapp_sha256, loader.script, loader_lines):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("script", "line", "lines"),
    [
        ("windows/Kubelet.ps1", "# Why.", 1),
        ("windows/Loader.ps1", "# Why.", 1),
        ("linux/loader.sh", "true", 1),
        ("linux/loader.sh", "# Comments stay at home.", 0),
        ("linux/winkube_agent/backup.py", "WHY = 1", 0),
    ],
)
def test_a_line_of_boot_code_is_a_line_of_one_file(boot_code: Path, script: str, line: str, lines: int) -> None:
    """And not each digest of it. The agent's own code is named alone: its tests and its difference say more."""
    before = plan_files({"it": evaluated(ROOT, "kubeadm-dev", "update")})
    path = boot_code / script
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    forget_boot_code()
    after = plan_files({"it": evaluated_now(ROOT, "kubeadm-dev", "update")})
    assert before.keys() == after.keys()
    changes = [(before[path].splitlines(), text.splitlines()) for path, text in after.items() if text != before[path]]
    assert len(changes) == lines
    assert all([*old, line] == new for old, new in changes)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_a_stack_comes_up_in_the_right_order(stack: str, waits_for: WaitsFor) -> None:
    """Roles and logs before the cluster; CNI and kube-proxy before nodes; Linux before Windows, beside CoreDNS."""
    plan = evaluated(ROOT, stack)
    assert {f"{stack}-cluster-role", f"{stack}-logs"} <= waits_for(plan, f"{stack}-cluster")
    assert {f"{stack}-ipam-vpc-cni", f"{stack}-kube-proxy-addon"} <= waits_for(plan, f"{stack}-system-group")
    assert f"{stack}-system-group" in waits_for(plan, f"{stack}-coredns-addon")
    windows = waits_for(plan, f"{stack}-windows-2022-group")
    assert {f"{stack}-system-group", f"{stack}-ipam-vpc-cni"} <= windows
    assert f"{stack}-coredns-addon" not in windows
    assert f"{stack}-windows-2022-nodes-AmazonEKSWorkerNodePolicy" in windows


def test_addons_come_after_dns_and_before_what_they_serve(waits_for: WaitsFor) -> None:
    """Add-ons need Linux nodes and DNS; gMSA's webhook its certificates; Windows nodes and classes wait for none."""
    plan = evaluated(ROOT, "prod")
    drivers = waits_for(plan, "prod-addons-aws-ebs-csi-driver-addon")
    assert {"prod-system-group", "prod-coredns-addon", "prod-addons-aws-ebs-csi-driver-role"} <= drivers
    assert "prod-addons-cert-manager" in waits_for(plan, "prod-addons-windows-gmsa")
    for name in ("prod-windows-2025-group", "prod-ebs-ntfs-class"):
        assert not [waited for waited in waits_for(plan, name) if waited.startswith("prod-addons")]


def test_what_runs_in_a_cluster_of_its_own_comes_up_side_by_side(waits_for: WaitsFor) -> None:
    """Which of it a node gets first is not the program's to say, so nothing of it waits for another."""
    plan = evaluated(ROOT, "kubeadm-dev")
    objects = ("cloud-controller-controller", "flannel-linux", "csr-approver-approver", "kube-proxy-windows-windows")
    for name in objects:
        waited = waits_for(plan, f"kubeadm-dev-{name}")
        room = f"kubeadm-dev-{name.rpartition('-')[0]}"
        assert room in waited
        assert {it for it in waited if it.startswith("kubeadm-dev-") and not it.startswith(room)} == set()


def test_objects_of_a_cluster_of_its_own_wait_for_its_api_and_addons_for_linux_nodes(waits_for: WaitsFor) -> None:
    """They are made with a provider that waits until every slot is healthy; they and the nodes do not wait in turn."""
    plan = evaluated(ROOT, "kubeadm-prod")
    assert {f"kubeadm-prod-cp-{number}" for number in range(3)} <= waits_for(plan, "kubeadm-prod-kubernetes")
    for name in ("flannel-linux", "cloud-controller-controller"):
        (made,) = [it for it in plan.resources if it.name == f"kubeadm-prod-{name}"]
        assert "::kubeadm-prod-kubernetes::" in made.options.provider
        assert "kubeadm-prod-linux-group" not in waits_for(plan, made.name)
    assert "kubeadm-prod-linux-group" in waits_for(plan, "kubeadm-prod-addons-metrics-server")


@pytest.mark.parametrize("stack", ["prod", "kubeadm-prod"])
def test_a_stack_names_its_cluster_and_its_state_bucket(stack: str) -> None:
    """From them tools and people find everything that lies in the bucket."""
    file = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))
    outputs = evaluated(ROOT, stack).outputs
    assert outputs["clusterName"] == file["config"]["winkube:cluster"]["name"]
    assert "stateBucket" in outputs


def test_the_order_of_a_program_can_be_wrong(waits_for: WaitsFor) -> None:
    """The check above can fail: nothing makes the Windows group wait for what it does not depend on."""
    plan = evaluated(ROOT, "dev")
    assert "dev-windows-2022-group" not in waits_for(plan, "dev-system-group")
    assert "dev-state-bucket" not in waits_for(plan, "dev-windows-2022-group")


def test_the_program_runs_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(evaluated_now(ROOT, "dev").resources) > 50


@pytest.mark.parametrize("example", IN_PYTHON, ids=lambda folder: folder.name)
def test_a_copy_of_an_example_runs_outside_of_the_repository(example: Path, tmp_path: Path) -> None:
    """An example needs the installed library and nothing else of the repository."""
    copy = tmp_path / "copy"
    shutil.copytree(example, copy)
    assert weighty(evaluated_now(copy, "dev")) == []


def test_every_example_has_its_line_in_the_list() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [line.partition("[")[2].partition("]")[0] for line in text.splitlines() if line.startswith("| [")] == [
        example.name for example in EXAMPLES
    ]
    for example in IN_PYTHON:
        assert {path.name for path in example.iterdir()} >= {"__main__.py", "Pulumi.dev.yaml", "requirements.txt"}
