"""Rules and mistakes: what is wrong, where, and what to write instead. Plain data; imports no SDK.

A :class:`Rule` is a fixed code with a sentence and the page it comes from; it lives as a module constant
beside the check that applies it. A check is a pure function that adds to a :class:`Mistakes` list, so that
settings, components and policies report the same words.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

Path = tuple[str | int, ...]
"""Where a value stands: ``("instance_groups", 1, "windows")``, in the names of the Python arguments."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that an input must keep, with a code that never changes its meaning."""

    code: str
    """``WK-<ROOM>-<three digits>``."""
    title: str
    """The rule as one sentence, for the reference page."""
    source: str = ""
    """The page that the rule comes from."""


class Nothing:
    """Says that a mistake has no value to show."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One input that breaks one rule."""

    path: Path
    rule: Rule
    message: str
    """What is wrong, without the value: "Windows Server 2025 needs Kubernetes 1.35 or newer on EKS"."""
    remedy: str
    """What to write instead, as an order: 'set windows to "2022"'."""
    got: Any = Nothing
    """The value found."""

    def under(self, *prefix: str | int) -> "Mistake":
        """The same mistake, seen from further out."""
        return Mistake((*prefix, *self.path), self.rule, self.message, self.remedy, self.got)

    def text(self, root: str = "") -> str:
        """One line: path, rule, value got, remedy, code."""
        got = "" if self.got is Nothing else f", got {shown(self.got)}"
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{path_text(self.path, root)}: {self.message}{got}{remedy} [{self.rule.code}]"


class Mistakes(list[Mistake]):
    """Mistakes in the order in which they were found."""

    def add(self, rule: Rule, path: Path, message: str, remedy: str, got: Any = Nothing) -> None:
        """Note one mistake."""
        self.append(Mistake(path, rule, message, remedy, got))

    def take(self, found: Iterable[Mistake], *prefix: str | int) -> None:
        """Note the mistakes that an inner check found, under ``prefix``."""
        self.extend(mistake.under(*prefix) for mistake in found)


CLOSE = 0.6
"""How alike two words must be, from 0 to 1, for one to be offered instead of the other."""


def shown(value: Any) -> str:
    """A value as a person would write it in a settings file, cut at 80 characters.

    >>> shown("1.34"), shown(True), shown(("a", 1))
    ('"1.34"', 'true', '["a", 1]')
    """
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"


def path_text(path: Path, root: str = "", *, camel: bool = False) -> str:
    """A path in the reader's spelling.

    >>> path_text(("instance_groups", 1, "windows"), "winkube:", camel=True)
    'winkube:instanceGroups[1].windows'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (camel_case(part) if camel else part)
    if root and text and root[-1] not in ":.":
        root += "" if text.startswith("[") else "."
    return root + text


def camel_case(name: str) -> str:
    """``max_size`` as ``maxSize``; a name with a ``.``, ``/`` or ``-`` is a key of the user's and stays.

    >>> camel_case("max_size"), camel_case("eks.amazonaws.com/x_y")
    ('maxSize', 'eks.amazonaws.com/x_y')
    """
    if any(mark in name for mark in "./-"):
        return name
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def one_of(values: Iterable[Any]) -> str:
    """The allowed values in words.

    >>> one_of(["2022", "2025"])
    '"2022" or "2025"'
    """
    *most, last = [shown(value) for value in values]
    return f"{', '.join(most)} or {last}" if most else last


def nearest(wrong: str, allowed: Sequence[str]) -> str | None:
    """The allowed word that is closest to the wrong one, if one is close; of two that are as close the first.

    >>> nearest("NoShedule", ["PreferNoSchedule", "NoSchedule"]), nearest("2023", ["2022", "2025"])
    ('NoSchedule', '2022')
    """
    matcher = SequenceMatcher(b=wrong.lower())
    best, closeness = None, CLOSE
    for word in allowed:
        matcher.set_seq1(word.lower())
        if matcher.real_quick_ratio() > closeness and matcher.quick_ratio() > closeness:
            ratio = matcher.ratio()
            if ratio > closeness:
                best, closeness = word, ratio
    return best
