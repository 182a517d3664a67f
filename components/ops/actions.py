"""What is done to a control plane: roll its machines, back up, restore. Each behind its own gates."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .clients import Clients, OpsError
from .cluster import BACKUP_STALE_SECONDS, Backup, Cluster, Slot, find, words

BACKUP_COMMAND = "python3 /opt/winkube/agent.pyz backup"
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait, in seconds."""

    slot: float = 1800
    """For the new machine of a slot to be healthy."""
    backup: float = 600
    poll: float = 10


def roll(clients: Clients, name: str, *, every: bool, only: str | None, say: Say, patience: Patience) -> Iterator[Slot]:
    """Replace machines, one slot at a time; gives each slot when its new machine is healthy.

    Before each: every slot is healthy, and there is a fresh backup. After each: the new machine is in service, healthy
    in the load balancer, and its agent says so.

    :param every: also those whose launch template has not changed.
    :raises OpsError: at the first gate that does not open; what was rolled stays, the rest is untouched.
    """
    names = [slot.name for slot in _chosen(find(clients, name), every=every, only=only)]
    for slot_name in names:
        cluster = find(clients, name)
        _gate(cluster)
        if (cluster.backup_age_seconds or BACKUP_STALE_SECONDS) >= BACKUP_STALE_SECONDS / 3:
            backup(clients, name, say=say, patience=patience)
        slot = next(slot for slot in cluster.slots if slot.name == slot_name)
        say(f"{slot.name}: ending {slot.instance}")
        clients["autoscaling"].terminate_instance_in_auto_scaling_group(
            InstanceId=slot.instance, ShouldDecrementDesiredCapacity=False
        )
        yield _renewed(clients, name, slot, say, patience)


def _chosen(cluster: Cluster, *, every: bool, only: str | None) -> list[Slot]:
    if only is not None and only not in {slot.name for slot in cluster.slots}:
        raise OpsError(f"{only} is no slot of {cluster.name}: {', '.join(slot.name for slot in cluster.slots)}")
    slots = [slot for slot in cluster.slots if only in (None, slot.name)]
    return [slot for slot in slots if every or only or slot.outdated]


def _gate(cluster: Cluster) -> None:
    if cluster.faults:
        raise OpsError("not rolled further, the control plane is not healthy:\n  " + "\n  ".join(cluster.faults))


def _renewed(clients: Clients, name: str, before: Slot, say: Say, patience: Patience) -> Slot:
    deadline = time.monotonic() + patience.slot
    told = ""
    while time.monotonic() < deadline:
        slot = next(slot for slot in find(clients, name).slots if slot.name == before.name)
        new = slot.instance is not None and slot.instance != before.instance
        if new and slot.fault is None:
            say(f"{slot.name}: {slot.instance} is healthy")
            return slot
        now = f"{slot.name}: {slot.fault}" if new else f"{slot.name}: {slot.state}"
        if now != told:
            say(now)
            told = now
        time.sleep(patience.poll)
    raise OpsError(f"{before.name} is not healthy after {words(patience.slot)}: {told.partition(': ')[2]}. Nothing "
                   "further was touched; look at its status, and run the command again when it is")  # fmt: skip


def backup(clients: Clients, name: str, *, say: Say, patience: Patience) -> Backup:
    """Ask one agent for a backup now, by Run Command of Systems Manager, and wait until it is in the bucket.

    :raises OpsError: when no agent can be asked, or none comes.
    """
    cluster = find(clients, name)
    known = {found.key for found in cluster.backups}
    slot = next((slot for slot in cluster.slots if slot.fault is None), None)
    slot = slot or next((slot for slot in cluster.slots if slot.instance), None)
    if slot is None:
        raise OpsError(f"no machine of {name} is in service: there is nothing to back up")
    sent = clients["ssm"].send_command(
        InstanceIds=[slot.instance],
        DocumentName="AWS-RunShellScript",
        Comment="winkube cluster backup",
        Parameters={"commands": [BACKUP_COMMAND]},
    )
    say(f"{slot.name}: backing up, command {sent['Command']['CommandId']}")
    deadline = time.monotonic() + patience.backup
    while time.monotonic() < deadline:
        new = [found for found in find(clients, name).backups if found.key not in known]
        if new:
            say(f"{slot.name}: revision {new[0].revision}, {new[0].size / 2**20:.1f} MiB")
            return new[0]
        time.sleep(patience.poll)
    raise OpsError(f"{slot.name} made no backup in {words(patience.backup)}: look at its status, and at the command in "
                   "Systems Manager")  # fmt: skip


def restore(clients: Clients, name: str, chosen: Backup) -> str:
    """Write the wish to restore a backup, which one agent then claims; gives its key.

    :raises OpsError: while the cluster lives, or another restore is under way.
    """
    cluster = find(clients, name)
    if cluster.lives:
        raise OpsError(f"{name} lives: an API server is healthy in the load balancer. A restore would throw away what "
                       "was written since; end all machines of the control plane first, if that is meant")  # fmt: skip
    s3, key = clients["s3"], cluster.layout.bootstrap("restore", cluster.incarnation)
    condition: dict[str, Any] = {"IfNoneMatch": "*"}
    try:
        there = s3.get_object(Bucket=cluster.bucket, Key=key)
    except s3.exceptions.NoSuchKey:
        pass
    else:
        state = json.loads(there["Body"].read()).get("state")
        if state != "done":
            raise OpsError(f"a restore is under way already ({state or 'not claimed yet'}): delete s3://{cluster.bucket}/"
                           f"{key} to call it off")  # fmt: skip
        condition = {"IfMatch": there["ETag"]}
    body = json.dumps({"key": chosen.key, "sha256": chosen.sha256}, indent=1).encode()
    s3.put_object(Bucket=cluster.bucket, Key=key, Body=body, **condition)
    return key
