"""Checks and counts the coverage ledger, ``docs/coverage.yaml``.

``python docs/ledger.py`` prints the entries per group and state as a table, and the problems, if any, to the
error stream; it ends with 1 when there are problems.
"""

import ast
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

GROUPS = {
    "NET": 69,
    "BKT": 13,
    "IAM": 17,
    "CP": 93,
    "CR": 39,
    "ETCD": 22,
    "WIN": 53,
    "EKS": 47,
    "K8S": 33,
    "WL": 77,
    "OPS": 51,
}
"""Numbered groups and how many entries each has: ``NET-01`` to ``NET-69`` and so on, 514 in all."""

SYSTEMS = 103
"""How many entries there are for systems, ``SYS-<slug>``."""

STATES: dict[str, frozenset[str]] = {
    "built": frozenset({"evidence"}),
    "refused": frozenset({"code", "test"}),
    "documented": frozenset({"page"}),
    "outdated": frozenset({"reason"}),
    "open": frozenset(),
}
"""The states, and the keys that an entry of that state has beside ``statement`` and ``state``."""

MOST_WORDS = 60
RULE_ROOMS = ("components", "stacks", "preview", "policies")
RULE_CODE = re.compile(r"WK-[A-Z][A-Z0-9]*-\d{3}")
SYSTEM_ID = re.compile(r"SYS-[a-z0-9]+(-[a-z0-9]+)*")

Entry = Mapping[str, Any]
Ledger = Mapping[str, Entry]


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader that does not let a later entry silently replace an earlier one."""


def _mapping(loader: _UniqueKeys, node: yaml.MappingNode) -> dict[Hashable, Any]:
    """A mapping whose keys are all different."""
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = cast("Hashable", loader.construct_object(key_node, deep=True))  # pyright: ignore[reportUnknownMemberType]
        if key in seen:
            raise ValueError(f"line {key_node.start_mark.line + 1}: {key} is there twice")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(path: Path) -> dict[str, dict[str, Any]]:
    """The ledger in a file. Raises ValueError when a key is there twice or the file is no mapping of ids."""
    with path.open(encoding="utf-8") as stream:
        found: Any = yaml.load(stream, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader with one more check
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", found)):
        raise ValueError(f"{path.name}: not a mapping of ids")
    return cast("dict[str, dict[str, Any]]", found)


def expected_ids() -> list[str]:
    """The ids of the numbered groups, in the order of the ledger."""
    return [f"{group}-{number:02}" for group, size in GROUPS.items() for number in range(1, size + 1)]


def problems(ledger: Ledger, root: Path) -> list[str]:
    """What is wrong with a ledger whose paths start at ``root``, one line for each problem; empty when all is well."""
    codes = rule_codes(root)
    found = list(_id_problems(ledger))
    found += _statement_problems(ledger)
    for name, entry in ledger.items():
        found += [f"{name}: {problem}" for problem in _entry_problems(entry, root, codes)]
    return found


def counts(ledger: Ledger) -> dict[str, dict[str, int]]:
    """How many entries each group has in each state, groups in the order of the ledger."""
    table = {group: dict.fromkeys(STATES, 0) for group in (*GROUPS, "SYS")}
    for name, entry in ledger.items():
        group, state = name.partition("-")[0], _text(entry, "state")
        if group in table and state in STATES:
            table[group][state] += 1
    return table


def table_text(ledger: Ledger) -> str:
    """The counts as an aligned table with totals."""
    rows = [(group, [*states.values(), sum(states.values())]) for group, states in counts(ledger).items()]
    rows.append(("all", [sum(column) for column in zip(*(numbers for _, numbers in rows), strict=True)]))
    lines = [["group", *STATES, "total"], *([group, *map(str, numbers)] for group, numbers in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def rule_codes(root: Path) -> frozenset[str]:
    """The codes of all rules that the library's Python sources name."""
    return frozenset(
        code
        for room in RULE_ROOMS
        for source in sorted((root / room).rglob("*.py"))
        for code in RULE_CODE.findall(source.read_text(encoding="utf-8"))
    )


def anchors(markdown: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page; headings in fenced code are none."""
    found: set[str] = set()
    fence = ""
    for line in markdown.splitlines():
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := re.match(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", line):
            slug, number = _slug(heading[1]), 0
            while (anchor := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(anchor)
    return found


def _slug(heading: str) -> str:
    """A heading as GitHub writes it into an anchor."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _text(entry: Entry, key: str) -> str:
    """The text under a key; empty when there is none or something else stands there."""
    value: object = entry.get(key) if isinstance(entry, Mapping) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    return value if isinstance(value, str) else ""


def _id_problems(ledger: Ledger) -> Iterator[str]:
    """Entries that lack, are too many or have malformed ids."""
    expected = expected_ids()
    yield from (f"{name}: the entry is missing" for name in expected if name not in ledger)
    systems = [name for name in ledger if SYSTEM_ID.fullmatch(name)]
    if len(systems) != SYSTEMS:
        yield f"SYS: {SYSTEMS} systems expected, {len(systems)} found"
    known = {*expected, *systems}
    yield from (f"{name}: an id that does not belong here" for name in ledger if name not in known)


def _statement_problems(ledger: Ledger) -> Iterator[str]:
    """Statements that are empty, too long or the same as another one."""
    first: dict[str, str] = {}
    for name, entry in ledger.items():
        words = _text(entry, "statement").split()
        if not words:
            yield f"{name}: the statement is empty"
            continue
        if len(words) > MOST_WORDS:
            yield f"{name}: the statement has {len(words)} words, at most {MOST_WORDS} are allowed"
        other = first.setdefault(" ".join(words).casefold(), name)
        if other != name:
            yield f"{name}: the statement is that of {other}"


def _entry_problems(entry: Entry, root: Path, codes: frozenset[str]) -> Iterator[str]:
    """Keys that an entry lacks or has too many, and references that lead nowhere."""
    state = _text(entry, "state")
    if state not in STATES:
        yield f"the state must be one of {', '.join(STATES)}, not {state!r}"
        return
    wanted = STATES[state] | {"statement", "state"}
    if wrong := wanted ^ entry.keys():
        missing = ", ".join(sorted(wrong & wanted))
        surplus = ", ".join(sorted(str(key) for key in wrong - wanted))
        yield f"{state}: " + "; ".join(
            [*([f"lacks {missing}"] if missing else []), *([f"must not have {surplus}"] if surplus else [])]
        )
        return
    if state == "built":
        yield from _evidence_problems(entry["evidence"], root)
    for key in sorted(STATES[state] - {"evidence"}):
        value = _text(entry, key)
        if not value.strip():
            yield f"{key} is not a text or is empty"
        elif problem := _CHECKS[key](value, root, codes):
            yield problem


def _evidence_problems(evidence: object, root: Path) -> Iterator[str]:
    """Evidence that is not exactly an existing path, an existing test and a break of what stands there."""
    if not isinstance(evidence, Mapping) or set(cast("Entry", evidence)) != {"path", "test", "breaks"}:
        yield "evidence must have path, test and breaks, and nothing else"
        return
    for key, check in (("path", _path_problem), ("test", _test_problem)):
        value = _text(cast("Entry", evidence), key)
        problem = check(value, root) if value.strip() else f"{key} is not a text or is empty"
        if problem:
            yield problem
    if problem := _breaks_problem(cast("Entry", evidence), root):
        yield problem


def _breaks_problem(evidence: Entry, root: Path) -> str:
    """Why a break is no good, or nothing: it replaces a text that is there just once by another one."""
    breaks: object = evidence["breaks"]
    if not isinstance(breaks, Mapping) or set(cast("Entry", breaks)) - {"in"} != {"replace", "by"}:
        return "breaks must have replace and by, and may have in"
    breaks = cast("Entry", breaks)
    old, new, file = breaks["replace"], breaks["by"], breaks.get("in", evidence["path"])
    if not (isinstance(old, str) and isinstance(new, str) and isinstance(file, str)) or not old.strip() or old == new:
        return "breaks must replace a text by another one"
    place = _inside(file, root)
    if not place or not place.is_file():
        return f"no such file to break: {file}"
    if place.is_relative_to(root / "tests") and place == _inside(_text(evidence, "test").partition("::")[0], root):
        return "breaks must not change the test itself"
    count = place.read_text(encoding="utf-8").count(old)
    return "" if count == 1 else f"{file} has the text to break {count} times, not once: {old!r}"


def _inside(path: str, root: Path) -> Path | None:
    """The path below ``root``, or None when there is nothing there or it leads out."""
    place = root / path
    inside = not Path(path).is_absolute() and ".." not in Path(path).parts
    return place if inside and place.exists() else None


def _path_problem(path: str, root: Path) -> str:
    """Why a path is no good, or nothing."""
    return "" if _inside(path, root) else f"no such path: {path}"


def _test_problem(reference: str, root: Path) -> str:
    """Why a reference to a test is no good, or nothing."""
    function, opened, case = reference.removesuffix("]").partition("[")
    path, *names = function.split("::")
    place = _inside(path, root)
    if not place or place.suffix != ".py":
        return f"no such test file: {path}"
    if not names or not names[-1].startswith("test") or not _defines(place, tuple(names)):
        return f"no such test: {function}"
    if opened and not any(f'"{case}"' in file.read_text(encoding="utf-8") for file in place.parent.rglob("*.py")):
        return f"no such case beside {path}: {case}"
    return ""


def _code_problem(code: str, codes: frozenset[str]) -> str:
    """Why a rule's code is no good, or nothing."""
    return "" if code in codes else f"no rule of the library has the code {code}"


def _page_problem(page: str, root: Path) -> str:
    """Why a reference to a heading of a page is no good, or nothing."""
    path, _, anchor = page.partition("#")
    place = _inside(path, root)
    if not place or not path.startswith("docs/") or place.suffix != ".md":
        return f"no such page: {path}"
    if anchor not in anchors(place.read_text(encoding="utf-8")):
        return f"no heading of {path} has the anchor #{anchor}"
    return ""


_CHECKS: dict[str, Callable[[str, Path, frozenset[str]], str]] = {
    "code": lambda value, _root, codes: _code_problem(value, codes),
    "test": lambda value, root, _codes: _test_problem(value, root),
    "page": lambda value, root, _codes: _page_problem(value, root),
    "reason": lambda _value, _root, _codes: "",
}


@cache
def _definitions(file: Path, changed: int) -> frozenset[tuple[str, ...]]:
    """The functions of a Python file as (name,) or (class, name); ``changed`` keeps the cache honest."""
    del changed

    def functions(body: Sequence[ast.stmt], *prefix: str) -> Iterator[tuple[str, ...]]:
        for item in body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                yield (*prefix, item.name)
            elif isinstance(item, ast.ClassDef):
                yield from functions(item.body, *prefix, item.name)

    return frozenset(functions(ast.parse(file.read_text(encoding="utf-8")).body))


def _defines(file: Path, names: tuple[str, ...]) -> bool:
    """Whether a Python file defines that function or method."""
    return names in _definitions(file, file.stat().st_mtime_ns)


def main() -> int:
    """Print the table and the problems of the repository's own ledger."""
    root = Path(__file__).resolve().parent.parent
    try:
        ledger = load(root / "docs" / "coverage.yaml")
    except (ValueError, yaml.YAMLError) as error:
        print(error, file=sys.stderr)
        return 1
    found = problems(ledger, root)
    print(table_text(ledger))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
