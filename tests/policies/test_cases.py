"""Every rule: plans that keep it, plans that break it, plans that cannot be decided yet."""

import ast
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from winkube.policies import rules
from winkube.policies.model import Planned, Rule, Stack, Undecided
from winkube.policies.pack import RULES

from . import cases
from .cases.base import Case


def modules_of(package: ModuleType) -> dict[str, ModuleType]:
    """The modules in a package, at any depth, by their place in it; packages themselves are none."""
    prefix = f"{package.__name__}."
    return {
        found.name.removeprefix(prefix): importlib.import_module(found.name)
        for found in pkgutil.walk_packages(package.__path__, prefix)
        if not found.ispkg
    }


def rules_of(module: ModuleType) -> Iterator[Rule]:
    """The rules that a module makes, alone or in a table."""
    for value in vars(module).values():
        yield from (found for found in (value if isinstance(value, tuple) else (value,)) if isinstance(found, Rule))


CASES_OF: Mapping[str, Mapping[str, Case]] = {
    place: module.CASES for place, module in modules_of(cases).items() if hasattr(module, "CASES")
}
CASES = {name: case for found in CASES_OF.values() for name, case in found.items()}
BY_NAME = {rule.name: rule for rule in RULES}


def judge(rule: Rule, plan: Sequence[Planned], settings: Any) -> list[str]:
    """The messages of a rule over a plan; raises what it cannot decide after them."""
    settings = {**rule.settings, **settings}
    if rule.stack:
        return [violation.message for violation in rule.stack(Stack(plan), settings)]
    assert rule.resource is not None
    return [
        message for resource in plan if resource.type in rule.types for message in rule.resource(resource, settings)
    ]


def listed(kind: str) -> list[Any]:
    return [
        pytest.param(name, number, id=f"{name}-{number}")
        for name, case in CASES.items()
        for number in range(len(getattr(case, kind)))
    ]


def test_every_rule_has_cases_of_all_three_kinds() -> None:
    assert set(CASES) == set(BY_NAME)
    assert all(case.good and case.bad for case in CASES.values())
    # One rule says nothing of what is computed: it judges it in the deployment.
    assert [name for name, case in CASES.items() if not case.unknown] == ["object-without-secrets"]


@pytest.mark.parametrize(("name", "number"), listed("good"))
def test_what_keeps_a_rule_is_not_reported(name: str, number: int) -> None:
    case = CASES[name]
    assert judge(BY_NAME[name], case.good[number], case.settings) == []


@pytest.mark.parametrize(("name", "number"), listed("bad"))
def test_what_breaks_a_rule_is_reported(name: str, number: int) -> None:
    case = CASES[name]
    messages = judge(BY_NAME[name], case.bad[number], case.settings)
    assert len(messages) == case.count, messages
    assert all(case.says in message for message in messages), messages


@pytest.mark.parametrize(("name", "number"), listed("unknown"))
def test_what_is_not_known_is_not_judged(name: str, number: int) -> None:
    case = CASES[name]
    with pytest.raises(Undecided, match="is not known before the deployment"):
        judge(BY_NAME[name], case.unknown[number], case.settings)


# -- the rules as such -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
class TestEveryRule:
    def test_it_tells_everything(self, rule: Rule) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9-]{5,50}", rule.name)
        assert rule.title[0].isupper()
        assert not rule.title.endswith(".")
        assert rule.steps[0].islower() or rule.steps.startswith("EKS")
        assert rule.url.startswith("https://")
        assert rule.types
        assert (rule.resource is None) != (rule.stack is None)

    def test_its_defaults_fit_its_schema(self, rule: Rule) -> None:
        from jsonschema import Draft202012Validator

        for option in rule.options.values():
            Draft202012Validator.check_schema(option.schema)
            Draft202012Validator(option.schema).validate(option.default)
            assert option.meaning


def test_names_and_titles_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len({rule.title for rule in RULES}) == len(RULES) >= 80


def test_every_rule_in_a_file_is_in_the_pack_once() -> None:
    """A rule that is written but not listed would never run."""
    written = {rule.name for module in modules_of(rules).values() for rule in rules_of(module)}
    assert sorted(rule.name for rule in RULES) == sorted(written)


def test_cases_stand_where_their_rules_stand() -> None:
    """``cases/eks/logs.py`` has the cases of ``rules/eks/logs.py``, and each case is written once."""
    wanted = {place: {rule.name for rule in rules_of(module)} for place, module in modules_of(rules).items()}
    assert {place: set(found) for place, found in CASES_OF.items()} == {
        place: names for place, names in wanted.items() if names
    }


def test_no_module_with_rules_imports_another() -> None:
    """What several rules need stands below all of them, so that each file can be read, and moved, by itself."""
    with_rules = {module.__name__ for module in modules_of(rules).values() if any(rules_of(module))}
    assert len(with_rules) >= 40
    wrong = [
        f"{name} imports {found}"
        for name in sorted(with_rules)
        for found in imported_by(importlib.import_module(name))
        if found in with_rules
    ]
    assert wrong == []


def imported_by(module: ModuleType) -> Iterator[str]:
    """The absolute names of what a module imports from, and of what could be a module among the names."""
    assert module.__file__
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), module.__package__)
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_an_import_of_another_rule_module_would_be_found() -> None:
    """A package imports its rule modules: the look above sees it."""
    found = set(imported_by(importlib.import_module("winkube.policies.rules.eks")))
    assert "winkube.policies.rules.eks.logs" in found
