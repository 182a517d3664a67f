"""The rules that look at several resources, in depth: where a role, a cluster or a switch comes from."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from winkube.policies.model import UNKNOWN, Planned, Stack, Undecided, Violation
from winkube.policies.pods import image_release, retired_release
from winkube.policies.resource_types import (
    ACCESS_ENTRY,
    ADDON,
    CLUSTER,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    INSTANCE,
    INSTANCE_PROFILE,
    KUBERNETES_PROVIDER,
    LAUNCH_CONFIGURATION,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    ROLE,
)
from winkube.policies.rules.compute import imdsv2_required as imdsv2_rule
from winkube.policies.rules.windows_nodes import windows_ipam_once as ipam_rule
from winkube.policies.rules.windows_nodes import windows_node_role_not_shared as role_rule
from winkube.policies.user_data import system_of_user_data

WINDOWS = {"amiType": "WINDOWS_CORE_2022_x86_64", "clusterName": UNKNOWN, "nodeRoleArn": UNKNOWN}
LINUX = {"amiType": "AL2023_x86_64_STANDARD", "clusterName": UNKNOWN, "nodeRoleArn": UNKNOWN}
POWERSHELL = base64.b64encode(b"<powershell>\nexit\n</powershell>").decode()
SHELL = base64.b64encode(b"#!/bin/bash\nexit\n").decode()


def urn(kind: str, name: str) -> str:
    return f"urn:pulumi:dev::p::{kind}::{name}"


def planned(
    kind: str, name: str, props: Mapping[str, Any] | None = None, provider: str = "", **references: str
) -> Planned:
    sources: dict[str, Sequence[str]] = {key: [value] for key, value in references.items()}
    return Planned(urn(kind, name), kind, props or {}, sources, provider)


def group(name: str, props: Mapping[str, Any], role: str, cluster: str = "main") -> Planned:
    return planned(NODE_GROUP, name, props, nodeRoleArn=urn(ROLE, role), clusterName=urn(CLUSTER, cluster))


def imdsv2_required(resource: Planned) -> Iterable[str]:
    assert imdsv2_rule.resource is not None
    return imdsv2_rule.resource(resource, {})


def windows_role_not_shared(resources: Sequence[Planned]) -> Iterator[Violation]:
    assert role_rule.stack is not None
    return iter(role_rule.stack(Stack(resources), {}))


def windows_ipam_once(resources: Sequence[Planned]) -> Iterator[Violation]:
    assert ipam_rule.stack is not None
    return iter(ipam_rule.stack(Stack(resources), {}))


# -- imdsv2-required -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION, INSTANCE])
class TestImdsv2:
    def test_required_tokens_keep_the_rule(self, kind: str) -> None:
        resource = planned(kind, "x", {"metadataOptions": {"httpTokens": "required", "httpEndpoint": UNKNOWN}})
        assert list(imdsv2_required(resource)) == []

    def test_no_metadata_at_all_keeps_the_rule(self, kind: str) -> None:
        assert list(imdsv2_required(planned(kind, "x", {"metadataOptions": {"httpEndpoint": "disabled"}}))) == []

    @pytest.mark.parametrize(
        ("props", "got"),
        [
            ({}, "is not set"),
            ({"metadataOptions": {}}, "is not set"),
            ({"metadataOptions": {"httpTokens": "optional"}}, 'is "optional"'),
        ],
    )
    def test_anything_else_breaks_it(self, kind: str, props: Mapping[str, Any], got: str) -> None:
        (message,) = imdsv2_required(planned(kind, "x", props))
        assert message.endswith(f"metadataOptions.httpTokens {got}")

    @pytest.mark.parametrize(
        ("props", "path"),
        [
            ({"metadataOptions": UNKNOWN}, "metadataOptions"),
            ({"metadataOptions": {"httpTokens": UNKNOWN}}, "metadataOptions.httpTokens"),
            ({"metadataOptions": {"httpEndpoint": UNKNOWN}}, "metadataOptions.httpEndpoint"),
        ],
    )
    def test_an_unknown_value_cannot_be_decided(self, kind: str, props: Mapping[str, Any], path: str) -> None:
        with pytest.raises(Undecided) as undecided:
            list(imdsv2_required(planned(kind, "x", props)))
        assert undecided.value.path == path


def test_an_instance_takes_the_options_of_its_launch_template() -> None:
    assert list(imdsv2_required(planned(INSTANCE, "x", {"launchTemplate": {"id": UNKNOWN}}))) == []


# -- windows-node-role-not-shared ----------------------------------------------------------------------------

ROLES = [planned(ROLE, "windows"), planned(ROLE, "linux")]


def roles(*resources: Planned) -> list[Violation]:
    return list(windows_role_not_shared([*ROLES, *resources]))


def test_separate_roles_keep_the_rule() -> None:
    assert roles(group("w", WINDOWS, "windows"), group("l", LINUX, "linux")) == []


def test_a_role_that_is_shared_breaks_it_though_its_arn_is_unknown() -> None:
    (violation,) = roles(group("w", WINDOWS, "linux"), group("l", LINUX, "linux"))
    assert violation == Violation(
        'the node role "linux" is shared by "w" (Windows) and "l" (Linux)', urn(NODE_GROUP, "w")
    )  # fmt: skip


def test_a_group_that_says_nothing_of_its_ami_is_a_linux_group() -> None:
    assert len(roles(group("w", WINDOWS, "linux"), group("l", {"nodeRoleArn": UNKNOWN}, "linux"))) == 1


def test_a_role_given_by_its_arn_is_recognised() -> None:
    arn = "arn:aws:iam::123456789012:role/path/shared"
    windows, linux = ({**props, "nodeRoleArn": arn} for props in (WINDOWS, LINUX))
    (violation,) = roles(planned(NODE_GROUP, "w", windows), planned(NODE_GROUP, "l", linux))
    assert '"shared"' in violation.message


def test_a_role_given_by_its_arn_and_one_made_here_are_the_same() -> None:
    made = planned(ROLE, "made", {"name": "nodes"})
    linux = planned(NODE_GROUP, "l", {**LINUX, "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes"})
    assert len(roles(made, linux, group("w", WINDOWS, "made"))) == 1


def test_an_access_entry_says_what_a_role_is_for() -> None:
    entry = planned(ACCESS_ENTRY, "entry", {"type": "EC2_WINDOWS"}, principalArn=urn(ROLE, "linux"))
    assert len(roles(entry, group("l", LINUX, "linux"))) == 1
    assert roles(entry, group("w", WINDOWS, "linux")) == []
    person = planned(ACCESS_ENTRY, "person", {"type": "STANDARD"}, principalArn=urn(ROLE, "linux"))
    assert roles(person, group("w", WINDOWS, "linux")) == []


@pytest.mark.parametrize("kind", [LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION])
def test_self_managed_nodes_count_through_their_instance_profile(kind: str) -> None:
    profile = planned(INSTANCE_PROFILE, "profile", {"role": UNKNOWN}, role=urn(ROLE, "linux"))
    source = urn(INSTANCE_PROFILE, "profile")
    windows = planned(
        kind, "w", {"userData": POWERSHELL, "iamInstanceProfile": {"arn": UNKNOWN}}, iamInstanceProfile=source
    )
    (violation,) = roles(profile, windows, group("l", LINUX, "linux"))
    assert violation.urn == windows.urn


def test_a_custom_image_is_known_by_its_user_data() -> None:
    template = planned(LAUNCH_TEMPLATE, "template", {"userData": POWERSHELL})
    props = {"amiType": "CUSTOM", "nodeRoleArn": UNKNOWN, "launchTemplate": {"id": UNKNOWN}}
    custom = planned(
        NODE_GROUP, "custom", props, launchTemplate=template.urn, nodeRoleArn=urn(ROLE, "linux")
    )  # fmt: skip
    assert len(roles(template, custom, group("l", LINUX, "linux"))) == 1


def test_a_role_that_cannot_be_known_cannot_be_decided() -> None:
    with pytest.raises(Undecided, match=r"l\.nodeRoleArn"):
        roles(group("w", WINDOWS, "windows"), planned(NODE_GROUP, "l", LINUX))


def test_what_is_certain_is_said_before_what_cannot_be_decided() -> None:
    verdict = windows_role_not_shared(
        [*ROLES, group("w", WINDOWS, "linux"), group("l", LINUX, "linux"), planned(NODE_GROUP, "x", LINUX)]
    )
    assert next(iter(verdict)).urn == urn(NODE_GROUP, "w")
    with pytest.raises(Undecided):
        list(verdict)


def test_without_windows_nothing_is_undecided() -> None:
    assert roles(planned(NODE_GROUP, "l", LINUX)) == []


@pytest.mark.parametrize(
    ("text", "system"),
    [
        (POWERSHELL, "windows"),
        ("<script>dir</script>", "windows"),
        (SHELL, "linux"),
        ("#cloud-config\n", "linux"),
        ("[settings.kubernetes]\n", "linux"),
        ("something", None),
        (UNKNOWN, None),
        (None, None),
    ],
)
def test_user_data_shows_its_system(text: Any, system: str | None) -> None:
    assert system_of_user_data(text) == system


# -- windows-ipam-once ---------------------------------------------------------------------------------------

MAIN = planned(CLUSTER, "main", {"name": "prod"})
NODES = group("w", WINDOWS, "windows")
PROVIDER = planned(KUBERNETES_PROVIDER, "k8s", {"kubeconfig": UNKNOWN}, kubeconfig=MAIN.urn)


def addon(values: Any, cluster: str = "main", name: str = "cni") -> Planned:
    text = values if values is UNKNOWN or isinstance(values, str) else json.dumps(values)
    props = {"addonName": "vpc-cni", "configurationValues": text, "clusterName": UNKNOWN}
    return planned(ADDON, name, props, clusterName=urn(CLUSTER, cluster))


def config_map(kind: str = CONFIG_MAP, value: Any = "true", **data: Any) -> Planned:
    props = {"metadata": {"name": "amazon-vpc-cni", "namespace": "kube-system"}, "data": {"enable-windows-ipam": value}}
    return planned(kind, "map", props | data, provider=PROVIDER.urn)


def ipam(*resources: Planned) -> list[str]:
    return [violation.message for violation in windows_ipam_once([MAIN, NODES, PROVIDER, *resources])]


@pytest.mark.parametrize(
    "switch",
    [
        addon({"enableWindowsIpam": "true"}),
        addon({"enableWindowsIpam": True}),
        addon("enableWindowsIpam: 'true'\nenv: {}\n"),
        config_map(),
        config_map(CONFIG_MAP_PATCH),
    ],
)
def test_one_switch_keeps_the_rule(switch: Planned) -> None:
    assert ipam(switch) == []


@pytest.mark.parametrize(
    "resources",
    [
        [],
        [addon({})],
        [addon({"enableWindowsIpam": "false"})],
        [addon("not json")],
        [config_map(value="false")],
        [config_map(metadata={"name": "amazon-vpc-cni", "namespace": "default"})],
        [planned(ADDON, "dns", {"addonName": "coredns", "configurationValues": '{"enableWindowsIpam": "true"}'},
                 clusterName=MAIN.urn)],
    ],
)  # fmt: skip
def test_no_switch_breaks_it(resources: list[Planned]) -> None:
    assert ipam(*resources) == ['cluster "main" has Windows nodes ("w") and Windows IPAM is not on']


def test_two_switches_break_it() -> None:
    both = ipam(addon({"enableWindowsIpam": "true"}), config_map())
    assert both == ['cluster "main" switches Windows IPAM on 2 times: Addon "cni", ConfigMap "map"']
    several = ipam(config_map(), config_map(CONFIG_MAP_PATCH))
    assert several == ['cluster "main" switches Windows IPAM on 2 times: ConfigMap "map", ConfigMapPatch "map"']


def test_a_config_map_beside_the_add_on_that_owns_it_breaks_it() -> None:
    (message,) = ipam(addon({}), config_map())
    assert message.startswith('cluster "main": ConfigMap "map" switches Windows IPAM on, but the add-on "cni" owns')


@pytest.mark.parametrize("resource", [addon(UNKNOWN), config_map(value=UNKNOWN), config_map(data=UNKNOWN)])
def test_an_unknown_switch_cannot_be_decided(resource: Planned) -> None:
    with pytest.raises(Undecided):
        ipam(resource)


def test_clusters_are_told_apart() -> None:
    other = planned(CLUSTER, "other")
    nodes = group("o", WINDOWS, "windows", cluster="other")
    on = addon({"enableWindowsIpam": "true"})
    assert ipam(other, nodes, on) == ['cluster "other" has Windows nodes ("o") and Windows IPAM is not on']
    assert ipam(other, nodes, on, addon({"enableWindowsIpam": "true"}, "other", "cni2")) == []


def test_a_cluster_given_by_its_name_is_the_one_made_here() -> None:
    by_name = planned(ADDON, "cni", {"addonName": "vpc-cni", "clusterName": "prod",
                                     "configurationValues": '{"enableWindowsIpam": "true"}'})  # fmt: skip
    assert ipam(by_name) == []


def test_without_windows_nodes_or_on_somebody_elses_cluster_nothing_is_asked() -> None:
    assert list(windows_ipam_once([MAIN, group("l", LINUX, "linux")])) == []
    assert list(windows_ipam_once([planned(NODE_GROUP, "w", WINDOWS | {"clusterName": "theirs"})])) == []


# -- images --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("mcr.microsoft.com/windows/servercore:ltsc2022", "2022"),
        ("mcr.microsoft.com/windows/nanoserver:1809", "2019"),
        ("mcr.microsoft.com/dotnet/framework/aspnet:4.8-windowsservercore-ltsc2019", "2019"),
        ("mcr.microsoft.com/windows/servercore:10.0.26100.2033", "2025"),
        ("registry.example.com:5000/app:1.4-ltsc2025", "2025"),
        ("registry.example.com/app:2022", None),
        ("registry.example.com/app:1.2", None),
        ("registry.example.com/app", None),
        ("registry.example.com/windows/app@sha256:00", None),
    ],
)
def test_an_image_tells_the_release_that_it_was_built_for(image: str, release: str | None) -> None:
    assert image_release(image) == release


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("mcr.microsoft.com/windows/servercore:1909", "1909"),
        ("microsoft/iis:windowsservercore-1709", "1709"),
        ("mcr.microsoft.com/windows/servercore:ltsc2016", "Windows Server 2016"),
        ("mcr.microsoft.com/windows/servercore:ltsc2022", None),
        ("registry.example.com/app:1909", None),
    ],
)
def test_images_of_retired_releases_are_known(image: str, release: str | None) -> None:
    assert retired_release(image) == release
