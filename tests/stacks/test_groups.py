"""Groups that a stack file does not write out: one entry for many, and defaults that are said once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.config.groups import DEFAULTS, GROUPS, expanded
from stacks.config.reading import read_settings
from stacks.kubeadm.program import build

from . import kubeadm_stack
from .conftest import SMALL

BASES = {"eks": SMALL, "kubeadm": kubeadm_stack.SMALL}


@pytest.fixture(params=BASES)
def base(request: pytest.FixtureRequest) -> Any:
    return BASES[request.param]


def test_one_entry_stands_for_many_groups(stack_of: Any, base: Any) -> None:
    settings = read_settings(stack_of({"winkube:instanceGroups[1].count": 3}, base), "dev")
    assert [group.name for group in settings.instance_groups][1:] == ["windows-1", "windows-2", "windows-3"]
    assert {group.windows for group in settings.instance_groups[1:]} == {"2022"}


def test_a_single_group_keeps_its_name(stack_of: Any, base: Any) -> None:
    settings = read_settings(stack_of({"winkube:instanceGroups[1].count": 1}, base), "dev")
    assert settings.instance_groups[1].name == "windows"


def test_a_groups_own_setting_wins_over_the_default(stack_of: Any, base: Any) -> None:
    changes = {
        "winkube:instanceGroupDefaults": {"maxSize": 9, "labels": {"team": "a"}},
        "winkube:instanceGroups[1].maxSize": 5,
    }
    first, second = read_settings(stack_of(changes, base), "dev").instance_groups
    assert (first.max_size, second.max_size) == (9, 5)
    assert first.labels == second.labels == {"team": "a"}


def test_a_default_for_windows_nodes_is_nothing_to_linux_groups(stack_of: Any, base: Any) -> None:
    changes = {"winkube:instanceGroupDefaults": {"edition": "full", "windowsTaint": False}}
    first, second = read_settings(stack_of(changes, base), "dev").instance_groups
    assert (first.edition, second.edition) == (None, "full")


@pytest.mark.parametrize(
    ("key", "value"), [("maxSize", "many"), ("instanceTypes", ["m6i.hughe"]), ("maxSise", 4), ("minSize", 99)]
)
def test_a_mistake_in_the_defaults_is_told_once_and_there(lines_of: Any, base: Any, key: str, value: Any) -> None:
    changes = {"winkube:instanceGroupDefaults": {key: value}, "winkube:instanceGroups[1].count": 40}
    [line] = lines_of(changes, base)
    assert line.startswith(f"winkube:instanceGroupDefaults.{key}")


def test_a_mistake_of_an_entry_that_stands_for_many_is_told_once(lines_of: Any, base: Any) -> None:
    changes = {"winkube:instanceGroups[1].count": 40, "winkube:instanceGroups[1].capacityType": "spotty"}
    [line] = lines_of(changes, base)
    assert line.startswith("winkube:instanceGroups[1].capacityType: ")


def test_the_number_of_a_later_entry_is_that_of_the_file(lines_of: Any, base: Any) -> None:
    changes = {
        "winkube:instanceGroups[0].count": 20,
        "winkube:instanceGroups[2]": {"name": "windows", "windows": "2022"},
    }
    [line] = lines_of(changes, base)
    assert line.startswith("winkube:instanceGroups[2].name: the group at [1] has the same name")


@pytest.mark.parametrize("key", ["name", "linux", "windows", "count"])
def test_what_distinguishes_a_group_is_no_default(lines_of: Any, base: Any, key: str) -> None:
    [line] = lines_of({"winkube:instanceGroupDefaults": {key: "x"}}, base)
    assert line.startswith(f"winkube:instanceGroupDefaults.{key}: must be set in each group")


@given(st.lists(st.integers(1, 60), max_size=8))
def test_there_are_as_many_groups_as_the_entries_say(counts: list[int]) -> None:
    """And each knows the entry that it comes from."""
    entries = [{"name": f"g{number}", "linux": "al2023", "count": count} for number, count in enumerate(counts)]
    groups = expanded({GROUPS: entries, DEFAULTS: {"maxSize": 2}}, (), ())
    assert [origin.entry for origin in groups.origins] == [n for n, count in enumerate(counts) for _ in range(count)]
    names = [group["name"] for group in groups.data[GROUPS]]
    assert len(set(names)) == len(names) == sum(counts)
    assert all(group["maxSize"] == 2 for group in groups.data[GROUPS])


def test_a_stack_has_as_many_groups_as_it_lists_and_each_is_as_it_says(stack_of: Any, record: Any) -> None:
    """Types, share of spot, sizes and labels are the group's own."""
    groups = [
        {"name": "system", "linux": "al2023", "minSize": 2, "maxSize": 4},
        {"name": "spot", "linux": "al2023", "instanceTypes": ["m6i.large", "m5.large"], "capacityType": "spot",
         "onDemandBase": 1, "labels": {"team": "a"}},
        {"name": "web", "windows": "2022", "instanceTypes": ["m6i.xlarge"], "taints": [{"key": "dedicated"}]},
        {"name": "jobs", "windows": "2025", "minSize": 0},
    ]  # fmt: skip
    settings = read_settings(stack_of({"winkube:instanceGroups": groups}, kubeadm_stack.SMALL), "dev")
    plan = record(lambda: build(settings))
    made = {
        it.name.rpartition("-group")[0].rpartition("-")[2]: it.inputs
        for it in plan.resources
        if it.type == "aws:autoscaling/group:Group" and it.name.endswith("-group")
    }
    assert {name: (it["minSize"], it["maxSize"]) for name, it in made.items()} == {
        "system": (2, 4), "spot": (1, 3), "web": (1, 3), "jobs": (0, 3),
    }  # fmt: skip
    policies = {name: it["mixedInstancesPolicy"] for name, it in made.items()}
    types = {name: [it["instanceType"] for it in policy["launchTemplate"]["overrides"]]
             for name, policy in policies.items()}  # fmt: skip
    assert (types["spot"], types["web"]) == (["m6i.large", "m5.large"], ["m6i.xlarge"])
    spot = policies["spot"]["instancesDistribution"]
    assert (spot["onDemandBaseCapacity"], spot["onDemandPercentageAboveBaseCapacity"]) == (1, 0)
    tags = {name: {tag["key"] for tag in it["tags"]} for name, it in made.items()}
    template = "k8s.io/cluster-autoscaler/node-template"
    assert {name for name in tags if f"{template}/label/team" in tags[name]} == {"spot"}
    assert {name for name in tags if f"{template}/taint/dedicated" in tags[name]} == {"web"}
