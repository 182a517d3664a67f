"""``windows-ipam-once`` in depth: where the switch and its cluster come from."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from winkube.policies.model import UNKNOWN, Planned, Stack, Undecided, Violation
from winkube.policies.resource_types import (
    ADDON,
    CLUSTER,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    KUBERNETES_PROVIDER,
    NODE_GROUP,
)
from winkube.policies.rules.windows_nodes.ipam import windows_ipam_once as ipam_rule

from ...cases.base import urn
from ...nodes import LINUX, WINDOWS, group, planned


def windows_ipam_once(resources: Sequence[Planned]) -> Iterator[Violation]:
    assert ipam_rule.stack is not None
    return iter(ipam_rule.stack(Stack(resources), {}))


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
    assert ipam(*resources) == ['cluster "main" has Windows nodes ("w") but does not enable Windows IPAM']


def test_two_switches_break_it() -> None:
    both = ipam(addon({"enableWindowsIpam": "true"}), config_map())
    assert both == ['cluster "main" enables Windows IPAM in 2 places: Addon "cni", ConfigMap "map"']
    several = ipam(config_map(), config_map(CONFIG_MAP_PATCH))
    assert several == ['cluster "main" enables Windows IPAM in 2 places: ConfigMap "map", ConfigMapPatch "map"']


def test_a_config_map_beside_the_add_on_that_owns_it_breaks_it() -> None:
    (message,) = ipam(addon({}), config_map())
    assert message.startswith('cluster "main": ConfigMap "map" enables Windows IPAM, but the add-on "cni" owns')


@pytest.mark.parametrize("resource", [addon(UNKNOWN), config_map(value=UNKNOWN), config_map(data=UNKNOWN)])
def test_an_unknown_switch_cannot_be_decided(resource: Planned) -> None:
    with pytest.raises(Undecided):
        ipam(resource)


def test_clusters_are_told_apart() -> None:
    other = planned(CLUSTER, "other")
    nodes = group("o", WINDOWS, "windows", cluster="other")
    on = addon({"enableWindowsIpam": "true"})
    assert ipam(other, nodes, on) == ['cluster "other" has Windows nodes ("o") but does not enable Windows IPAM']
    assert ipam(other, nodes, on, addon({"enableWindowsIpam": "true"}, "other", "cni2")) == []


def test_a_cluster_given_by_its_name_is_the_one_made_here() -> None:
    by_name = planned(ADDON, "cni", {"addonName": "vpc-cni", "clusterName": "prod",
                                     "configurationValues": '{"enableWindowsIpam": "true"}'})  # fmt: skip
    assert ipam(by_name) == []


def test_without_windows_nodes_or_on_somebody_elses_cluster_nothing_is_asked() -> None:
    assert list(windows_ipam_once([MAIN, group("l", LINUX, "linux")])) == []
    assert list(windows_ipam_once([planned(NODE_GROUP, "w", WINDOWS | {"clusterName": "theirs"})])) == []
