"""What belongs to what: the role, the cluster and the operating system of a resource.

Found by value, or by the resource that a value comes from: identifiers are unknown before the deployment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .model import Planned, Stack, System, Value
from .resource_types import (
    ACCESS_ENTRY,
    ADDON,
    AUTO_SCALING_GROUP,
    CLUSTER,
    EKS_POD_IDENTITY,
    FARGATE_PROFILE,
    IDENTITY_PROVIDER_CONFIG,
    INSTANCE_PROFILE,
    KUBERNETES_PROVIDER,
    LAUNCH_TEMPLATE,
    LAUNCHED,
    NODE_GROUP,
    ROLE,
    ROLE_POLICY_ATTACHMENT,
    SUBNET,
    VPC,
)
from .user_data import joins_eks, system_of_user_data, user_data

OF_CLUSTER = frozenset([NODE_GROUP, ACCESS_ENTRY, ADDON, FARGATE_PROFILE, EKS_POD_IDENTITY, IDENTITY_PROVIDER_CONFIG])
ENTRY_SYSTEMS: Mapping[str, System] = {"EC2_WINDOWS": "windows", "EC2_LINUX": "linux", "HYBRID_LINUX": "linux"}


@dataclass(frozen=True, slots=True)
class RoleUse:
    """A resource whose nodes have a role."""

    role: str | None
    """URN or name of the role, none where it is not known."""
    system: System | None
    path: str
    """The property that names the role."""


class Inventory:
    """Answers questions about the resources of one plan."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.by_urn = stack.by_urn
        self._named = {
            (resource.type, resource.props["name"]): resource.urn
            for resource in stack.of(ROLE, CLUSTER, INSTANCE_PROFILE)
            if isinstance(resource.props.get("name"), str)
        }

    @cached_property
    def windows_groups(self) -> list[Planned]:
        """The managed node groups of Windows nodes."""
        return [group for group in self.stack.of(NODE_GROUP) if self.system(group) == "windows"]

    @cached_property
    def windows_clusters(self) -> dict[str, Planned]:
        """URN or name of each cluster that has Windows nodes, with a resource that says so."""
        found: dict[str, Planned] = {}
        for resource in self.stack.of(NODE_GROUP, ACCESS_ENTRY):
            cluster = self.cluster(resource)
            if cluster and self.windows_nodes(resource):
                found.setdefault(cluster, resource)
        return found

    @cached_property
    def has_windows(self) -> bool:
        """Whether anything in the plan says that there are Windows nodes."""
        return bool(self.windows_groups or self.windows_clusters) or any(
            self.system(found) == "windows" for found in self.stack.of(*LAUNCHED)
        )

    def role_use(self, resource: Planned) -> RoleUse | None:
        """The role of the nodes that a resource stands for, none where it stands for no nodes."""
        if resource.type == NODE_GROUP:
            role = self.one(resource, "nodeRoleArn", ROLE)
            return RoleUse(role, self.system(resource), f"{resource.name}.nodeRoleArn")
        if resource.type == ACCESS_ENTRY:
            system = ENTRY_SYSTEMS.get(str(resource.props.get("type")))
            path = f"{resource.name}.principalArn"
            return RoleUse(self.one(resource, "principalArn", ROLE), system, path) if system else None
        if resource.type in LAUNCHED and (system := self.system(resource)):
            if resource.props.get("iamInstanceProfile") is None:
                return None
            profile = self.one(resource, "iamInstanceProfile", INSTANCE_PROFILE)
            role = self.one(self.by_urn[profile], "role", ROLE) if profile in self.by_urn else None
            return RoleUse(role, system, f"{resource.name}.iamInstanceProfile")
        return None

    def cluster(self, resource: Planned) -> str | None:
        """URN or name of the cluster that a resource belongs to; of a Kubernetes object by its provider."""
        if resource.type in OF_CLUSTER:
            return self.one(resource, "clusterName", CLUSTER)
        provider = self.by_urn.get(resource.provider)
        if provider is None or provider.type != KUBERNETES_PROVIDER:
            return None
        found = {urn for urns in provider.references.values() for urn in urns if self._is(urn, CLUSTER)}
        return found.pop() if len(found) == 1 else None

    def windows_nodes(self, resource: Planned) -> bool:
        """Whether a resource says that its cluster has Windows nodes."""
        if resource.type == ACCESS_ENTRY:
            return resource.props.get("type") == "EC2_WINDOWS"
        return resource.type == NODE_GROUP and self.system(resource) == "windows"

    def system(self, resource: Planned) -> System | None:
        """``windows`` or ``linux``; none where it is not known."""
        if resource.type == NODE_GROUP:
            ami = resource.props.get("amiType")
            if isinstance(ami, str) and ami != "CUSTOM":
                return "windows" if ami.startswith("WINDOWS") else "linux"
            found: set[System | None] = {self.system(template) for template in self.templates(resource)}
            if ami is None and resource.props.get("launchTemplate") is None:
                return "linux"  # what EKS takes when nothing is said
            return found.pop() if len(found) == 1 else None
        return system_of_user_data(user_data(resource))

    def templates(self, group: Planned) -> list[Planned]:
        """The launch templates of a node group or an Auto Scaling group."""
        found = [
            *self.stack.sources(group, "launchTemplate", LAUNCH_TEMPLATE),
            *self.stack.sources(group, "mixedInstancesPolicy", LAUNCH_TEMPLATE),
        ]
        return list({template.urn: template for template in found}.values())

    def nodes_templates(self, system: System) -> Iterator[tuple[Planned, Planned | None]]:
        """The launch templates of nodes of a system, with the managed group that uses them, if one does."""
        seen: set[str] = set()
        for group in self.stack.of(NODE_GROUP):
            for template in self.templates(group):
                if self.system(group) == system and template.urn not in seen:
                    seen.add(template.urn)
                    yield template, group
        for template in self.stack.of(LAUNCH_TEMPLATE):
            if template.urn not in seen and self.system(template) == system and joins_eks(template):
                yield template, None

    def other_linux_nodes(self) -> list[Planned]:
        """What may start Linux nodes beside managed groups: Auto Scaling groups that do not start Windows."""
        return [
            group
            for group in self.stack.of(AUTO_SCALING_GROUP)
            if not any(self.system(template) == "windows" for template in self.templates(group))
        ]

    @cached_property
    def attachments(self) -> Mapping[str | None, list[Planned]]:
        """What attaches managed policies, by the role."""
        found: dict[str | None, list[Planned]] = {}
        for attachment in self.stack.of(ROLE_POLICY_ATTACHMENT):
            found.setdefault(self.one(attachment, "role", ROLE), []).append(attachment)
        return found

    @cached_property
    def unknown_attachments(self) -> list[Planned]:
        """Attachments of managed policies of which neither the name is known nor the resource that it comes from."""
        return [
            attachment
            for attachment in self.stack.of(ROLE_POLICY_ATTACHMENT)
            if attachment["policyArn"].unknown and not attachment.references.get("policyArn")
        ]

    def one(self, resource: Planned, name: str, kind: str) -> str | None:
        """What a property names: the one resource of a kind that it comes from, else its own text."""
        sources = [urn for urn in resource.references.get(name, ()) if self._is(urn, kind)]
        if len(sources) == 1:
            return sources[0]
        value = resource[name].settled
        if isinstance(value, Mapping):
            fields = Value(value, name)
            value = fields["name"].settled or fields["arn"].settled
        if not isinstance(value, str):
            return None
        short = value.rsplit("/", 1)[-1]
        return self._named.get((kind, short), value if kind == CLUSTER else short)

    def _is(self, urn: str, kind: str) -> bool:
        return urn in self.by_urn and self.by_urn[urn].type == kind


def inventory(stack: Stack) -> Inventory:
    """The inventory of a stack, made once."""
    found = stack.__dict__.get("_inventory")
    if found is None:
        found = stack.__dict__["_inventory"] = Inventory(stack)
    return found


def short_name(found: str) -> str:
    """The logical name in a URN, or the text itself."""
    return found.rsplit("::", 1)[-1]


def managed_policies(stack: Stack, role: Planned) -> set[str]:
    """The names of the managed policies that a role carries, as far as they are known."""
    arns = [arn.settled for arn in role["managedPolicyArns"].items()]
    arns += [attachment["policyArn"].settled for attachment in inventory(stack).attachments.get(role.urn, ())]
    return {arn.rsplit("/", 1)[-1] for arn in arns if isinstance(arn, str)}


def vpcs_of(stack: Stack, *clusters: Planned) -> list[Planned]:
    """The VPCs that the subnets of clusters lie in."""
    found: dict[str, Planned] = {}
    for cluster in clusters:
        for subnet in stack.sources(cluster, "vpcConfig", SUBNET):
            for vpc in stack.sources(subnet, "vpcId", VPC):
                found[vpc.urn] = vpc
    return list(found.values())


def installs(stack: Stack, *programs: str) -> bool:
    """Whether one of these programs is in the name or the type of any resource, as of a chart or an operator."""
    named = [f"{resource.type} {resource.name}".lower() for resource in stack.resources]
    return any(program in text for text in named for program in programs)
