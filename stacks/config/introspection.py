"""The structure of the settings, read from the models: which values are allowed where, and how a file spells them.

It holds the base class of the models and pure functions on their annotations. A *location* is a tuple as pydantic
reports it: keys in the spelling of the file, and tags of union branches. A *path* has the Python names instead, so that
it can be compared with the mistakes of the components.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Tag
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from winkube.core.mistakes import Path


class Model(BaseModel):
    """A section of the settings: frozen, strict about types, closed to unknown keys, camelCase in the file."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel)


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "map" if isinstance(value, dict) else "single"


def _list_or_single(value: Any) -> str:
    return "list" if isinstance(value, list) else "single"


# Unions with a discriminator by JSON type, so that a mistake is reported once, not for each branch.
NumberOrTexts = Annotated[
    Annotated[int, Tag("single")] | Annotated[tuple[str, ...], Tag("list")], Discriminator(_list_or_single)
]
PolicyDocument = Annotated[
    Annotated[str, Tag("single")]
    | Annotated[dict[str, Any], Tag("map")]
    | Annotated[tuple[dict[str, Any], ...], Tag("list")],
    Discriminator(_kind),
]


class Verbatim(str):
    """An unknown key. It keeps its spelling, even if it is the Python name of a setting."""

    __slots__ = ()


def camel(names: Iterable[str]) -> tuple[str, ...]:
    """Python names of settings in the spelling of a file."""
    return tuple(map(to_camel, names))


@cache
def keys(model: type[Model]) -> Mapping[str, str]:
    """The keys of a section in the spelling of the file, each with its Python name, in the order of the model."""
    return {field.alias or name: name for name, field in model.model_fields.items()}


def bare(annotation: Any) -> Any:
    """An annotation without ``Annotated`` and without "or None"."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if is_union(annotation):
        branches = [branch for branch in get_args(annotation) if branch is not NoneType]
        if len(branches) == 1:
            return bare(branches[0])
    return annotation


def is_union(annotation: Any) -> bool:
    """Whether an annotation is a union, written either way."""
    return get_origin(annotation) in (Union, UnionType)


def is_model(annotation: Any) -> bool:
    """Whether an annotation is a section of the settings."""
    return isinstance(annotation, type) and issubclass(annotation, Model)


def inner(annotation: Any, step: str | int) -> tuple[str | int | None, Any]:
    """One step into a bare annotation: the part of the path (None for a tag), and the annotation there."""
    if is_model(annotation):
        name = keys(annotation).get(str(step))
        return (name, bare(annotation.model_fields[name].annotation)) if name else (Verbatim(step), Any)
    if is_union(annotation):
        for branch in get_args(annotation):
            if get_origin(branch) is Annotated and Tag(str(step)) in get_args(branch):
                return None, bare(branch)
        return None, Any
    if get_origin(annotation) is tuple:
        return step, bare(get_args(annotation)[0])
    return step, bare(get_args(annotation)[-1]) if get_args(annotation) else Any


def resolve(model: type[Model], location: Sequence[str | int]) -> tuple[Path, Any]:
    """The path of a location, and the annotation of its value. A union is one step, whatever its branch."""
    path: Path = ()
    annotation: Any = model
    for number, step in enumerate(location):
        part, further = inner(annotation, step)
        if part is None and number == len(location) - 1:
            break
        path, annotation = path if part is None else (*path, part), further
    return path, annotation


def field_at(model: type[Model], path: Path) -> FieldInfo | None:
    """The setting at a path; None if there is none."""
    *outside, name = path
    _, section = resolve(model, spelled(model, tuple(outside)))
    return section.model_fields.get(str(name)) if is_model(section) else None


def spelled(model: type[Model], path: Path) -> Path:
    """A path in the spelling of the file. Names of settings change; keys of the user's own maps stay.

    Parts that the model does not have stay as they are.
    """
    return tuple(_spelling(part, section) for part, section in _steps(model, path))


def _spelling(part: str | int, section: type[Model] | None) -> str | int:
    if section is None or isinstance(part, int | Verbatim) or part not in section.model_fields:
        return part
    return section.model_fields[part].alias or part


def order(model: type[Model], path: Path) -> tuple[int, ...]:
    """The sort key of a path: the order of the settings in the models, unknown ones last."""

    def rank(part: str | int, section: type[Model] | None) -> int:
        if isinstance(part, int):
            return part
        names = list(section.model_fields) if section else []
        return names.index(part) if part in names and not isinstance(part, Verbatim) else len(names)

    return tuple(rank(part, section) for part, section in _steps(model, path))


def _steps(model: type[Model], path: Path) -> Iterator[tuple[str | int, type[Model] | None]]:
    """Every part of a path of Python names, with the section that contains it, if there is one."""
    annotation: Any = model
    for part in path:
        if is_union(annotation):
            annotation = inner(annotation, "list" if isinstance(part, int) else "map")[1]
        section: type[Model] | None = annotation if is_model(annotation) else None
        yield part, section
        annotation = inner(annotation, _spelling(part, section))[1]


def in_words(annotation: Any) -> str:
    """The type of a value, in the words of a person who writes YAML."""
    annotation = bare(annotation)
    if is_union(annotation):
        return " or ".join(dict.fromkeys(in_words(branch) for branch in get_args(annotation)))
    if is_model(annotation):
        return "a map of settings"
    if get_origin(annotation) is tuple:
        return f"a list, each item {in_words(get_args(annotation)[0])}"
    if get_origin(annotation) in (dict, Mapping):
        value = get_args(annotation)[1]
        return "a map" if value is Any else f"a map with {in_words(value)} under each key"
    return {str: "text", int: "a whole number", bool: "true or false"}.get(annotation, "a value")


def sections(model: type[Model]) -> Iterator[tuple[Path, type[Model]]]:
    """Every section, outermost first, with the path of its first occurrence (index 0 in a list)."""
    yield (), model
    for name, field in model.model_fields.items():
        annotation, path = bare(field.annotation), (name,)
        if get_origin(annotation) is tuple:
            annotation, path = bare(get_args(annotation)[0]), (name, 0)
        if is_model(annotation):
            for further, section in sections(annotation):
                yield (*path, *further), section


@cache
def spellings(model: type[Model]) -> Mapping[str, str]:
    """Every setting whose Python name differs from its spelling in the file."""
    found = {name: alias for _, section in sections(model) for alias, name in keys(section).items() if "_" in name}
    return {name: alias.rpartition(":")[2] for name, alias in found.items()}


def in_file_words(model: type[Model], text: str) -> str:
    """A message of a check with the names of settings in the spelling of the file."""
    names = spellings(model)
    return re.sub(r"\b[a-z]+(?:_[a-z0-9]+)+\b", lambda found: names.get(found[0], found[0]), text)
