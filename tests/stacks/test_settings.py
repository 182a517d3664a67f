"""Every setting with a wrong value, and what is said of it, word for word."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from stacks import deploy
from stacks.config.introspection import Model, bare, is_model, keys, sections
from stacks.config.reading import for_the_file, read_settings
from stacks.config.schema import field_texts
from stacks.eks.checks import advise_settings
from stacks.eks.settings import EksSettings as Settings
from tests.golden import golden

FULL: dict[str, Any] = {
    "winkube:tags": {"team": "platform"},
    "winkube:network": {
        "zones": ["eu-central-1a", "eu-central-1b"],
        "gatewayEndpoints": ["s3", "dynamodb"],
        "interfaceEndpoints": ["sts"],
    },
    "winkube:zone": {"domain": "dev.example.com"},
    "winkube:stateBucket": {
        "readerPrincipals": ["arn:aws:iam::111122223333:role/auditor"],
        "writerPrincipals": ["arn:aws:iam::111122223333:role/platform"],
    },
    "winkube:cluster.logTypes": ["audit", "api"],
    "winkube:cluster.accessEntries": [
        {
            "name": "platform-team",
            "principalArn": "arn:aws:iam::111122223333:role/platform",
            "policies": [{"policy": "admin", "namespaces": ["team-a"]}],
            "kubernetesGroups": ["platform"],
        }
    ],
    "winkube:cluster.windowsIpam": {},
    "winkube:cluster.securityGroups": {"podPorts": [{"first": 8080}], "egressCidrs": ["0.0.0.0/0"]},
    "winkube:cluster.securityGroupIds": ["sg-0123456789abcdef0"],
    "winkube:cluster.additionalPolicies": [{"Effect": "Allow", "Action": "ec2:DescribeTags", "Resource": "*"}],
    "winkube:cluster.externalPolicies": ["arn:aws:iam::111122223333:policy/extra"],
    "winkube:instanceGroups[0].taints": [{"key": "dedicated", "effect": "PreferNoSchedule"}],
    "winkube:instanceGroups[1].proxy": {"https": "http://proxy.example.com:3128"},
    "winkube:instanceGroups[1].warmPool": {},
    "winkube:instanceGroups[1].commandsBefore": ["Write-Host 'before'"],
    "winkube:instanceGroups[1].securityGroupIds": ["sg-0123456789abcdef0"],
    "winkube:instanceGroups[1].taints": [{"key": "dedicated"}],
    "winkube:instanceGroups[1].labels": {"team": "platform"},
    "winkube:instanceGroups[1].instanceTypes": ["m6i.large"],
    "winkube:instanceGroups[1].tags": {"team": "platform"},
    "winkube:instanceGroups[1].additionalPolicies": [
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::tools/*"}
    ],
    "winkube:instanceGroups[1].externalPolicies": ["arn:aws:iam::111122223333:policy/extra"],
    "winkube:addons": [
        {"name": "aws-ebs-csi-driver", "additionalPolicies": [], "values": {}},
        {"name": "csi-driver-smb"},
        {"name": "karpenter"},
        {"name": "cert-manager"},
        {"name": "windows-gmsa"},
        {"name": "metrics-server"},
    ],
    "winkube:storageClasses": {
        "ntfs": [{"className": "ebs-ntfs"}],
        "smb": [
            {
                "className": "smb",
                "share": "//fs-0123456789abcdef0.corp.example.com/share",
                "secretName": "smb-credentials",
                "secretNamespace": "kube-system",
            }
        ],
    },
    "winkube:karpenter": {
        "windowsPools": [{"poolName": "windows2022", "windows": "2022", "taints": [{"key": "os", "value": "windows"}]}]
    },
    "winkube:windowsLogs": {},
    "winkube:gmsaCredentialSpecs": [
        {
            "specName": "web-app",
            "accountName": "WebApp",
            "domainName": "corp.example.com",
            "netbiosName": "CORP",
            "domainGuid": "244818ae-87ac-4fcd-92ec-e79e5252348a",
            "domainSid": "S-1-5-21-2126449477-2524075714-3094792973",
            "users": [{"namespace": "team-a", "serviceAccount": "web-app"}],
        }
    ],
}
"""On top of the small stack: one of everything, so that each setting has a place to be wrong at."""


LINUX_ONLY = [{"name": "system", "linux": "al2023"}]


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


ALL = tuple(paths())
SECTIONS = [section for _, section in sections(Settings)]
WRONG: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "wrong_values.yaml").read_text(encoding="utf-8"))


def setting_of(path: str) -> str:
    """The setting that a path leads to or into: an item of a list and a key of a map belong to their setting."""
    generic = re.sub(r"\[\d+\](?=\.)", "[0]", path)
    return max((setting for setting in ALL if generic.startswith(setting)), key=len)


def test_every_setting_has_a_wrong_value() -> None:
    assert sorted(set(ALL) - {setting_of(case["path"]) for case in WRONG}) == []


@pytest.mark.parametrize("case", WRONG, ids=[f"{case['path']} {case['value']}" for case in WRONG])
def test_a_wrong_value_is_told_word_for_word(lines_of: Any, case: dict[str, Any]) -> None:
    """At the path itself, or where the two that contradict each other are told (``at``)."""
    spelling = re.sub(r'\["(.+)"\]', r".\1", case.get("at", case["path"]))
    assert lines_of({**FULL, **case.get("with", {}), case["path"]: case["value"]}) == [
        f"{spelling}: {golden(case['told'])}"
    ]


def test_the_full_stack_has_no_mistake_itself(stack_of: Any) -> None:
    assert read_settings(stack_of(FULL), "dev").state_bucket is not None


def test_a_mistake_names_its_values_limit_or_list() -> None:
    """No message is a bare "invalid": each has a code, and each says what to write."""
    for case in WRONG:
        assert re.fullmatch(r".+; .+ \[WK-[A-Z0-9]+-\d{3}\]", case["told"]), case["told"]


@pytest.mark.parametrize(
    "section", [section for _, section in sections(Settings)], ids=lambda section: section.__name__
)
def test_every_setting_is_described_and_its_default_told(section: type[Model]) -> None:
    texts = field_texts(section)
    for name, field in section.model_fields.items():
        assert texts.get(name), f"{section.__name__}.{name} has no text below it"
        assert field.is_required() != ("Default: " in texts[name]), f"{section.__name__}.{name}: {texts[name]}"


@pytest.mark.parametrize(
    "section", [section for _, section in sections(Settings)], ids=lambda section: section.__name__
)
def test_sections_are_frozen_strict_and_closed(section: type[Model]) -> None:
    config = section.model_config
    assert (config.get("frozen"), config.get("strict"), config.get("extra")) == (True, True, "forbid")


def test_two_overlapping_networks_are_told_with_a_free_one(lines_of: Any) -> None:
    [line] = lines_of({"winkube:network": {"cidr": "172.20.0.0/16"}})
    assert line == (
        'winkube:cluster.serviceCidr: overlaps network.cidr (172.20.0.0/16), got "172.20.0.0/16"; '
        'set cluster.serviceCidr to "172.21.0.0/16", for example [WK-NET-015]'
    )


def test_a_release_too_new_for_the_cluster_is_told_with_both_ways_out(lines_of: Any) -> None:
    changes = {"winkube:cluster.kubernetesVersion": "1.34", "winkube:instanceGroups[1].windows": "2025"}
    assert lines_of(changes) == [
        'winkube:instanceGroups[1].windows: Windows Server 2025 needs Kubernetes 1.35 or newer on EKS, got "1.34"; '  # noqa: ISC004
        'set cluster.kubernetesVersion to "1.35" or windows to "2022" [WK-EKS-012]'
    ]


@pytest.mark.parametrize("system", [{}, {"linux": "al2023", "windows": "2022"}])
def test_a_group_is_either_linux_or_windows(lines_of: Any, system: dict[str, str]) -> None:
    [line] = lines_of({"winkube:instanceGroups[2]": {"name": "third", **system}})
    assert line.startswith("winkube:instanceGroups[2].windows: a group is either Linux or Windows")
    assert line.endswith("[WK-EKS-031]")


def test_windows_networks_that_the_nodes_cannot_hold_are_told_at_the_group(lines_of: Any) -> None:
    [line] = lines_of({"winkube:cluster.windowsIpam": {"minimumIpTarget": 40}})
    assert line == (
        "winkube:instanceGroups[1].instanceTypes[0]: minimumIpTarget is 40, and m6i.large holds 9 addresses, "
        'got "m6i.large"; set minimumIpTarget to 9 or less [WK-EKS-055]'
    )


def test_addresses_of_windows_pods_are_nothing_to_a_cluster_without_windows_nodes(lines_of: Any) -> None:
    changes = {"winkube:cluster.windowsIpam": {"prefixDelegation": True}, "winkube:instanceGroups": LINUX_ONLY}
    assert lines_of(changes) == [
        "winkube:cluster.windowsIpam.prefixDelegation: is for Windows nodes, and there are none here, got true; "  # noqa: ISC004
        "remove prefixDelegation, or add a group with windows [WK-SET-007]"
    ]


def test_a_cluster_without_windows_nodes_is_right(stack_of: Any) -> None:
    assert len(read_settings(stack_of({"winkube:instanceGroups": LINUX_ONLY}), "dev").instance_groups) == 1


def test_a_public_endpoint_names_who_may_reach_it(lines_of: Any) -> None:
    [line] = lines_of({"winkube:cluster.endpointPublicAccess": True})
    assert line.startswith(
        "winkube:cluster.publicAccessCidrs: without CIDRs, the public endpoint is open to the internet"
    )
    assert "set endpointPublicAccess to false" in line


@pytest.mark.parametrize(("system", "size"), [({"linux": "al2023"}, 2), ({"windows": "2022"}, 1)])
def test_a_group_starts_with_the_nodes_that_its_system_needs(stack_of: Any, system: dict[str, str], size: int) -> None:
    settings = read_settings(stack_of({"winkube:instanceGroups[1]": {"name": "more", **system}}), "dev")
    assert settings.instance_groups[1].min_size == size


def test_a_percentage_of_nodes_takes_the_place_of_the_number(stack_of: Any) -> None:
    settings = read_settings(stack_of({"winkube:instanceGroups[1].maxUnavailablePercentage": 50}), "dev")
    assert [group.max_unavailable for group in settings.instance_groups] == [1, None]


def test_coredns_on_fargate_does_away_with_linux_groups_but_not_for_addons(stack_of: Any, lines_of: Any) -> None:
    changes = {"winkube:cluster.coreDns": "fargate", "winkube:instanceGroups": [{"name": "win", "windows": "2022"}]}
    assert read_settings(stack_of(changes), "dev").cluster.core_dns == "fargate"
    assert lines_of({**changes, "winkube:addons": [{"name": "metrics-server"}]}) == [
        "winkube:addons: Fargate runs CoreDNS only, and there are no Linux nodes for add-ons, "  # noqa: ISC004
        'got ["metrics-server"]; add a group with linux: "al2023", or remove the add-ons [WK-SET-011]'
    ]


def test_what_all_groups_find_wrong_with_the_cluster_is_one_mistake(lines_of: Any) -> None:
    """Three groups that start themselves need an access entry each, which the mode of the cluster does not have."""
    groups = [{"name": "system", "linux": "al2023"}]
    groups += [{"name": name, "windows": "2022", "management": "self_managed"} for name in ("a", "b", "c")]
    [line] = lines_of({"winkube:instanceGroups": groups, "winkube:cluster.authenticationMode": "CONFIG_MAP"})
    assert line == (
        "winkube:cluster.authenticationMode: nodes of this group need an access entry, which this authentication mode "
        'does not support, got "CONFIG_MAP"; set authenticationMode to "API_AND_CONFIG_MAP" [WK-EKS-080]'
    )


def test_karpenters_nodes_need_a_mode_with_access_entries(lines_of: Any) -> None:
    [line] = lines_of({
        "winkube:addons": [{"name": "karpenter"}], "winkube:cluster.authenticationMode": "CONFIG_MAP",
    })  # fmt: skip
    assert line.startswith("winkube:cluster.authenticationMode: the role of Windows nodes needs an access entry")
    assert line.endswith("[WK-ADD-042]")


def test_tags_that_karpenter_writes_are_told_where_they_stand(lines_of: Any) -> None:
    [line] = lines_of({"winkube:addons": [{"name": "karpenter"}], "winkube:tags": {"karpenter.sh/nodepool": "x"}})
    assert line.startswith("winkube:tags.karpenter.sh/nodepool: Karpenter writes tags that begin with")
    assert line.endswith("[WK-ADD-044]")


def test_windows_nodes_of_karpenter_are_windows_nodes(stack_of: Any) -> None:
    """Addresses, releases and the Windows parts of add-ons follow from them as from groups."""
    changes = {
        "winkube:instanceGroups": LINUX_ONLY,
        "winkube:cluster.windowsIpam": {"prefixDelegation": True},
        "winkube:addons": [{"name": "karpenter"}, {"name": "aws-ebs-csi-driver", "windows": True}],
        "winkube:karpenter": {"windowsPools": [{"poolName": "windows2025", "windows": "2025"}]},
    }
    assert read_settings(stack_of(changes), "dev").windows_releases == ("2025",)


def test_a_private_network_asks_for_no_endpoint_that_nothing_calls(stack_of: Any, lines_of: Any) -> None:
    """A group that starts itself does not ask EKS for the cluster; the autoscaler asks for its own service."""
    group = {"name": "system", "linux": "al2023", "management": "self_managed"}
    endpoints = ["ec2", "ecr.api", "ecr.dkr", "sts", "logs", "ssm", "ssmmessages", "ec2messages"]
    changes = {
        "winkube:instanceGroups": [group],
        "winkube:network": {"nat": "none", "interfaceEndpoints": endpoints},
    }
    assert read_settings(stack_of(changes), "dev").network.nat == "none"
    [line] = lines_of({**changes, "winkube:addons": [{"name": "cluster-autoscaler"}]})
    assert "without NAT, nodes need VPC endpoints for autoscaling," in line


ADVISED = {
    "winkube:instanceGroups[0].minSize": 1,
    "winkube:instanceGroups[1].instanceTypes": ["m6i.xlarge"],
    "winkube:cluster.windowsIpam": {"prefixDelegation": True},
}


def test_what_is_not_advised_is_no_mistake(stack_of: Any) -> None:
    """Only what no component says itself: a single Linux node, and too few reserved prefixes."""
    advice = [
        for_the_file(Settings, mistake).text() for mistake in advise_settings(read_settings(stack_of(ADVISED), "dev"))
    ]
    assert advice == [
        "winkube:instanceGroups: a cluster with Windows nodes should have at least two Linux nodes, got 1; "  # noqa: ISC004
        "set minSize of a Linux group to 2 [WK-EKS-029]",
        "winkube:network.windowsPrefixReservations: Windows nodes may need 21 prefixes, and 0 are reserved, got 0; "  # noqa: ISC004
        "reserve 21 blocks across all subnets [WK-EKS-058]",
    ]


def test_advice_is_given_once_and_ends_nothing(record: Any, stack_of: Any) -> None:
    """The program goes on, and each advice is one warning: of a single group by its component."""
    groups = [{"name": "one", "linux": "al2023", "minSize": 1}, {"name": "old", "windows": "2019"}]
    plan = record(deploy, config=stack_of({"winkube:instanceGroups": groups}))
    warnings = [message for severity, message in plan.logs if severity == "warning"]
    assert sorted(message[-12:] for message in warnings) == ["[WK-EKS-028]", "[WK-EKS-029]"]
    assert len(plan.resources) > 50
