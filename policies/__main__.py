"""Serves the pack: run by the Pulumi CLI as a folder, or as ``python -m winkube.policies``."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from pulumi_policy import PolicyPack


def policies() -> list[Any]:
    """The pack's policies. As a folder this has no package, so its modules are given one of their own name."""
    if __package__:
        from .pack import POLICIES

        return POLICIES
    folder = Path(__file__).resolve().parent
    name = "winkube_policies"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} cannot be loaded as a package")
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return importlib.import_module(f"{name}.pack").POLICIES


if __name__ == "__main__":
    PolicyPack("winkube", policies())
