"""IAM roles of nodes, of self-managed control planes and of EKS clusters.

- the role, with trust in one service, path and permissions boundary;
- the AWS managed policies of its kind, and those that the user names (``external_policies``);
- inline policies: the role's own and those that the user writes (``additional_policies``), checked before;
- for nodes an instance profile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..core.names import physical_name
from ..core.tags import named
from .policy_documents import (
    CNI_POLICY,
    CONTROL_PLANE_POLICIES,
    EKS_CLUSTER_POLICIES,
    EKS_WINDOWS_POLICIES,
    NODE_POLICIES,
    Document,
    managed_policy_arn,
    rendered,
    self_managed_node,
    session_manager,
    trust,
)
from .role_rules import RoleLike, check_role
from .validation import PolicySource, policy_document

NODE_KIND = Rule("WK-IAM-022", "The kind of a node role must be one that winkube supports.")

ROLE_NAME_LIMIT = 64
AUTONAME_SUFFIX = 8
"""What Pulumi appends to a name: a hyphen and seven characters."""
PREFIX_LIMIT = 38
"""The longest prefix of a role's name: the provider appends 26 characters."""


@dataclass(frozen=True, kw_only=True)
class NodeRoleArgs:
    """The arguments of a node role."""

    kind: str
    """``eks-linux``, ``eks-windows`` or ``self-managed``; it decides the default policies of the role."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies: documents, single statements or lists of statements, as mappings or as JSON."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach."""
    permissions_boundary: str | None = None
    """ARN of the role's permissions boundary; none by default."""
    path: str = "/"
    """Path of role and instance profile; it begins and ends with a slash."""
    partition: str = "aws"
    """Partition of the region: ``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``."""
    cni_policy: bool = True
    """Whether an ``eks-linux`` role has the policy of the VPC CNI. Set it to False if the CNI has its own role."""
    instance_profile: bool = False
    """Whether to create an instance profile. EKS creates its own for managed node groups."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of role and instance profile."""


@dataclass(frozen=True, kw_only=True)
class ControlPlaneRoleArgs:
    """The arguments of the role of a self-managed control plane."""

    policy_documents: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])
    """Inline policies as JSON by name, for ARNs that other resources compute. They are not checked."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies: documents, single statements or lists of statements, as mappings or as JSON."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach."""
    permissions_boundary: str | None = None
    """ARN of the role's permissions boundary; none by default."""
    path: str = "/"
    """Path of role and instance profile; it begins and ends with a slash."""
    partition: str = "aws"
    """Partition of the region: ``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of role and instance profile."""


@dataclass(frozen=True, kw_only=True)
class EksClusterRoleArgs:
    """The arguments of the role of an EKS control plane."""

    windows: bool = True
    """Whether the role may manage the addresses of Windows pods (``AmazonEKSVPCResourceController``)."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies: documents, single statements or lists of statements, as mappings or as JSON."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach."""
    permissions_boundary: str | None = None
    """ARN of the role's permissions boundary; none by default."""
    path: str = "/"
    """Path of the role; it begins and ends with a slash."""
    partition: str = "aws"
    """Partition of the region: ``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the role."""


def node_policies(kind: str, *, cni_policy: bool = True) -> tuple[str, ...]:
    """Names of the AWS managed policies of a node role; none for an unknown kind.

    >>> "AmazonEKS_CNI_Policy" in node_policies("eks-windows")
    False
    """
    names = NODE_POLICIES.get(kind, ())
    return tuple(name for name in names if cni_policy or name != CNI_POLICY)


def node_documents(kind: str) -> dict[str, Document]:
    """The inline policies of a node role itself, by what they are for."""
    return self_managed_documents() if kind == "self-managed" else {}


def self_managed_documents() -> dict[str, Document]:
    """The inline policies of every node that EKS does not look after, by what they are for."""
    return {"describe-self": self_managed_node(), "session-manager": session_manager()}


def cluster_policies(*, windows: bool) -> tuple[str, ...]:
    """Names of the AWS managed policies of an EKS cluster role."""
    return (*EKS_CLUSTER_POLICIES, *(EKS_WINDOWS_POLICIES if windows else ()))


def check_node_role(args: NodeRoleArgs) -> Mistakes:
    """Everything that is wrong with a node role (``WK-IAM-001`` to ``WK-IAM-022``, ``WK-TAG``)."""
    found = Mistakes()
    if args.kind not in NODE_POLICIES:
        near = nearest(args.kind, list(NODE_POLICIES))
        remedy = f'write "{near}"' if near else f"write {one_of(NODE_POLICIES)}"
        found.add(NODE_KIND, ("kind",), "is not a kind of node role", remedy, args.kind)
    own = node_policies(args.kind, cni_policy=args.cni_policy)
    found.take(check_role(args, own, list(node_documents(args.kind).values())))
    return found


def check_control_plane_role(args: ControlPlaneRoleArgs) -> Mistakes:
    """Everything that is wrong with the role of a control plane (``WK-IAM-001`` to ``WK-IAM-021``, ``WK-TAG``)."""
    texts = [text for text in args.policy_documents.values() if isinstance(text, str)]
    own = [*self_managed_documents().values(), *texts]
    return check_role(args, CONTROL_PLANE_POLICIES, own)


def name_prefix(name: str, limit: int = ROLE_NAME_LIMIT) -> str | None:
    """A prefix for a physical name where Pulumi's own way of naming would exceed the limit, else None.

    >>> name_prefix("dev-role") is None, name_prefix("x" * 60)
    (True, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxx-42f2d973-')
    """
    if len(name) + AUTONAME_SUFFIX <= limit:
        return None
    return physical_name(name, limit=PREFIX_LIMIT - 1) + "-"


class RoleComponent(Component):
    """What all components have in common that make one role."""

    role_arn: pulumi.Output[str]
    """ARN of the role."""
    role_name: pulumi.Output[str]
    """Name of the role, to attach further policies to."""

    def create_role(self, name: str, args: RoleLike, trust_policy: pulumi.Input[str], description: str) -> aws.iam.Role:
        """The role; its ARN and name become the component's."""
        role = aws.iam.Role(
            name,
            name_prefix=name_prefix(name),
            description=description,
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            assume_role_policy=trust_policy,
            tags=named(args.tags, name),
            opts=self.child(),
        )
        self.role_arn, self.role_name = role.arn, role.name
        return role

    def attach(self, name: str, role: aws.iam.Role, arns: Sequence[str]) -> None:
        """Attach managed policies."""
        for arn in arns:
            # Named by the policy, not by a number: taking one out leaves the others alone.
            aws.iam.RolePolicyAttachment(
                f"{name}-{arn.partition(':policy/')[2].replace('/', '-')}",
                role=role.name,
                policy_arn=arn,
                opts=self.child(),
            )

    def write(self, role: aws.iam.Role, documents: Mapping[str, Document | pulumi.Input[str]]) -> None:
        """Write inline policies, by the names of their resources."""
        for name, policy in documents.items():
            text = rendered(policy) if isinstance(policy, dict) else policy
            aws.iam.RolePolicy(name, role=role.name, policy=text, opts=self.child())

    def _create_profile(
        self, name: str, args: NodeRoleArgs | ControlPlaneRoleArgs, role: aws.iam.Role
    ) -> aws.iam.InstanceProfile:
        return aws.iam.InstanceProfile(
            name,
            name_prefix=name_prefix(name, limit=128),
            role=role.name,
            path=args.path,
            tags=named(args.tags, name),
            opts=self.child(),
        )


class NodeRole(RoleComponent):
    """The role of a group of nodes. Linux and Windows nodes need one each: an EKS access entry has one type.

    :raises WinkubeError: with every mistake in the arguments (``WK-IAM``, ``WK-TAG``).
    """

    instance_profile_name: pulumi.Output[str] | None
    """Name of the instance profile, if there is one."""
    instance_profile_arn: pulumi.Output[str] | None
    """ARN of the instance profile, if there is one."""

    def __init__(self, name: str, args: NodeRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_node_role(args))
        role = self.create_role(
            f"{name}-role", args, rendered(trust("ec2", args.partition)), f"Nodes of the kind {args.kind}"
        )
        own = node_policies(args.kind, cni_policy=args.cni_policy)
        self.attach(name, role, [managed_policy_arn(policy, args.partition) for policy in own])
        self.attach(name, role, args.external_policies)
        documents = {f"{name}-additional-{i}": policy_document(it) for i, it in enumerate(args.additional_policies)}
        documents |= {f"{name}-{use}": policy for use, policy in node_documents(args.kind).items()}
        self.write(role, documents)
        self.instance_profile_name = self.instance_profile_arn = None
        if args.instance_profile:
            profile = self._create_profile(f"{name}-profile", args, role)
            self.instance_profile_name, self.instance_profile_arn = profile.name, profile.arn
        self.register_outputs({
            "roleArn": self.role_arn,
            "roleName": self.role_name,
            "instanceProfileName": self.instance_profile_name,
            "instanceProfileArn": self.instance_profile_arn,
        })  # fmt: skip


class ControlPlaneRole(RoleComponent):
    """The role of the nodes of a self-managed control plane, with an instance profile.

    :raises WinkubeError: with every mistake in the arguments (``WK-IAM``, ``WK-TAG``).
    """

    instance_profile_name: pulumi.Output[str]
    """Name of the instance profile."""
    instance_profile_arn: pulumi.Output[str]
    """ARN of the instance profile."""

    def __init__(self, name: str, args: ControlPlaneRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_control_plane_role(args))
        role = self.create_role(
            f"{name}-role", args, rendered(trust("ec2", args.partition)), "Control plane of a Kubernetes cluster"
        )
        own = [managed_policy_arn(policy, args.partition) for policy in CONTROL_PLANE_POLICIES]
        self.attach(name, role, [*own, *args.external_policies])
        documents: dict[str, Document | pulumi.Input[str]] = {
            f"{name}-additional-{i}": policy_document(it) for i, it in enumerate(args.additional_policies)
        }
        documents |= {f"{name}-{use}": policy for use, policy in self_managed_documents().items()}
        documents |= {f"{name}-{use}": text for use, text in args.policy_documents.items()}
        self.write(role, documents)
        profile = self._create_profile(f"{name}-profile", args, role)
        self.instance_profile_name, self.instance_profile_arn = profile.name, profile.arn
        self.register_outputs({
            "roleArn": self.role_arn,
            "roleName": self.role_name,
            "instanceProfileName": self.instance_profile_name,
            "instanceProfileArn": self.instance_profile_arn,
        })  # fmt: skip


class EksClusterRole(RoleComponent):
    """The role of an EKS control plane, with what Windows nodes need of it.

    :raises WinkubeError: with every mistake in the arguments (``WK-IAM``, ``WK-TAG``).
    """

    def __init__(self, name: str, args: EksClusterRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        own = cluster_policies(windows=args.windows)
        super().__init__(name, opts, check_role(args, own))
        role = self.create_role(
            f"{name}-role", args, rendered(trust("eks", args.partition)), "Control plane of an EKS cluster"
        )
        self.attach(name, role, [managed_policy_arn(policy, args.partition) for policy in own])
        self.attach(name, role, args.external_policies)
        additional = enumerate(args.additional_policies)
        self.write(role, {f"{name}-additional-{i}": policy_document(it) for i, it in additional})
        self.register_outputs({"roleArn": self.role_arn, "roleName": self.role_name})
