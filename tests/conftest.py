"""The one recorder: evaluates a function that makes resources, as a preview or as an update; and the order of a run."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan

Record = Callable[..., Plan]


@pytest.fixture
def record() -> Record:
    """Evaluate ``build`` in process and give the plan; ``preview=False`` evaluates it as an update."""

    def run(build: Callable[[], Any], *, preview: bool = True, config: Mapping[str, str] | None = None) -> Plan:
        return evaluate_function(build, mode="preview" if preview else "update", config=config or {})

    return run


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests between workers as :mod:`tests.shares` says."""
    from .shares import scheduler  # here: without pytest-xdist the tests run one after the other

    return scheduler(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker of a shared run: what takes long first."""
    if hasattr(config, "workerinput"):
        from .shares import turn_of

        items.sort(key=lambda item: turn_of(item.nodeid))
