"""One run of checkov over every plan."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function
from winkube.preview.model import Plan

from tests.validators.explained import Finding, findings_of
from tests.validators.faults import PLANTED, UNPROTECTED, plant
from tests.validators.programs import PROGRAMS
from tests.validators.terraform_plan import terraform_plan

REQUIREMENTS = Path(__file__).parent / "checkov.txt"


@pytest.fixture(scope="session")
def python_of_checkov() -> Path:
    """checkov needs an older boto3 than the tests, so it lives in an environment of its own.

    ``make verify`` says where; without a word from it, a missing one is skipped.
    """
    version = REQUIREMENTS.read_text().partition("checkov==")[2].split()[0]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("WINKUBE_CHECKOV") or cache / "winkube" / f"checkov-{version}")
    python = folder / "bin" / "python"
    if not python.exists():
        missing = pytest.fail if "WINKUBE_CHECKOV" in os.environ else pytest.skip
        missing(f'checkov {version} is not installed: run "make validators"')
    return python


@pytest.fixture(scope="session")
def report(python_of_checkov: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one run of checkov says of all plans: its start costs more than they do."""
    plans = {label: evaluate(folder, stack, mode="update") for label, (folder, stack) in PROGRAMS.items()}
    plans[UNPROTECTED] = _unprotected(plans["program-dev"])
    plans[PLANTED] = evaluate_function(plant, mode="update")
    folder = tmp_path_factory.mktemp("plans")
    for label, plan in plans.items():
        (folder / f"{label}.json").write_text(json.dumps(terraform_plan(plan), indent=1))
    command = [python_of_checkov, "-m", "checkov.main", "--directory", folder, "--framework", "terraform_plan",
               "--output", "json", "--skip-download", "--compact", "--soft-fail"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _unprotected(plan: Plan) -> Plan:
    """A real plan that lost what keeps its bucket private."""
    block = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    return replace(plan, resources=[resource for resource in plan.resources if resource.type != block])


@pytest.fixture(scope="session")
def findings(report: dict[str, Any]) -> list[Finding]:
    """What checkov has against any of them."""
    return findings_of(report)
