"""The page on add-ons says what the table and the rules say."""

import re
from pathlib import Path

import pytest
from winkube.addons import addon_rules, gmsa, identity, legacy, load_balancer_rules, storage_rules
from winkube.addons.addon_table import ADDONS
from winkube.core.mistakes import Rule
from winkube.eks import node_classes

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "windows-addons.md").read_text(encoding="utf-8")
RULES = sorted(
    {value.code for module in (gmsa, identity, legacy, load_balancer_rules, node_classes, addon_rules, storage_rules)
     for value in vars(module).values() if isinstance(value, Rule) and value.code.startswith("WK-ADD")}
)  # fmt: skip


def documented() -> set[str]:
    """The codes that the page's last table names, with its ranges written out."""
    codes: set[str] = set()
    for cell in re.findall(r"^\| (WK-ADD-[^|]+) \|", PAGE, flags=re.M):
        numbers = [int(number) for number in re.findall(r"\d{3}", cell)]
        if " to " in cell:
            numbers = list(range(numbers[0], numbers[1] + 1))
        codes |= {f"WK-ADD-{number:03}" for number in numbers}
    return codes


def test_every_refusal_has_its_line():
    assert documented() == set(RULES)


@pytest.mark.parametrize("row", ADDONS.values(), ids=lambda row: row.name)
def test_every_addon_has_its_line_with_its_version(row):
    (line,) = [it for it in PAGE.splitlines() if it.startswith(f"| `{row.name}` |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1].startswith(f"chart {row.chart.version}" if row.chart else "EKS add-on")
    assert (cells[3].startswith("nothing") or "refused" in cells[3]) != row.windows
    for policy in row.managed_policies:
        assert policy.rpartition("/")[2] in cells[4]


def test_the_runbook_names_every_left_over():
    runbook = (DOCS / "runbooks" / "legacy-windows-controllers.md").read_text(encoding="utf-8")
    for kind, name in legacy.LEFT_OVERS:
        assert name in runbook
        assert kind.lower() in runbook.lower()
    assert "`eks:kube-proxy-windows`" in runbook
