"""What a patch of the SDK is: what it needs of it, and what it puts in its place for the length of a run."""

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TRIED = ((3, 272), (3, 273))
"""The versions of the SDK that patches were tried with: from the first, up to and without the second."""

_NOTHING = object()
_VERSION = re.compile(r'^_VERSION = "(\d+)\.(\d+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Patch:
    """A faster way through the SDK."""

    name: str
    apply: Callable[[ExitStack], None]
    """Takes the way, and leaves on the stack what undoes that."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Functions of the SDK that it replaces or calls, as ``module:name``, with the names of their arguments."""
    tried: tuple[tuple[int, int], tuple[int, int]] = TRIED
    """The versions of the SDK that it was tried with, as in :data:`TRIED`."""

    def misfit(self) -> str:
        """Why it does not fit the SDK that is installed, as the end of a sentence; empty where it does."""
        version = sdk_version()
        (major, minor), _ = self.tried
        if version is None or not self.tried[0] <= version < self.tried[1]:
            found = "of an unknown version" if version is None else ".".join(map(str, version))
            return f"pulumi is {found}, and what makes it faster was tried with {major}.{minor}"
        for place, expected in self.needs.items():
            found = _arguments(place)
            if found != expected:
                what = "is missing" if found is None else f"takes ({', '.join(found)})"
                return f"{place.replace(':', '.')} {what}, where ({', '.join(expected)}) was expected"
        return ""


@cache
def sdk_version() -> tuple[int, int] | None:
    """Major and minor version of the SDK, from its file: it need not have been imported."""
    spec = importlib.util.find_spec("pulumi")
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder, "_version.py")
        found = _VERSION.search(file.read_text(encoding="utf-8")) if file.is_file() else None
        if found:
            return int(found[1]), int(found[2])
    return None


def _arguments(place: str) -> tuple[str, ...] | None:
    """The names of a function's arguments; None where there is no such function."""
    module, _, path = place.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for name in path.split("."):
            value = getattr(value, name)
    except (ImportError, AttributeError):
        return None
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else None


def replace(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Give an attribute of a module or class another value until the stack is closed."""
    before = vars(owner).get(name, _NOTHING)
    if before is _NOTHING:
        stack.callback(delattr, owner, name)
    else:
        stack.callback(setattr, owner, name, before)
    setattr(owner, name, value)
