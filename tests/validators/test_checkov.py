"""Every stack and example before checkov: what it finds is mended, or explained in ``checkov_exceptions.yaml``."""

from pathlib import Path
from typing import Any

import pytest

from tests.validators.explained import Exceptions, Finding, findings_of
from tests.validators.faults import PLANTED, PLANTED_FAULTS, UNPROTECTED
from tests.validators.programs import PROGRAMS

pytestmark = pytest.mark.verify

EXCEPTIONS = Exceptions(Path(__file__).parent / "checkov_exceptions.yaml")


@pytest.mark.parametrize("label", PROGRAMS)
def test_nothing_is_left_unexplained(label: str, findings: list[Finding]) -> None:
    left = EXCEPTIONS.left(finding for finding in findings if finding.plan == label)
    assert not left, "mend these, or explain them in checkov_exceptions.yaml:\n" + "\n".join(map(str, left))


def test_every_exception_is_needed(findings: list[Finding]) -> None:
    assert not list(EXCEPTIONS.useless(finding for finding in findings if finding.plan in PROGRAMS))


def test_every_exception_has_its_reason() -> None:
    assert not list(EXCEPTIONS.unexplained())


@pytest.mark.parametrize(("check", "address"), PLANTED_FAULTS.items())
def test_a_planted_fault_is_found(check: str, address: str, findings: list[Finding]) -> None:
    """The same path finds what is wrong for sure."""
    assert (check, f"{PLANTED}/{address}") in {(f.check, f.place) for f in findings}


def test_resources_are_seen_together(findings: list[Finding]) -> None:
    """The bucket of a real plan passes because of what refers to it: without that it does not."""
    missed = {f.plan for f in findings if f.check == "CKV2_AWS_6" and f.address.startswith("aws_s3_bucket.")}
    assert missed == {UNPROTECTED, PLANTED}


def test_checkov_has_judged_every_plan(report: dict[str, Any]) -> None:
    """An empty list of findings is no proof: every plan was read, and something passed in each."""
    assert report["summary"]["parsing_errors"] == 0
    passed = findings_of(report, "passed_checks")
    assert {finding.plan for finding in passed} == {*PROGRAMS, PLANTED, UNPROTECTED}
    # Encrypted secrets, IMDSv2, flow logs, closed default group: two of one resource, two of several.
    kept = {finding.check for finding in passed if finding.plan == "program-dev"}
    assert {"CKV_AWS_58", "CKV_AWS_79", "CKV2_AWS_11", "CKV2_AWS_12"} <= kept
