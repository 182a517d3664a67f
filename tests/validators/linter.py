"""parliament as a function."""

import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch


@cache
def _parliament() -> Any:
    """The linter. It still asks for pkg_resources, which setuptools no longer has."""
    resources = ModuleType("pkg_resources")
    resources.resource_filename = lambda package, name: str(Path(sys.modules[package].__path__[0]) / name)
    with patch.dict(sys.modules):
        sys.modules["pkg_resources"] = resources
        import parliament
    return parliament


def lint(policy: str) -> list[tuple[str, str]]:
    """Issue and detail of everything that parliament has against a policy with resources."""
    return [(finding.issue, str(finding.detail)) for finding in _parliament().analyze_policy_string(policy).findings]
