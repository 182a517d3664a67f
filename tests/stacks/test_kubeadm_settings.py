"""Every setting of the kubeadm flavour with a wrong value, and what is said of it, word for word."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.config.introspection import Model, sections
from stacks.config.reading import read_settings
from stacks.config.schema import field_texts
from stacks.kubeadm.settings import KubeadmSettings
from tests.golden import golden

from .kubeadm_stack import FULL, SMALL
from .test_settings import paths

ALL = tuple(paths(KubeadmSettings))
WRONG: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "wrong_values_kubeadm.yaml").read_text(encoding="utf-8")
)
SECTIONS = [section for _, section in sections(KubeadmSettings)]


def setting_of(path: str) -> str:
    """The setting that a path leads to or into."""
    generic = re.sub(r"\[\d+\](?=\.)", "[0]", path)
    return max((setting for setting in ALL if generic.startswith(setting)), key=len)


def test_every_setting_has_a_wrong_value() -> None:
    assert sorted(set(ALL) - {setting_of(case["path"]) for case in WRONG}) == []


@pytest.mark.parametrize("case", WRONG, ids=[f"{case['path']} {case['value']}" for case in WRONG])
def test_a_wrong_value_is_told_word_for_word(lines_of: Any, case: dict[str, Any]) -> None:
    """At the path itself, or where the two that contradict each other are told (``at``)."""
    spelling = re.sub(r'\["(.+)"\]', r".\1", case.get("at", case["path"]))
    changes = {**FULL, **case.get("with", {}), case["path"]: case["value"]}
    assert lines_of(changes, SMALL) == [f"{spelling}: {golden(case['told'])}"]


def test_the_full_stack_has_no_mistake_itself(stack_of: Any) -> None:
    settings = read_settings(stack_of(FULL, SMALL), "dev")
    assert isinstance(settings, KubeadmSettings)
    assert settings.windows_releases == ("2022",)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_setting_is_described_and_its_default_told(section: type[Model]) -> None:
    texts = field_texts(section)
    for name, field in section.model_fields.items():
        assert texts.get(name), f"{section.__name__}.{name} has no text below it"
        if name != "zone" or section is not KubeadmSettings:
            assert field.is_required() != ("Default: " in texts[name]), f"{section.__name__}.{name}: {texts[name]}"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_sections_are_frozen_strict_and_closed(section: type[Model]) -> None:
    config = section.model_config
    assert (config.get("frozen"), config.get("strict"), config.get("extra")) == (True, True, "forbid")


def test_a_key_of_the_other_flavour_is_told_with_its_own(lines_of: Any) -> None:
    [line] = lines_of({"winkube:karpenter": {}}, SMALL)
    assert line.startswith("winkube:karpenter: there is no such setting")


def test_a_pod_network_too_small_for_the_groups_is_told_of_the_cluster(lines_of: Any) -> None:
    [line] = lines_of({"winkube:cluster.podCidr": "10.244.0.0/22", "winkube:cluster.nodeCountLimit": 4}, SMALL)
    assert line.startswith("winkube:cluster.podCidr: 10.244.0.0/22 has 4 subnets of /24, and the cluster may have ")


def test_a_domain_that_is_none_is_told_once(lines_of: Any) -> None:
    [line] = lines_of({"winkube:zone": {"domain": "dev_example.com"}}, SMALL)
    assert line.startswith("winkube:zone.domain: ")


def test_a_minor_out_of_support_is_told_once(lines_of: Any) -> None:
    [line] = lines_of({"winkube:cluster.kubernetesVersion": "1.34"}, SMALL)
    assert "out of support since 2026-10-27" in line


@pytest.mark.parametrize(
    ("setting", "value"), [("edition", "core"), ("bitlocker", True), ("pageFileMib", 4096), ("drainSeconds", 60)]
)
def test_what_is_said_of_windows_is_nothing_to_a_linux_group(lines_of: Any, setting: str, value: Any) -> None:
    [line] = lines_of({f"winkube:instanceGroups[0].{setting}": value}, SMALL)
    assert line.startswith(f"winkube:instanceGroups[0].{setting}: is for Windows nodes")


@pytest.mark.parametrize(("group", "runtime"), [(0, "docker"), (1, "cri-o")])
def test_a_runtime_that_a_group_cannot_have_is_told_at_the_group(lines_of: Any, group: int, runtime: str) -> None:
    [line] = lines_of({f"winkube:instanceGroups[{group}].runtime": runtime}, SMALL)
    assert line.startswith(f"winkube:instanceGroups[{group}].runtime: ")
