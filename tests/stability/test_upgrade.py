"""An upgrade of the library loses nothing without saying so: what a state holds stays, or the changelog names it."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pytest
from winkube.core.component import Component
from winkube.preview.model import Plan
from winkube.testing import record

from . import plans

CHANGELOG = (plans.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def unreleased(changelog: str) -> str:
    """What the changelog says of the next release."""
    return changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]


def unsaid(base: Plan, head: Plan, changelog: str) -> Iterator[str]:
    """What would be lost and is not named: under "Replaced", by its type, with what has to be done."""
    said = unreleased(changelog).partition("### Replaced")[2].partition("\n### ")[0]
    for kind, name in plans.lost(base, head):
        if f"`{kind}`" not in said:
            yield f'{kind} "{name}"'


@pytest.mark.parametrize("kept", plans.released(), ids=lambda path: path.stem)
def test_an_upgrade_replaces_nothing_without_a_word(kept: Path) -> None:
    """The stack as the last release made it, against the code of now."""
    base = plans.read(kept.read_text(encoding="utf-8"))
    assert list(unsaid(base, plans.current(kept.stem), CHANGELOG)) == []


def test_every_stack_of_production_is_kept() -> None:
    assert {path.stem for path in plans.released()} == set(plans.STACKS)


def test_a_kept_plan_holds_no_place_of_a_machine() -> None:
    for path in plans.released():
        assert not re.search(r"/(tmp|home)/", path.read_text(encoding="utf-8")), path.name


def changed_prod(change: Callable[[Plan], None]) -> tuple[Plan, Plan]:
    (prod,) = [path for path in plans.released() if path.stem == "prod"]
    base = plans.read(prod.read_text(encoding="utf-8"))
    head = copy.deepcopy(base)
    change(head)
    return base, head


def rename_the_cluster(plan: Plan) -> None:
    (cluster,) = [resource for resource in plan.resources if resource.type == "aws:eks/cluster:Cluster"]
    cluster.raw_inputs.update({"name": "another"})


def drop_the_cluster(plan: Plan) -> None:
    plan.resources[:] = [item for item in plan.resources if item.type != "aws:eks/cluster:Cluster"]


@pytest.mark.parametrize("change", [rename_the_cluster, drop_the_cluster])
def test_a_loss_is_found_and_the_changelog_can_name_it(change: Callable[[Plan], None]) -> None:
    """The check above can fail, and it takes a word under "Replaced" for an answer."""
    base, head = changed_prod(change)
    (found,) = unsaid(base, head, "## [Unreleased]\n")
    assert found.startswith("aws:eks/cluster:Cluster")
    named = "## [Unreleased]\n\n### Replaced\n\n- `aws:eks/cluster:Cluster`: move the workloads first.\n"
    assert list(unsaid(base, head, named)) == []
    assert list(unsaid(base, head, "## [Unreleased]\n\n## [0.0.1]\n\n### Replaced\n\n- `aws:eks/cluster:Cluster`\n"))


class Shop(Component):
    """A component before and after it was renamed."""

    def __init__(self, name: str, child: str, opts: pulumi.ResourceOptions | None = None, alias: str = "") -> None:
        super().__init__(name, opts)
        options = self.child(aliases=[pulumi.Alias(name=alias)] if alias else None)
        aws.s3.Bucket(f"{name}-{child}", opts=options)
        self.register_outputs({})


class Market(Shop):
    """The same under another name."""


def test_a_rename_with_aliases_loses_nothing() -> None:
    """The policy of docs/stability.md: the old name stays as an alias, of a child and of a component."""
    old = record(lambda: Shop("it", "goods"))
    bare = record(lambda: Market("it", "wares"))
    token = pulumi.ResourceOptions(aliases=[pulumi.Alias(type_="winkube:index:Shop")])
    kept = record(lambda: Market("it", "wares", token, alias="it-goods"))
    assert list(plans.lost(old, bare)) == [("aws:s3/bucket:Bucket", "it-goods")]
    assert list(plans.lost(old, kept)) == []
