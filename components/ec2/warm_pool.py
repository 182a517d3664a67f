"""Warm pools: instances of a group that are made ready before they are needed. The same on both flavours."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.mistakes import Mistakes, Rule, nearest, one_of

POOL_STATES: Mapping[str, str] = {"stopped": "STOPPED", "running": "RUNNING", "hibernated": "HIBERNATED"}


@dataclass(frozen=True, kw_only=True)
class WarmPool:
    """A warm pool: instances that are started in advance, because Windows takes minutes to boot."""

    min_size: int = 0
    """Minimum number of instances in the pool; 0 by default."""
    max_prepared: int | None = None
    """Maximum number of instances in pool and group together; the group's ``max_size`` by default."""
    state: str = "stopped"
    """``stopped`` (default; you pay only for the disks), ``running`` or ``hibernated``."""
    reuse_on_scale_in: bool = False
    """Whether instances return to the pool; off by default."""


def check_pool(pool: WarmPool, max_size: int, rule: Rule) -> Mistakes:
    """What holds for a pool of any group.

    :param max_size: the group's.
    :param rule: whose code the mistakes carry.
    """
    found = Mistakes()
    if pool.state not in POOL_STATES:
        guess = nearest(pool.state.lower(), tuple(POOL_STATES)) or "stopped"
        found.add(rule, ("warm_pool", "state"), f"the state is {one_of(POOL_STATES)}", f'write "{guess}"', pool.state)
    most = max_size if pool.max_prepared is None else pool.max_prepared
    if most < 0:
        if pool.max_prepared is not None:  # a max_size below 0 is told of as such
            found.add(rule, ("warm_pool", "max_prepared"), "max_prepared must be 0 or more",
                      f"set max_prepared to {max(pool.min_size, 0)} or more, or leave it out to use max_size",
                      pool.max_prepared)  # fmt: skip
    elif not 0 <= pool.min_size <= most:
        found.add(rule, ("warm_pool", "min_size"), f"min_size of the pool must be 0 to {most}",
                  f"set min_size to {min(max(pool.min_size, 0), most)}", pool.min_size)  # fmt: skip
    return found
