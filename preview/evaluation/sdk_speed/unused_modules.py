"""What importing pulumi brings along and an evaluation does not use: loaded when somebody does use it."""

import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import ModuleType

from .patch import Patch

LATER = frozenset((
    "dill", "grpc.aio", "pulumi.automation", "pulumi.runtime._instrumentation",
))  # fmt: skip
"""Running stacks from programs, serializing functions, asynchronous clients, tracing: a third of the import."""


class _Finder:
    """Finds these modules as Python does, and has them run at the first look into them."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """What the import system asks; None leaves a module to the next finder."""
        if fullname not in LATER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def _apply(stack: ExitStack) -> None:
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
        stack.callback(sys.meta_path.remove, _Finder)


PATCH = Patch("unused_modules", _apply)
