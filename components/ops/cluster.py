"""What can be seen of a control plane from outside: groups, machines, targets, what each agent says, backups."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..control_plane.control_plane_policies import BUCKET_TAG, CLUSTER_NAME_TAG, INCARNATION_TAG, SLOT_TAG
from ..state_bucket.layout import ClusterLayout
from .clients import Clients, OpsError

READY = "ready"
STALE_SECONDS = 300
"""An agent writes its status every minute; one that has been silent for five is not believed."""
BACKUP_STALE_SECONDS = 45 * 60
"""Three intervals of the default."""
_BACKUP = re.compile(r"(?P<time>\d{8}T\d{6}Z)-r(?P<revision>\d+)-(?P<sha256>[0-9a-f]{64})\.db")


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One slot, its machine, and what the agent on it says."""

    name: str
    group: str
    instance: str | None
    """The machine in service; None while there is none."""
    state: str
    """As Auto Scaling says: ``InService``, ``Terminating:Wait``, …"""
    outdated: bool
    """Whether the launch template has changed since the machine was started."""
    targets: tuple[str, ...]
    """Health of the machine in each target group: ``healthy``, ``initial``, …"""
    said: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The status document; empty where there is none."""

    @property
    def silent_seconds(self) -> float | None:
        """How long ago the agent wrote; None if it never did."""
        return age(self.said.get("at"))

    @property
    def fault(self) -> str | None:
        """Why this slot is not healthy; None when it is."""
        error: Mapping[str, Any] = self.said.get("error") or {}
        silent = self.silent_seconds
        reasons = (
            (self.instance is None, "has no machine in service"),
            (any(health != "healthy" for health in self.targets), f"is {', '.join(self.targets)} in the load balancer"),
            (not self.targets, "is in no target group"),
            (self.said.get("instance_id") != self.instance, "its agent has not reported yet"),
            (silent is None or silent > STALE_SECONDS, f"its agent has been silent for {words(silent)}"),
            (bool(error), f"its agent says {error.get('text')}"),
            (self.said.get("phase") != READY, f"its agent is in the phase {self.said.get('phase')}"),
        )
        return next((text for wrong, text in reasons if wrong), None)


@dataclass(frozen=True, kw_only=True)
class Backup:
    """A backup of etcd in the bucket."""

    key: str
    taken: datetime
    revision: int
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.key.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A control plane, as seen at one moment."""

    name: str
    bucket: str
    incarnation: int
    slots: tuple[Slot, ...]
    backups: tuple[Backup, ...]
    """The newest first."""

    @property
    def layout(self) -> ClusterLayout:
        """What of it lies where in the bucket."""
        return ClusterLayout(self.name)

    @property
    def backup_age_seconds(self) -> float | None:
        """How old the newest backup is; None if there is none."""
        return (datetime.now(UTC) - self.backups[0].taken).total_seconds() if self.backups else None

    @property
    def faults(self) -> list[str]:
        """Why the control plane is not healthy, slot by slot; empty when it is."""
        return [f"{slot.name} {slot.fault}" for slot in self.slots if slot.fault]

    @property
    def lives(self) -> bool:
        """Whether any API server answers the load balancer."""
        return any("healthy" in slot.targets for slot in self.slots)


def find(clients: Clients, name: str) -> Cluster:
    """The control plane of a cluster.

    :raises OpsError: when no Auto Scaling group has its name.
    """
    groups = _groups(clients, name)
    tags = {tag["Key"]: tag["Value"] for tag in groups[0]["Tags"]}
    bucket, incarnation = tags[BUCKET_TAG], int(tags[INCARNATION_TAG])
    layout = ClusterLayout(name)
    slots = tuple(_slot(clients, group, bucket, layout, incarnation) for group in groups)
    backups = _backups(clients, bucket, layout.backups_prefix(incarnation))
    return Cluster(
        name=name, bucket=bucket, incarnation=incarnation, backups=backups,
        slots=tuple(sorted(slots, key=lambda slot: slot.name)),
    )  # fmt: skip


def _groups(clients: Clients, name: str) -> list[dict[str, Any]]:
    wanted = [{"Name": f"tag:{CLUSTER_NAME_TAG}", "Values": [name]}]
    pages = clients["autoscaling"].get_paginator("describe_auto_scaling_groups").paginate(Filters=wanted)
    groups = [group for page in pages for group in page["AutoScalingGroups"] if _tag(group, SLOT_TAG)]
    if not groups:
        raise OpsError(f"no control plane is tagged {CLUSTER_NAME_TAG}={name} here: is it another --region or account?")
    return groups


def _tag(group: Mapping[str, Any], key: str) -> str | None:
    return next((tag["Value"] for tag in group["Tags"] if tag["Key"] == key), None)


def _slot(clients: Clients, group: Mapping[str, Any], bucket: str, layout: ClusterLayout, incarnation: int) -> Slot:
    name = str(_tag(group, SLOT_TAG))
    machines = sorted(group["Instances"], key=lambda machine: machine["LifecycleState"] != "InService")
    machine: Mapping[str, Any] = machines[0] if machines else {}
    serving = machine.get("LifecycleState") == "InService"
    instance = str(machine["InstanceId"]) if serving else None
    return Slot(
        name=name,
        group=group["AutoScalingGroupName"],
        instance=instance,
        state=machine.get("LifecycleState", "empty"),
        outdated=serving and _version(clients, machine.get("LaunchTemplate")) != _version(clients, _template(group)),
        targets=tuple(_health(clients, arn, instance) for arn in group["TargetGroupARNs"]) if instance else (),
        said=_read(clients, bucket, layout.status(name, incarnation)),
    )


def _template(group: Mapping[str, Any]) -> Mapping[str, Any] | None:
    mixed = group.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification")
    return mixed or group.get("LaunchTemplate")


def _version(clients: Clients, template: Mapping[str, Any] | None) -> str | None:
    """The version's number: a group may name ``$Latest`` or ``$Default``."""
    if not template:
        return None
    version = str(template.get("Version", "$Default"))
    if version.startswith("$"):
        found = clients["ec2"].describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"], Versions=[version]
        )
        version = str(found["LaunchTemplateVersions"][0]["VersionNumber"])
    return version


def _health(clients: Clients, target_group: str, instance: str) -> str:
    found = clients["elbv2"].describe_target_health(TargetGroupArn=target_group, Targets=[{"Id": instance}])
    described = found["TargetHealthDescriptions"]
    return str(described[0]["TargetHealth"]["State"]) if described else "unused"


def _read(clients: Clients, bucket: str, key: str) -> Mapping[str, Any]:
    s3 = clients["s3"]
    try:
        return json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    except s3.exceptions.NoSuchKey:
        return {}
    except ValueError:
        return {"error": {"text": "something that is not JSON"}}


def _backups(clients: Clients, bucket: str, prefix: str) -> tuple[Backup, ...]:
    pages = clients["s3"].get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    found = [backup for page in pages for row in page.get("Contents", []) if (backup := _backup(row))]
    return tuple(sorted(found, key=lambda backup: (backup.taken, backup.revision), reverse=True))


def _backup(row: Mapping[str, Any]) -> Backup | None:
    match = _BACKUP.fullmatch(row["Key"].rpartition("/")[2])
    if match is None:
        return None
    taken = datetime.strptime(match["time"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return Backup(key=row["Key"], taken=taken, revision=int(match["revision"]), sha256=match["sha256"],
                  size=int(row["Size"]))  # fmt: skip


def age(text: Any) -> float | None:
    """Seconds since a time in ISO 8601; None for what is none."""
    try:
        then = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
    return max((datetime.now(UTC) - then).total_seconds(), 0.0)


def words(seconds: float | None) -> str:
    """A time as a person says it.

    >>> words(45), words(5400), words(None)
    ('45 s', '90 min', 'ever')
    """
    if seconds is None:
        return "ever"
    for limit, unit, size in ((120, "s", 1), (7200, "min", 60), (172800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"
