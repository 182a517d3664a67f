"""Every stack from nothing to nothing, with the SDK's own runtime, and providers in processes of their own."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from winkube.preview.evaluation.project import read_project
from winkube.preview.model import Secret, decode, holds_unknown, walk

from .cloud import Cloud
from .comparing import asked, differences, offline, planned
from .engine import ROOT, STACK_TYPE, Engine, ProgramFailedError, Run
from .plugin import name_of, struct, type_of

pytestmark = pytest.mark.verify

STACKS = read_project(ROOT).stacks()


@dataclasses.dataclass
class Life:
    """What happened to a stack, in this order."""

    engine: Engine
    first_preview: Run
    up: Run
    second_preview: Run
    planned: int
    """How many resources the offline preview has."""
    in_preview: list[str]
    in_update: list[str]
    """What is different between the offline evaluation and the run."""
    drifted: list[str]
    expected: list[str]
    repair: Run
    ended: list[str]
    journal: list[dict[str, object]]
    alive: dict[str, dict[str, Any]]
    """What was there before the end: URN to id and inputs."""
    left: list[str]


def live(stack: str, cloud: Cloud) -> Life:
    engine = Engine(ROOT, stack, cloud)
    first_preview = engine.preview()
    assert not cloud.things()
    plan = offline(ROOT, stack, first_preview)
    in_preview = differences(planned(plan), asked(first_preview))
    up = engine.up()
    in_update = differences(planned(offline(ROOT, stack, up, engine)), asked(up))
    second_preview = engine.preview()
    expected = disturb(cloud)
    drifted, repair = engine.refresh(), engine.up()
    alive = {urn: {"id": thing.id, "inputs": thing.inputs} for urn, thing in cloud.things().items()}
    ended = engine.destroy()
    journal, left = [dict(it) for it in cloud.journal()], sorted(cloud.things())
    return Life(
        engine, first_preview, up, second_preview, len(plan.resources), in_preview, in_update, drifted, expected,
        repair, ended, journal, alive, left,
    )  # fmt: skip


def disturb(cloud: Cloud) -> list[str]:
    """Somebody changes the tags of one VPC by hand and deletes a route; the URNs of both."""
    things = cloud.things()
    vpc = next(it for urn, it in sorted(things.items()) if type_of(urn) == "aws:ec2/vpc:Vpc")
    changed = {**vpc.inputs, "tags": {"changed": "by hand"}}
    cloud.put(dataclasses.replace(vpc, inputs=changed, outputs={**vpc.outputs, "tags": changed["tags"]}))
    route = next(urn for urn in sorted(things) if type_of(urn) == "aws:ec2/route:Route")
    cloud.remove(route)
    return sorted([vpc.urn, route])


@pytest.fixture(scope="module", params=STACKS)
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    return live(request.param, Cloud(tmp_path_factory.mktemp(request.param)))


def test_the_first_preview_names_what_the_offline_one_names(life: Life) -> None:
    """The same resources with the same inputs, providers, dependencies and options, by process and by evaluator."""
    assert life.planned > 50
    assert life.in_preview == []


def test_a_difference_would_be_told() -> None:
    """The comparison itself: a value, a resource of one side, and a longer list have their place named."""
    here = {"a": {"inputs": {"x": [1, {"y": 2}]}}, "b": {"inputs": {}}}
    there = {"a": {"inputs": {"x": [1, {"y": 3}]}}, "c": {"inputs": {}}}
    assert differences(here, there) == [
        "b: only offline",
        "c: only under the engine",
        "a: inputs.x[1].y: 2 offline, 3 under the engine",
    ]
    longer = {"a": {"inputs": {"x": [1]}}}
    assert len(differences({"a": here["a"]}, longer)) == 1


def test_an_update_asks_for_what_the_offline_update_asks_for(life: Life) -> None:
    assert life.in_update == []


def test_a_preview_makes_nothing_and_an_update_all_of_it(life: Life) -> None:
    assert Counter(life.first_preview.steps.values()).keys() == {"create"}
    assert life.up.steps == life.first_preview.steps
    custom = {urn for urn, it in life.up.requests.items() if it.custom and ":providers:" not in type_of(urn)}
    assert set(life.alive) == custom


def test_a_second_run_changes_nothing(life: Life) -> None:
    """Nothing in the program is different from run to run: no clock, no chance, no order."""
    assert (life.second_preview.did("create", "update", "delete"), life.second_preview.changed) == ([], {})


def test_the_outputs_of_the_stack_are_known_and_its_kubeconfig_is_a_secret_where_it_holds_one(life: Life) -> None:
    outputs = life.up.outputs
    assert not holds_unknown(outputs)
    assert {"vpcId", "clusterName", "endpoint", "kubeconfig"} <= outputs.keys()
    assert outputs == life.second_preview.outputs == life.repair.outputs
    assert isinstance(outputs["kubeconfig"], Secret) is life.engine.stack.startswith("kubeadm")


def test_drift_is_found_and_repaired(life: Life) -> None:
    """What somebody changed or deleted by hand is told by a refresh and put right by the next update."""
    assert life.drifted == life.expected
    updated, created = life.repair.did("update"), life.repair.did("create")
    assert sorted(updated + created) == life.expected
    assert life.repair.did("delete") == []
    assert {urn: life.repair.changed[urn] for urn in updated} == {urn: ["tags"] for urn in updated}


def test_nothing_is_left_and_nothing_ended_before_what_needed_it(life: Life) -> None:
    """By the values alone: whoever names the id of another in its inputs is gone before it."""
    assert life.left == []
    assert sorted(life.ended) == sorted(life.up.steps)
    at = {str(it["urn"]): number for number, it in enumerate(life.journal) if it["method"] == "Delete"}
    by_id: dict[str, list[str]] = {}
    for urn, thing in life.alive.items():
        by_id.setdefault(str(thing["id"]), []).append(urn)
    # A subnet and its route table have one name and so one id here: one of them must still be there.
    pairs = [
        (urn, by_id[value])
        for urn, thing in life.alive.items()
        for _, value in walk(decode(struct(thing["inputs"])))
        if isinstance(value, str) and value in by_id
    ]
    assert len(pairs) > 30
    early = [(needed, urn) for urn, needed in pairs if all(at[it] < at[urn] for it in needed)]
    assert [f"{name_of(needed[0])} before {name_of(urn)}" for needed, urn in early] == []


def test_no_secret_is_told(life: Life) -> None:
    """What the program logs holds no private key."""
    said = [text for run in (life.first_preview, life.up, life.repair) for _, text in run.logs]
    assert not [text for text in said if "PRIVATE KEY" in text]


def test_a_stack_takes_its_root_from_the_engine(life: Life) -> None:
    """The program has exactly one stack resource, and it is everybody's parent."""
    roots = [urn for urn in life.up.requests if type_of(urn) == STACK_TYPE]
    assert [name_of(urn) for urn in roots] == [f"{life.engine.project.name}-{life.engine.stack}"]
    assert not [urn for urn, it in life.up.requests.items() if not it.parent and urn not in roots]


def test_a_wrong_setting_ends_the_program_with_its_words_before_anything_is_made(tmp_path: Path) -> None:
    """The text reaches the user as the CLI would show it: whole, without a traceback."""
    program = tmp_path / "program"
    program.mkdir()
    for file in ("Pulumi.yaml", "__main__.py"):
        (program / file).write_text((ROOT / file).read_text(encoding="utf-8"), encoding="utf-8")
    wrong = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8").replace("nat: single", "nat: sigle")
    (program / "Pulumi.dev.yaml").write_text(wrong, encoding="utf-8")
    cloud = Cloud(tmp_path / "cloud")
    with pytest.raises(ProgramFailedError, match='got "sigle"; write "single" \\[WK-NET-010\\]') as error:
        Engine(program, "dev", cloud).up()
    assert "Traceback" not in str(error.value)
    assert list(cloud.journal()) == []
