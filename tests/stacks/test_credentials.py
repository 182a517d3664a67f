"""Where credentials come from: the providers, and nothing else."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from winkube.preview.model import Plan

from stacks.config.reading import read_settings
from stacks.eks.program import build

ROOT = Path(__file__).parents[2]
PROGRAM = [ROOT / "__main__.py", *sorted((ROOT / "stacks").rglob("*.py")), *sorted((ROOT / "components").rglob("*.py"))]
# The agent runs on nodes, and what people run beside Pulumi asks AWS with credentials of theirs; the build has a cache.
ELSEWHERE = {"winkube_agent", "ops", "zip_main.py", "vendoring.py"}
SOURCES = [file for file in PROGRAM if not ELSEWHERE & set(file.parts)]
WORDS = {"environ", "environb", "getenv", "getenvb"}


def reads_environment(source: str) -> bool:
    """Whether a module looks at environment variables."""
    names = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    imported = {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "os"
        for alias in node.names
    }
    return bool(WORDS & (names | imported))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.relative_to(ROOT).as_posix())
def test_no_module_reads_an_environment_variable(source: Path) -> None:
    assert not reads_environment(source.read_text(encoding="utf-8"))


def test_a_reader_would_be_found() -> None:
    assert reads_environment("import os\nx = os.environ['AWS_PROFILE']")
    assert reads_environment("from os import getenv")


def test_aws_is_reached_through_one_provider_without_credentials(record: Callable[..., Plan], stack_of: Any) -> None:
    """The region is all that the provider is told: profile or keys are the engine's and the user's business."""
    settings = read_settings(stack_of(), "dev")
    plan = record(lambda: build(settings))
    (provider,) = [resource for resource in plan.resources if resource.type == "pulumi:providers:aws"]
    assert set(provider.inputs) <= {"region", "skipCredentialsValidation", "skipRegionValidation", "version"}
