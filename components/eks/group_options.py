"""What must hold for the options of a node group: who starts the bootstrap, image, CPU, updates, warm pool.

A managed group of an EKS image is started by EKS; a group with an image of its own, and a self-managed one, start the
bootstrap script themselves and so can say everything. A table decides which option belongs to which.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..ec2.instance_rules import NODE_GROUPS_PAGE
from ..ec2.proxy import Proxy, check_proxy, proxy_commands
from ..ec2.warm_pool import WarmPool, check_pool
from ..tables.instance_types import instance_type
from .access import API_MODES
from .bootstrap import (
    PLACEHOLDERS,
    USER_DATA,
    Bootstrap,
    check_commands,
    check_kubelet_arguments,
    check_user_data,
    multipart,
    shell_part,
    windows_commands,
)
from .density import address_capacity
from .node_group_rules import NodeGroupLike

LAUNCH_TEMPLATES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"

OWN_IMAGE = Rule("WK-EKS-025", "A group uses either a custom image or an EKS image.", LAUNCH_TEMPLATES_PAGE)
CPU_OPTIONS = Rule(
    "WK-EKS-074",
    "CPU options set cores and threads together, within the limits of every instance type.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-optimize-cpu.html",
)
WARM_POOL = Rule(
    "WK-EKS-075",
    "Warm pools are available only for managed groups with an EKS image.",
    "https://docs.aws.amazon.com/eks/latest/userguide/warm-pools-managed-node-groups.html",
)
UPDATES = Rule(
    "WK-EKS-076",
    "An update limit is either a number or a percentage of the nodes.",
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html",
)
RELEASE_VERSION = Rule(
    "WK-EKS-077",
    "A pinned release must match the cluster's Kubernetes minor.",
    "https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-versions-windows.html",
)
OWN_BOOTSTRAP = Rule(
    "WK-EKS-078", "Bootstrap options need a group that runs the bootstrap script itself.", LAUNCH_TEMPLATES_PAGE
)
TARGET_FACTS = Rule(
    "WK-EKS-079",
    "A group that runs the bootstrap script itself needs the cluster's endpoint and CA.",
    LAUNCH_TEMPLATES_PAGE,
)
ENTRY_OF_NODES = Rule(
    "WK-EKS-080",
    "Nodes that EKS does not start need an access entry, and so an authentication mode with the API.",
    "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
)
MAX_PODS = Rule(
    "WK-EKS-081",
    "max_pods cannot exceed the IP addresses of the smallest instance type.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-win.html",
)
MANAGEMENT = Rule("WK-EKS-082", "A group is managed by EKS or self-managed.", NODE_GROUPS_PAGE)
NO_SHELL = Rule(
    "WK-EKS-083",
    "Bottlerocket runs no commands and accepts no arbitrary kubelet flags.",
    "https://bottlerocket.dev/en/os/latest/#/api/settings/",
)

SECURITY_GROUPS = Rule(
    "WK-EKS-086",
    "Nodes need the cluster's security group, or other groups that open the same ports.",
    "https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
)

MANAGEMENTS = ("managed", "self_managed")
UPDATE_STRATEGIES: Mapping[str, str] = {"default": "DEFAULT", "minimal": "MINIMAL"}
_IMAGE_ID = re.compile(r"ami-[0-9a-f]{8}([0-9a-f]{9})?")
_RELEASE_VERSION = re.compile(r"(\d+\.\d+)(\.\d+)?-\d{4}\.?\d{2}\.?\d{2}")


class TargetLike(Protocol):
    """What the checks need of a cluster."""

    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def service_cidr(self) -> str: ...  # noqa: D102
    @property
    def dns_cluster_ip(self) -> str: ...  # noqa: D102
    @property
    def authentication_mode(self) -> str: ...  # noqa: D102
    @property
    def endpoint(self) -> Any: ...  # noqa: D102
    @property
    def certificate_authority(self) -> Any: ...  # noqa: D102
    @property
    def security_group_id(self) -> Any: ...  # noqa: D102


class GroupOptionsLike(NodeGroupLike, Protocol):
    """What the checks need of a group's options."""

    @property
    def management(self) -> str: ...  # noqa: D102
    @property
    def image_id(self) -> Any: ...  # noqa: D102
    @property
    def release_version(self) -> str | None: ...  # noqa: D102
    @property
    def kubelet_arguments(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def max_pods(self) -> int | None: ...  # noqa: D102
    @property
    def prefix_delegation(self) -> bool: ...  # noqa: D102
    @property
    def excluded_snat_cidrs(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def proxy(self) -> Proxy | None: ...  # noqa: D102
    @property
    def commands_before(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def commands_after(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def cpu_cores(self) -> int | None: ...  # noqa: D102
    @property
    def threads_per_core(self) -> int | None: ...  # noqa: D102
    @property
    def max_unavailable(self) -> int | None: ...  # noqa: D102
    @property
    def max_unavailable_percentage(self) -> int | None: ...  # noqa: D102
    @property
    def update_strategy(self) -> str: ...  # noqa: D102
    @property
    def warm_pool(self) -> WarmPool | None: ...  # noqa: D102
    @property
    def security_group_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def cluster_security_group(self) -> bool: ...  # noqa: D102


def starts_itself(group: GroupOptionsLike) -> bool:
    """Whether the group's own user data calls the bootstrap."""
    return group.management == "self_managed" or group.image_id is not None


# Options that only a group that starts itself can pass on.
_BOOTSTRAP_OPTIONS = ("kubelet_arguments", "max_pods", "excluded_snat_cidrs", "commands_after")


def check_group_options(group: GroupOptionsLike, target: TargetLike) -> Mistakes:
    """Every mistake in the options of one group, paths relative to it."""
    found = Mistakes()
    if group.management not in MANAGEMENTS:
        found.add(MANAGEMENT, ("management",), f"a group is {one_of(MANAGEMENTS)}",
                  f'write "{nearest(group.management, MANAGEMENTS) or "managed"}"', group.management)  # fmt: skip
    found.take(_check_image(group, target))
    found.take(_check_bootstrap(group, target))
    found.take(check_kubelet_arguments(group.kubelet_arguments))
    for field in ("commands_before", "commands_after"):
        found.take(check_commands(getattr(group, field), (field,)))
    if group.proxy is not None:
        found.take(check_proxy(group.proxy))
    found.take(_check_security_groups(group, target))
    found.take(_check_max_pods(group))
    found.take(_check_cpu(group))
    found.take(_check_updates(group))
    if group.warm_pool is not None:
        found.take(_check_warm_pool(group, group.warm_pool))
    if not found:
        found.take(check_user_data(_longest_user_data(group, target), ("commands_before",)))
    return found


def _check_image(group: GroupOptionsLike, target: TargetLike) -> Mistakes:
    found = Mistakes()
    if isinstance(group.image_id, str) and not _IMAGE_ID.fullmatch(group.image_id):
        found.add(OWN_IMAGE, ("image_id",), "an AMI ID is ami- followed by 8 or 17 hexadecimal digits",
                  "write the ID of an AMI in the cluster's Region", group.image_id)  # fmt: skip
    if group.release_version is None:
        return found
    if starts_itself(group):
        found.add(OWN_IMAGE, ("release_version",), "only managed groups with an EKS image have releases",
                  "remove release_version, or image_id and management", group.release_version)  # fmt: skip
    release = _RELEASE_VERSION.fullmatch(group.release_version)
    if release is None or release[1] != target.kubernetes_version:
        example = target.kubernetes_version + ("-2026.11.10" if group.windows else ".0-20261110")
        found.add(
            RELEASE_VERSION,
            ("release_version",),
            f"must be a release for Kubernetes {target.kubernetes_version}",
            f'write a release such as "{example}", or leave it out',
            group.release_version,
        )
    return found


def _check_bootstrap(group: GroupOptionsLike, target: TargetLike) -> Mistakes:
    found = Mistakes()
    if group.linux == "bottlerocket":
        for field in ("commands_before", "commands_after", "kubelet_arguments", "proxy"):
            if getattr(group, field):
                found.add(
                    NO_SHELL, (field,), "Bottlerocket accepts only its own settings", f"remove {field}, or use al2023"
                )
    if not starts_itself(group):
        for field in _BOOTSTRAP_OPTIONS:
            if getattr(group, field):
                found.add(OWN_BOOTSTRAP, (field,), f"EKS runs the bootstrap of this group and does not pass on {field}",
                          f'remove {field}, set image_id, or set management to "self_managed"')  # fmt: skip
        return found
    if target.authentication_mode not in API_MODES:
        found.add(ENTRY_OF_NODES, ("cluster", "authentication_mode"),
                  "nodes of this group need an access entry, which this authentication mode does not support",
                  'set authentication_mode to "API_AND_CONFIG_MAP"', target.authentication_mode)  # fmt: skip
    for field in ("endpoint", "certificate_authority"):
        if getattr(target, field) is None:
            found.add(
                TARGET_FACTS,
                ("cluster", field),
                f"a group that runs the bootstrap script itself needs the cluster's {field}",
                f"set {field} of the target",
            )
    return found


def _check_security_groups(group: GroupOptionsLike, target: TargetLike) -> Mistakes:
    found = Mistakes()
    if not group.cluster_security_group and not group.security_group_ids:
        found.add(
            SECURITY_GROUPS,
            ("security_group_ids",),
            "nodes outside the cluster's security group need other security groups",
            "give security groups, or set cluster_security_group to true",
            [],
        )
    named = bool(group.security_group_ids) or group.management == "self_managed"
    if named and group.cluster_security_group and target.security_group_id is None:
        found.add(TARGET_FACTS, ("cluster", "security_group_id"), "the cluster's security group is unknown",
                  "set security_group_id of the target, or cluster_security_group to false")  # fmt: skip
    return found


def _check_max_pods(group: GroupOptionsLike) -> Mistakes:
    found = Mistakes()
    if group.max_pods is None:
        return found
    if group.max_pods < 1:
        found.add(MAX_PODS, ("max_pods",), "max_pods must be 1 or more", "set it to 1 or more", group.max_pods)
    if group.windows:
        for name in group.instance_types:
            capacity = address_capacity(name, prefix_delegation=group.prefix_delegation)
            if capacity is not None and group.max_pods > capacity:
                more = "" if group.prefix_delegation else ", or use prefix delegation"
                found.add(MAX_PODS, ("max_pods",), f"{name} has addresses for {capacity} pods",
                          f"set max_pods to {capacity} or less{more}", group.max_pods)  # fmt: skip
    return found


def _check_cpu(group: GroupOptionsLike) -> Mistakes:
    found = Mistakes()
    cores, threads = group.cpu_cores, group.threads_per_core
    if (cores is None) != (threads is None):
        missing = "cpu_cores" if cores is None else "threads_per_core"
        found.add(CPU_OPTIONS, (missing,), "cores and threads must be set together", f"set {missing} too")
    if threads is not None and threads not in (1, 2):
        found.add(
            CPU_OPTIONS, ("threads_per_core",), "a core has 1 or 2 threads", "set threads_per_core to 1 or 2", threads
        )
    if cores is not None:
        for name in group.instance_types:
            facts = instance_type(name)
            if facts is not None and facts.cores is not None and not 1 <= cores <= facts.cores:
                found.add(CPU_OPTIONS, ("cpu_cores",), f"{name} has {facts.cores} cores",
                          f"set cpu_cores to {facts.cores} or less", cores)  # fmt: skip
    return found


def _check_updates(group: GroupOptionsLike) -> Mistakes:
    found = Mistakes()
    number, percentage = group.max_unavailable, group.max_unavailable_percentage
    if (number is None) == (percentage is None):
        found.add(UPDATES, ("max_unavailable",), "an update limit is either a number or a percentage of the nodes",
                  "set exactly one of max_unavailable and max_unavailable_percentage", number)  # fmt: skip
    for field, value in (("max_unavailable", number), ("max_unavailable_percentage", percentage)):
        if value is not None and not 1 <= value <= 100:
            found.add(
                UPDATES, (field,), f"{field} must be 1 to 100", f"set {field} to {min(max(value, 1), 100)}", value
            )
    if group.update_strategy not in UPDATE_STRATEGIES:
        guess = nearest(group.update_strategy.lower(), tuple(UPDATE_STRATEGIES)) or "default"
        found.add(UPDATES, ("update_strategy",), f"the strategy is {one_of(UPDATE_STRATEGIES)}", f'write "{guess}"',
                  group.update_strategy)  # fmt: skip
    return found


def _check_warm_pool(group: GroupOptionsLike, pool: WarmPool) -> Mistakes:
    found = check_pool(pool, group.max_size, WARM_POOL)
    if starts_itself(group):
        found.add(
            WARM_POOL, ("warm_pool",), "only managed groups with an EKS image can have a warm pool", "remove warm_pool"
        )
    if group.linux == "bottlerocket" and (pool.state == "hibernated" or pool.reuse_on_scale_in):
        found.add(WARM_POOL, ("warm_pool",), "Bottlerocket nodes cannot hibernate or return to the pool",
                  'set state to "stopped" and reuse_on_scale_in to false', pool.state)  # fmt: skip
    return found


def bootstrap_of(group: GroupOptionsLike, target: TargetLike, taints: Sequence[Any], **cluster: str) -> Bootstrap:
    """What a node of the group is told; ``cluster`` is name, endpoint and CA."""
    return Bootstrap(
        **cluster,
        service_cidr=target.service_cidr,
        dns_cluster_ip=target.dns_cluster_ip,
        labels=group.labels,
        taints=taints,
        kubelet_arguments=group.kubelet_arguments,
        max_pods=group.max_pods,
        excluded_snat_cidrs=group.excluded_snat_cidrs,
        proxy=group.proxy,
        before=group.commands_before,
        after=group.commands_after,
    )


def _longest_user_data(group: GroupOptionsLike, target: TargetLike) -> str:
    image = "windows" if group.windows else group.linux or ""
    if image not in USER_DATA:
        return ""
    if starts_itself(group):
        return USER_DATA[image](bootstrap_of(group, target, group.taints, **PLACEHOLDERS), {})
    return managed_user_data(group, target) or ""


def managed_user_data(group: GroupOptionsLike, target: TargetLike) -> str | None:
    """What a managed group of an EKS image puts in front of EKS' own user data, if anything."""
    if group.windows:
        proxy = proxy_commands(group.proxy, target.service_cidr) if group.proxy else []
        return windows_commands([*proxy, *group.commands_before]) or None
    script = shell_part(group.commands_before, group.proxy, target.service_cidr)
    return multipart([script]) if script else None
