"""From plain data to models, with every structural mistake in the file's own words.

pydantic finds what is wrong; nothing of its wording is shown. What is wrong is then replaced by a placeholder (the
setting's example, else its default) and the data is read again, so that the checks of the components can still judge
the rest. What they say about a replaced value is left out: :meth:`Structure.about_given`.
"""

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from winkube.core.mistakes import Mistake, Mistakes, Nothing, Path, Rule, nearest, shown

from .introspection import Model, bare, field_at, in_words, inner, is_model, is_union, keys, resolve, sections, spelled

UNKNOWN_KEY = Rule("WK-SET-001", "Only the settings that exist may be set.")
MISSING_KEY = Rule("WK-SET-002", "Required settings are set.")
WRONG_TYPE = Rule("WK-SET-003", "A setting has a value of its own type: nothing is converted.")

M = TypeVar("M", bound=Model)
Location = tuple[str | int, ...]
SAME, ANY = "[same]", "[any]"
_ROUNDS = 10
# Unknown keys are dealt with first; a default that follows another setting is merely not made while that one is wrong.
_NOT_WRONG = ("extra_forbidden", "default_factory_not_called")


@dataclass(frozen=True)
class Structure(Generic[M]):
    """Data that was read, and what had to be replaced to read it."""

    settings: M
    mistakes: Mistakes
    """Structural mistakes, with the Python names as paths."""
    replaced: frozenset[Path]
    """Where a placeholder replaces what was given."""

    def about_given(self, found: Iterable[Mistake], compared: Mapping[str, Sequence[Path]]) -> list[Mistake]:
        """The mistakes that speak of given values, not of a placeholder.

        :param compared: by a rule's code, the values that it holds others against; :data:`SAME` stands for the
            mistake's own number in a list, :data:`ANY` for every one.
        """
        return [mistake for mistake in found if not self._concerns_placeholder(mistake, compared)]

    def _concerns_placeholder(self, mistake: Mistake, compared: Mapping[str, Sequence[Path]]) -> bool:
        others = compared.get(mistake.rule.code, ())
        return lies_under(mistake.path, self.replaced) or any(
            _meets(other, mistake.path, root) for other in others for root in self.replaced
        )


def lies_under(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path is one of the roots or lies below one."""
    return any(path[: len(root)] == root for root in roots)


def _meets(pattern: Path, path: Path, root: Path) -> bool:
    """Whether what lies at ``root`` was replaced, and with it what the pattern names for a mistake at ``path``."""
    return len(root) <= len(pattern) and all(
        part == step
        or (part == ANY and isinstance(step, int))
        or (part == SAME and path[number : number + 1] == (step,))
        for number, (part, step) in enumerate(zip(pattern, root, strict=False))
    )


def read_structure(model: type[M], data: Mapping[str, Any], replaced: Iterable[Path] = ()) -> Structure[M]:
    """Read plain data into a model; ``replaced`` names what was already found wrong and left out."""
    data = copy.deepcopy(dict(data))
    gone = set(replaced)
    found = Mistakes()
    # A round repairs all that it finds; a section found under a misspelt key is looked into in the round after.
    for _ in range(_ROUNDS):
        try:
            return Structure(model.model_validate_json(json.dumps(data)), found, frozenset(gone))
        except ValidationError as refused:
            errors = refused.errors(include_url=False, include_context=False)
        moved: set[Path] = set()
        for error in errors:
            if error["type"] == "extra_forbidden":
                path, _ = resolve(model, error["loc"])
                mistake, meant = _unknown_key(model, data, error["loc"], path)
                found.append(mistake)
                if meant:
                    moved.add((*path[:-1], meant))
        for error in errors:
            path, expected = resolve(model, error["loc"])
            if error["type"] in _NOT_WRONG or path in moved:
                continue
            if not lies_under(path, gone):
                found.append(_mistake(model, error["type"], path, expected, error["input"]))
            gone.add(path)
            _put_placeholder(model, data, error["loc"])
        gone |= {path for path in moved if not _holds_sections(field_at(model, path))}
    raise AssertionError("an example of a setting is itself wrong")


def _holds_sections(field: FieldInfo | None) -> bool:
    """Whether a setting is a section or a list of them: what is below a misspelt one is worth looking into."""
    annotation = bare(field.annotation) if field else Any
    return is_model(bare(get_args(annotation)[0]) if get_origin(annotation) is tuple else annotation)


def _mistake(model: type[Model], kind: str, path: Path, expected: Any, value: Any) -> Mistake:
    if kind == "missing":
        return Mistake(path, MISSING_KEY, "is required", f"add it: {in_words(expected)}{_such_as(model, path)}")
    example = _example(model, path)
    wanted = f"{shown(example)}, for example" if example else in_words(expected)
    remedy = _other_type(expected, value) or f"write {wanted}"
    return Mistake(path, WRONG_TYPE, f"must be {in_words(expected)}", remedy, value)


def _such_as(model: type[Model], path: Path) -> str:
    example = _example(model, path)
    return f", such as {shown(example)}" if example else ""


def _example(model: type[Model], path: Path) -> Any:
    """A value that is right at a path: the setting's example, else its default; None where there is neither."""
    field = field_at(model, path)
    if field is None:
        return None
    example = _of_field(field)
    return field.get_default(call_default_factory=True) if example is Nothing else example


def _other_type(expected: Any, value: Any) -> str:
    """What to write instead of a value of another type, where the value tells; else nothing."""
    wanted = get_args(expected) if is_union(expected) else (expected,)
    kinds = {get_origin(bare(option)) or bare(option) for option in wanted}
    if value is None:
        return "give it a value"
    if isinstance(value, float) and str in kinds:
        return "put it in quotes: without them YAML reads a number, and 1.30 as 1.3"
    if isinstance(value, bool | int) and str in kinds:
        return f"put it in quotes, {shown(str(value).lower())}"
    if isinstance(value, str) and int in kinds and value.strip().lstrip("-").isdigit():
        return f"write {int(value)} without quotes"
    if isinstance(value, float) and int in kinds:
        return f"write {round(value)}"
    if bool in kinds:
        word = str(value).lower()
        return f"write {'true' if word in _YES else 'false'}" if word in _YES + _NO else _EITHER
    if tuple in kinds:
        texts = any(get_args(bare(option))[:1] == (str,) for option in wanted)
        one = isinstance(value, str) and texts
        return f"write a list, [{shown(value)}]" if one else "write a list, each item behind a dash"
    if kinds & {dict, Mapping} or is_model(expected):
        return "write its settings below the key, indented"
    return ""


_YES = ("yes", "on", "true", "1")
_NO = ("no", "off", "false", "0")
_EITHER = "write true or false, without quotes"


def _unknown_key(model: type[Model], data: Any, location: Location, path: Path) -> tuple[Mistake, str | None]:
    """The mistake, and the Python name of the setting that was meant, to which its value is moved."""
    *outside, wrong = location
    _, section = resolve(model, outside)
    allowed = keys(section)
    # What precedes the colon at the top is the same for nearly all and must not count as likeness.
    tails = {alias.rpartition(":")[2]: alias for alias in allowed}
    near = tails.get(nearest(str(wrong).rpartition(":")[2], list(tails)) or "")
    holder = _at(model, data, outside)
    value = holder.pop(wrong)
    if near and near not in holder:
        holder[near] = value
        return Mistake(path, UNKNOWN_KEY, "there is no such setting", f"write {near}"), allowed[near]
    remedy = f"remove it, or move it to {near}" if near else _home(model, str(wrong), allowed)
    return Mistake(path, UNKNOWN_KEY, "there is no such setting", remedy), None


def _home(model: type[Model], wrong: str, allowed: Iterable[str]) -> str:
    """Where a key that is unknown here would be known, else what is known here."""
    for path, section in sections(model):
        if path and wrong in keys(section):
            where = ".".join(str(part) for part in spelled(model, path) if isinstance(part, str))
            return f"it is a setting of {where}: move it there"
    return f"the settings here are {', '.join(allowed)}"


def _at(model: type[Model], data: Any, location: Sequence[str | int]) -> Any:
    """The data at a location."""
    annotation: Any = model
    for step in location:
        part, annotation = inner(annotation, step)
        if part is not None:
            data = data[step]
    return data


def _put_placeholder(model: type[Model], data: Any, location: Location) -> None:
    """Put a placeholder at a location. Inside a list or map of plain values, it replaces the whole list or map."""
    while location:
        *outside, last = location
        _, holder_kind = resolve(model, outside)
        if is_model(holder_kind):
            name = keys(holder_kind)[str(last)]
            _set(_at(model, data, outside), last, _of_field(holder_kind.model_fields[name]))
            return
        if get_origin(holder_kind) is tuple and is_model(bare(get_args(holder_kind)[0])):
            path, _ = resolve(model, outside)
            field = field_at(model, path)
            item = field.examples[0][0] if field and field.examples else placeholder(get_args(holder_kind)[0])
            _at(model, data, outside)[last] = copy.deepcopy(item)
            return
        location = tuple(outside)


def _set(holder: dict[str, Any], key: str | int, value: Any) -> None:
    if value is Nothing:
        holder.pop(str(key), None)
    else:
        holder[str(key)] = copy.deepcopy(value)


def _of_field(field: FieldInfo) -> Any:
    if field.examples:
        return field.examples[0]
    return placeholder(field.annotation) if field.is_required() else Nothing


def placeholder(annotation: Any) -> Any:
    """A section with nothing but its required settings, each as its example; Nothing for a plain value."""
    section = bare(annotation)
    if get_origin(section) is tuple:
        item = placeholder(get_args(section)[0])
        return [] if item is Nothing else [item]
    if not is_model(section):
        return Nothing
    required = {alias: section.model_fields[name] for alias, name in keys(section).items()
                if section.model_fields[name].is_required()}  # fmt: skip
    return {alias: _of_field(field) for alias, field in required.items()}
