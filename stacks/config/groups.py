"""Expands instance groups: applies their defaults, and repeats entries with a count.

Both happen before the data is read into models, so that generated groups are checked like all others. A mistake is
reported once, at the setting in the file that caused it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from winkube.core.mistakes import Mistake, Mistakes, Path, Rule

from .introspection import spelled
from .settings import Settings

GROUP_COUNT = Rule("WK-SET-015", "An entry creates 1 to 1,000 instance groups.")
SHARED = Rule("WK-SET-016", "The settings that identify a group are set in the group, not in the defaults.")

GROUPS, DEFAULTS = "winkube:instanceGroups", "winkube:instanceGroupDefaults"
OWN = ("name", "linux", "windows", "count")
"""Settings of a group that the defaults cannot hold."""
MOST = 1000


class _Origin(NamedTuple):
    """The origin of a group."""

    entry: int
    """The index of its entry in the file."""
    shared: frozenset[str]
    """The keys that it takes from the defaults."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The expanded groups of a stack."""

    data: dict[str, Any]
    mistakes: Mistakes
    """Mistakes in counts and defaults, with the Python names as paths."""
    origins: Sequence[_Origin]

    def in_file_paths(self, model: type[Settings], found: Iterable[Mistake]) -> list[Mistake]:
        """The mistakes with the paths of the file. A mistake that several groups share is reported once."""
        told: dict[tuple[Path, str], int] = {}
        kept: list[Mistake] = []
        for mistake in found:
            number = _group_of(mistake.path)
            if number is None or number >= len(self.origins):
                kept.append(mistake)
                continue
            path = self._path(model, mistake.path)
            if told.setdefault((path, mistake.rule.code), number) == number:
                message = re.sub(r"\bat \[(\d+)\]", lambda at: f"at [{self._entry(int(at[1]))}]", mistake.message)
                kept.append(Mistake(path, mistake.rule, message, mistake.remedy, mistake.got))
        return kept

    def _entry(self, number: int) -> int:
        return self.origins[number].entry if number < len(self.origins) else number

    def _path(self, model: type[Settings], path: Path) -> Path:
        origin = self.origins[cast(int, path[1])]
        below = spelled(model, path)[2:]
        if below and below[0] in origin.shared:
            return ("instance_group_defaults", *below)
        return (path[0], origin.entry, *path[2:])


def _group_of(path: Path) -> int | None:
    """The index of the group in a path; None if the path is not in a group."""
    return path[1] if len(path) > 1 and path[0] == "instance_groups" and isinstance(path[1], int) else None


def expanded(data: Mapping[str, Any], windows_only: Sequence[str], linux_only: Sequence[str]) -> Groups:
    """The data of a stack with all groups expanded.

    :param windows_only: keys that Linux groups do not have; they do not get such defaults. ``linux_only`` likewise.
    """
    entries, shared = data.get(GROUPS), data.get(DEFAULTS, {})
    mistakes = Mistakes()
    if not isinstance(entries, list) or not isinstance(shared, dict):
        return Groups(dict(data), mistakes, ())
    defaults = cast(dict[str, Any], shared)
    for key in OWN:
        if key in defaults:
            mistakes.add(SHARED, ("instance_group_defaults", key), "must be set in each group",
                         f"remove it here, and set {key} in the groups", defaults[key])  # fmt: skip
    usable = {key: value for key, value in defaults.items() if key not in OWN}
    groups: list[Any] = []
    origins: list[_Origin] = []
    for number, entry in enumerate(cast(list[Any], entries)):
        for group in _groups(entry, number, mistakes):
            left_out: Sequence[str] = ()
            if isinstance(group, dict):
                own = cast(dict[str, Any], group)
                left_out = windows_only if own.get("linux") else linux_only
                taken = {key: value for key, value in usable.items() if key not in own and key not in left_out}
                groups.append({**taken, **own})
                origins.append(_Origin(number, frozenset(taken)))
            else:
                groups.append(group)
                origins.append(_Origin(number, frozenset()))
    kept = {**data, DEFAULTS: usable} if DEFAULTS in data else data
    return Groups({**kept, GROUPS: groups}, mistakes, origins)


def _groups(entry: Any, number: int, mistakes: Mistakes) -> list[Any]:
    """The groups of an entry. A count of a wrong type is left for the models to refuse."""
    group = dict(cast(dict[str, Any], entry)) if isinstance(entry, dict) else {}
    if type(group.get("count")) is not int:
        return [entry]
    count: int = group.pop("count")
    if not 1 <= count <= MOST:
        remedy = f"write {min(max(count, 1), MOST)}, and put further groups into another entry"
        mistakes.add(GROUP_COUNT, ("instance_groups", number, "count"), f"must be 1 to {MOST}", remedy, count)
        return [group]
    name = group.get("name")
    if count == 1 or not isinstance(name, str):
        return [group]
    return [{**group, "name": f"{name}-{index}"} for index in range(1, count + 1)]
