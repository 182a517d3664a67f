"""The ledger's evidence is evidence: the day's sample of its breaks is caught, and the tool that says so is no fool."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from winkube import WinkubeError

from docs import ledger
from tests import mutants
from tests.mutants import Row

ROW = Row("NET-01", "tests/test_a.py::test_it", "a.py", "old", "new")
TEST = "tests/network/test_ports.py::test_the_matrix_of_a_self_managed_cluster"


def ports(name: str, replace: str, by: str) -> Row:
    return Row(name, TEST, "components/network/ports.py", replace, by)


@pytest.mark.verify
def test_the_sample_of_the_day_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    """About twelve rows of the ledger, others each day; ``make mutants`` tries all."""
    rows = mutants.rows(ledger.load(mutants.ROOT / "docs" / "coverage.yaml"))
    said = mutants.verdicts(mutants.sample(rows, datetime.now(UTC).date()), workers=1, marks="not proof")
    with capsys.disabled():
        print("", f"breaks of {', '.join(said)}", sep="\n")
    assert {name: verdict for name, verdict in said.items() if not mutants.is_good(verdict)} == {}
    assert "caught" in said.values()


@pytest.mark.verify
def test_a_break_that_nobody_notices_is_told_from_one_that_is_caught_and_from_a_crash() -> None:
    """A comment is no break; code that cannot be imported, and code that ends by itself, prove nothing."""
    place = "components/network/ports.py"
    line = next(
        line for line in (mutants.ROOT / place).read_text().splitlines() if line.startswith("def self_managed_")
    )
    said = mutants.verdicts([
        ports("caught", "kubelet: int = 10250", "kubelet: int = 10251"),
        ports("comment", line, f"# nothing\n{line}"),
        ports("syntax", line, f"?{line}"),
        ports("import", line, f"import not_there\n{line}"),
        ports("gone", "no such text", ""),
        Row("case", f"{TEST}[none]", place, line, ""),
    ], workers=1)  # fmt: skip
    assert {name: verdict.partition(":")[0] for name, verdict in said.items()} == {
        "caught": "caught",
        "comment": "NOT CAUGHT",
        "syntax": "proves nothing, the tests cannot be collected",
        "import": "proves nothing, the tests cannot be collected",
        "gone": f"{place} has the text to break 0 times, not once",
        "case": "cannot be run",
    }
    assert [mutants.is_good(verdict) for verdict in said.values()] == [True, *[False] * 5]


def run(outcome: str = "", item: str = ROW.test, *errors: str) -> dict[str, Any]:
    return {"outcomes": {item: outcome} if outcome else {}, "details": {item: "why"}, "errors": list(errors)}


@pytest.mark.parametrize(
    ("whole", "with_break", "verdict"),
    [
        (run("passed"), run("failed"), "caught"),
        (run("passed"), run("passed"), "NOT CAUGHT: the test passes with 'new' in place of 'old' in a.py"),
        (run("passed"), run("crashed"), "proves nothing, the code crashes: why"),
        (run("passed"), run("", "", "no name"), "proves nothing, the tests cannot be collected: no name"),
        (run("failed"), run("failed"), "fails without the break: why"),
        (run("skipped"), run("failed"), "not run: why"),
        (run("passed", "tests/test_a.py::test_other"), run("failed"), "cannot be run: no such test"),
        (run("", "", "no name"), run("failed"), "cannot be run: no name"),
    ],
)
def test_verdicts(whole: dict[str, Any], with_break: dict[str, Any], verdict: str) -> None:
    assert mutants.judge(ROW, whole, with_break) == verdict


def test_what_a_row_names_is_a_test_or_one_case_of_it() -> None:
    test = "tests/test_a.py::test_it"
    assert [mutants.names(test, item) for item in (test, f"{test}[a-1]", f"{test}_too")] == [True, True, False]
    case = f"{test}[a-rule]"
    items = (case, f"{test}[a-rule-12]", f"{test}[a-rule-more-1]", f"{test}[a]", test)
    assert [mutants.names(case, item) for item in items] == [True, True, False, False, False]


def test_each_row_has_its_day() -> None:
    """In as many days as the rows need, each one is tried once, and no day has many more than the others."""
    rows = [Row(str(number), "", "", "", "") for number in range(305)]
    days = [mutants.sample(rows, date(2026, 11, 23) + timedelta(days=number)) for number in range(26)]
    assert Counter(row.name for day in days for row in day) == Counter(row.name for row in rows)
    assert {len(day) for day in days} == {11, 12}
    assert mutants.sample(rows[:3], date(2026, 11, 23)) == rows[:3]
    assert mutants.sample([], date(2026, 11, 23)) == []


def test_rows_are_chosen_by_id_and_by_group() -> None:
    rows = [Row(name, "", "", "", "") for name in ("NET-01", "NET-02", "CP-01", "CP-02")]
    assert [row.name for row in mutants.chosen(rows, ["NET", "CP-02"])] == ["NET-01", "NET-02", "CP-02"]
    assert mutants.chosen(rows, []) == rows


@pytest.mark.parametrize(
    ("error", "proof"),
    [
        (AssertionError(), True),
        (pytest.fail.Exception("DID NOT RAISE"), True),
        (NameError(), False),
        (ImportError(), False),
        (SyntaxError(), False),
        (TypeError(), False),
        (WinkubeError("Two mistakes", []), True),
        (ExceptionGroup("", [AssertionError()]), True),
        (ExceptionGroup("", [AssertionError(), ImportError()]), False),
    ],
)
def test_a_crash_is_no_proof(error: BaseException, proof: bool) -> None:
    assert mutants.is_proof(error) is proof


def test_an_error_of_the_test_s_own_lines_is_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that looks for a key that is gone fails for a reason; the same error inside of the library is a crash."""
    monkeypatch.chdir(mutants.ROOT)
    with pytest.raises(KeyError) as failed:
        {}["key"]
    assert mutants.is_proof(failed.value)
    with pytest.raises(KeyError) as failed:
        exec(compile("{}['key']", mutants.ROOT / "components" / "x.py", "exec"))  # noqa: S102
    assert not mutants.is_proof(failed.value)
