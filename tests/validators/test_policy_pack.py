"""Our policy pack beside checkov, on the same planted faults: what it does not find is left out for a reason."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.evaluation.evaluate import evaluate_function

from tests.validators.explained import SHORTEST_REASON, Finding
from tests.validators.faults import PLANTED, plant
from tests.validators.programs import ROOT

TABLE: Mapping[str, Mapping[str, str]] = yaml.safe_load((Path(__file__).parent / "policy_pack.yaml").read_text())


@pytest.fixture(scope="session")
def planted(findings: list[Finding]) -> list[Finding]:
    """What checkov finds of the planted faults."""
    return [finding for finding in findings if finding.plan == PLANTED]


@pytest.mark.verify
def test_the_table_has_what_checkov_finds_and_nothing_else(planted: list[Finding]) -> None:
    assert {finding.check for finding in planted} == set(TABLE["both"]) ^ set(TABLE["checkov_only"])


@pytest.mark.verify
def test_the_pack_finds_what_the_table_says(planted: list[Finding]) -> None:
    """On a resource of that name, though not always on the same one: an ACL is not its bucket."""
    # Some policies are about production only.
    plan = evaluate_function(plant, mode="update", stack="prod")
    ours = {
        (finding.code.rpartition("/")[2], plan.by_urn[finding.urn].name)
        for finding in run_policies(plan, ROOT / "policies")
        if finding.urn
    }
    expected = {
        (TABLE["both"][finding.check], finding.address.partition(".")[2])
        for finding in planted
        if finding.check in TABLE["both"]
    }
    assert expected - ours == set()


@pytest.mark.parametrize(("check", "why"), TABLE["checkov_only"].items())
def test_what_the_pack_leaves_out_has_its_reason(check: str, why: str) -> None:
    assert len(why.split()) >= SHORTEST_REASON
