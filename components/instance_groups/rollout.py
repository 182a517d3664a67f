"""How the nodes of a group come, go, and are replaced: rollout, warm pool, lifetime, draining. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..core.mistakes import Mistakes, Rule
from ..ec2.warm_pool import WarmPool, check_pool

AUTO_SCALING = "https://docs.aws.amazon.com/autoscaling/ec2/userguide"

WARM_POOL = Rule(
    "WK-IG-026",
    "A warm pool needs on-demand instances of one type.",
    f"{AUTO_SCALING}/ec2-auto-scaling-warm-pools.html",
)
LIFETIME = Rule(
    "WK-IG-030",
    "The maximum instance lifetime is 1 to 365 days, or unlimited.",
    f"{AUTO_SCALING}/asg-max-instance-lifetime.html",
)
ROLLOUT = Rule(
    "WK-IG-031",
    "A rollout must keep part of the nodes healthy; a canary is a part of the nodes and waits at most 48 hours.",
    f"{AUTO_SCALING}/instance-refresh-overview.html",
)
DRAIN = Rule(
    "WK-IG-036",
    "Draining takes 30 seconds to 1 hour, and at most 2 minutes on spot instances.",
    f"{AUTO_SCALING}/lifecycle-hooks.html",
)

LEAST_DRAIN = 30
MOST_DRAIN = 3600
"""Seconds; the boot code waits no longer."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """How the nodes of a group are replaced when its image, code or settings change."""

    min_healthy_percentage: int = 90
    """Percentage of nodes that stay in service, 0 to 100; 90 by default, so a small group starts a new node first."""
    canary_percentage: int | None = 10
    """Percentage of nodes to replace first (canary), 1 to 99; 10 by default, at least one node. None for no canary."""
    canary_minutes: int = 10
    """Minutes to wait after the canary; 10 by default."""
    automatic: bool = True
    """Whether a change replaces running nodes; with False, only new nodes get it."""


class LifeLike(Protocol):
    """What decides how long nodes live."""

    @property
    def windows(self) -> str | None: ...  # noqa: D102
    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def max_size(self) -> int: ...  # noqa: D102
    @property
    def capacity_type(self) -> str: ...  # noqa: D102
    @property
    def warm_pool(self) -> WarmPool | None: ...  # noqa: D102
    @property
    def rollout(self) -> Rollout: ...  # noqa: D102
    @property
    def max_instance_lifetime_days(self) -> int | None: ...  # noqa: D102
    @property
    def drain_seconds(self) -> int: ...  # noqa: D102


def check_life(group: LifeLike) -> Mistakes:
    """Every mistake in how nodes come and go, paths relative to the group."""
    found = _check_times(group)
    found.take(_check_rollout(group.rollout), "rollout")
    if group.warm_pool is not None:
        found.take(_check_warm_pool(group, group.warm_pool))
    return found


def _check_times(group: LifeLike) -> Mistakes:
    found = Mistakes()
    days = group.max_instance_lifetime_days
    if days is not None and not 1 <= days <= 365:
        found.add(LIFETIME, ("max_instance_lifetime_days",), "the maximum instance lifetime is 1 to 365 days",
                  f"set it to {min(max(days, 1), 365)}, or leave it out", days)  # fmt: skip
    if group.windows is not None and not LEAST_DRAIN <= group.drain_seconds <= MOST_DRAIN:
        found.add(DRAIN, ("drain_seconds",), f"draining can take {LEAST_DRAIN} to {MOST_DRAIN} seconds",
                  f"set drain_seconds to {min(max(group.drain_seconds, LEAST_DRAIN), MOST_DRAIN)}",
                  group.drain_seconds)  # fmt: skip
    return found


def _check_rollout(rollout: Rollout) -> Mistakes:
    found = Mistakes()
    if not 0 <= rollout.min_healthy_percentage <= 100:
        found.add(ROLLOUT, ("min_healthy_percentage",), "a percentage must be 0 to 100",
                  f"set it to {min(max(rollout.min_healthy_percentage, 0), 100)}",
                  rollout.min_healthy_percentage)  # fmt: skip
    canary = rollout.canary_percentage
    if canary is not None and not 1 <= canary <= 99:
        found.add(ROLLOUT, ("canary_percentage",), "the canary must be 1 to 99 percent of the nodes",
                  f"set it to {min(max(canary, 1), 99)}, or to null for none", canary)  # fmt: skip
    if not 0 <= rollout.canary_minutes <= 48 * 60:
        found.add(ROLLOUT, ("canary_minutes",), "the canary can wait for at most 48 hours",
                  f"set it to {min(max(rollout.canary_minutes, 0), 48 * 60)}", rollout.canary_minutes)  # fmt: skip
    return found


def _check_warm_pool(group: LifeLike, pool: WarmPool) -> Mistakes:
    found = check_pool(pool, group.max_size, WARM_POOL)
    if group.capacity_type == "spot":
        found.add(WARM_POOL, ("warm_pool",), "spot instances cannot be stopped and kept",
                  'remove warm_pool, or set capacity_type to "on_demand"', group.capacity_type)  # fmt: skip
    if len(group.instance_types) > 1:
        found.add(WARM_POOL, ("warm_pool",), "a warm pool needs a group with one instance type",
                  f'set instance_types to ["{group.instance_types[0]}"], or remove warm_pool',
                  list(group.instance_types))  # fmt: skip
    if pool.state == "hibernated" and group.windows is not None:
        found.add(
            WARM_POOL,
            ("warm_pool", "state"),
            "hibernation keeps the memory of a node while its certificates and leases expire",
            'set state to "stopped"',
            pool.state,
        )
    if pool.reuse_on_scale_in:
        found.add(
            WARM_POOL,
            ("warm_pool", "reuse_on_scale_in"),
            "a node that left the cluster cannot return under its name",
            "set reuse_on_scale_in to false",
            pool.reuse_on_scale_in,
        )
    return found
