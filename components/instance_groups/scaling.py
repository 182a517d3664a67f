"""The Auto Scaling group of an instance group, as plain data: instances, hooks, replacement, warm pool. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..ec2.warm_pool import POOL_STATES, WarmPool
from .rollout import Rollout

LAUNCH_HOOK = "node-ready"
TERMINATE_HOOK = "node-drained"
LAUNCH_SECONDS = 1800
"""How long a start may take; the boot code's own deadline is the same."""
LEAVE_SECONDS = 300
"""How long a node may take to leave at least."""


class InstancesLike(Protocol):
    """What decides the instances of a group."""

    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def capacity_type(self) -> str: ...  # noqa: D102
    @property
    def on_demand_base(self) -> int: ...  # noqa: D102
    @property
    def warm_pool(self) -> WarmPool | None: ...  # noqa: D102


def instances(group: InstancesLike, template_id: Any, version: Any) -> dict[str, Any]:
    """Types and purchase options; ``version`` is a number, so that a change of the template is one of the group."""
    if group.warm_pool is not None:
        # A warm pool belongs to a group of one type on demand.
        return {"launch_template": {"id": template_id, "version": version}}
    spot = group.capacity_type == "spot"
    return {
        "mixed_instances_policy": {
            "launch_template": {
                "launch_template_specification": {"launch_template_id": template_id, "version": version},
                "overrides": [{"instance_type": name} for name in group.instance_types],
            },
            "instances_distribution": {
                "on_demand_base_capacity": group.on_demand_base,
                "on_demand_percentage_above_base_capacity": 0 if spot else 100,
                "on_demand_allocation_strategy": "prioritized",
                "spot_allocation_strategy": "price-capacity-optimized",
            },
        }
    }


def instance_refresh(rollout: Rollout) -> Any:
    """How running nodes are replaced when the template changes; None where they are not.

    >>> preferences = instance_refresh(Rollout())["preferences"]
    >>> preferences["checkpoint_percentages"], preferences["checkpoint_delay"], preferences["max_healthy_percentage"]
    ([10, 100], '600', 190)
    """
    if not rollout.automatic:
        return None
    canary = rollout.canary_percentage
    checkpoints = (
        {}
        if canary is None
        else {"checkpoint_percentages": [canary, 100], "checkpoint_delay": str(rollout.canary_minutes * 60)}
    )
    preferences = {
        "min_healthy_percentage": rollout.min_healthy_percentage,
        # New nodes first, as many as EC2 Auto Scaling lets: a node that leaves has somewhere to put its pods.
        "max_healthy_percentage": min(200, rollout.min_healthy_percentage + 100),
        "auto_rollback": True,
        "skip_matching": True,
        "scale_in_protected_instances": "Wait",
        "standby_instances": "Wait",
        **checkpoints,
    }
    return {"strategy": "Rolling", "preferences": preferences}


def warm_pool(pool: WarmPool) -> Any:
    """A warm pool; its instances do not come back into it, for a node that left stays away."""
    most = {} if pool.max_prepared is None else {"max_group_prepared_capacity": pool.max_prepared}
    return {"min_size": pool.min_size, "pool_state": POOL_STATES[pool.state].title(), **most}


def lifecycle_hooks(system: str, drain_seconds: int) -> Mapping[str, dict[str, Any]]:
    """Name of a hook to what it waits for.

    >>> lifecycle_hooks("windows", 600)["node-ready"]["default_result"], list(lifecycle_hooks("linux", 0))
    ('ABANDON', ['node-drained'])
    """
    hooks: dict[str, dict[str, Any]] = {
        TERMINATE_HOOK: {
            "lifecycle_transition": "autoscaling:EC2_INSTANCE_TERMINATING",
            "default_result": "CONTINUE",
            "heartbeat_timeout": max(LEAVE_SECONDS, drain_seconds + 60),
        }
    }
    if system == "windows":
        # An instance that never says it is a node is replaced, and a rollout of such instances stops.
        hooks[LAUNCH_HOOK] = {
            "lifecycle_transition": "autoscaling:EC2_INSTANCE_LAUNCHING",
            "default_result": "ABANDON",
            "heartbeat_timeout": LAUNCH_SECONDS,
        }
    return hooks
