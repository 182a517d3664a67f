"""Every setting with a wrong value, and what is said of it, word for word."""

import inspect
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from stacks import settings as models
from stacks.reading import read_settings
from stacks.schema import field_texts
from stacks.settings import Settings
from stacks.shape import Model, bare, is_model, keys, sections

FULL = {
    "winkube:tags": {"team": "platform"},
    "winkube:zone": {"domain": "dev.example.com"},
    "winkube:stateBucket": {},
    "winkube:cluster.accessEntries": [
        {
            "name": "platform-team",
            "principalArn": "arn:aws:iam::111122223333:role/platform",
            "policies": [{"policy": "admin"}],
        }
    ],
    "winkube:cluster.windowsIpam": {},
    "winkube:instanceGroups[0].taints": [{"key": "dedicated", "effect": "PreferNoSchedule"}],
}
"""On top of the small stack: one of everything, so that each setting has a place to be wrong at."""

BOUNDARY = 'write it as "arn:aws:iam::<account>:policy/<name>"'
WRONG: list[tuple[str, Any, str]] = []
"""Where, what, and the text between the path and the end of the line."""


def paths(model: type[Model] = Settings, prefix: str = "") -> Iterator[str]:
    """Every setting there is, as the file spells its path."""
    for alias, name in keys(model).items():
        path = f"{prefix}.{alias}" if prefix else alias
        yield path
        annotation = bare(model.model_fields[name].annotation)
        if not is_model(annotation) and (items := get_args(annotation)) and is_model(bare(items[0])):
            annotation, path = bare(items[0]), f"{path}[0]"
        if is_model(annotation):
            yield from paths(annotation, path)


def base(path: str) -> str:
    return path if path in ALL else path.rpartition("[")[0] if path.endswith("]") else path.rpartition(".")[0]


ALL = tuple(paths())


def test_every_setting_has_a_wrong_value_in_the_table() -> None:
    tested = {base(path) for path, _, _ in WRONG}
    assert sorted(set(ALL) - tested) == []
    assert sorted(tested - set(ALL)) == []


@pytest.mark.parametrize(("path", "value", "text"), WRONG, ids=[f"{path}={value}" for path, value, _ in WRONG])
def test_a_wrong_value_is_told_word_for_word(lines_of: Any, path: str, value: Any, text: str) -> None:
    assert lines_of({**FULL, path: value}) == [f"{path}: {text}"]
