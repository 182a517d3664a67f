"""Windows IPAM: where it is enabled, and its settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winkube.eks.ipam import (
    CONFIG_MAP_NAME,
    CONFIG_MAP_NAMESPACE,
    IPAM_SETTINGS,
    check_ipam_capacity,
    check_windows_ipam,
)

from ...eks_resources import addon_values
from ...frameworks import BEST_PRACTICES, WINDOWS_SUPPORT_PAGE, best_practices, eks_guide
from ...inventory import Inventory, inventory, short_name
from ...model import Planned, Settings, Stack, Undecided, Value, Violation, every, resource_rule, stack_rule, texts
from ...resource_types import ACCESS_ENTRY, ADDON, CLUSTER, CONFIG_MAP, CONFIG_MAP_PATCH, NODE_GROUP

PREFIX_PAGE = f"{BEST_PRACTICES}/prefix-mode-win.html"


@stack_rule(
    "windows-ipam-once",
    "A cluster with Windows nodes enables Windows IPAM in exactly one place",
    types=[CLUSTER, NODE_GROUP, ACCESS_ENTRY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='with the vpc-cni add-on, set enableWindowsIpam to "true" in its configuration_values; without it, set '
    'enable-windows-ipam to "true" in the ConfigMap kube-system/amazon-vpc-cni; never do both',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_ipam_once(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without it, Windows pods get no address; of two places, one overwrites the other."""
    plan = inventory(stack)
    windows = plan.windows_clusters
    unclear: list[str] = []
    enabled: dict[str, list[str]] = {}
    addons: dict[str, str] = {}
    for resource in stack.of(ADDON, CONFIG_MAP, CONFIG_MAP_PATCH):
        cluster = _cluster_of_settings(plan, resource)
        if cluster is None:
            continue
        if resource.type == ADDON and resource["addonName"].settled == "vpc-cni":
            addons[cluster] = resource.name
        try:
            if _ipam(_ipam_settings(resource)).enabled:
                enabled.setdefault(cluster, []).append(f'{resource.type.rsplit(":", 1)[-1]} "{resource.name}"')
        except Undecided as unknown:
            unclear.append(f"{resource.name}.{unknown.path}")
    for cluster, nodes in sorted(windows.items()):
        name, found = short_name(cluster), enabled.get(cluster, [])
        urn = cluster if cluster in plan.by_urn else nodes.urn
        if len(found) > 1:
            yield Violation(f'cluster "{name}" enables Windows IPAM in {len(found)} places: {", ".join(found)}', urn)
        elif found and cluster in addons and not found[0].startswith("Addon"):
            yield Violation(
                f'cluster "{name}": {found[0]} enables Windows IPAM, but the add-on "{addons[cluster]}" owns that '
                "ConfigMap and overwrites it", urn,
            )  # fmt: skip
        elif not found and not unclear and cluster in plan.by_urn:
            yield Violation(
                f'cluster "{name}" has Windows nodes ("{nodes.name}") but does not enable Windows IPAM', urn
            )
    if windows and unclear:
        raise Undecided(unclear[0])


def _cluster_of_settings(plan: Inventory, resource: Planned) -> str | None:
    """The cluster of an add-on or a ConfigMap; of a ConfigMap whose cluster is unclear the only one with Windows."""
    cluster = plan.cluster(resource)
    if cluster is None and resource.type != ADDON and len(plan.windows_clusters) == 1:
        return next(iter(plan.windows_clusters))
    return cluster


def _ipam_settings(resource: Planned) -> Mapping[str, Any]:
    """The settings of the CNI in an add-on or a ConfigMap, by the add-on's names; none where it holds no such."""
    if resource.type == ADDON:
        return addon_values(resource["configurationValues"]) if resource["addonName"].settled == "vpc-cni" else {}
    metadata = Value(resource["metadata"].settled, "metadata")
    namespace = metadata["namespace"]
    if metadata["name"].settled != CONFIG_MAP_NAME or not (namespace.unknown or namespace.raw == CONFIG_MAP_NAMESPACE):
        return {}
    data = resource["data"]
    data.known()
    given = [(setting, data[setting.config_map_key]) for setting in IPAM_SETTINGS]
    return {setting.addon_key: value.known() for setting, value in given if value.given}


@dataclass(frozen=True, slots=True)
class _Ipam:
    """The settings as the checks of the components take them."""

    mode: str
    enabled: bool
    prefix_delegation: bool
    warm_ip_target: int | None
    minimum_ip_target: int | None
    warm_prefix_target: int | None


def _ipam(values: Mapping[str, Any]) -> _Ipam:
    said = {setting.field: values.get(setting.addon_key) for setting in IPAM_SETTINGS}

    def flag(field: str) -> bool:
        return str(said[field]).lower() == "true"

    def number(field: str) -> int | None:
        return Value(said[field], field).number

    return _Ipam(
        "addon", flag("enabled"), flag("prefix_delegation"), number("warm_ip_target"), number("minimum_ip_target"),
        number("warm_prefix_target"),
    )  # fmt: skip


@resource_rule(
    "windows-ipam-settings",
    "The settings of Windows IPAM are consistent",
    types=[ADDON, CONFIG_MAP, CONFIG_MAP_PATCH],
    references=[best_practices("Windows prefix mode")],
    steps="set either the warm prefix target or the two address targets, none of them negative",
    url="https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/windows/prefix_delegation_config_options.md",
)
def windows_ipam_settings(resource: Planned, settings: Settings) -> Iterator[str]:
    """Uses the checks of the WindowsIpam component. The controller silently replaces invalid targets."""
    values = _ipam_settings(resource)
    if not any(setting.addon_key in values for setting in IPAM_SETTINGS):
        return
    for mistake in check_windows_ipam(_ipam(values)):
        yield f"{mistake.message}; {mistake.remedy}"


@stack_rule(
    "windows-prefixes-need-nitro",
    "Prefix delegation is used with Nitro instances only",
    types=[NODE_GROUP],
    references=[best_practices("Windows prefix mode")],
    steps="use Nitro types such as m6i, or disable prefix delegation",
    url=PREFIX_PAGE,
)
def windows_prefixes_need_nitro(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Other instances assign single addresses, and hold fewer pods than planned."""
    plan = inventory(stack)

    def check(resource: Planned) -> Iterator[Violation]:
        cluster = _cluster_of_settings(plan, resource)
        groups = [group for group in plan.windows_groups if cluster and plan.cluster(group) == cluster]
        if not groups:
            return
        ipam = _ipam(_ipam_settings(resource))
        for group in groups if ipam.prefix_delegation else ():
            for mistake in check_ipam_capacity(ipam, texts(group["instanceTypes"])):
                yield Violation(f"{mistake.message}; {mistake.remedy}", group.urn)

    yield from every(stack.of(ADDON, CONFIG_MAP, CONFIG_MAP_PATCH), check)
