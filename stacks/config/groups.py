"""Groups that a stack file does not write out: what they share is said once, and one entry may stand for many.

Both are worked out on the data, before it is read into models, so that a generated group is judged as one that was
written out. A mistake is then told where its value was said, and once.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from winkube.core.mistakes import Mistake, Mistakes, Path, Rule

from .introspection import spelled
from .settings import Settings

GROUP_COUNT = Rule("WK-SET-015", "One entry stands for 1 to 1,000 instance groups.")
SHARED = Rule("WK-SET-016", "What distinguishes a group is said by the group, not by the defaults.")

GROUPS, DEFAULTS = "winkube:instanceGroups", "winkube:instanceGroupDefaults"
OWN = ("name", "linux", "windows", "count")
"""Settings of a group that have no default for all."""
MOST = 1000


class _Origin(NamedTuple):
    """Where a group comes from."""

    entry: int
    """Its number in the file."""
    shared: frozenset[str]
    """The keys that it has from the defaults."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a stack, written out."""

    data: dict[str, Any]
    mistakes: Mistakes
    """Mistakes in what generates groups, with the Python names as paths."""
    origins: Sequence[_Origin]

    def as_said(self, model: type[Settings], found: Iterable[Mistake]) -> list[Mistake]:
        """The mistakes with the places at which the file says the values; what several groups share is told once."""
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
    """The number of the group that a path leads into."""
    return path[1] if len(path) > 1 and path[0] == "instance_groups" and isinstance(path[1], int) else None


def written_out(data: Mapping[str, Any], windows_only: Sequence[str], linux_only: Sequence[str]) -> Groups:
    """The data of a stack with every group written out.

    :param windows_only: keys that Linux groups do not have: they do not take such a default; ``linux_only`` likewise.
    """
    entries, shared = data.get(GROUPS), data.get(DEFAULTS, {})
    mistakes = Mistakes()
    if not isinstance(entries, list) or not isinstance(shared, dict):
        return Groups(dict(data), mistakes, ())
    defaults = cast(dict[str, Any], shared)
    for key in OWN:
        if key in defaults:
            mistakes.add(SHARED, ("instance_group_defaults", key), "is each group's own",
                         f"remove it here, and write {key} in the groups", defaults[key])  # fmt: skip
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
    """The groups that an entry stands for. A count that is no number is left for the models to refuse."""
    group = dict(cast(dict[str, Any], entry)) if isinstance(entry, dict) else {}
    if type(group.get("count")) is not int:
        return [entry]
    count: int = group.pop("count")
    if not 1 <= count <= MOST:
        remedy = f"write {min(max(count, 1), MOST)}, and further groups in an entry of their own"
        mistakes.add(GROUP_COUNT, ("instance_groups", number, "count"), f"must be 1 to {MOST}", remedy, count)
        return [group]
    name = group.get("name")
    if count == 1 or not isinstance(name, str):
        return [group]
    return [{**group, "name": f"{name}-{index}"} for index in range(1, count + 1)]
