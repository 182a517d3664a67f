"""The rules, as pure functions over plain data: they import no SDK and know no engine.

Property names are the provider's (camelCase). A value that is not known before the deployment is
:data:`UNKNOWN`; a rule that needs one says so by raising :class:`Undecided` after all that it does know.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"
ADDON = "aws:eks/addon:Addon"
ROLE = "aws:iam/role:Role"
INSTANCE_PROFILE = "aws:iam/instanceProfile:InstanceProfile"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
LAUNCH_CONFIGURATION = "aws:ec2/launchConfiguration:LaunchConfiguration"
INSTANCE = "aws:ec2/instance:Instance"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CONFIG_MAP_PATCH = "kubernetes:core/v1:ConfigMapPatch"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"

LAUNCHED = frozenset([LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION, INSTANCE])
"""What starts instances, or says how they are started."""


class Unknown:
    """The type of :data:`UNKNOWN`."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = Unknown()
"""A value that the deployment will give."""


class Undecided(Exception):  # noqa: N818 (it is no error)
    """The rule needs a value that is not known yet."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is not known before the deployment")
        self.path = path


@dataclass(frozen=True, slots=True)
class Planned:
    """One resource of the plan."""

    urn: str
    type: str
    props: Mapping[str, Any]
    references: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Property to the URNs of the resources that its value comes from."""
    provider: str = ""
    """URN of the explicit provider."""

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and with which resource."""

    message: str
    urn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule with everything a report says of it."""

    name: str
    description: str
    severity: str
    """``low``, ``medium``, ``high`` or ``critical``."""
    types: frozenset[str]
    """The types that the rule looks at; others are not even decoded."""
    resource: Callable[[Planned], Iterable[Violation]] | None = None
    """The check of one resource, or …"""
    stack: Callable[[Sequence[Planned]], Iterable[Violation]] | None = None
    """… of all of them together."""
    steps: str
    url: str
    framework: str
    version: str = ""
    reference: str = ""


# -- instance metadata -----------------------------------------------------------------------------------------------


def imdsv2_required(resource: Planned) -> Iterator[Violation]:
    """Instance metadata must ask for a session token (IMDSv2), or be off."""
    options = resource.props.get("metadataOptions")
    if options is None and resource.type == INSTANCE and resource.props.get("launchTemplate") is not None:
        return  # the launch template says it, and is checked itself
    options = _fields(options, "metadataOptions")
    endpoint, tokens = options.get("httpEndpoint"), options.get("httpTokens")
    if endpoint == "disabled" or tokens == "required":
        return
    known(tokens, "metadataOptions.httpTokens")
    known(endpoint, "metadataOptions.httpEndpoint")
    got = "is not set" if tokens is None else f'is "{tokens}"'
    yield Violation(f"instance metadata answers requests without a token: metadataOptions.httpTokens {got}")


# -- node roles --------------------------------------------------------------------------------------------------------


def windows_role_not_shared(resources: Sequence[Planned]) -> Iterator[Violation]:
    """A node role is for Windows nodes or for Linux nodes: its access entry has one type."""
    plan = Inventory(resources)
    users: dict[str, dict[str, list[Planned]]] = {}
    unclear: list[str] = []
    for resource in resources:
        user = plan.node_role(resource)
        if user is None:
            continue
        role, system, path = user
        if role is None:
            unclear.append(path)
        else:
            users.setdefault(role, {}).setdefault(system or "", []).append(resource)
    windows = {role: found for role, found in users.items() if "windows" in found}
    for role, found in sorted(windows.items()):
        if "linux" in found:
            names = " and ".join(f"{_list(found[system])} ({system.capitalize()})" for system in ("windows", "linux"))
            message = f'the node role "{role.rsplit("::", 1)[-1]}" is shared by {names}'
            yield Violation(message, found["windows"][0].urn)
        elif "" in found:
            unclear.append(f"the operating system of {_list(found[''])}")
    if windows and unclear:
        raise Undecided(unclear[0])


def _list(resources: Sequence[Planned]) -> str:
    return ", ".join(f'"{name}"' for name in sorted({resource.name for resource in resources}))


# -- Windows IPAM ------------------------------------------------------------------------------------------------------


def windows_ipam_once(resources: Sequence[Planned]) -> Iterator[Violation]:
    """A cluster with Windows nodes has Windows IPAM switched on, in exactly one place."""
    plan = Inventory(resources)
    windows = {
        cluster: resource
        for resource in reversed(resources)
        if (cluster := plan.cluster(resource)) and plan.windows_nodes(resource)
    }
    unclear: list[str] = []
    switches: dict[str, list[str]] = {}
    addons: dict[str, str] = {}
    for resource in resources:
        cluster = plan.cluster(resource)
        if cluster is None and len(windows) == 1 and resource.type in (CONFIG_MAP, CONFIG_MAP_PATCH):
            cluster = next(iter(windows))
        if cluster is None:
            continue
        if resource.type == ADDON and resource.props.get("addonName") == "vpc-cni":
            addons[cluster] = resource.name
        try:
            if switches_ipam_on(resource):
                switches.setdefault(cluster, []).append(f'{resource.type.rsplit(":", 1)[-1]} "{resource.name}"')
        except Undecided as unknown:
            unclear.append(f"{resource.name}.{unknown.path}")
    for cluster, nodes in sorted(windows.items()):
        name, found = cluster.rsplit("::", 1)[-1], switches.get(cluster, [])
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


def switches_ipam_on(resource: Planned) -> bool:
    """Whether the add-on's values or the ConfigMap ``kube-system/amazon-vpc-cni`` switch Windows IPAM on."""
    props = resource.props
    if resource.type == ADDON:
        return props.get("addonName") == "vpc-cni" and _ipam_value(props.get("configurationValues"))
    if resource.type not in (CONFIG_MAP, CONFIG_MAP_PATCH):
        return False
    metadata = _fields(None if props.get("metadata") is UNKNOWN else props.get("metadata"), "metadata")
    if metadata.get("name") != "amazon-vpc-cni" or metadata.get("namespace") not in ("kube-system", UNKNOWN):
        return False
    return known(_fields(props.get("data"), "data").get("enable-windows-ipam"), "data.enable-windows-ipam") == "true"


def _ipam_value(values: Any) -> bool:
    """The add-on takes JSON or YAML; the chart wants the string "true"."""
    text = known(values, "configurationValues")
    if not isinstance(text, str):
        return False
    try:
        document = json.loads(text)
    except ValueError:
        return bool(re.search(r"(?m)^enableWindowsIpam:\s*[\"']?true\b", text))
    return str(_fields(document, "configurationValues").get("enableWindowsIpam")).lower() == "true"


# -- what belongs to what ----------------------------------------------------------------------------------------------


class Inventory:
    """Finds the role, the cluster and the operating system of a resource, by value or by where a value comes from."""

    def __init__(self, resources: Sequence[Planned]) -> None:
        self.by_urn = {resource.urn: resource for resource in resources}
        self._named = {
            (resource.type, resource.props["name"]): resource.urn
            for resource in resources
            if resource.type in (ROLE, CLUSTER, INSTANCE_PROFILE) and isinstance(resource.props.get("name"), str)
        }

    def node_role(self, resource: Planned) -> tuple[str | None, str | None, str] | None:
        """Role (none if not known), operating system (none if not known) and property, of what uses a node role."""
        if resource.type == NODE_GROUP:
            return self._role(resource, "nodeRoleArn"), self.system(resource), f"{resource.name}.nodeRoleArn"
        if resource.type == ACCESS_ENTRY:
            systems = {"EC2_WINDOWS": "windows", "EC2_LINUX": "linux", "HYBRID_LINUX": "linux"}
            system = systems.get(str(resource.props.get("type")))
            path = f"{resource.name}.principalArn"
            return (self._role(resource, "principalArn"), system, path) if system else None
        if resource.type in LAUNCHED and (system := self.system(resource)):
            if resource.props.get("iamInstanceProfile") is None:
                return None
            profile = self._one(resource, "iamInstanceProfile", INSTANCE_PROFILE)
            role = self._role(self.by_urn[profile], "role") if profile in self.by_urn else None
            return role, system, f"{resource.name}.iamInstanceProfile"
        return None

    def cluster(self, resource: Planned) -> str | None:
        """URN or name of the cluster that a resource belongs to."""
        if resource.type in (NODE_GROUP, ACCESS_ENTRY, ADDON):
            return self._one(resource, "clusterName", CLUSTER)
        provider = self.by_urn.get(resource.provider)
        if provider is None or resource.type not in (CONFIG_MAP, CONFIG_MAP_PATCH):
            return None
        found = {urn for urns in provider.references.values() for urn in urns if self._is(urn, CLUSTER)}
        return found.pop() if len(found) == 1 else None

    def windows_nodes(self, resource: Planned) -> bool:
        """Whether a resource says that its cluster has Windows nodes."""
        if resource.type == ACCESS_ENTRY:
            return resource.props.get("type") == "EC2_WINDOWS"
        return resource.type == NODE_GROUP and self.system(resource) == "windows"

    def system(self, resource: Planned) -> str | None:
        """``windows`` or ``linux``; none where it is not known."""
        if resource.type == NODE_GROUP:
            ami = resource.props.get("amiType")
            if isinstance(ami, str) and ami != "CUSTOM":
                return "windows" if ami.startswith("WINDOWS") else "linux"
            templates = resource.references.get("launchTemplate", ())
            found = {self.system(self.by_urn[urn]) for urn in templates if self._is(urn, LAUNCH_TEMPLATE)}
            if ami is None and resource.props.get("launchTemplate") is None:
                return "linux"  # what EKS takes when nothing is said
            return found.pop() if len(found) == 1 else None
        return system_of_user_data(resource.props.get("userData") or resource.props.get("userDataBase64"))

    def _role(self, resource: Planned, name: str) -> str | None:
        return self._one(resource, name, ROLE)

    def _one(self, resource: Planned, name: str, kind: str) -> str | None:
        """What a property names: the one resource of a kind that it comes from, else its own text."""
        sources = [urn for urn in resource.references.get(name, ()) if self._is(urn, kind)]
        if len(sources) == 1:
            return sources[0]
        value = resource.props.get(name)
        if isinstance(value, Mapping):
            fields = _fields(value, name)
            value = fields.get("name") or fields.get("arn")
        if not isinstance(value, str):
            return None
        short = value.rsplit("/", 1)[-1]
        return self._named.get((kind, short), value if kind == CLUSTER else short)

    def _is(self, urn: str, kind: str) -> bool:
        return urn in self.by_urn and self.by_urn[urn].type == kind


def system_of_user_data(value: Any) -> str | None:
    """The operating system that user data is written for, if it shows.

    >>> system_of_user_data("<powershell>exit</powershell>"), system_of_user_data("#!/bin/bash")
    ('windows', 'linux')
    """
    if not isinstance(value, str):
        return None
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        text = value
    if re.search(r"<(?:powershell|script|persist)>", text):
        return "windows"
    linux = r"\s*(?:#!|#cloud-config|MIME-Version:|Content-Type: multipart|\[settings|apiVersion: node\.eks\.aws)"
    return "linux" if re.match(linux, text) else None


def known(value: Any, path: str) -> Any:
    """The value itself.

    :raises Undecided: when it is not known yet.
    """
    if value is UNKNOWN:
        raise Undecided(path)
    return value


def _fields(value: Any, path: str) -> Mapping[str, Any]:
    """An object's properties, none where there is no object."""
    value = known(value, path)
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


RULES = (
    Rule(
        name="imdsv2-required",
        description="Instances answer metadata requests with a session token only (IMDSv2)",
        severity="high",
        types=LAUNCHED,
        resource=imdsv2_required,
        steps='set metadata_options.http_tokens to "required"',
        url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html",
        framework="CIS AWS Foundations Benchmark",
        version="3.0.0",
        reference="5.6",
    ),
    Rule(
        name="windows-node-role-not-shared",
        description="The role of Windows nodes is never the role of Linux nodes",
        severity="high",
        types=frozenset([NODE_GROUP, ACCESS_ENTRY, ROLE, INSTANCE_PROFILE]) | LAUNCHED,
        stack=windows_role_not_shared,
        steps="give the Windows nodes a role of their own: its access entry is of type EC2_WINDOWS, that of Linux "
        "nodes EC2_LINUX, and a role has one entry",
        url="https://docs.aws.amazon.com/eks/latest/userguide/launch-windows-workers.html",
        framework="Amazon EKS User Guide",
        reference="Create self-managed Windows nodes",
    ),
    Rule(
        name="windows-ipam-once",
        description="A cluster with Windows nodes has Windows IPAM switched on, in exactly one place",
        severity="high",
        types=frozenset([CLUSTER, NODE_GROUP, ACCESS_ENTRY, ADDON, LAUNCH_TEMPLATE, CONFIG_MAP, CONFIG_MAP_PATCH,
                         KUBERNETES_PROVIDER]),
        stack=windows_ipam_once,
        steps='with the vpc-cni add-on set enableWindowsIpam to "true" in its configuration_values; without it set '
        'enable-windows-ipam to "true" in the ConfigMap kube-system/amazon-vpc-cni; never both',
        url="https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html",
        framework="Amazon EKS User Guide",
        reference="Deploy Windows nodes on EKS clusters",
    ),
)  # fmt: skip
