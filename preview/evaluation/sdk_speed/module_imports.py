"""Imports of the generated SDKs a module at a time.

The first touch of ``aws.ec2`` runs a package that imports all of its 180 modules, of which a program uses ten. Here
a package of an SDK stays a stand-in that imports the module which holds the name asked for: half of a preview's time
is saved. A name that is not where its spelling says makes the stand-in run the package as it is, so that nothing is
ever missing.
"""

import importlib
import importlib.util
import os
import re
import sys
from contextlib import ExitStack
from functools import cache
from types import ModuleType
from typing import Any

from pulumi import _utils as sdk_utilities  # pyright: ignore[reportPrivateUsage]

from .patch import Patch, replace

_DRESSING = re.compile(r"^(Awaitable)?(.*?)(ArgsDict|Args|Result|_output)?$")


class Package(ModuleType):
    """A package of an SDK that has not been run (yet)."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        state = self.__dict__
        if not state["_whole"]:
            names = _contents(tuple(state["__path__"]))
            for module_name in _modules_for(name, names):
                if module_name == name and names[name]:
                    return import_package(f"{self.__name__}.{name}")
                module = importlib.import_module(f"{self.__name__}.{module_name}")
                found = module if module_name == name and name not in module.__dict__ else module.__dict__.get(name)
                if found is not None:
                    state[name] = found
                    return found
            self._run()
            if name in state:
                return state[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system puts a module into its package under its own name. Where the package would then rebind that
        # name to the module's member of the same name (`core.v1.ConfigMap`, `ec2.get_vpc`), that has to win here too.
        if isinstance(value, ModuleType) and name in value.__dict__:
            value = value.__dict__[name]
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        if not self.__dict__["_whole"]:
            self._run()
        return sorted(self.__dict__)

    def _run(self) -> None:
        """Run the package as it is: every name is there afterwards."""
        self.__dict__["_whole"] = True
        spec = self.__spec__
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module(self)


def import_package(name: str) -> ModuleType:
    """What the SDKs call for each of their packages: the package, or a stand-in that is not run before it must be."""
    module = sys.modules.get(name)
    if module is not None:
        return module
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or not spec.submodule_search_locations:
        return importlib.import_module(name)
    if name in sys.modules:  # finding it ran its parent, which may have asked for it
        return sys.modules[name]
    package = Package(name)
    package.__dict__.update(
        __spec__=spec,
        __loader__=spec.loader,
        __file__=spec.origin,
        __path__=spec.submodule_search_locations,
        __package__=name,
        _whole=False,
    )
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, package)
    return package


@cache
def _contents(locations: tuple[str, ...]) -> dict[str, bool]:
    """The modules in a package's folders, and whether each is a package itself."""
    found: dict[str, bool] = {}
    for location in locations:
        with os.scandir(location) as entries:  # half a thousand of them: pathlib would take as long as an import
            for entry in entries:
                if entry.name.endswith(".py"):
                    found[entry.name.removesuffix(".py")] = False
                elif entry.is_dir() and os.path.isfile(f"{entry.path}/__init__.py"):  # noqa: PTH113
                    found[entry.name] = True
    return found


def _modules_for(name: str, names: dict[str, bool]) -> list[str]:
    """The modules that may hold ``name``, by the way in which the SDKs are generated."""
    match = _DRESSING.match(name)
    bare = match[2] if match else name
    candidates = [name, bare, snake(name), snake(bare)]
    candidates += ["_inputs"] if name.endswith(("Args", "ArgsDict")) else []
    return [candidate for candidate in dict.fromkeys(candidates) if candidate in names]


def snake(name: str) -> str:
    """A class name as the name of its module.

    >>> snake("VpcEndpoint"), snake("OpenIdConnectProvider"), snake("get_vpc")
    ('vpc_endpoint', 'open_id_connect_provider', 'get_vpc')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_utilities, "lazy_import", import_package)


PATCH = Patch("module_imports", _apply, needs={"pulumi._utils:lazy_import": ("fullname",)})
