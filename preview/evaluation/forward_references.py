"""A repair of typing: names in annotations that are told apart by what they were last resolved to."""

import typing
from contextlib import ExitStack
from typing import Any

from .sdk_speed.patch import replace


def keep_names_equal(stack: ExitStack) -> None:
    """Let a name in an annotation equal another of the same spelling for good, until ``stack`` is closed.

    In Python 3.11 to 3.13 it equals by what it was last resolved to, which differs from module to module. The caches of
    ``typing`` have such names in their keys: they forget another entry than the oldest one, and then give the type of
    one annotation for another, once an evaluation, or several in one process, has resolved enough of them.
    """
    if not hasattr(typing.ForwardRef("Any"), "__forward_evaluated__"):
        return

    def equal(this: Any, other: Any) -> Any:
        if not isinstance(other, typing.ForwardRef):
            return NotImplemented
        return this.__forward_arg__ == other.__forward_arg__ and this.__forward_module__ == other.__forward_module__

    replace(stack, typing.ForwardRef, "__eq__", equal)
    for clear in getattr(typing, "_cleanups", ()):  # keys that differed may be equal now
        clear()
