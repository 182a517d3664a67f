"""What is seen of a control plane, and when it counts as healthy."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from winkube.ops.clients import Clients, OpsError
from winkube.ops.cluster import age, find, words
from winkube.ops.show import as_json, as_table, backups_table

from .conftest import NAME, World

pytestmark = pytest.mark.verify


def test_three_healthy_slots(world: World) -> None:
    cluster = world.cluster()
    assert [slot.name for slot in cluster.slots] == ["cp-0", "cp-1", "cp-2"]
    assert cluster.faults == []
    assert cluster.lives
    assert all(slot.instance and slot.targets == ("healthy",) and not slot.outdated for slot in cluster.slots)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"phase": "join"}, "its agent is in the phase join"),
        ({"error": {"text": "the lock is held"}}, "its agent says the lock is held"),
        ({"instance_id": "i-before"}, "its agent has not reported yet"),
        ({"at": (datetime.now(UTC) - timedelta(hours=3)).isoformat()}, "its agent has been silent for 3 h"),
        ({"at": None}, "its agent has been silent for ever"),
    ],
)
def test_one_slot_that_is_not(world: World, said: dict[str, object], fault: str) -> None:
    world.report("cp-1", **said)
    assert world.cluster().faults == [f"cp-1 {fault}"]


def test_an_agent_that_wrote_nonsense_is_not_healthy(world: World) -> None:
    from .conftest import BUCKET, LAYOUT

    world.s3.put_object(Bucket=BUCKET, Key=LAYOUT.status("cp-1"), Body=b"{")
    assert world.cluster().faults == ["cp-1 its agent has not reported yet"]


def test_a_changed_template_is_seen(world: World) -> None:
    world.change_template()
    assert [slot.outdated for slot in world.cluster().slots] == [True, True, True]
    assert "changed: roll" in as_table(world.cluster())


def test_backups_are_listed_newest_first_and_strangers_left_out(world: World) -> None:
    from .conftest import BUCKET, LAYOUT

    old = world.add_backup(minutes=60, revision=90, slot="cp-2")
    world.s3.put_object(Bucket=BUCKET, Key=f"{LAYOUT.etcd_backups('cp-0')}notes.txt", Body=b"")
    cluster = world.cluster()
    assert [backup.revision for backup in cluster.backups] == [100, 90]
    assert cluster.backups[1].key == old
    assert 110 < (cluster.backup_age_seconds or 0) < 140
    assert cluster.backups[1].name in backups_table(cluster)


def test_a_cluster_that_is_not_here_says_where_it_may_be(world: World) -> None:
    with pytest.raises(OpsError, match=r"no control plane is tagged winkube\.io/cluster=dev\.example\.com here"):
        find(world.clients, "dev.example.com")


def test_the_table_and_the_json_say_the_same(world: World) -> None:
    world.report("cp-2", phase="join")
    cluster = world.cluster()
    table, value = as_table(cluster), json.loads(as_json(cluster))
    assert "cp-2 its agent is in the phase join" in table
    assert "1 backups, the newest 120 s old" in table or "the newest 2 min old" in table
    assert value["healthy"] is False
    assert [slot["fault"] for slot in value["slots"]] == [None, None, "its agent is in the phase join"]
    assert value["name"] == NAME


def test_no_backup_is_said_to_be_late(world: World) -> None:
    for backup in world.cluster().backups:
        world.s3.delete_object(Bucket=world.cluster().bucket, Key=backup.key)
    assert "no backups (LATE)" in as_table(world.cluster())


def test_without_boto3_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(OpsError, match=r'pip install "winkube\[ops\]"'):
        Clients("eu-central-1")["s3"]


@pytest.mark.parametrize(("seconds", "said"), [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h")])
def test_times_are_said_as_people_do(seconds: float, said: str) -> None:
    assert words(seconds) == said


def test_what_is_no_time_has_no_age() -> None:
    assert age("yesterday") is None
    assert age(None) is None
    assert (age("2020-01-01T00:00:00Z") or 0) > 1e8
