"""The JSON Schema that editors complete and check stack files with."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from stacks.config.introspection import keys, sections
from stacks.config.schema import FILE, main, schema_text, stack_schema
from stacks.eks.choices import CHOICES
from stacks.eks.settings import EksSettings as Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = stack_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def dev() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8"))


def test_the_file_in_docs_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run `python -m stacks.config.schema --write`"


def test_check_tells_an_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("stacks.config.schema.FILE", tmp_path / "stack.schema.json")
    assert main(["--check"]) == 1
    assert "python -m stacks.config.schema --write" in capsys.readouterr().err
    assert main(["--write"]) == 0
    assert main(["--check"]) == 0


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_a_stack_of_the_program_fits(validator: Draft202012Validator, stack: str) -> None:
    """And its first line names the schema to editors."""
    text = (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == []
    assert text.splitlines()[0] == f"# yaml-language-server: $schema={FILE.relative_to(ROOT).as_posix()}"


def test_other_keys_of_a_stack_file_are_left_alone(validator: Draft202012Validator, dev: dict[str, Any]) -> None:
    dev |= {"secretsprovider": "awskms://alias/x", "encryptedkey": "AQ==", "environment": ["base"]}
    dev["config"] |= {"other:token": {"secure": "v1:abc"}, "aws:profile": "dev", "datadog:apiKey": {"secure": "v1:x"}}
    assert validator.is_valid(dev)


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("winkube:flavour", "aks"),
        ("winkube:colour", "blue"),
        ("aws:region", "eu-centrl-1"),
        ("winkube:network", {"cdir": "10.0.0.0/16"}),
        ("winkube:network", {"zones": "two"}),
        ("winkube:network", {"nat": "per-zone"}),
        ("winkube:network", {"gatewayEndpoints": ["sqs"]}),
        ("winkube:zone", {"visibility": "private"}),
        ("winkube:stateBucket", {"noncurrentDays": "90"}),
        ("winkube:cluster", {"name": "dev", "kubernetesVersion": 1.36}),
        ("winkube:cluster", {"name": "dev", "kubernetesVersion": "9.99"}),
        ("winkube:cluster", {"secure": "v1:abc"}),
        ("winkube:instanceGroups", [{"name": "a", "windows": 2022}]),
        ("winkube:instanceGroups", [{"name": "a", "windows": "2016"}]),
        ("winkube:instanceGroups", [{"name": "a", "linux": "al2023", "taints": [{"key": "a", "effect": "NoShedule"}]}]),
        ("winkube:instanceGroups", {"a": {}}),
    ],
)
def test_wrong_sections_do_not_fit(
    validator: Draft202012Validator, dev: dict[str, Any], section: str, wrong: Any
) -> None:
    dev["config"][section] = wrong
    assert not validator.is_valid(dev)


@pytest.mark.parametrize("section", ["winkube:flavour", "winkube:cluster", "winkube:instanceGroups", "aws:region"])
def test_required_sections_are_required(validator: Draft202012Validator, dev: dict[str, Any], section: str) -> None:
    del dev["config"][section]
    assert not validator.is_valid(dev)


def test_every_setting_is_described_in_the_schema() -> None:
    schema = stack_schema()
    holders = {"EksSettings": schema["$defs"]["eks"], **schema["$defs"]}
    for _, section in sections(Settings):
        described = holders[section.__name__]["properties"]
        assert list(described) == list(keys(section))
        assert all(entry["description"] for entry in described.values())


def test_choices_are_of_settings_that_exist_and_hold_the_default() -> None:
    for (section, name), values in CHOICES.items():
        field = section.model_fields[name]
        default = () if field.is_required() or field.default is None else field.default
        assert set(default if isinstance(default, tuple) else (default,)) <= set(values)


def test_the_schema_is_the_same_text_each_time() -> None:
    assert schema_text() == schema_text()
    assert json.loads(schema_text())["$schema"] == "https://json-schema.org/draft/2020-12/schema"
