"""A role for one service account of one cluster.

- the role, with trust in the cluster's OIDC provider for exactly one namespace and service account (IRSA), or in EKS
  Pod Identity;
- AWS managed policies, inline documents of the library, and those that the user adds.

Pods on Windows nodes take IRSA only: there is no Pod Identity agent for Windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.component import Component, known
from ..core.mistakes import Mistakes
from ..core.tags import named
from ..roles.checks import check_role
from ..roles.documents import managed_policy_arn, rendered
from ..roles.role import name_prefix
from ..roles.validation import PolicySource, policy_document
from .documents import AUDIENCE, irsa_trust, pod_identity_trust
from .identity import check_identity, check_oidc, check_subject


@dataclass(frozen=True, kw_only=True)
class IrsaRoleArgs:
    """What the role of a service account is made from."""

    namespace: str
    """Namespace of the service account."""
    service_account: str
    """Its exact name; wildcards are refused."""
    identity: str = "irsa"
    """``irsa`` (default): trust in the cluster's OIDC provider. ``pod_identity``: trust in EKS Pod Identity, for pods
    on Linux nodes; the association is the caller's to make."""
    oidc_provider_arn: pulumi.Input[str] | None = None
    """ARN of the IAM OIDC provider of the cluster. Needed by ``irsa``."""
    oidc_issuer: pulumi.Input[str] | None = None
    """The cluster's issuer URL, as EKS gives it. Needed by ``irsa``."""
    audience: str = AUDIENCE
    """Audience of the tokens: ``sts.amazonaws.com`` by default."""
    managed_policies: Sequence[str] = ()
    """Names of AWS managed policies, with their path where they have one: ``service-role/AmazonEBSCSIDriverPolicy``."""
    policy_documents: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])
    """Inline policies as JSON whose ARNs other resources compute, by a name of their own. They are not judged."""
    additional_policies: Sequence[PolicySource] = ()
    """Inline policies: documents, single statements or lists of statements, as mappings or as JSON."""
    external_policies: Sequence[str] = ()
    """ARNs of managed policies to attach."""
    permissions_boundary: str | None = None
    """ARN of the policy that bounds the role's permissions; none by default."""
    path: str = "/"
    """Path of the role, with a slash at both ends."""
    partition: str = "aws"
    """Partition of the region: ``aws``, ``aws-cn``, ``aws-us-gov`` or ``aws-eusc``."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the role."""


def check_irsa_role(args: IrsaRoleArgs) -> Mistakes:
    """Everything that is wrong with the role of a service account (``WK-ADD-020`` to ``WK-ADD-022``, ``WK-IAM``)."""
    found = check_identity(args.identity)
    found.take(check_subject(args.namespace, args.service_account))
    if args.identity == "irsa":
        found.take(check_oidc(args.oidc_provider_arn, args.oidc_issuer))
    texts = [text for text in args.policy_documents.values() if isinstance(text, str)]
    found.take(check_role(args, args.managed_policies, texts))
    return found


class IrsaRole(Component):
    """The role of one service account.

    :raises WinkubeError: ``WK-ADD-020`` to ``WK-ADD-022``, ``WK-IAM``, ``WK-TAG``.
    """

    role_arn: pulumi.Output[str]
    """ARN of the role: the value of the service account's annotation ``eks.amazonaws.com/role-arn``."""
    role_name: pulumi.Output[str]
    """Name of the role, to attach further policies to."""

    def __init__(self, name: str, args: IrsaRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_irsa_role(args))
        role = aws.iam.Role(
            f"{name}-role",
            name_prefix=name_prefix(f"{name}-role"),
            description=f"Service account {args.namespace}/{args.service_account}",
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            assume_role_policy=_trust(args),
            tags=named(args.tags, f"{name}-role"),
            opts=self.child(),
        )
        self._attach(name, role, args)
        self.role_arn, self.role_name = role.arn, role.name
        self.register_outputs({"roleArn": self.role_arn, "roleName": self.role_name})

    def _attach(self, name: str, role: aws.iam.Role, args: IrsaRoleArgs) -> None:
        arns = [managed_policy_arn(policy, args.partition) for policy in args.managed_policies]
        for arn in [*arns, *args.external_policies]:
            # Named by the policy, not by a number: taking one out leaves the others alone.
            aws.iam.RolePolicyAttachment(
                f"{name}-{arn.partition(':policy/')[2].replace('/', '-')}",
                role=role.name,
                policy_arn=arn,
                opts=self.child(),
            )
        documents: dict[str, pulumi.Input[str]] = {f"{name}-{use}": it for use, it in args.policy_documents.items()}
        documents |= {
            f"{name}-additional-{index}": rendered(policy_document(source))
            for index, source in enumerate(args.additional_policies)
        }
        for policy_name, text in documents.items():
            aws.iam.RolePolicy(policy_name, role=role.name, policy=text, opts=self.child())


def _trust(args: IrsaRoleArgs) -> pulumi.Input[str]:
    if args.identity == "pod_identity":
        return rendered(pod_identity_trust())
    subject = (args.namespace, args.service_account, args.audience)
    if known(args.oidc_provider_arn) and known(args.oidc_issuer):
        return rendered(irsa_trust(str(args.oidc_provider_arn), str(args.oidc_issuer), *subject))
    both = pulumi.Output.all(args.oidc_provider_arn, args.oidc_issuer)
    return both.apply(lambda values: rendered(irsa_trust(str(values[0]), str(values[1]), *subject)))
