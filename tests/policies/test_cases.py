"""Every rule: plans that keep it, plans that break it, plans that cannot be decided yet."""

import importlib
import re
from collections.abc import Sequence
from typing import Any

import pytest
from winkube.policies.model import Planned, Rule, Stack, Undecided
from winkube.policies.pack import RULES

from .cases import compute, eks, identity, network, storage, windows_nodes, windows_workloads, workloads
from .cases.base import Case

MODULES = (compute, eks, identity, network, storage, windows_nodes, windows_workloads, workloads)
CASES: dict[str, Case] = {name: case for module in MODULES for name, case in module.CASES.items()}
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


def test_all_rules_of_a_topic_are_registered() -> None:
    """A rule that is written but not listed would never run."""
    names = ("compute", "eks", "identity", "load_balancing", "network", "storage", "windows_nodes", "windows_workloads",
             "workloads")  # fmt: skip
    for name in names:
        module = importlib.import_module(f"winkube.policies.rules.{name}")
        made = {value.name for value in vars(module).values() if isinstance(value, Rule)}
        registered = {rule.name for rule in module.RULES}
        assert made <= registered, name
