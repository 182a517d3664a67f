"""What is done to a control plane, and what holds it back."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from winkube.ops import actions
from winkube.ops.actions import Patience, backup, restore, roll
from winkube.ops.clients import OpsError

from .conftest import BUCKET, LAYOUT, NAME, SHA, World

pytestmark = pytest.mark.verify

QUICK = Patience(slot=1, backup=1, poll=0)


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Do something whenever a command waits: what agents and AWS would do meanwhile."""

    def arrange(happens: Callable[[], Any]) -> None:
        monkeypatch.setattr(actions.time, "sleep", lambda _: happens())

    return arrange


def rolled(world: World, said: list[str] | None = None, **wish: Any) -> list[str]:
    return [slot.name for slot in roll(world.clients, NAME, say=(said if said is not None else []).append,
                                       patience=QUICK, **{"every": False, "only": None, **wish})]  # fmt: skip


def test_machines_that_are_up_to_date_are_left_alone(world: World) -> None:
    before = [world.machine(f"cp-{n}") for n in range(3)]
    assert rolled(world) == []
    assert [world.machine(f"cp-{n}") for n in range(3)] == before


def test_slots_are_rolled_one_after_the_other(world: World, between: Any) -> None:
    """Each has a new machine, and is healthy, before the next one is touched."""
    before = {slot: world.machine(slot) for slot in ("cp-0", "cp-1", "cp-2")}
    world.change_template()
    said: list[str] = []
    between(world.report_all)
    assert rolled(world, said) == ["cp-0", "cp-1", "cp-2"]
    assert all(world.machine(slot) not in (machine, None) for slot, machine in before.items())
    marks = [line for line in said if "ending" in line or "is healthy" in line]
    assert [line.partition(":")[0] for line in marks] == ["cp-0", "cp-0", "cp-1", "cp-1", "cp-2", "cp-2"]


def test_the_roll_stops_at_the_first_slot_that_does_not_come_up(world: World, between: Any) -> None:
    """The rest stays as it was."""
    others = [world.machine("cp-1"), world.machine("cp-2")]
    world.change_template()
    between(lambda: world.report("cp-0", phase="join", error={"text": "the learner stays one"}))
    with pytest.raises(OpsError, match="cp-0 is not healthy after 1 s: its agent says the learner stays one"):
        rolled(world)
    assert [world.machine("cp-1"), world.machine("cp-2")] == others


def test_nothing_is_rolled_while_another_slot_is_unhealthy(world: World) -> None:
    before = [world.machine(f"cp-{n}") for n in range(3)]
    world.change_template()
    world.report("cp-2", phase="join")
    with pytest.raises(OpsError, match="cp-2 its agent is in the phase join"):
        rolled(world)
    assert [world.machine(f"cp-{n}") for n in range(3)] == before


def test_one_slot_alone_or_all_on_wish(world: World, between: Any) -> None:
    between(world.report_all)
    assert rolled(world, only="cp-1") == ["cp-1"]
    assert rolled(world, every=True) == ["cp-0", "cp-1", "cp-2"]
    with pytest.raises(OpsError, match=r"cp-9 is no slot of prod\.example\.com: cp-0, cp-1, cp-2"):
        rolled(world, only="cp-9")


def test_a_stale_backup_is_renewed_before_a_machine_is_ended(world: World, between: Any) -> None:
    """And without one nothing is ended."""
    for found in world.cluster().backups:
        world.s3.delete_object(Bucket=BUCKET, Key=found.key)
    before = world.machine("cp-0")
    with pytest.raises(OpsError, match="cp-0 made no backup in 1 s"):
        rolled(world, only="cp-0")
    assert world.machine("cp-0") == before
    between(lambda: (world.add_backup(minutes=0), world.report_all()))
    assert rolled(world, only="cp-0") == ["cp-0"]


def test_a_backup_is_asked_of_one_agent_and_waited_for(world: World, between: Any) -> None:
    between(lambda: world.add_backup(minutes=0, revision=777))
    asked: list[dict[str, Any]] = []
    events = world.clients["ssm"].meta.events
    events.register("before-parameter-build.ssm.SendCommand", lambda params, **_: asked.append(dict(params)))
    assert backup(world.clients, NAME, say=[].append, patience=QUICK).revision == 777
    (command,) = asked
    assert command["InstanceIds"] == [world.machine("cp-0")]
    assert command["Parameters"]["commands"] == ["python3 /opt/winkube/agent.pyz backup"]


def stop_everything(world: World) -> None:
    """All machines are gone, and Auto Scaling has no new ones yet."""
    for number in range(3):
        world.scaling.update_auto_scaling_group(
            AutoScalingGroupName=f"group-cp-{number}", MinSize=0, DesiredCapacity=0
        )  # fmt: skip


def wish(world: World) -> dict[str, Any]:
    return json.loads(world.s3.get_object(Bucket=BUCKET, Key=LAYOUT.bootstrap("restore"))["Body"].read())


def test_a_living_cluster_is_not_restored(world: World) -> None:
    with pytest.raises(OpsError, match=r"prod\.example\.com lives"):
        restore(world.clients, NAME, world.cluster().backups[0])


def test_a_restore_is_a_wish_in_the_bucket(world: World) -> None:
    """Backup and digest, as the agent reads them."""
    chosen = world.cluster().backups[0]
    stop_everything(world)
    assert restore(world.clients, NAME, chosen) == LAYOUT.bootstrap("restore")
    assert wish(world) == {"key": chosen.key, "sha256": SHA}


def test_a_second_restore_waits_for_the_first(world: World) -> None:
    chosen = world.cluster().backups[0]
    stop_everything(world)
    restore(world.clients, NAME, chosen)
    with pytest.raises(OpsError, match="a restore is under way already"):
        restore(world.clients, NAME, chosen)
    world.s3.put_object(Bucket=BUCKET, Key=LAYOUT.bootstrap("restore"), Body=b'{"state": "done"}')
    restore(world.clients, NAME, chosen)
    assert wish(world)["key"] == chosen.key
