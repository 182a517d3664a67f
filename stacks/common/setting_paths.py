"""Passes a section of the file to the checks of a component, and gives their mistakes the path of the setting."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from winkube.core.mistakes import Mistake, Path, Rule
from winkube.roles.role_rules import check_boundary, check_external_policies, check_path
from winkube.roles.validation import check_policy_documents
from winkube.tables.regions import REGIONS

from ..config.introspection import Model

WINDOWS_ONLY = Rule("WK-SET-007", "A setting for Windows nodes needs Windows nodes.")


def given(section: Model, **elsewhere: Any) -> Any:
    """The input of a check: the values of a section, and those that the component gets from elsewhere."""
    return SimpleNamespace(**{**dict(section), **elsewhere})


_SETTING_PATHS: Mapping[str, Callable[[Path], Path]] = {
    "region": lambda section: ("region",),
    "cluster_name": lambda section: (*section, "name"),
    # Groups and node classes are checked together with the cluster that they join.
    "cluster": lambda section: ("cluster",),
}
"""Arguments of components whose setting has another name, or stands in another section."""


def to_setting_paths(found: Iterable[Mistake], *section: str | int) -> Iterable[Mistake]:
    """The mistakes of a component, each at the path of the setting that its argument comes from."""
    for mistake in found:
        first, *rest = mistake.path
        special = _SETTING_PATHS.get(str(first))
        path = special(section) if special else (*section, first)
        yield Mistake((*path, *rest), mistake.rule, mistake.message, mistake.remedy, mistake.got)


def partition_of(region: str) -> str | None:
    """The partition of the roles of this program; None while the region is wrong."""
    return REGIONS[region].partition if region in REGIONS else None


def check_role(section: Any, own: Iterable[str], region: str) -> Iterable[Mistake]:
    """Check the policies of a role, its boundary and its path."""
    partition = partition_of(region)
    yield from check_policy_documents(section.additional_policies, partition=partition)
    yield from check_external_policies(section.external_policies, partition=partition, own_policies=tuple(own))
    yield from check_boundary(section.permissions_boundary, partition=partition)
    yield from check_path(section.role_path, ("role_path",))


def windows_only(section: Model, fields: Iterable[str], otherwise: str) -> Iterable[Mistake]:
    """Settings for Windows that were given where there are no Windows nodes."""
    for field in fields:
        value = getattr(section, field)
        if value != type(section).model_fields[field].default:
            yield Mistake((field,), WINDOWS_ONLY, "is for Windows nodes, and there are none here",
                          f"remove {field}, or {otherwise}", value)  # fmt: skip
