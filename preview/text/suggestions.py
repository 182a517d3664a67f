"""The name that somebody meant, for a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest(wrong: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name that is most like a wrong one, None where none is; case and underscores do not count.

    >>> closest("Min_size", ["maxSize", "minSize"])
    'minSize'
    """
    by_spelling = {_spelling(name): name for name in names}
    found = get_close_matches(_spelling(wrong), by_spelling, n=1, cutoff=cutoff)
    return by_spelling[found[0]] if found else None


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """A question to end a message with, after a space; ``""`` where no name is close.

    >>> did_you_mean("prd", ["dev", "prod"])
    ' Did you mean "prod"?'
    """
    found = closest(wrong, names)
    return f' Did you mean "{found}"?' if found else ""


def _spelling(name: str) -> str:
    return name.replace("_", "").lower()
