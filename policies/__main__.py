"""Serves the pack: run by the Pulumi CLI as a folder, or as ``python -m winkube.policies``."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from pulumi_policy import PolicyPack


def policies() -> list[Any]:
    """The pack's policies. As a folder this has no package, so its modules are given one of their own name."""
    if __package__:
        from .pack import make_policies

        return make_policies()
    folder = Path(__file__).resolve().parent
    if importlib.util.find_spec("winkube") is None:  # not installed: the library lies beside the pack
        package("winkube", folder.parent / "components")
    package("winkube_policies", folder)
    return importlib.import_module("winkube_policies.pack").make_policies()


def package(name: str, folder: Path) -> None:
    """Import a folder as a package of a name."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} cannot be loaded as a package")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    PolicyPack("winkube", policies())
