"""Makes what a checkout does not hold: the vendored part of the node agent, from the pins of the build."""

import importlib.util
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

VENDORING = Path(__file__).parent / "components" / "node_agent" / "vendoring.py"


class BuildPy(build_py):
    """Runs for wheels and for editable installs alike."""

    def run(self) -> None:
        """Write ``vendor.zip`` before package data is collected; its digest says that it is the reviewed one."""
        spec = importlib.util.spec_from_file_location("vendoring", VENDORING)
        assert spec  # noqa: S101
        assert spec.loader  # noqa: S101
        vendoring = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(vendoring)
        found = importlib.util.find_spec("botocore")
        vendoring.ensure(Path(found.origin).parents[1] if found and found.origin else Path())
        super().run()


setup(cmdclass={"build_py": BuildPy})
