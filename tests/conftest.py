"""The one recorder: evaluates a function that makes resources, as a preview or as an update; and the rules of a run."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import hypothesis
import pytest
from winkube.kubernetes.windows_pods import check_manifest
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan
from winkube.tables.releases import SELF_MANAGED_MINORS

pytest_plugins = ("tests.loop",)
Record = Callable[..., Plan]

# Tests rewrite programs within a second and at the same size, and Python would then run the byte code of the old ones.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

# No deadline: a busy machine is not a mistake. CI draws the same examples each time, so that a change fails by its own
# mistakes alone; everywhere else the search goes on, and what it finds is kept in .hypothesis until it is mended.
hypothesis.settings.register_profile("winkube", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True)
hypothesis.settings.load_profile("winkube")


@pytest.fixture
def record() -> Record:
    """Evaluate ``build`` in process and give the plan; ``preview=False`` evaluates it as an update."""

    def run(build: Callable[[], Any], *, preview: bool = True, config: Mapping[str, str] | None = None) -> Plan:
        return evaluate_function(build, mode="preview" if preview else "update", config=config or {})

    return run


@pytest.fixture
def validated() -> Callable[[Mapping[str, Any]], None]:
    """Holds a manifest against the strict schema of the minors, and against our own rules of Windows pods."""
    import kubernetes_validate

    from .golden import has_schema

    def check(manifest: Mapping[str, Any]) -> None:
        for minor in SELF_MANAGED_MINORS:
            if not has_schema(minor) or (manifest["kind"].startswith("Mutating") and minor == "1.35"):
                continue  # schemas come after a release; 1.35 has no such kind
            kubernetes_validate.validate(dict(manifest), minor, strict=True)
        assert not check_manifest(manifest)

    return check


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
