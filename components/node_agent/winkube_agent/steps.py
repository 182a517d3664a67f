"""The border of every step: it is logged, its duration is kept, and a test can stop the agent exactly there."""

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager

from .log import log

KILL_AT = "WINKUBE_AGENT_KILL_AT"
"""Name of a step: the agent kills itself before it; with ``!`` behind the name, after it. For tests of resumption."""
PAUSE_AT = "WINKUBE_AGENT_PAUSE_AT"
"""Name of a step: the agent stops itself (SIGSTOP) before it, until somebody lets it continue."""


@contextmanager
def step(name: str) -> Generator[None, None, None]:
    """Everything that cannot be undone, or must be done once, stands in a step."""
    _border(name)
    log("step", step=name)
    began = time.monotonic()
    yield
    log("step done", step=name, seconds=round(time.monotonic() - began, 3))
    _border(f"{name}!")


def _border(name: str) -> None:
    if os.environ.get(KILL_AT) == name:
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get(PAUSE_AT) == name:
        log("paused", step=name)
        os.kill(os.getpid(), signal.SIGSTOP)
