"""From a section of the file to what a component's check takes, and from what the check says back to the file."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from winkube.core.mistakes import Mistake, Path, Rule
from winkube.roles.role_rules import check_boundary, check_external_policies, check_path
from winkube.roles.validation import check_policy_documents
from winkube.tables.regions import REGIONS

from ..config.introspection import Model

WINDOWS_ONLY = Rule("WK-SET-007", "What is said of Windows nodes needs some.")


def given(section: Model, **elsewhere: Any) -> Any:
    """What a check asks for: the section's values, and those that its component is given from elsewhere."""
    return SimpleNamespace(**{**dict(section), **elsewhere})


_HOMES: Mapping[str, Callable[[Path], Path]] = {
    "region": lambda section: ("region",),
    "cluster_name": lambda section: (*section, "name"),
    # Groups and node classes are judged together with the cluster that they join.
    "cluster": lambda section: ("cluster",),
}
"""Arguments of components that a file spells otherwise, or elsewhere."""


def homed(found: Iterable[Mistake], *section: str | int) -> Iterable[Mistake]:
    """The mistakes of a component, at the place in the file that its argument comes from."""
    for mistake in found:
        first, *rest = mistake.path
        home = _HOMES.get(str(first))
        place = home(section) if home else (*section, first)
        yield Mistake((*place, *rest), mistake.rule, mistake.message, mistake.remedy, mistake.got)


def partition_of(region: str) -> str | None:
    """Where roles of this program live; None as long as the region is wrong."""
    return REGIONS[region].partition if region in REGIONS else None


def check_role(section: Any, own: Iterable[str], region: str) -> Iterable[Mistake]:
    """The policies of a role, and its path."""
    partition = partition_of(region)
    yield from check_policy_documents(section.additional_policies, partition=partition)
    yield from check_external_policies(section.external_policies, partition=partition, own_policies=tuple(own))
    yield from check_boundary(section.permissions_boundary, partition=partition)
    yield from check_path(section.role_path, ("role_path",))


def windows_only(section: Model, fields: Iterable[str], otherwise: str) -> Iterable[Mistake]:
    """Settings that were given, though nothing here is Windows."""
    for field in fields:
        value = getattr(section, field)
        if value != type(section).model_fields[field].default:
            yield Mistake((field,), WINDOWS_ONLY, "is for Windows nodes, and there are none here",
                          f"remove {field}, or {otherwise}", value)  # fmt: skip
