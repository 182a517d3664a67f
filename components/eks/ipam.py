"""Windows IPAM: how the control plane hands IPv4 addresses to Windows pods, as values for both ways to say it.

``addon``: the vpc-cni add-on renders the ConfigMap itself from its configuration values, and overwrites anything else.
``config_map``: the ConfigMap ``kube-system/amazon-vpc-cni``, for clusters whose CNI is not an add-on. Never both.
Sources: amazon-vpc-cni-k8s ``charts/aws-vpc-cni`` (keys and types of the add-on), amazon-vpc-resource-controller-k8s
``pkg/config`` (keys of the ConfigMap).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables.instance_types import instance_type
from .density import address_capacity, prefixes_needed
from .node_group_rules import NodeGroupLike

IPAM_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"
TARGETS_PAGE = "https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/windows/prefix_delegation_config_options.md"

IPAM_MODE = Rule("WK-EKS-050", "Windows IPAM is configured through either the add-on or the ConfigMap.", IPAM_PAGE)
IPAM_TARGET = Rule(
    "WK-EKS-051", "Warm and minimum targets must be zero or more, and at least one must be above zero.", TARGETS_PAGE
)
IPAM_PREFIX_ONLY = Rule(
    "WK-EKS-052", "A warm prefix target needs prefix delegation, and excludes IP address targets.", TARGETS_PAGE
)
IPAM_NITRO = Rule(
    "WK-EKS-053",
    "Prefix delegation needs Nitro instances.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-win.html",
)
IPAM_OFF = Rule("WK-EKS-054", "Prefix delegation and targets need Windows IPAM.", IPAM_PAGE)
IPAM_CAPACITY = Rule("WK-EKS-055", "A target cannot exceed the number of addresses that a node can hold.", TARGETS_PAGE)

CUSTOM_NETWORKING = Rule(
    "WK-EKS-035", "Custom networking of the VPC CNI (ENIConfig) does not work with Windows nodes.", IPAM_PAGE
)
OWNED_VALUE = Rule("WK-EKS-036", "Add-on values that have an argument of their own must be set there.", IPAM_PAGE)
CNI_ON_WINDOWS = Rule("WK-EKS-037", "Network policies of the VPC CNI are not enforced on Windows nodes.",
                      "https://docs.aws.amazon.com/eks/latest/userguide/eks-networking-add-ons.html")  # fmt: skip

RESERVATIONS = Rule(
    "WK-EKS-058",
    "Subnets must reserve contiguous /28 blocks for the prefixes of all Windows nodes.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-win.html",
)

MODES = ("addon", "config_map")
CUSTOM_NETWORKING_VARIABLE = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"
CONFIG_MAP_NAME = "amazon-vpc-cni"
CONFIG_MAP_NAMESPACE = "kube-system"


class WindowsIpamLike(Protocol):
    """What the checks need of a configuration."""

    @property
    def mode(self) -> str: ...  # noqa: D102
    @property
    def enabled(self) -> bool: ...  # noqa: D102
    @property
    def prefix_delegation(self) -> bool: ...  # noqa: D102
    @property
    def warm_ip_target(self) -> int | None: ...  # noqa: D102
    @property
    def minimum_ip_target(self) -> int | None: ...  # noqa: D102
    @property
    def warm_prefix_target(self) -> int | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class IpamSetting:
    """One setting, with its name in each of the two ways to say it."""

    field: str
    addon_key: str
    config_map_key: str
    is_switch: bool


# The add-on takes switches as text and targets as integers; the ConfigMap takes everything as text.
IPAM_SETTINGS = (
    IpamSetting("enabled", "enableWindowsIpam", "enable-windows-ipam", is_switch=True),
    IpamSetting(
        "prefix_delegation", "enableWindowsPrefixDelegation", "enable-windows-prefix-delegation", is_switch=True
    ),
    IpamSetting("warm_ip_target", "warmWindowsIPTarget", "warm-ip-target", is_switch=False),
    IpamSetting("minimum_ip_target", "minimumWindowsIPTarget", "minimum-ip-target", is_switch=False),
    IpamSetting("warm_prefix_target", "warmWindowsPrefixTarget", "warm-prefix-target", is_switch=False),
)
TARGETS = tuple(setting.field for setting in IPAM_SETTINGS if not setting.is_switch)


def addon_values(ipam: WindowsIpamLike) -> dict[str, Any]:
    """The configuration values of the vpc-cni add-on; a target that is not given is left to the add-on.

    For a cluster whose vpc-cni add-on belongs to someone else, this is what its owner adds to its values.
    """
    return {setting.addon_key: _text(value) if setting.is_switch else value for setting, value in _given(ipam)}


def config_map_data(ipam: WindowsIpamLike) -> dict[str, str]:
    """The data of the ConfigMap; a target that is not given is left to the controller."""
    return {setting.config_map_key: _text(value) for setting, value in _given(ipam)}


def addon_configuration(ipam: WindowsIpamLike, more: Mapping[str, Any] | None = None) -> str:
    """The add-on's configuration as JSON text, with other values of the add-on merged in."""
    return json.dumps({**(more or {}), **addon_values(ipam)}, sort_keys=True)


def _given(ipam: WindowsIpamLike) -> list[tuple[IpamSetting, Any]]:
    pairs = [(setting, getattr(ipam, setting.field)) for setting in IPAM_SETTINGS]
    return [(setting, value) for setting, value in pairs if value is not None]


def _text(value: bool | int) -> str:
    return str(value).lower()


def check_windows_ipam(ipam: WindowsIpamLike) -> Mistakes:
    """Every mistake in a configuration, paths relative to it."""
    found = Mistakes()
    if ipam.mode not in MODES:
        guess = nearest(ipam.mode, MODES)
        found.add(IPAM_MODE, ("mode",), f"Windows IPAM is configured through {one_of(MODES)}",
                  f'write "{guess}"' if guess else "write one of these", ipam.mode)  # fmt: skip
    targets = {field: getattr(ipam, field) for field in TARGETS if getattr(ipam, field) is not None}
    for field, value in targets.items():
        if value < 0:
            found.add(IPAM_TARGET, (field,), "a target must be 0 or more", f"set {field} to 0 or more", value)
    if targets and not any(targets.values()):
        found.add(IPAM_TARGET, (next(iter(targets)),), "if all targets are 0, the controller uses its defaults",
                  "set one of them to 1 or more, or leave all of them out", 0)  # fmt: skip
    if ipam.warm_prefix_target is not None:
        found.take(_check_warm_prefix(ipam))
    if not ipam.enabled:
        for field in ("prefix_delegation", *targets):
            if getattr(ipam, field):
                found.add(IPAM_OFF, (field,), f"{field} has no effect while Windows IPAM is off",
                          f"remove {field}, or set enabled to true", getattr(ipam, field))  # fmt: skip
    return found


def _check_warm_prefix(ipam: WindowsIpamLike) -> Mistakes:
    found = Mistakes()
    if not ipam.prefix_delegation:
        found.add(IPAM_PREFIX_ONLY, ("warm_prefix_target",), "warm prefixes need prefix delegation",
                  "set prefix_delegation to true, or use warm_ip_target", ipam.warm_prefix_target)  # fmt: skip
    elif ipam.warm_ip_target is not None or ipam.minimum_ip_target is not None:
        found.add(IPAM_PREFIX_ONLY, ("warm_prefix_target",),
                  "the controller ignores it if warm_ip_target or minimum_ip_target is set",
                  "keep either warm_prefix_target or the other two", ipam.warm_prefix_target)  # fmt: skip
    return found


def check_addon_values(values: Mapping[str, Any], path: Path = ("addon_values",)) -> Mistakes:
    """Whether further values of the vpc-cni add-on leave Windows IPAM alone, and Windows nodes working."""
    found = Mistakes()
    for setting in IPAM_SETTINGS:
        if setting.addon_key in values:
            found.add(OWNED_VALUE, (*path, setting.addon_key), f"winkube sets this value from {setting.field}",
                      f"remove it and set {setting.field}", values[setting.addon_key])  # fmt: skip
    env: Any = values.get("env")
    switch = str(env.get(CUSTOM_NETWORKING_VARIABLE, "false")).lower() if isinstance(env, Mapping) else "false"  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    if switch == "true":
        found.add(CUSTOM_NETWORKING, (*path, "env", CUSTOM_NETWORKING_VARIABLE),
                  "custom networking does not work with Windows nodes: their pods use the node's own subnet",
                  "set it to false, and give Windows nodes separate subnets", switch)  # fmt: skip
    return found


def advise_addon_values(values: Mapping[str, Any], path: Path = ("addon_values",)) -> Mistakes:
    """What works, but not on Windows nodes."""
    found = Mistakes()
    if str(values.get("enableNetworkPolicy", "false")).lower() == "true":
        found.add(CNI_ON_WINDOWS, (*path, "enableNetworkPolicy"), "these policies are not enforced on Windows nodes",
                  "use Calico for policies on Windows", values["enableNetworkPolicy"])  # fmt: skip
    return found


def advise_reservations(
    ipam: WindowsIpamLike, groups: Sequence[NodeGroupLike], reserved: int, path: Path = ("windows_prefix_reservations",)
) -> Mistakes:
    """Whether the /28 blocks that are reserved in the subnets suffice for Windows groups at their greatest size.

    :param reserved: blocks in all subnets of the groups together; with none reserved, fragments are what is left.
    """
    found = Mistakes()
    if not (ipam.enabled and ipam.prefix_delegation):
        return found
    windows = [group for group in groups if group.windows]
    needs = [prefixes_needed(group.instance_types, group.max_size) or 0 for group in windows]
    if reserved < sum(needs):
        found.add(RESERVATIONS, path, f"Windows nodes may need {sum(needs)} prefixes, and {reserved} are reserved",
                  f"reserve {sum(needs)} blocks across all subnets", reserved)  # fmt: skip
    return found


def check_ipam_capacity(
    ipam: WindowsIpamLike, instance_types: Sequence[str], path: Path = ("instance_types",)
) -> Mistakes:
    """Whether the types of a Windows group can do what the configuration asks for."""
    found = Mistakes()
    for index, name in enumerate(instance_types):
        facts = instance_type(name)
        if ipam.prefix_delegation and facts is not None and facts.nitro is False:
            found.add(IPAM_NITRO, (*path, index), f"{facts.family} is not a Nitro type, so it uses single addresses",
                      "use a Nitro type such as \"m6i.large\", or set prefix_delegation to false", name)  # fmt: skip
        capacity = address_capacity(name, prefix_delegation=ipam.prefix_delegation)
        for field in ("warm_ip_target", "minimum_ip_target"):
            target = getattr(ipam, field)
            if capacity is not None and target is not None and target > capacity:
                found.add(IPAM_CAPACITY, (*path, index), f"{field} is {target}, and {name} holds {capacity} addresses",
                          f"set {field} to {capacity} or less", name)  # fmt: skip
    return found
