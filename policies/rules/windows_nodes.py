"""What a cluster with Windows nodes needs, and what its nodes must be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from winkube.addons.rules import check_values
from winkube.addons.table import ADDONS
from winkube.eks.ipam import check_ipam_capacity, check_windows_ipam
from winkube.eks.node_group_rules import (
    MINIMUM_WINDOWS_MIB,
    WINDOWS_MINIMUM_ROOT_GIB,
)
from winkube.tables.instance_types import instance_type, untested_on_windows
from winkube.tables.kubernetes import at_least
from winkube.tables.windows import WINDOWS_RELEASES, WINDOWS_ROOT_DEVICE

from ..eks_resources import addon_values, is_windows_group, minor_of, release_of_group
from ..frameworks import (
    BEST_PRACTICES,
    LAUNCH_TEMPLATES_PAGE,
    WINDOWS_AMI_PAGE,
    WINDOWS_SUPPORT_PAGE,
    best_practices,
    cis_eks,
    eks_guide,
)
from ..inventory import Inventory, inventory, managed_policies, short_name
from ..model import (
    Option,
    Planned,
    Settings,
    Stack,
    Undecided,
    Value,
    Violation,
    every,
    resource_rule,
    stack_rule,
    texts,
)
from ..resource_types import (
    ACCESS_ENTRY,
    ADDON,
    CLUSTER,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    FARGATE_PROFILE,
    LAUNCH_TEMPLATE,
    LAUNCHED,
    NODE_GROUP,
    ROLE,
    ROLE_POLICY_ATTACHMENT,
)
from ..user_data import joins_eks, known_user_data

LAUNCH_WINDOWS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/launch-windows-workers.html"
PREFIX_PAGE = f"{BEST_PRACTICES}/prefix-mode-win.html"
TABLE_DATE = date(2026, 11, 21)
"""The day that the age of pinned releases is counted from: a plan must not depend on the day it is made."""
IPAM_KEYS: Mapping[str, str] = {
    "enable-windows-ipam": "enableWindowsIpam",
    "enable-windows-prefix-delegation": "enableWindowsPrefixDelegation",
    "warm-ip-target": "warmWindowsIPTarget",
    "minimum-ip-target": "minimumWindowsIPTarget",
    "warm-prefix-target": "warmWindowsPrefixTarget",
}
"""Keys of the ConfigMap, with those of the add-on."""


# -- node roles --------------------------------------------------------------------------------------------------------


@stack_rule(
    "windows-node-role-not-shared",
    "The role of Windows nodes is never the role of Linux nodes",
    types=[NODE_GROUP, ACCESS_ENTRY, *LAUNCHED],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create self-managed Windows nodes")],
    steps="give the Windows nodes a role of their own: its access entry is of type EC2_WINDOWS, that of Linux "
    "nodes EC2_LINUX, and a role has one entry",
    url=LAUNCH_WINDOWS_PAGE,
)
def windows_node_role_not_shared(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A node role is for Windows nodes or for Linux nodes: its access entry has one type."""
    users: dict[str, dict[str, list[Planned]]] = {}
    unclear: list[str] = []
    for resource in stack.resources:
        use = inventory(stack).role_use(resource)
        if use is None:
            continue
        if use.role is None:
            unclear.append(use.path)
        else:
            users.setdefault(use.role, {}).setdefault(use.system or "", []).append(resource)
    windows = {role: found for role, found in users.items() if "windows" in found}
    for role, found in sorted(windows.items()):
        if "linux" in found:
            names = " and ".join(f"{_list(found[system])} ({system.capitalize()})" for system in ("windows", "linux"))
            yield Violation(f'the node role "{short_name(role)}" is shared by {names}', found["windows"][0].urn)
        elif "" in found:
            unclear.append(f"the operating system of {_list(found[''])}")
    if windows and unclear:
        raise Undecided(unclear[0])


def _list(resources: Sequence[Planned]) -> str:
    return ", ".join(f'"{name}"' for name in sorted({resource.name for resource in resources}))


@stack_rule(
    "windows-cluster-role",
    "The role of a cluster with Windows nodes may manage their addresses",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="attach AmazonEKSVPCResourceController to the cluster's role",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_cluster_role(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Without it no Windows pod gets an address. A role that is made elsewhere is not judged."""
    found = inventory(stack)
    unclear = any(
        attachment["policyArn"].unknown and not attachment.references.get("policyArn")
        for attachment in stack.of(ROLE_POLICY_ATTACHMENT)
    )
    for urn in sorted(found.windows_clusters):
        cluster = stack.by_urn.get(urn)
        role = stack.by_urn.get(found.one(cluster, "roleArn", ROLE) or "") if cluster else None
        if cluster and role and "AmazonEKSVPCResourceController" not in managed_policies(stack, role):
            if unclear:
                raise Undecided(f"a policy that is attached to {role.name}")
            message = (
                f'the cluster\'s role "{role.name}" lacks AmazonEKSVPCResourceController: Windows pods get no address'
            )
            yield Violation(message, cluster.urn)


@stack_rule(
    "windows-access-entry",
    "Windows nodes that bootstrap themselves have an access entry of their type",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create access entries")],
    steps="make an aws.eks.AccessEntry of the type EC2_WINDOWS for the node role, before the nodes",
    url="https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
)
def windows_access_entry(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS makes the entry for its own images only; a custom image gets one for Linux, and DNS fails in pods."""
    found = inventory(stack)
    clusters = [cluster for cluster in stack.of(CLUSTER)
                if cluster["accessConfig"]["authenticationMode"].settled == "API"]  # fmt: skip
    if len(clusters) != 1 or len(stack.of(CLUSTER)) != 1:
        return
    entries = {found.one(entry, "principalArn", ROLE) for entry in stack.of(ACCESS_ENTRY)
               if entry["type"].settled == "EC2_WINDOWS"}  # fmt: skip
    custom = [group for group in stack.of(NODE_GROUP)
              if found.system(group) == "windows" and release_of_group(group) is None]  # fmt: skip
    managed = {template.urn for group in stack.of(NODE_GROUP) for template in found.templates(group)}
    own = [template for template in stack.of(*sorted(LAUNCHED))
           if template.urn not in managed and found.system(template) == "windows" and joins_eks(template)]  # fmt: skip
    for nodes in [*custom, *own]:
        use = found.role_use(nodes)
        if use is None:
            continue
        if use.role is None:
            raise Undecided(use.path)
        if use.role not in entries:
            if any(entry["type"].unknown for entry in stack.of(ACCESS_ENTRY)):
                raise Undecided("the type of an access entry")
            message = f'the Windows nodes\' role "{short_name(use.role)}" has no access entry of the type EC2_WINDOWS'
            yield Violation(message, nodes.urn)


# -- Windows IPAM ------------------------------------------------------------------------------------------------------


@stack_rule(
    "windows-ipam-once",
    "A cluster with Windows nodes has Windows IPAM switched on, in exactly one place",
    types=[CLUSTER, NODE_GROUP, ACCESS_ENTRY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='with the vpc-cni add-on set enableWindowsIpam to "true" in its configuration_values; without it set '
    'enable-windows-ipam to "true" in the ConfigMap kube-system/amazon-vpc-cni; never both',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_ipam_once(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """On at all, and not in two places of which one overwrites the other."""
    plan = inventory(stack)
    windows = plan.windows_clusters
    unclear: list[str] = []
    switches: dict[str, list[str]] = {}
    addons: dict[str, str] = {}
    for resource in stack.of(ADDON, CONFIG_MAP, CONFIG_MAP_PATCH):
        cluster = _cluster_of_settings(plan, resource)
        if cluster is None:
            continue
        if resource.type == ADDON and resource["addonName"].settled == "vpc-cni":
            addons[cluster] = resource.name
        try:
            if switches_ipam_on(resource):
                switches.setdefault(cluster, []).append(f'{resource.type.rsplit(":", 1)[-1]} "{resource.name}"')
        except Undecided as unknown:
            unclear.append(f"{resource.name}.{unknown.path}")
    for cluster, nodes in sorted(windows.items()):
        name, found = short_name(cluster), switches.get(cluster, [])
        urn = cluster if cluster in plan.by_urn else nodes.urn
        if len(found) > 1:
            yield Violation(f'cluster "{name}" switches Windows IPAM on {len(found)} times: {", ".join(found)}', urn)
        elif found and cluster in addons and not found[0].startswith("Addon"):
            yield Violation(
                f'cluster "{name}": {found[0]} switches Windows IPAM on, but the add-on "{addons[cluster]}" owns that '
                "ConfigMap and writes it anew", urn,
            )  # fmt: skip
        elif not found and not unclear and cluster in plan.by_urn:
            yield Violation(f'cluster "{name}" has Windows nodes ("{nodes.name}") and Windows IPAM is not on', urn)
    if windows and unclear:
        raise Undecided(unclear[0])


def _cluster_of_settings(plan: Inventory, resource: Planned) -> str | None:
    """The cluster of an add-on or a ConfigMap; of a ConfigMap whose cluster is unclear the only one with Windows."""
    cluster = plan.cluster(resource)
    if cluster is None and resource.type != ADDON and len(plan.windows_clusters) == 1:
        return next(iter(plan.windows_clusters))
    return cluster


def switches_ipam_on(resource: Planned) -> bool:
    """Whether the add-on's values or the ConfigMap ``kube-system/amazon-vpc-cni`` switch Windows IPAM on.

    :raises Undecided: when that is not known yet.
    """
    return str(_ipam_settings(resource).get("enableWindowsIpam")).lower() == "true"


def _ipam_settings(resource: Planned) -> Mapping[str, Any]:
    """The settings of the CNI in an add-on or a ConfigMap, by the add-on's names; none where it holds no such."""
    if resource.type == ADDON:
        return addon_values(resource["configurationValues"]) if resource["addonName"].settled == "vpc-cni" else {}
    metadata = Value(resource["metadata"].settled, "metadata")
    namespace = metadata["namespace"]
    if metadata["name"].settled != "amazon-vpc-cni" or not (namespace.unknown or namespace.raw == "kube-system"):
        return {}
    data = resource["data"]
    data.known()
    return {theirs: data[key].known() for key, theirs in IPAM_KEYS.items() if data[key].given}


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
    def flag(key: str) -> bool:
        return str(values.get(key)).lower() == "true"

    def number(key: str) -> int | None:
        return Value(values.get(key), key).number

    return _Ipam(
        "addon", flag("enableWindowsIpam"), flag("enableWindowsPrefixDelegation"), number("warmWindowsIPTarget"),
        number("minimumWindowsIPTarget"), number("warmWindowsPrefixTarget"),
    )  # fmt: skip


@resource_rule(
    "windows-ipam-settings",
    "The settings of Windows IPAM fit each other",
    types=[ADDON, CONFIG_MAP, CONFIG_MAP_PATCH],
    references=[best_practices("Windows prefix mode")],
    steps="keep either the warm prefix target or the two address targets, none of them negative",
    url="https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/windows/prefix_delegation_config_options.md",
)
def windows_ipam_settings(resource: Planned, settings: Settings) -> Iterator[str]:
    """The checks of the WindowsIpam component; the controller replaces wrong targets without a word."""
    values = _ipam_settings(resource)
    if not any(key in values for key in IPAM_KEYS.values()):
        return
    for mistake in check_windows_ipam(_ipam(values)):
        yield f"{mistake.message}; {mistake.remedy}"


@stack_rule(
    "windows-prefixes-need-nitro",
    "Prefix delegation is for instances on Nitro",
    types=[NODE_GROUP],
    references=[best_practices("Windows prefix mode")],
    steps="use Nitro types such as m6i, or switch prefix delegation off",
    url=PREFIX_PAGE,
)
def windows_prefixes_need_nitro(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Others keep to single addresses, and hold fewer pods than planned."""
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


@stack_rule(
    "windows-no-custom-networking",
    "A cluster with Windows nodes does not count on custom networking",
    types=[ADDON],
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="leave AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG off, or accept that Windows pods are in the nodes' subnets",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_no_custom_networking(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """ENIConfig is not read for Windows nodes."""
    plan = inventory(stack)

    def check(addon: Planned) -> Iterator[Violation]:
        if addon["addonName"].settled != "vpc-cni" or plan.cluster(addon) not in plan.windows_clusters:
            return
        environment = Value(addon_values(addon["configurationValues"]), "")["env"]
        if str(environment["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"].settled).lower() == "true":
            yield Violation("custom networking does not reach Windows pods: they keep to the nodes' subnets", addon.urn)

    yield from every(stack.of(ADDON), check)


# -- the cluster -------------------------------------------------------------------------------------------------------


@stack_rule(
    "windows-needs-linux-nodes",
    "A cluster with Windows nodes has Linux nodes for its system pods",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="add a Linux node group with min_size 2 and no NO_SCHEDULE or NO_EXECUTE taint, or Fargate for CoreDNS",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_needs_linux_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """CoreDNS runs on Linux only; where it does not run, no name resolves."""
    for cluster, capacity, unclear in _linux_capacity(stack):
        if capacity == 0:
            if unclear:
                raise Undecided(unclear)
            message = f'cluster "{cluster.name}" has Windows nodes and no Linux node for CoreDNS'
            yield Violation(message, cluster.urn)


@stack_rule(
    "windows-two-linux-nodes",
    "A cluster with Windows nodes has two Linux nodes",
    types=[CLUSTER],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="set min_size of a Linux group to 2",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_two_linux_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """With one, DNS is gone while it is replaced."""
    for cluster, capacity, unclear in _linux_capacity(stack):
        if capacity == 1:
            if unclear:
                raise Undecided(unclear)
            yield Violation(f'cluster "{cluster.name}" has one Linux node only beside its Windows nodes', cluster.urn)


ENOUGH = 99
"""Capacity that nobody counts: Fargate, Auto Mode, groups of one's own."""


def _linux_capacity(stack: Stack) -> Iterator[tuple[Planned, int, str]]:
    """The nodes for system pods of each cluster with Windows nodes, and the first property that hides some."""
    plan = inventory(stack)
    for urn in sorted(plan.windows_clusters):
        cluster = stack.by_urn.get(urn)
        if cluster is None:
            continue
        capacity, unclear = 0, ""
        fargate = any(plan.cluster(profile) == urn for profile in stack.of(FARGATE_PROFILE))
        if fargate or cluster["computeConfig"]["enabled"].settled is True or plan.other_linux_nodes():
            capacity = ENOUGH
        for group in stack.of(NODE_GROUP):
            of_cluster = plan.cluster(group)
            system = plan.system(group)
            if of_cluster == urn and system == "linux" and not _tainted(group):
                sizes = [group["scalingConfig"][name] for name in ("minSize", "desiredSize")]
                unclear = unclear or next((f"{group.name}.{size.path}" for size in sizes if size.unknown), "")
                capacity += max(Value(size.settled, size.path).number or 0 for size in sizes)
            elif system is None or of_cluster is None:
                unclear = unclear or f"what {group.name} is"
        yield cluster, capacity, unclear


def _tainted(group: Planned) -> bool:
    return any(taint["effect"].settled != "PREFER_NO_SCHEDULE" for taint in group["taints"].items())


@stack_rule(
    "windows-needs-ipv4",
    "A cluster with Windows nodes has IPv4 addresses",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps='set ip_family to "ipv4"; it cannot be changed later',
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_needs_ipv4(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Windows nodes and services know no IPv6 on EKS."""
    clusters = [stack.by_urn[urn] for urn in inventory(stack).windows_clusters if urn in stack.by_urn]

    def check(cluster: Planned) -> Iterator[Violation]:
        if cluster["kubernetesNetworkConfig"]["ipFamily"].text == "ipv6":
            yield Violation("Windows nodes cannot join: ipFamily is ipv6", cluster.urn)

    yield from every(clusters, check)


@stack_rule(
    "windows-release-runs",
    "The Windows release is one that the cluster's Kubernetes runs",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps="choose another ami_type, or a newer version of the cluster",
    url=WINDOWS_AMI_PAGE,
)
def windows_release_runs(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Windows Server 2025 from Kubernetes 1.35 on."""
    plan = inventory(stack)

    def check(group: Planned) -> Iterator[Violation]:
        release = release_of_group(group)
        row = WINDOWS_RELEASES.get(release or "")
        cluster = stack.by_urn.get(plan.cluster(group) or "")
        version = group["version"] if group["version"].given or cluster is None else cluster["version"]
        if row is None or not version.given:
            return
        minor = minor_of(version)
        if minor and not at_least(minor, row.eks_minimum_kubernetes):
            message = f"Windows Server {release} needs Kubernetes {row.eks_minimum_kubernetes} or newer, got {minor}"
            yield Violation(message, group.urn)

    yield from every(stack.of(NODE_GROUP), check)


# -- node groups -------------------------------------------------------------------------------------------------------


@resource_rule(
    "windows-release-current",
    "Windows nodes run a release in mainstream support",
    types=[NODE_GROUP],
    severity="low",
    references=[best_practices("Windows patching")],
    steps="choose an ami_type of Windows Server 2022 or 2025, and images of the same release",
    url="https://learn.microsoft.com/lifecycle/products/windows-server-2019",
)
def windows_release_current(resource: Planned, settings: Settings) -> Iterator[str]:
    """By the table of releases."""
    resource["amiType"].known()
    row = WINDOWS_RELEASES.get(release_of_group(resource) or "")
    if row and row.warning:
        yield row.warning


@resource_rule(
    "windows-instance-types",
    "Windows nodes run on instances that Windows can use",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps='use x86_64 types without accelerator and with 4 GiB or more, such as "m6i.large"',
    url=WINDOWS_AMI_PAGE,
)
def windows_instance_types(resource: Planned, settings: Settings) -> Iterator[str]:
    """No Arm, no accelerator without driver, and more memory than Windows keeps for itself."""
    if not is_windows_group(resource):
        return
    for name in texts(resource["instanceTypes"]):
        facts = instance_type(name)
        if facts is None:
            continue
        if facts.architecture != "x86_64":
            yield f"Windows nodes are x86_64, {name} is {facts.architecture}"
        elif facts.accelerator is not None:
            yield f"the Windows images of EKS carry no driver for the {facts.accelerator} of {name}"
        elif facts.memory_mib is not None and facts.memory_mib < MINIMUM_WINDOWS_MIB:
            yield f"a Windows node needs {MINIMUM_WINDOWS_MIB} MiB of memory, {name} has {facts.memory_mib}"


@resource_rule(
    "windows-instance-types-tested",
    "Windows nodes run on families that AWS has not named as unfit",
    types=[NODE_GROUP],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="use a family such as m6i or m7i, or test it and list it in the rule's configuration",
    url="https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_eks-readme.html",
    options={"allowed": Option([], "families that have been tested", {"type": "array", "items": {"type": "string"}})},
)
def windows_instance_types_tested(resource: Planned, settings: Settings) -> Iterator[str]:
    """The list is no longer documented; the CDK still refuses it."""
    if not is_windows_group(resource):
        return
    for name in texts(resource["instanceTypes"]):
        family = name.partition(".")[0]
        if untested_on_windows(name) and family not in settings["allowed"]:
            yield f"the {family} family was named as unfit for Windows nodes until 2023"


@resource_rule(
    "windows-nodes-tainted",
    "Windows nodes keep off pods that never said where they belong",
    types=[NODE_GROUP],
    references=[best_practices("Windows scheduling")],
    steps='add the taint os=windows:NO_SCHEDULE, and a RuntimeClass that tolerates it',
    url=f"{BEST_PRACTICES}/windows-scheduling.html",
)  # fmt: skip
def windows_nodes_tainted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Most charts have no node selector; their Linux images then fail to start on Windows."""
    if not is_windows_group(resource):
        return
    taints = resource["taints"]
    taints.known()
    if not any(taint["effect"].text in ("NO_SCHEDULE", "NO_EXECUTE") for taint in taints.items()):
        yield "pods without node selector are sent to these nodes: the group has no NO_SCHEDULE taint"


@resource_rule(
    "windows-no-node-repair",
    "Windows groups do not count on node auto repair",
    types=[NODE_GROUP],
    severity="low",
    references=[eks_guide("Enable node auto repair")],
    steps="remove node_repair_config",
    url="https://docs.aws.amazon.com/eks/latest/userguide/node-health.html",
)
def windows_no_node_repair(resource: Planned, settings: Settings) -> Iterator[str]:
    """The monitoring agent runs on Linux only."""
    if is_windows_group(resource) and resource["nodeRepairConfig"]["enabled"].flag:
        yield "node auto repair watches Linux nodes only"


@resource_rule(
    "windows-release-pinned",
    "Windows groups are not pinned to an image that AWS withdraws",
    types=[NODE_GROUP],
    references=[eks_guide("Troubleshooting"), best_practices("Windows patching")],
    steps="leave release_version out, or raise it every month",
    url="https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
    options={
        "maximumDays": Option(
            120, f"age in days on {TABLE_DATE}; images are withdrawn after about four months",
            {"type": "integer", "minimum": 1},
        ),
    },
)  # fmt: skip
def windows_release_pinned(resource: Planned, settings: Settings) -> Iterator[str]:
    """The release tells its day: ``1.36-2026.06.10``."""
    if not is_windows_group(resource):
        return
    found = re.search(r"(\d{4})\.(\d{2})\.(\d{2})$", resource["releaseVersion"].text or "")
    if found is None:
        return
    try:
        age = (TABLE_DATE - date(*map(int, found.groups()))).days
    except ValueError:
        return
    if age > settings["maximumDays"]:
        yield f"the image of {found[1]}-{found[2]}-{found[3]} is withdrawn: new nodes fail to start"


# -- launch templates --------------------------------------------------------------------------------------------------


@stack_rule(
    "windows-root-volume",
    "The root volume of Windows nodes is large enough, and is the one that they start from",
    types=[LAUNCH_TEMPLATE, NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Customize managed nodes with launch templates")],
    steps=f"map {WINDOWS_ROOT_DEVICE} with volume_size {WINDOWS_MINIMUM_ROOT_GIB} or more and volume_type gp3",
    url=LAUNCH_TEMPLATES_PAGE,
)
def windows_root_volume(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The image needs 50 GiB; a volume on another device is a second, empty disk."""
    plan = inventory(stack)

    def check(resource: Planned) -> Iterator[Violation]:
        for size in _root_sizes(resource):
            number = size.number
            if number is not None and number < WINDOWS_MINIMUM_ROOT_GIB:
                message = f"the root volume has {number} GiB, the Windows image needs {WINDOWS_MINIMUM_ROOT_GIB}"
                yield Violation(message, resource.urn)
        if resource.type == LAUNCH_TEMPLATE:
            devices = [mapping["deviceName"].text for mapping in resource["blockDeviceMappings"].items()]
            if "/dev/xvda" in devices and WINDOWS_ROOT_DEVICE not in devices:
                message = f"/dev/xvda is a second disk on Windows: nodes start from {WINDOWS_ROOT_DEVICE}"
                yield Violation(message, resource.urn)

    templates = [template for template, _ in plan.nodes_templates("windows")]
    yield from every([*templates, *plan.windows_groups], check)


def _root_sizes(resource: Planned) -> list[Value]:
    if resource.type == NODE_GROUP:
        return [resource["diskSize"]]
    return [
        mapping["ebs"]["volumeSize"]
        for mapping in resource["blockDeviceMappings"].items()
        if mapping["deviceName"].raw == WINDOWS_ROOT_DEVICE or mapping.unknown
    ]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the bootstrap script."""

    text: str
    parameters: frozenset[str] = field(default_factory=frozenset[str])

    def has(self, *names: str) -> bool:
        return any(name.lower() in self.parameters for name in names)


def _bootstrap(resource: Planned) -> _Call | None:
    """The call of the Windows bootstrap script in user data, if there is one.

    :raises Undecided: when the user data is not known yet.
    """
    text = known_user_data(resource) or ""
    if not re.search(r"EKSBootstrap", text):
        return None
    at = max(text.find("-EKSClusterName"), 0)
    found = re.findall(r"(?:^|\s|`)-([A-Za-z][A-Za-z0-9]+)", text[at:] if at else text)
    return _Call(text, frozenset(name.lower() for name in found)) if at or "-EKSClusterName" in text else None


@resource_rule(
    "windows-bootstrap-addresses",
    "The bootstrap of Windows nodes is told the service addresses",
    types=LAUNCHED,
    severity="high",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps="pass -ServiceCIDR and -DNSClusterIP, or set SERVICE_IPV4_CIDR for the machine",
    url=WINDOWS_AMI_PAGE,
    late=True,
)
def windows_bootstrap_addresses(resource: Planned, settings: Settings) -> Iterator[str]:
    """The script's own guess is right for two ranges only; a wrong one shows as names that do not resolve."""
    call = _bootstrap(resource)
    if call and not call.has("ServiceCIDR") and "SERVICE_IPV4_CIDR" not in call.text and "@" not in call.text:
        yield "Start-EKSBootstrap.ps1 is not given -ServiceCIDR: it guesses, and DNS fails when it guesses wrong"


@resource_rule(
    "windows-memory-reserved",
    "Windows nodes hold memory back for themselves",
    types=LAUNCHED,
    references=[best_practices("Windows: avoid OOM errors")],
    steps='pass -KubeletExtraArgs "--kube-reserved=memory=512Mi --system-reserved=memory=1536Mi '
    '--eviction-hard=memory.available<200Mi" to the bootstrap script',
    url=f"{BEST_PRACTICES}/windows-oom.html",
    late=True,
    options={"minimumMib": Option(2048, "MiB of both reservations together", {"type": "integer", "minimum": 0})},
)
def windows_memory_reserved(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows has no out-of-memory killer: an overfull node pages until it is not ready."""
    call = _bootstrap(resource)
    if call is None or "config" in call.parameters:
        return
    reserved = sum(_reserved_mib(call.text, flag) for flag in ("kube-reserved", "system-reserved"))
    if reserved < settings["minimumMib"]:
        yield f"{reserved} MiB are held back for Windows, advised are {settings['minimumMib']}"


def _reserved_mib(text: str, flag: str) -> int:
    found = re.search(rf"--{flag}[= ]+[\"']?\S*?memory=([\d.]+)(Ki|Mi|Gi|K|M|G)?", text)
    if found is None:
        return 0
    factor = {"Ki": 1 / 1024, "K": 1 / 1024, "Mi": 1, "M": 1, "Gi": 1024, "G": 1024}.get(found[2] or "", 1 / 1048576)
    return int(float(found[1]) * factor)


KUBELET_FLAGS: tuple[tuple[str, str], ...] = (
    (r"--anonymous-auth[= ]true", "lets everybody ask the kubelet"),
    (r"--authorization-mode[= ]AlwaysAllow", "lets everybody command the kubelet"),
    (r"--read-only-port[= ](?!0\b)\d+", "opens a port of the kubelet without authentication"),
    (r"--rotate-certificates[= ]false", "stops the rotation of the kubelet's certificate"),
    (r"--rotate-server-certificates[= ]false", "stops the rotation of the kubelet's server certificate"),
    (r"--streaming-connection-idle-timeout[= ]0\b", "never ends idle connections to containers"),
)
REMOVED_FLAGS: tuple[tuple[str, str], ...] = (
    (r"--pod-infra-container-image\b", "kubelets from Kubernetes 1.35 on do not know it, and do not start"),
    (r"--network-plugin\b", "kubelets from Kubernetes 1.24 on do not know it, and do not start"),
    (r"--container-runtime[= ]docker|-ContainerRuntime\s+[\"']?docker", "Kubernetes runs no Docker since 1.24"),
    (r"--cni-(?:bin|conf)-dir\b", "kubelets from Kubernetes 1.24 on do not know it, and do not start"),
)


@resource_rule(
    "kubelet-arguments-safe",
    "User data does not weaken the kubelet",
    types=LAUNCHED,
    severity="high",
    references=[cis_eks("3.2.1"), cis_eks("3.2.2"), cis_eks("3.2.4"), cis_eks("3.2.5")],
    steps="remove the flag: the image's own setting is right",
    url="https://kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz/",
    late=True,
)
def kubelet_arguments_safe(resource: Planned, settings: Settings) -> Iterator[str]:
    """On Linux and Windows nodes alike."""
    yield from _flags(resource, KUBELET_FLAGS)


@resource_rule(
    "kubelet-arguments-known",
    "User data gives the kubelet no flag that it does not know any more",
    types=LAUNCHED,
    severity="high",
    level="mandatory",
    references=[eks_guide("Kubernetes versions")],
    steps="remove the flag",
    url="https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
    late=True,
)
def kubelet_arguments_known(resource: Planned, settings: Settings) -> Iterator[str]:
    """Old bootstrap scripts of one's own."""
    yield from _flags(resource, REMOVED_FLAGS)


def _flags(resource: Planned, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    text = known_user_data(resource) or ""
    for pattern, why in rows:
        found = re.search(pattern, text)
        if found:
            yield f"{found[0]} in user data: {why}"


@stack_rule(
    "windows-managed-group-bootstrap",
    "Managed groups with an image of EKS leave the bootstrap to EKS",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Customize managed nodes with launch templates")],
    steps="remove the call of Start-EKSBootstrap.ps1, or give the launch template an image_id of your own",
    url=LAUNCH_TEMPLATES_PAGE,
    late=True,
)
def windows_managed_group_bootstrap(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS puts its own call behind yours: the node bootstraps twice and does not join."""
    plan = inventory(stack)

    def check(group: Planned) -> Iterator[Violation]:
        for template in plan.templates(group) if release_of_group(group) else ():
            if not template["imageId"].given and _bootstrap(template):
                yield Violation("EKS calls the bootstrap script itself: the user data calls it once more", template.urn)

    yield from every(stack.of(NODE_GROUP), check)


# -- add-ons -----------------------------------------------------------------------------------------------------------


@stack_rule(
    "addon-keeps-to-linux",
    "Add-ons that run on Linux are not sent to Windows nodes",
    types=[ADDON],
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps='keep "kubernetes.io/os": "linux" in the add-on\'s node selectors',
    url=f"{BEST_PRACTICES}/windows-scheduling.html",
)
def addon_keeps_to_linux(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The checks of the add-on components over the configuration values of any program."""
    plan = inventory(stack)

    def check(addon: Planned) -> Iterator[Violation]:
        row = ADDONS.get(str(addon["addonName"].settled))
        if row is None or plan.cluster(addon) not in plan.windows_clusters:
            return
        for mistake in check_values(row, addon_values(addon["configurationValues"])):
            if mistake.rule.code in ("WK-ADD-009", "WK-ADD-010"):
                place = ".".join(str(part) for part in mistake.path)
                yield Violation(f"{place}: {mistake.message}; {mistake.remedy}", addon.urn)

    yield from every(stack.of(ADDON), check)


RULES = (
    windows_node_role_not_shared,
    windows_cluster_role,
    windows_access_entry,
    windows_ipam_once,
    windows_ipam_settings,
    windows_prefixes_need_nitro,
    windows_no_custom_networking,
    windows_needs_linux_nodes,
    windows_two_linux_nodes,
    windows_needs_ipv4,
    windows_release_runs,
    windows_release_current,
    windows_instance_types,
    windows_instance_types_tested,
    windows_nodes_tainted,
    windows_no_node_repair,
    windows_release_pinned,
    windows_root_volume,
    windows_bootstrap_addresses,
    windows_memory_reserved,
    kubelet_arguments_safe,
    kubelet_arguments_known,
    windows_managed_group_bootstrap,
    addon_keeps_to_linux,
)
