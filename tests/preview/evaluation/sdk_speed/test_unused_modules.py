"""What pulumi brings along is loaded by a command when somebody uses it, and not before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.verify

LOOK = """
import json, sys
from winkube.preview.evaluation.sdk_speed import before_import
from winkube.preview.evaluation.sdk_speed.unused_modules import LATER
before_import()
import pulumi
import pulumi_aws as aws
from winkube.preview.evaluation.evaluate import evaluate_function
found = {"resources": len(evaluate_function(lambda: aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")).resources)}
# One that was not run yet is of another class.
found["run"] = [name for name in LATER if name in sys.modules and type(sys.modules[name]).__name__ != "_LazyModule"]
found["tracing"] = "opentelemetry.sdk.trace" in sys.modules
from pulumi.runtime import _instrumentation
found["asked"] = callable(_instrumentation._initialize_tracing) and "opentelemetry.sdk.trace" in sys.modules
print(json.dumps(found))
"""


def test_tracing_is_not_loaded_by_an_evaluation_and_is_there_when_it_is_asked_for(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found == {"resources": 1, "run": [], "tracing": False, "asked": True}
