"""The reference page, and that no control of a framework is passed over in silence."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from winkube.policies.frameworks import NOT_COVERED
from winkube.policies.pack import RULES
from winkube.policies.reference import FRAMEWORK_TITLES, controls, policies_page

PAGE = Path(__file__).parents[2] / "docs" / "policies.md"


def numbered(groups: Mapping[str, Sequence[int]]) -> list[str]:
    """``{"EKS": (1, 2)}`` as EKS.1 and EKS.2."""
    return [f"{group}.{number}" for group, numbers in groups.items() for number in numbers]


FSBP = numbered(
    {
        "EKS": (1, 2, 3, 6, 7, 8),
        "EC2": (2, 3, 6, 7, 8, 9, 10, 13, 14, 15, 17, 18, 19, 21, 24, 25, 53, 54, 55, 56, 57, 170, 172, 180, 181),
        "AutoScaling": (1, 2, 3, 4, 5, 6, 9),
        "ELB": (1, 4, 5, 6, 12, 13, 17, 18),
        "S3": (1, 2, 3, 5, 8, 9, 12, 13),
        "IAM": (1, 21),
        "KMS": (1, 2, 3, 4, 5),
        "ECR": (1, 2, 3),
        "SSM": (1, 2, 3, 7),
        "GuardDuty": (1, 5, 7),
        "Inspector": (1, 2),
        "CloudTrail": (1, 2, 4, 5),
        "Config": (1,),
        "SecretsManager": (1, 2, 3, 4),
        "FSx": (5,),
    }
)
"""The controls of Security Hub that concern clusters with Windows nodes."""
CIS_EKS = numbered(
    {
        "2.1": (1, 2),
        "3.1": (1, 2, 3, 4),
        "4.1": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
        "4.2": (1, 2, 3, 4, 5),
        "4.3": (1, 2),
        "4.4": (1, 2),
        "4.5": (1, 2),
        "5.1": (1, 2, 3, 4),
        "5.2": (1,),
        "5.3": (1,),
        "5.4": (1, 2, 3, 4, 5),
        "5.5": (1,),
    }
)
CIS_KUBERNETES = [
    *(f"5.1.{number}" for number in range(1, 14)), *(f"5.2.{number}" for number in range(1, 14)), "5.3.1", "5.3.2",
    "5.4.1", "5.4.2", "5.5.1", "5.7.1", "5.7.2", "5.7.3", "5.7.4",
]  # fmt: skip


@pytest.mark.parametrize(
    ("framework", "listed"), [("AWS FSBP", FSBP), ("CIS EKS", CIS_EKS), ("CIS Kubernetes", CIS_KUBERNETES)]
)
def test_every_control_has_a_rule_or_a_reason(framework: str, listed: list[str]) -> None:
    covered, reasons = dict(controls(framework)), NOT_COVERED[framework]
    assert [control for control in listed if control not in covered and control not in reasons] == []
    half = [control for control in reasons if control in covered]
    assert all(reasons[control].startswith("in part:") for control in half), half


def test_references_are_to_known_frameworks() -> None:
    guides = {"Amazon EKS User Guide", "Amazon EKS Best Practices Guide", "Kubernetes documentation"}
    assert {reference.framework for rule in RULES for reference in rule.references} <= guides | set(FRAMEWORK_TITLES)


def test_the_page_tells_every_rule_with_its_level_and_options() -> None:
    page = policies_page()
    for rule in RULES:
        start = page.index(f"### {rule.name}\n")
        section = page[start : page.index("\n#", start + 1)]
        assert rule.title in section
        assert rule.level in section
        assert rule.severity in section
        assert rule.steps in section
        assert all(f"Option `{name}`" in section for name in rule.options)


def test_links_inside_of_the_page_lead_somewhere() -> None:
    page = policies_page()
    headings = re.findall(r"(?m)^#+ (.+)$", page)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors


def test_the_page_in_docs_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == policies_page()
