"""Properties of reading that hold for any file."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from winkube.core.errors import WinkubeError

from stacks.config.introspection import keys, sections
from stacks.config.reading import read_settings
from stacks.config.structure import placeholder
from stacks.eks.settings import EksSettings as Settings

from .conftest import SMALL, put
from .test_settings import FULL

ROOT = Path(__file__).parents[2]
DEV, PROD = (
    yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))["config"] for stack in ("dev", "prod")
)
EVERYTHING = copy.deepcopy(dict(SMALL))
for path, value in FULL.items():
    put(EVERYTHING, path, copy.deepcopy(value))
JARGON = ("Input should", "valid integer", "pydantic", "Extra inputs", "Field required", "type=", "ValidationError")
KEYS = sorted({alias for _, section in sections(Settings) for alias in keys(section)})
WORDS = [
    "",
    "eks",
    "al2023",
    "2025",
    "1.36",
    "NoSchedule",
    "10.0.0.0/16",
    "::/0",
    "eu-central-1",
    "m6i.",
    "*",
    "{}",
    "é",
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 70_000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(WORDS)
)
KEY = st.sampled_from(KEYS) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=4), max_leaves=12
)


def as_config(content: dict[str, Any]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in content.items()}


def told(config: dict[str, str]) -> str:
    """What is said of a configuration; nothing, if it is right."""
    try:
        read_settings(config, "dev")
    except WinkubeError as error:
        return str(error)
    return ""


def places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in the data at which a value stands, as holder and key."""
    steps = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for step, inside in steps:
        yield content, step
        yield from places(inside)


def test_the_stacks_of_the_program_have_no_mistake() -> None:
    assert told(as_config(DEV)) == told(as_config(PROD)) == ""


def test_placeholders_are_accepted() -> None:
    assert told(as_config(placeholder(Settings))) == ""


def test_every_example_is_right_for_its_setting() -> None:
    for _, section in sections(Settings):
        required = placeholder(section)
        for alias, name in keys(section).items():
            for example in section.model_fields[name].examples or ():
                section.model_validate_json(json.dumps({**required, alias: example}))


@settings(max_examples=200)
@given(st.data())
def test_whatever_a_file_says_ends_in_settings_or_in_mistakes_in_our_own_words(data: st.DataObject) -> None:
    content = copy.deepcopy(data.draw(st.sampled_from([DEV, PROD, EVERYTHING])))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, step = data.draw(st.sampled_from(list(places(content))))
        holder[step] = data.draw(VALUES)
    text = told(as_config(content))
    assert not any(word in text for word in JARGON)
    for line in text.split("\n  ")[1:]:
        assert line.startswith(("winkube:", "aws:region")), line


@settings(max_examples=50)
@given(st.permutations(list(keys(Settings))))
def test_the_order_of_the_keys_changes_nothing(order: list[str]) -> None:
    assert told(dict.fromkeys(order, "[]")) == told(dict.fromkeys(sorted(order), "[]")) != ""
