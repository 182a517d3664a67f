"""The one recorder: evaluates a function that makes resources, as a preview or as an update."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from winkube.preview.evaluate import evaluate_function
from winkube.preview.model import Plan

Record = Callable[..., Plan]


@pytest.fixture
def record() -> Record:
    """Evaluate ``build`` in process and give the plan; ``preview=False`` evaluates it as an update."""

    def run(build: Callable[[], Any], *, preview: bool = True, config: Mapping[str, str] | None = None) -> Plan:
        return evaluate_function(build, mode="preview" if preview else "update", config=config or {})

    return run
