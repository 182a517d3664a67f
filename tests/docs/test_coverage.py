"""The coverage ledger is complete and true, and its checker finds every kind of problem."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs import ledger as checker

ROOT = Path(__file__).resolve().parents[2]
Ledger = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """The repository's own ledger."""
    return checker.load(ROOT / "docs" / "coverage.yaml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small repository with one component, one rule, one page and a few tests."""
    files = {
        "components/thing.py": 'RULE = "WK-NET-001"\n',
        "tests/test_thing.py": (
            "def test_it(): ...\n"
            "async def test_later(): ...\n"
            "def helper():\n    def test_inner(): ...\n"
            "class TestThing:\n    def test_it_too(self): ...\n"
            'CASES = {"a-rule": 1}\n'
        ),
        "docs/page.md": "# A page\n\n```sh\n# no heading\n```\n\n## What `x` does: a note\n\n## Twice\n\n## Twice\n",
        "README.md": "# A page\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def whole() -> Ledger:
    """A complete ledger without problems, for one thing to be broken in it."""
    systems = [f"SYS-system-{number}" for number in range(checker.SYSTEMS)]
    names = [*checker.expected_ids(), *systems]
    return {name: {"statement": f"The library does {name}.", "state": "open"} for name in names}


def entry(state: str, **keys: Any) -> dict[str, Any]:
    """One entry of a state, with a statement."""
    return {"statement": "The library does it.", "state": state, **keys}


BREAK = {"replace": "WK-NET", "by": "WK-TEN"}
BUILT = {"path": "components/thing.py", "test": "tests/test_thing.py::test_it", "breaks": BREAK}


def breaking(**breaks: Any) -> dict[str, Any]:
    """A built entry with that break."""
    return entry("built", evidence={**BUILT, "breaks": breaks})


def test_ledger_has_exactly_the_expected_ids(ledger: Ledger) -> None:
    """Each numbered group has all of its ids in order, 514 together, followed by 103 systems with slugs."""
    numbered = [name for name in ledger if not name.startswith("SYS-")]
    systems = [name for name in ledger if name.startswith("SYS-")]
    assert numbered == checker.expected_ids()
    assert len(numbered) == 514
    assert len(systems) == 103
    assert list(ledger) == numbered + systems
    assert all(checker.SYSTEM_ID.fullmatch(name) for name in systems)


def test_ledger_has_no_problems(ledger: Ledger) -> None:
    """Keys fit the states, statements are short and unique, and every path, test, code, page and anchor exists."""
    assert checker.problems(ledger, ROOT) == []


def test_ledger_lines_are_short() -> None:
    """No line of the ledger is longer than 200 characters, so that changes to it can be reviewed."""
    lines = (ROOT / "docs" / "coverage.yaml").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 200


def test_a_complete_ledger_has_no_problems(root: Path) -> None:
    """The complete ledger that the following tests break is accepted."""
    assert checker.problems(whole(), root) == []


@pytest.mark.parametrize(
    "good",
    [
        entry("built", evidence=BUILT),
        entry("built", evidence={**BUILT, "path": "components", "breaks": {**BREAK, "in": "components/thing.py"}}),
        entry("built", evidence={**BUILT, "test": "tests/test_thing.py::TestThing::test_it_too"}),
        entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_later"}),
        entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_it[a-rule]"}),
        breaking(**BREAK),
        breaking(**{**BREAK, "in": "docs/page.md", "replace": "What `x`"}),
        entry("refused", code="WK-NET-001", test="tests/test_thing.py::test_it"),
        entry("documented", page="docs/page.md#a-page"),
        entry("documented", page="docs/page.md#what-x-does-a-note"),
        entry("documented", page="docs/page.md#twice-1"),
        entry("outdated", reason="Nothing is left to build."),
        entry("open"),
    ],
)
def test_true_entries_are_accepted(good: dict[str, Any], root: Path) -> None:
    """An entry with the keys of its state and references that lead somewhere is no problem."""
    assert checker.problems({**whole(), "NET-01": good}, root) == []


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (entry("done"), "the state must be one of built, refused, documented, outdated, open, not 'done'"),
        ({"statement": "Stateless."}, "the state must be one of built, refused, documented, outdated, open, not ''"),
        (entry("built"), "built: lacks evidence"),
        (entry("open", page="docs/page.md#a-page"), "open: must not have page"),
        (entry("refused", code="WK-NET-001", reason="x"), "refused: lacks test; must not have reason"),
        (entry("outdated", reason=" "), "reason is not a text or is empty"),
        (entry("built", evidence="components/thing.py"), "evidence must have path, test and breaks, and nothing else"),
        (
            entry("built", evidence={"path": BUILT["path"], "test": BUILT["test"]}),
            "evidence must have path, test and breaks, and nothing else",
        ),
        (
            entry("built", evidence={**BUILT, "path": "", "breaks": {**BREAK, "in": "components/thing.py"}}),
            "path is not a text or is empty",
        ),
        (
            entry(
                "built",
                evidence={**BUILT, "path": "components/none.py", "breaks": {**BREAK, "in": "components/thing.py"}},
            ),
            "no such path: components/none.py",
        ),
        (
            entry(
                "built",
                evidence={**BUILT, "path": "components/../README.md", "breaks": {**BREAK, "in": "components/thing.py"}},
            ),
            "no such path: components/../README.md",
        ),
        (entry("built", evidence={**BUILT, "test": "tests/none.py::test_it"}), "no such test file: tests/none.py"),
        (entry("built", evidence={**BUILT, "test": "docs/page.md::test_it"}), "no such test file: docs/page.md"),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_none"}),
            "no such test: tests/test_thing.py::test_none",
        ),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_it_too"}),
            "no such test: tests/test_thing.py::test_it_too",
        ),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_inner"}),
            "no such test: tests/test_thing.py::test_inner",
        ),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::TestThing"}),
            "no such test: tests/test_thing.py::TestThing",
        ),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::helper"}),
            "no such test: tests/test_thing.py::helper",
        ),
        (
            entry("built", evidence={**BUILT, "test": "tests/test_thing.py::test_it[no-rule]"}),
            "no such case beside tests/test_thing.py: no-rule",
        ),
        (breaking(replace="WK"), "breaks must have replace and by, and may have in"),
        (breaking(**BREAK, why="x"), "breaks must have replace and by, and may have in"),
        (breaking(replace="WK-NET", by="WK-NET"), "breaks must replace a text by another one"),
        (breaking(replace=" ", by=""), "breaks must replace a text by another one"),
        (breaking(replace=1, by="2"), "breaks must replace a text by another one"),
        (breaking(**BREAK, **{"in": "components"}), "no such file to break: components"),
        (breaking(**BREAK, **{"in": "tests/test_thing.py"}), "breaks must not change the test itself"),
        (
            breaking(replace="WK-CP", by=""),
            "components/thing.py has the text to break 0 times, not once: 'WK-CP'",
        ),
        (
            breaking(**{**BREAK, "in": "docs/page.md", "replace": "Twice"}),
            "docs/page.md has the text to break 2 times, not once: 'Twice'",
        ),
        (
            entry("refused", code="WK-NET-002", test="tests/test_thing.py::test_it"),
            "no rule of the library has the code WK-NET-002",
        ),
        (
            entry("refused", code="WK-NET-001", test="tests/test_thing.py::test_none"),
            "no such test: tests/test_thing.py::test_none",
        ),
        (entry("documented", page="docs/none.md#a-page"), "no such page: docs/none.md"),
        (entry("documented", page="README.md#a-page"), "no such page: README.md"),
        (entry("documented", page="docs/page.md"), "no heading of docs/page.md has the anchor #"),
        (entry("documented", page="docs/page.md#no-heading"), "no heading of docs/page.md has the anchor #no-heading"),
        (entry("documented", page="docs/page.md#twice-2"), "no heading of docs/page.md has the anchor #twice-2"),
    ],
)
def test_a_bad_entry_is_a_problem(bad: dict[str, Any], problem: str, root: Path) -> None:
    """Wrong keys for a state, and references that lead nowhere, are each reported once with the entry's id."""
    assert checker.problems({**whole(), "NET-01": bad}, root) == [f"NET-01: {problem}"]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("", "NET-02: the statement is empty"),
        (None, "NET-02: the statement is empty"),
        ("word " * 61, "NET-02: the statement has 61 words, at most 60 are allowed"),
        ("the library  does net-01.", "NET-02: the statement is that of NET-01"),
    ],
)
def test_a_bad_statement_is_a_problem(statement: object, problem: str, root: Path) -> None:
    """A statement that is empty, longer than sixty words or the same as another one is reported."""
    assert checker.problems({**whole(), "NET-02": {"statement": statement, "state": "open"}}, root) == [problem]


def _without(name: str) -> Callable[[Ledger], None]:
    return lambda ledger: ledger.__delitem__(name)


def _renamed(old: str, new: str) -> Callable[[Ledger], None]:
    return lambda ledger: ledger.__setitem__(new, ledger.pop(old))


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (_without("CP-93"), ["CP-93: the entry is missing"]),
        (_without("SYS-system-0"), ["SYS: 103 systems expected, 102 found"]),
        (_renamed("NET-69", "NET-70"), ["NET-69: the entry is missing", "NET-70: an id that does not belong here"]),
        (
            _renamed("SYS-system-0", "SYS-System_0"),
            ["SYS: 103 systems expected, 102 found", "SYS-System_0: an id that does not belong here"],
        ),
    ],
)
def test_missing_and_strange_ids_are_problems(
    change: Callable[[Ledger], None], problems: list[str], root: Path
) -> None:
    """An entry that is missing, one too many and a malformed system id are reported by name."""
    broken = whole()
    change(broken)
    assert checker.problems(broken, root) == problems


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NET-01: {state: open}\nNET-02: {state: open}\nNET-01: {state: open}\n", "line 3: NET-01 is there twice"),
        ("NET-01: {state: open, state: built}\n", "line 1: state is there twice"),
        ("- NET-01\n", "not a mapping"),
        ("1: {state: open}\n", "not a mapping"),
    ],
)
def test_loading_refuses_double_keys_and_other_shapes(text: str, words: str, tmp_path: Path) -> None:
    """A second entry with the same id is an error, no silent replacement, and so is a file of another shape."""
    file = tmp_path / "coverage.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        checker.load(file)


def test_counts_and_table_agree_with_the_entries() -> None:
    """Each entry is counted once in its group and state, and the table's last row is the sum."""
    ledger = whole()
    ledger["NET-01"]["state"] = ledger["NET-02"]["state"] = "built"
    ledger["SYS-system-0"]["state"] = "outdated"
    table = checker.counts(ledger)
    assert table["NET"] == {"built": 2, "refused": 0, "documented": 0, "outdated": 0, "open": 67}
    assert table["SYS"]["outdated"] == 1
    assert sum(sum(states.values()) for states in table.values()) == 617
    lines = checker.table_text(ledger).splitlines()
    assert lines[0].split() == ["group", "built", "refused", "documented", "outdated", "open", "total"]
    assert lines[-1].split() == ["all", "2", "0", "0", "1", "614", "617"]
    assert len({len(line) for line in lines}) == 1


def test_rule_codes_come_from_the_sources_of_the_library(root: Path) -> None:
    """Codes count as rules when a room of the library names them, digits and all, and not when only a test does."""
    for room, code in (("stacks", "WK-SET-042"), ("policies", "WK-K8S-010")):
        (root / room).mkdir()
        (root / room / "rules.py").write_text(f'RULE = "{code}"\n', encoding="utf-8")
    (root / "tests" / "test_more.py").write_text('CODE = "WK-NET-999"\n', encoding="utf-8")
    assert checker.rule_codes(root) == {"WK-NET-001", "WK-SET-042", "WK-K8S-010"}


def test_the_command_ends_with_the_state_of_the_ledger(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command prints the table and ends with 0, or names the problems and ends with 1."""
    monkeypatch.setattr(checker, "__file__", str(root / "docs" / "ledger.py"))
    file = root / "docs" / "coverage.yaml"

    file.write_text(checker.yaml.safe_dump(whole()), encoding="utf-8")
    assert checker.main() == 0
    assert capsys.readouterr().out.startswith("group")

    file.write_text(checker.yaml.safe_dump({**whole(), "NET-01": entry("done")}), encoding="utf-8")
    assert checker.main() == 1
    assert "NET-01: the state must be one of" in capsys.readouterr().err

    file.write_text("A: 1\nA: 2\n", encoding="utf-8")
    assert checker.main() == 1
    assert "A is there twice" in capsys.readouterr().err
