"""A stack in which nearly everything is wrong: everything is found, nothing is invented, here and in the servicer."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from winkube.policies.pack import make_policies
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.model import Plan

from .servicer import verdicts, verdicts_of_servicer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACK = ROOT / "policies"
STACKS = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml"))


@pytest.fixture(scope="module", params=["preview", "update"])
def bad(request: pytest.FixtureRequest) -> Plan:
    return evaluate(HERE / "bad_stack", "prod", mode=request.param)


def test_every_planted_mistake_is_found_and_nothing_else(bad: Plan) -> None:
    """``expected.yaml`` was compared with the program by hand, resource by resource."""
    expected = yaml.safe_load((HERE / "bad_stack" / "expected.yaml").read_text(encoding="utf-8"))
    planted = Counter((policy, name) for name, policies in expected.items() for policy in policies)
    assert planted.total() >= 60
    found = Counter((policy, name) for policy, _, name, _ in verdicts(run_policies(bad, PACK)))
    assert found - planted == Counter(), "invented"
    assert planted - found == Counter(), "missed"


def test_the_servicer_says_the_same_of_the_bad_stack(bad: Plan) -> None:
    assert verdicts(run_policies(bad, PACK)) == verdicts_of_servicer(bad, make_policies())


@pytest.mark.verify
@pytest.mark.parametrize("mode", ["preview", "update"])
@pytest.mark.parametrize("stack", STACKS)
def test_our_own_stacks_are_clean_in_both(stack: str, mode: str) -> None:
    """Neither a violation nor a note that something cannot be decided."""
    plan = evaluate(ROOT, stack, mode=mode)
    assert verdicts(run_policies(plan, PACK)) == []
    assert verdicts_of_servicer(plan, make_policies()) == []
