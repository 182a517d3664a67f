"""Reads plain data into models, and reports every structural mistake in the words of the file.

pydantic finds the mistakes, but its messages are not shown. A wrong value is replaced by a placeholder (the example of
the setting, else its default) and the data is read again, so that the checks of the components can check the rest. What
they report about a placeholder is left out: :meth:`Structure.about_given`.
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

UNKNOWN_KEY = Rule("WK-SET-001", "Only existing settings may be set.")
MISSING_KEY = Rule("WK-SET-002", "Required settings are set.")
WRONG_TYPE = Rule("WK-SET-003", "A setting has a value of its type. Values are not converted.")

M = TypeVar("M", bound=Model)
Location = tuple[str | int, ...]
SAME, ANY = "[same]", "[any]"
_ROUNDS = 10
# Unknown keys are handled first. A default that depends on another setting is not made while that one is wrong.
_NOT_WRONG = ("extra_forbidden", "default_factory_not_called")


@dataclass(frozen=True)
class Structure(Generic[M]):
    """The settings that were read, and the values that had to be replaced."""

    settings: M
    mistakes: Mistakes
    """Structural mistakes, with the Python names as paths."""
    replaced: frozenset[Path]
    """The paths of placeholders."""

    def about_given(self, found: Iterable[Mistake], compared: Mapping[str, Sequence[Path]]) -> list[Mistake]:
        """The mistakes that concern given values, not placeholders.

        :param compared: code of a rule to the paths of the settings that it compares a value with. :data:`SAME` is the
            index of the mistake in a list, :data:`ANY` every index.
        """
        return [mistake for mistake in found if not self._concerns_placeholder(mistake, compared)]

    def _concerns_placeholder(self, mistake: Mistake, compared: Mapping[str, Sequence[Path]]) -> bool:
        others = compared.get(mistake.rule.code, ())
        return lies_under(mistake.path, self.replaced) or any(
            _meets(other, mistake.path, root) for other in others for root in self.replaced
        )


def lies_under(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path is one of the roots, or below one."""
    return any(path[: len(root)] == root for root in roots)


def _meets(pattern: Path, path: Path, root: Path) -> bool:
    """Whether the replaced value at ``root`` holds a setting that the pattern names for a mistake at ``path``."""
    return len(root) <= len(pattern) and all(
        part == step
        or (part == ANY and isinstance(step, int))
        or (part == SAME and path[number : number + 1] == (step,))
        for number, (part, step) in enumerate(zip(pattern, root, strict=False))
    )


def read_structure(model: type[M], data: Mapping[str, Any], replaced: Iterable[Path] = ()) -> Structure[M]:
    """Read plain data into a model. ``replaced`` are paths that were found wrong before and left out."""
    data = copy.deepcopy(dict(data))
    gone = set(replaced)
    found = Mistakes()
    # Each round repairs all mistakes that it finds. A section under a misspelled key is read in the next round.
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
    """Whether a setting is a section, or a list of sections."""
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
    """A valid value at a path: the example of the setting, else its default, else None."""
    field = field_at(model, path)
    if field is None:
        return None
    example = _of_field(field)
    return field.get_default(call_default_factory=True) if example is Nothing else example


def _other_type(expected: Any, value: Any) -> str:
    """The remedy for a value of a wrong type; empty if the value gives no hint."""
    wanted = get_args(expected) if is_union(expected) else (expected,)
    kinds = {get_origin(bare(option)) or bare(option) for option in wanted}
    if value is None:
        return "give it a value"
    if isinstance(value, float) and str in kinds:
        return "put it in quotes: without quotes YAML reads a number, and 1.30 as 1.3"
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
        return f"write a list, [{shown(value)}]" if one else "write a list, with a dash before each item"
    if kinds & {dict, Mapping} or is_model(expected):
        return "write its settings below the key, indented"
    return ""


_YES = ("yes", "on", "true", "1")
_NO = ("no", "off", "false", "0")
_EITHER = "write true or false, without quotes"


def _unknown_key(model: type[Model], data: Any, location: Location, path: Path) -> tuple[Mistake, str | None]:
    """The mistake, and the Python name of the most similar setting, to which the value is moved."""
    *outside, wrong = location
    _, section = resolve(model, outside)
    allowed = keys(section)
    # The namespace before the colon is nearly always the same and must not count as similarity.
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
    """The remedy for an unknown key: the section that has it, else the keys of this section."""
    for path, section in sections(model):
        if path and wrong in keys(section):
            where = ".".join(str(part) for part in spelled(model, path) if isinstance(part, str))
            return f"move it to {where}, which has this setting"
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
    """A section with the examples of its required settings; Nothing for a plain value."""
    section = bare(annotation)
    if get_origin(section) is tuple:
        item = placeholder(get_args(section)[0])
        return [] if item is Nothing else [item]
    if not is_model(section):
        return Nothing
    required = {alias: section.model_fields[name] for alias, name in keys(section).items()
                if section.model_fields[name].is_required()}  # fmt: skip
    return {alias: _of_field(field) for alias, field in required.items()}
