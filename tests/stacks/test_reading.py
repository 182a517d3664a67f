"""What is said of a file that is wrong as a file: keys, types, JSON, secrets; and how mistakes come together."""

import json
from typing import Any

import pytest
from winkube.core.errors import WinkubeError

from stacks.config.reading import read_settings
from tests.golden import EKS_NEWEST


def test_keys_of_other_namespaces_are_nobodys_business_here(stack_of: Any) -> None:
    foreign = {"pulumi:disable-default-providers": ["*"], "aws:profile": "x", "other:network": "y"}
    assert read_settings(stack_of(foreign), "dev", {"other:network"}) == read_settings(stack_of(), "dev")


ZONE_KEYS = "domain, visibility, parentZoneId"


@pytest.mark.parametrize(
    ("path", "value", "remedy"),
    [
        ("winkube:network.cdir", "10.1.0.0/16", "write cidr"),
        ("winkube:network.public_subnets", True, "write publicSubnets"),
        ("winkube:network.kubernetesVersion", "1.36", "move it to winkube:cluster, which has this setting"),
        ("winkube:network.zone", "eu-central-1a", "write zones"),
        ("winkube:zone.qqq", 1, f"the settings here are {ZONE_KEYS}"),
        ("winkube:netwrok", {"zones": 3}, "write winkube:network"),
        ("winkube:region", "eu-west-1", "remove it, or move it to aws:region"),
        ("winkube:instanceGroups[0].lables", {"team": "a"}, "write labels"),
        ("winkube:instanceGroups[1].taint", [], "write taints"),
    ],
)
def test_an_unknown_key_is_told_with_the_setting_that_was_meant(
    lines_of: Any, path: str, value: Any, remedy: str
) -> None:
    found = lines_of({"winkube:zone": {"domain": "dev.example.com"}, path: value})
    assert found == [f"{path}: there is no such setting; {remedy} [WK-SET-001]"]


def test_a_misspelt_required_key_is_one_mistake_and_not_also_a_missing_one(lines_of: Any) -> None:
    changes = {"winkube:cluster": {"nmae": "dev", "kubernetesVersion": "1.36"}}
    assert lines_of(changes) == ["winkube:cluster.nmae: there is no such setting; write name [WK-SET-001]"]


def test_what_stands_in_a_misspelt_section_is_looked_into(lines_of: Any) -> None:
    assert lines_of({"winkube:netwrok": {"intraSubnets": "on", "nat": "sigle"}}) == [
        'winkube:network.nat: is not "none", "single" or "per_zone", got "sigle"; write "single" [WK-NET-010]',
        'winkube:network.intraSubnets: must be true or false, got "on"; write true [WK-SET-003]',
        "winkube:netwrok: there is no such setting; write winkube:network [WK-SET-001]",
    ]


def test_missing_sections_are_told_with_an_example() -> None:
    with pytest.raises(WinkubeError) as error:
        read_settings({}, "prod")
    cluster = f'{{"name": "dev", "kubernetesVersion": "{EKS_NEWEST}"}}'
    groups = '[{"name": "system", "linux": "al2023"}]'
    told = (
        ("winkube:flavour", 'text, such as "eks"'),
        ("aws:region", 'text, such as "eu-central-1"'),
        ("winkube:cluster", f"a map of settings, such as {cluster}"),
        ("winkube:instanceGroups", f"a list, each item a map of settings, such as {groups}"),
    )
    assert str(error.value).split("\n  ") == [
        "Pulumi.prod.yaml has 4 mistakes:",
        *(f"{path}: is required; add it: {words} [WK-SET-002]" for path, words in told),
    ]


BELOW = "write its settings below the key, indented"


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (
            "winkube:cluster.kubernetesVersion",
            1.30,
            "must be text, got 1.3; put it in quotes: without quotes YAML reads a number, and 1.30 as 1.3",
        ),
        ("winkube:instanceGroups[1].windows", 2022, 'must be text, got 2022; put it in quotes, "2022"'),
        ("winkube:instanceGroups[1].minSize", "2", 'must be a whole number, got "2"; write 2 without quotes'),
        ("winkube:instanceGroups[1].minSize", "two", 'must be a whole number, got "two"; write 2, for example'),
        ("winkube:instanceGroups[1].minSize", 2.0, "must be a whole number, got 2.0; write 2"),
        ("winkube:instanceGroups[1].minSize", True, "must be a whole number, got true; write 2, for example"),
        ("winkube:instanceGroups[1].minSize", None, "must be a whole number, got null; give it a value"),
        (
            "winkube:instanceGroups[1].instanceTypes",
            "m6i.large",
            'must be a list, each item text, got "m6i.large"; write a list, ["m6i.large"]',
        ),
        ("winkube:instanceGroups[1].instanceTypes[0]", 5, 'must be text, got 5; put it in quotes, "5"'),
        ("winkube:network.publicSubnets", "yes", 'must be true or false, got "yes"; write true'),
        ("winkube:network.publicSubnets", "?", 'must be true or false, got "?"; write true or false, without quotes'),
        ("winkube:network.zones[1]", 1, 'must be text, got 1; put it in quotes, "1"'),
        ("winkube:tags.costCenter", 42, 'must be text, got 42; put it in quotes, "42"'),
        ("winkube:network.zones", "eu-central-1a",
         'must be a whole number or a list, each item text, got "eu-central-1a"; write a list, ["eu-central-1a"]'),
        ("winkube:tags", ["a"], f'must be a map with text under each key, got ["a"]; {BELOW}'),
        ("winkube:network", "default", f'must be a map of settings, got "default"; {BELOW}'),
        ("winkube:instanceGroups[1]", "windows", f'must be a map of settings, got "windows"; {BELOW}'),
        ("winkube:instanceGroups", {}, "must be a list, each item a map of settings, got {}; "  # noqa: ISC004
         "write a list, with a dash before each item"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_told_in_words_with_what_to_write(
    lines_of: Any, path: str, value: Any, line: str
) -> None:
    changes: dict[str, Any] = {
        "winkube:network.zones": ["eu-central-1a", "eu-central-1b"],
        "winkube:instanceGroups[1].instanceTypes": ["m6i.large"],
    }
    assert lines_of({**changes, path: value}) == [f"{path}: {line} [WK-SET-003]"]


def test_keys_of_the_users_own_maps_keep_their_spelling(lines_of: Any) -> None:
    assert lines_of({"winkube:tags": {"cost_center": 1}}) == [
        'winkube:tags.cost_center: must be text, got 1; put it in quotes, "1" [WK-SET-003]'
    ]


def test_broken_json_is_told_with_its_place(lines_of: Any) -> None:
    [line] = lines_of({"winkube:network": '{"zones": 2,}'})
    assert line == (
        'winkube:network: is not well-formed JSON (line 1, column 13), got "{\\"zones\\": 2,}"; '
        "write it as YAML below the key [WK-SET-004]"
    )


def test_json_nested_too_deeply_is_told_and_does_not_end_the_program(lines_of: Any) -> None:
    [line] = lines_of({"winkube:network": "[" * 200_000})
    assert line.startswith("winkube:network: is not well-formed JSON (too deep)")
    assert line.endswith("[WK-SET-004]")


@pytest.mark.parametrize(
    "text", ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", '{"name": "dev", "kubernetesVersion": "1.36"}']
)
def test_a_secret_section_is_refused_whether_or_not_it_can_be_read(lines_of: Any, text: str) -> None:
    [line] = lines_of({"winkube:cluster": text}, secret_keys={"winkube:cluster", "other:token"})
    assert line == (
        "winkube:cluster: is encrypted (secure:), but no setting is a secret; write the value in plain text; "
        "put a secret under a key of another namespace [WK-SET-005]"
    )
    assert text not in line


def test_an_encrypted_value_inside_a_section_is_named_and_not_shown(lines_of: Any) -> None:
    [line] = lines_of({"winkube:instanceGroups[1].labels": {"token": {"secure": "AAABAKx"}}})
    assert line.startswith("winkube:instanceGroups[1].labels.token: is encrypted (secure:)")
    assert "AAABAKx" not in line


def test_many_mistakes_come_in_one_error_in_the_order_of_the_sections(lines_of: Any) -> None:
    """Structural and semantic mistakes together: one wrong value never hides another."""
    lines = lines_of({
        "winkube:instanceGroups[1].taints": [{"key": "a", "effect": "NoShedule"}],
        "winkube:instanceGroups[1].windows": "2023",
        "winkube:instanceGroups[1].minSize": "3",
        "winkube:cluster.kubernetesVersion": "9.99",
        "winkube:network.cidr": "10.0.0.0/29",
        "winkube:network.zones": 4,
        "winkube:flavour": "aks",
        "winkube:colour": "blue",
        "aws:region": "eu-centrl-1",
    })  # fmt: skip
    told = [(line.split(": ")[0], line[-11:-1]) for line in lines]
    assert told == [
        ("winkube:flavour", "WK-SET-006"),
        ("aws:region", "WK-NET-001"),
        ("winkube:network.cidr", "WK-NET-005"),
        ("winkube:network.zones", "WK-NET-007"),
        ("winkube:cluster.kubernetesVersion", "WK-EKS-001"),
        ("winkube:instanceGroups[1].windows", "WK-EKS-010"),
        ("winkube:instanceGroups[1].minSize", "WK-SET-003"),
        ("winkube:instanceGroups[1].taints[0].effect", "WK-SCH-004"),
        ("winkube:colour", "WK-SET-001"),
    ]


def test_a_replaced_value_is_not_judged(lines_of: Any) -> None:
    """A group whose Linux has the wrong type is still meant to be a Linux group: no word of a missing one."""
    assert lines_of({"winkube:instanceGroups[0].linux": 2023}) == [
        'winkube:instanceGroups[0].linux: must be text, got 2023; put it in quotes, "2023" [WK-SET-003]'
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"aws:region": {"secure": "v1:x"}, "winkube:network": {"zones": ["us-east-1a", "us-east-1b"]}},
        {"winkube:network": {"cidr": 10}, "winkube:cluster.serviceCidr": "10.0.0.0/20"},
        {"winkube:zone": {"domain": "dev.example.com", "visibility": 1, "parentZoneId": "Z1"}},
        {"winkube:cluster.endpointPublicAccess": "yes", "winkube:cluster.publicAccessCidrs": ["203.0.113.0/24"]},
        {"winkube:cluster.windowsIpam": {"prefixDelegation": "yes", "warmPrefixTarget": 1}},
        {"winkube:instanceGroups[1].maxSize": "9", "winkube:instanceGroups[1].minSize": 6},
        {"winkube:instanceGroups[0].minSize": "1", "winkube:instanceGroups[0].maxSize": 1},
        {"winkube:instanceGroups[0].name": 1, "winkube:instanceGroups[1].name": "system"},
        {
            "winkube:cluster.accessEntries": [
                {"name": "a", "principalArn": "arn:aws:iam::111122223333:role/a", "kubernetesGroups": "team"}
            ]
        },
    ],
)
def test_nothing_is_held_against_a_value_that_was_not_given_rightly(lines_of: Any, changes: dict[str, Any]) -> None:
    [line] = lines_of(changes, secret_keys={"aws:region"} if "aws:region" in changes else ())
    assert line[-11:-1] in ("WK-SET-003", "WK-SET-005")


def test_a_replaced_value_of_one_group_hides_no_mistake_of_another(lines_of: Any) -> None:
    lines = lines_of({"winkube:instanceGroups[0].maxSize": "9", "winkube:instanceGroups[1].minSize": 6})
    assert [line[-11:-1] for line in lines] == ["WK-SET-003", "WK-EKS-019"]


def test_messages_speak_in_the_files_spelling(lines_of: Any) -> None:
    [line] = lines_of({"winkube:network": {"flowLogRetentionDays": 91}})
    assert "set flowLogRetentionDays to 120" in line
    assert "flow_log" not in line


def test_the_error_carries_the_paths_as_data(stack_of: Any) -> None:
    with pytest.raises(WinkubeError) as error:
        read_settings(stack_of({"winkube:network": {"zones": 4}}), "dev")
    assert [mistake.path for mistake in error.value.mistakes] == [("winkube:network", "zones")]


def test_defaults_are_those_of_the_models(stack_of: Any) -> None:
    settings = read_settings(stack_of(), "dev")
    assert settings.network.cidr == "10.0.0.0/16"
    assert settings.zone is None
    assert settings == read_settings(stack_of({"winkube:network": {}, "winkube:tags": {}}), "dev")
    assert json.loads(settings.model_dump_json(by_alias=True))["aws:region"] == "eu-central-1"
