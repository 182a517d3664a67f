"""Faster ways through the Pulumi SDK, behind one switch.

The SDK is written for a monitor at the other end of a socket and for programs that live for minutes. An evaluation has
its monitor in the process and lives for a second. :data:`PATCHES` replace what that makes slow, without changing what
comes of it: the plan is the same, byte for byte, with them and without. ``docs/sdk-speed.md`` says what each does and
saves.

They are on unless somebody wants the SDK as it is (``--plain-sdk``, :data:`PLAIN` in the environment), or the SDK is
not the one that they were tried with: another version, other arguments of a function that they replace, or an error
when one is applied. Then none of them is, and that is said once.
"""

import importlib
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .patch import Patch

PLAIN = "WINKUBE_PLAIN_SDK"
"""Environment variable: any value but an empty one switches every patch off, in this process and those it starts."""
SAID = "WINKUBE_PLAIN_SDK_SAID"
"""Environment variable: another process of this command has said already that the plain SDK is used."""
PATCHES = (
    "module_imports", "postponed_annotations", "type_hints", "plain_values", "lazy_outputs", "urns",
    "dependency_cycles",
)  # fmt: skip
"""The modules of the patches of a run, each with its ``PATCH``. They import the SDK, so they are imported late."""


@contextmanager
def faster_sdk() -> Generator[None]:
    """The SDK with all patches, for the length of a run; as it is where they are not wanted or do not fit."""
    with ExitStack() as stack:
        if not os.environ.get(PLAIN):
            try:
                with ExitStack() as applied:
                    for patch in _fitting():
                        patch.apply(applied)
                    stack.push(applied.pop_all())
            except Exception as error:  # whatever it is, the SDK's own way is there
                _say(error)
        yield


def before_import() -> None:
    """For the process of a command, before it imports the SDK: leaves out for now what an evaluation does not use."""
    if not os.environ.get(PLAIN):
        from . import unused_modules

        if not unused_modules.PATCH.misfit():  # it is said when the run begins
            unused_modules.PATCH.apply(ExitStack())


def patches_on() -> tuple[str, ...]:
    """The names of the patches that a run has now; none where the plain SDK is used."""
    if os.environ.get(PLAIN):
        return ()
    try:
        return tuple(patch.name for patch in _fitting())
    except Exception:
        return ()


@contextmanager
def plain_sdk() -> Generator[None]:
    """The SDK as it is, here and in the processes that are started meanwhile."""
    before = os.environ.get(PLAIN)
    os.environ[PLAIN] = "1"
    try:
        yield
    finally:
        os.environ.pop(PLAIN) if before is None else os.environ.update({PLAIN: before})


class _MisfitError(Exception):
    """A patch does not fit the SDK."""


def _fitting() -> "list[Patch]":
    """All patches. One that does not fit tells that the SDK is another than the one they were made for."""
    patches: list[Patch] = [importlib.import_module(f"{__name__}.{name}").PATCH for name in PATCHES]
    for reason in filter(None, (patch.misfit() for patch in patches)):
        raise _MisfitError(reason)
    return patches


def _say(error: Exception) -> None:
    if os.environ.get(SAID):
        return
    os.environ[SAID] = "1"
    why = str(error) if isinstance(error, _MisfitError) else f"{type(error).__name__}: {error}"
    print(f"note: the preview is slower, with the same result, as the plain Pulumi SDK is used: {why}", file=sys.stderr)
