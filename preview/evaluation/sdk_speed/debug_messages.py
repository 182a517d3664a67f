"""Debug messages are not sent: several for each resource, of which the engine's side of an evaluation keeps none."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pulumi

from .patch import Patch, replace


def _quiet(sdk: Callable[..., None]) -> Callable[..., None]:
    def debug(msg: Any, resource: Any = None, stream_id: Any = None, ephemeral: Any = None) -> None:
        if type(msg) is not str or not (stream_id is ephemeral is None):
            sdk(msg, resource, stream_id, ephemeral)  # it refuses what is of a wrong type

    return debug


def _apply(stack: ExitStack) -> None:
    replace(stack, pulumi.log, "debug", _quiet(pulumi.log.debug))


PATCH = Patch("debug_messages", _apply, needs={"pulumi.log:debug": ("msg", "resource", "stream_id", "ephemeral")})
