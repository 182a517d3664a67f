"""Reads the settings of a stack from its configuration, and reports all mistakes in one error."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from winkube.core.errors import WinkubeError
from winkube.core.mistakes import Mistake, Mistakes, Path, Rule

from .flavours import module_of, settings_of
from .groups import expanded
from .introspection import bare, camel, in_file_words, in_words, keys, order, spelled
from .settings import Settings
from .structure import WRONG_TYPE, read_structure

NAMESPACE = "winkube:"
FLAVOUR = "winkube:flavour"

BROKEN_JSON = Rule(
    "WK-SET-004", "A section that is given as text is well-formed JSON.", "https://www.rfc-editor.org/rfc/rfc8259"
)
SECRET_SETTING = Rule("WK-SET-005", "No setting is a secret, because settings become names, tags and plain inputs.")


def read_settings(config: Mapping[str, str], stack: str, secret_keys: Collection[str] = ()) -> Settings:
    """The settings of a stack, from its configuration as the engine passes it on: text by full key.

    :param secret_keys: the keys whose value is a secret, or holds one.
    :raises WinkubeError: the settings are wrong; with every mistake, in the order of the sections.
    """
    flavour = config.get(FLAVOUR, "")
    model = settings_of(flavour)
    data, found = _values(model, config, secret_keys)
    checks = module_of(flavour, "checks")
    groups = expanded(data, camel(checks.WINDOWS_FIELDS), camel(checks.LINUX_FIELDS))
    structure = read_structure(model, groups.data, [mistake.path[:1] for mistake in found])
    inside = [*structure.mistakes, *structure.about_given(checks.check_settings(structure.settings), checks.COMPARED)]
    found.extend(groups.mistakes)
    found.extend(groups.in_file_paths(model, inside))
    if found:
        count = "1 mistake" if len(found) == 1 else f"{len(found)} mistakes"
        # The sort is stable: mistakes of one setting stay in the order in which they were found.
        in_order = sorted(found, key=lambda mistake: order(model, mistake.path))
        raise WinkubeError(f"Pulumi.{stack}.yaml has {count}", [for_the_file(model, mistake) for mistake in in_order])
    return structure.settings


def _values(
    model: type[Settings], config: Mapping[str, str], secret_keys: Collection[str]
) -> tuple[dict[str, Any], Mistakes]:
    """The configuration of this program as plain data, without other namespaces."""
    known = keys(model)
    data: dict[str, Any] = {}
    found = Mistakes()
    for key, text in config.items():
        if key not in known and not key.startswith(NAMESPACE):
            continue
        path: Path = (known.get(key, key),)
        if key in secret_keys:
            found.append(_secret(path))
        elif key not in known:
            data[key] = _loose(text)
        elif bare(model.model_fields[known[key]].annotation) is str:
            data[key] = text
        else:
            _decode(model, key, text, path, data, found)
    return data, found


def _decode(model: type[Settings], key: str, text: str, path: Path, data: dict[str, Any], found: Mistakes) -> None:
    """Put a section into ``data``, or its mistakes into ``found``."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] in ("{", "["):
            at = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "too deep"
            found.add(BROKEN_JSON, path, f"is not well-formed JSON ({at})", "write it as YAML below the key", text)
        else:
            expected = in_words(model.model_fields[str(path[0])].annotation)
            found.add(WRONG_TYPE, path, f"must be {expected}", "write its settings below the key, indented", text)
        return
    inside = _secure_path(value)
    if inside is None:
        data[key] = value
    else:
        found.append(_secret((*path, *inside)))


def _loose(text: str) -> Any:
    """The value of an unknown key, decoded if possible, so that it can be checked under the most similar key."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else text
    except (ValueError, RecursionError):
        return text


def _secret(path: Path) -> Mistake:
    return Mistake(path, SECRET_SETTING, "is encrypted (secure:), but no setting is a secret",
                   "write the value in plain text; put a secret under a key of another namespace")  # fmt: skip


def _secure_path(value: Any) -> Path | None:
    """The path of an encrypted value in a section; None if there is none."""
    if isinstance(value, dict) and cast("dict[str, Any]", value).keys() == {"secure"}:
        return ()
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
    paths = ((step, _secure_path(inside)) for step, inside in items)
    return next(((step, *path) for step, path in paths if path is not None), None)


def for_the_file(model: type[Settings], mistake: Mistake) -> Mistake:
    """A mistake, or advice, in the spelling of the file."""
    return Mistake(
        spelled(model, mistake.path),
        mistake.rule,
        in_file_words(model, mistake.message),
        in_file_words(model, mistake.remedy),
        mistake.got,
    )
