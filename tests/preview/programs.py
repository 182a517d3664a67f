"""Small Pulumi programs on disk, for tests of the evaluator."""

from pathlib import Path
from textwrap import dedent

NO_CONFIG = "config: {}\n"
PROJECT = "name: demo\nruntime: python\n"


def write_program(folder: Path, main: str, stack: str = NO_CONFIG, project: str = PROJECT) -> Path:
    """Write a project with one stack, ``dev``."""
    (folder / "Pulumi.yaml").write_text(dedent(project))
    (folder / "Pulumi.dev.yaml").write_text(dedent(stack))
    (folder / "__main__.py").write_text(dedent(main))
    return folder
