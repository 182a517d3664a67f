"""Validators: functions that find what is wrong with a decoded value, compiled once for each type.

A validator returns ``None`` for a valid value, which costs only a few type comparisons; else it returns a list of
:class:`Problem`. Unknown values are valid everywhere. A secret is validated but never shown. ``None`` counts as absent.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..model import SIGNATURE_KEY, UNKNOWN, Reference, Secret, Severity
from ..text.suggestions import closest
from .forbidden_text import looks_secret

NOTHING: Any = object()
"""No value is to be shown."""
_LIKENESS = 0.7
"""The least similarity of a suggested name. The properties of one object are often similar."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a value."""

    message: str
    remedy: str = ""
    got: Any = NOTHING
    path: tuple[str | int, ...] = ()
    wanted: str = ""
    """The expected type, if the whole value has a wrong type; alternatives are joined from it."""
    severity: Severity = Severity.ERROR

    def under(self, key: str | int) -> "Problem":
        """The same problem, seen from the value that contains it."""
        return replace(self, path=(key, *self.path))

    def text(self) -> str:
        """The message with the value."""
        keys = [part for part in self.path if isinstance(part, str)]
        return self.message if self.got is NOTHING else f"{self.message}, got {shown(self.got, keys[-1:])}"


Validator = Callable[[Any], list[Problem] | None]


def shown(value: Any, keys: Iterable[str] = ()) -> str:
    """A value for a message, shortened to 80 characters; hidden if it may be a secret.

    >>> shown("a"), shown(Secret("a")), shown(3.0), shown("hunter2", ["password"])
    ('"a"', '<secret>', '3', '<hidden>')
    """
    if isinstance(value, Secret):
        return repr(value)
    if isinstance(value, Reference):
        return f"a reference to {value.urn.rsplit('::', 1)[-1]}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = json.dumps(value, default=repr, ensure_ascii=False)
    if looks_secret(text, keys):
        return "<hidden>"
    return text if len(text) <= 80 else f"{text[:77]}…"


def anything(value: Any) -> None:
    """Accepts every value: for types that are not known well enough."""


def text(value: Any, *, strict: bool = False) -> list[Problem] | None:
    """A string; a resource counts as its id."""
    if type(value) is str or value is UNKNOWN or type(value) is Reference:
        return None
    return _odd(value, strict_text if strict else text, "a string", None if strict else (float, int, bool))


def strict_text(value: Any) -> list[Problem] | None:
    """A string, without conversion."""
    return text(value, strict=True)


def truth(value: Any, *, strict: bool = False) -> list[Problem] | None:
    """True or false."""
    if type(value) is bool or value is UNKNOWN:
        return None
    convertible = None if strict or value not in ("true", "false") else (str,)
    return _odd(value, strict_truth if strict else truth, "true or false", convertible)


def strict_truth(value: Any) -> list[Problem] | None:
    """True or false, without conversion."""
    return truth(value, strict=True)


def number(value: Any, *, strict: bool = False) -> list[Problem] | None:
    """Any number."""
    kind = cast(Any, type(value))
    if kind is float or kind is int or value is UNKNOWN:
        return None
    return _odd(value, strict_number if strict else number, "a number", None if strict else _numeric(value))


def strict_number(value: Any) -> list[Problem] | None:
    """Any number, without conversion."""
    return number(value, strict=True)


def whole(value: Any, *, strict: bool = False) -> list[Problem] | None:
    """A whole number. All numbers are sent as floats."""
    kind = cast(Any, type(value))
    if (kind is float and value.is_integer()) or kind is int or value is UNKNOWN:
        return None
    return _odd(value, strict_whole if strict else whole, "a whole number", None if strict else _numeric(value))


def strict_whole(value: Any) -> list[Problem] | None:
    """A whole number, without conversion."""
    return whole(value, strict=True)


def resource(value: Any) -> list[Problem] | None:
    """A resource itself."""
    if type(value) is Reference or value is UNKNOWN:
        return None
    return _odd(value, resource, "a resource", None)


def asset(value: Any) -> list[Problem] | None:
    """An asset or an archive."""
    if type(value) is dict and SIGNATURE_KEY in value:
        return None
    return _odd(value, asset, "an asset or an archive", None)


def one_of(values: Iterable[Any]) -> Validator:
    """Exactly one of some values."""
    allowed = tuple(values)

    def check(value: Any) -> list[Problem] | None:
        if value in allowed or value is UNKNOWN or value is None:
            return None
        if type(value) is Secret:
            return _odd(value, check, "", None)
        words = [str(word) for word in allowed]
        near = closest(str(value), words, _LIKENESS)
        listed = ", ".join(map(shown, allowed))
        message = f"must be {listed}" if len(allowed) == 1 else f"must be one of {listed}"
        return [Problem(message, f'write "{near}"' if near else "", value)]

    return check


def listing(item: Validator) -> Validator:
    """A list whose items are all valid for ``item``."""

    def check(value: Any) -> list[Problem] | None:
        if type(value) is not list:
            return _odd(value, check, "a list", None)
        found: list[Problem] | None = None
        for index, inner in enumerate(cast(list[Any], value)):
            problems = item(inner)
            if problems:
                found = (found or []) + [problem.under(index) for problem in problems]
        return found

    return check


def mapping(item: Validator) -> Validator:
    """A mapping with any keys, whose values are all valid for ``item``."""

    def check(value: Any) -> list[Problem] | None:
        if type(value) is not dict:
            return _odd(value, check, "a mapping", None)
        found: list[Problem] | None = None
        for key, inner in cast(dict[str, Any], value).items():
            problems = item(inner)
            if problems:
                found = (found or []) + [problem.under(key) for problem in problems]
        return found

    return check


def parsed(item: Validator) -> Validator:
    """A JSON text whose value is valid for ``item``: inputs of providers are sent like this if they are not strings."""

    def check(value: Any) -> list[Problem] | None:
        if type(value) is not str:
            return _odd(value, check, "a JSON text", None)
        try:
            return item(json.loads(value))
        except ValueError:
            return item(value)

    return check


@dataclass(slots=True, eq=False)
class Fields:
    """An object with named properties, each compiled for its first value."""

    names: Mapping[str, str]
    """Property in the spelling of the provider to its spelling in a program."""
    required: frozenset[str]
    build: Callable[[str], Validator]
    compiled: dict[str, Validator] = field(default_factory=dict[str, Validator])
    rest: Validator | None = None
    """The validator of other properties; None if there may be no others."""

    def __call__(self, value: Any) -> list[Problem] | None:
        """Validate an object."""
        if type(value) is not dict:
            return _odd(value, self, "an object with named properties", None)
        fields = cast(dict[str, Any], value)
        found: list[Problem] | None = None
        compiled = self.compiled
        for key, inner in fields.items():
            validator = compiled.get(key) or self._validator(key)
            problems = validator(inner) if validator else self._unknown(key, inner)
            if problems:
                found = (found or []) + [problem.under(key) for problem in problems]
        for key in self.required:
            if fields.get(key) is None:
                found = (found or []) + [self._missing(key)]
        return found

    def _validator(self, key: str) -> Validator | None:
        if key not in self.names:
            return self.rest
        validator = self.compiled[key] = self.build(key)
        return validator

    def _unknown(self, key: str, value: Any) -> list[Problem] | None:
        if value is None or key.startswith("__"):
            return None
        near = closest(key, [*self.names, *self.names.values()], _LIKENESS)
        if near:
            return [Problem("there is no such property", f"write {self.names.get(near, near)}", value)]
        known = sorted(self.names.values())
        more = f" and {len(known) - 12} more" if len(known) > 12 else ""
        remedy = f"remove it; there are {', '.join(known[:12])}{more}" if known else "remove it"
        return [Problem("there is no such property", remedy, value)]

    def _missing(self, key: str) -> Problem:
        return Problem("is required and missing", f"set {self.names[key]}", path=(key,))


def either(*validators: Validator) -> Validator:
    """Any one of several types."""
    if len(validators) == 1:
        return validators[0]

    def check(value: Any) -> list[Problem] | None:
        tries: list[list[Problem]] = []
        for validator in validators:
            found = validator(value)
            if not found:
                return None
            tries.append(found)
        # An alternative of the right type knows best what is wrong inside.
        inside = [found for found in tries if not found[0].wanted or found[0].path]
        if inside:
            return min(inside, key=len)
        soft = [found for found in tries if found[0].severity is not Severity.ERROR]
        if soft:
            return soft[0]
        wanted = " or ".join(dict.fromkeys(found[0].wanted for found in tries))
        return [replace(tries[0][0], message=f"must be {wanted}", wanted=wanted)]

    return check


def _numeric(value: Any) -> tuple[type, ...] | None:
    try:
        float(value)
    except (TypeError, ValueError):
        return None
    return (str,)


def _odd(value: Any, validator: Validator, wanted: str, convertible: tuple[type, ...] | None) -> list[Problem] | None:
    """The problems of a value whose type is not the expected one at first sight."""
    if value is None or value is UNKNOWN:
        return None
    if type(value) is Secret:
        found = validator(value.value)
        return [replace(problem, got=value) if problem.got is not NOTHING else problem for problem in found or ()]
    if convertible and isinstance(value, convertible):
        message = f"should be {wanted}; the provider has to convert it"
        return [Problem(message, f"give {wanted}", value, wanted=wanted, severity=Severity.WARNING)]
    return [Problem(f"must be {wanted}", f"give {wanted}", value, wanted=wanted)]
