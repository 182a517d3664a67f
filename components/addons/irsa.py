"""A role for one service account of one cluster.

- the role, with trust in the cluster's OIDC provider for exactly one namespace and service account (IRSA), or in EKS
  Pod Identity;
- AWS managed policies, inline documents of the library, and those that the user adds.

Pods on Windows nodes take IRSA only: there is no Pod Identity agent for Windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from ..core.component import known
from ..core.mistakes import Mistakes
from ..roles.policy_documents import managed_policy_arn, rendered
from ..roles.role import RoleComponent
from ..roles.role_rules import check_role
from ..roles.validation import PolicySource, policy_document
from .addon_policies import AUDIENCE, irsa_trust, pod_identity_trust
from .identity import check_identity, check_oidc, check_subject


@dataclass(frozen=True, kw_only=True)
class IrsaRoleArgs:
    """The arguments of the role of a service account."""

    namespace: str
    """Namespace of the service account."""
    service_account: str
    """The exact name of the service account; wildcards are not allowed."""
    identity: str = "irsa"
    """``irsa`` (default): trust in the cluster's OIDC provider. ``pod_identity``: trust in EKS Pod Identity, for pods
    on Linux nodes; the association is the caller's to make."""
    oidc_provider_arn: pulumi.Input[str] | None = None
    """ARN of the IAM OIDC provider of the cluster. Required for ``irsa``."""
    oidc_issuer: pulumi.Input[str] | None = None
    """The cluster's issuer URL, as EKS returns it. Required for ``irsa``."""
    audience: str = AUDIENCE
    """Audience of the tokens: ``sts.amazonaws.com`` by default."""
    managed_policies: Sequence[str] = ()
    """Names of AWS managed policies, with their path if they have one: ``service-role/AmazonEBSCSIDriverPolicy``."""
    policy_documents: Mapping[str, pulumi.Input[str]] = field(default_factory=dict[str, pulumi.Input[str]])
    """Inline policies as JSON by name, for ARNs that other resources compute. They are not checked."""
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


def check_irsa_role(args: IrsaRoleArgs) -> Mistakes:
    """Everything that is wrong with the role of a service account (``WK-ADD-020`` to ``WK-ADD-022``, ``WK-IAM``)."""
    found = check_identity(args.identity)
    found.take(check_subject(args.namespace, args.service_account))
    if args.identity == "irsa":
        found.take(check_oidc(args.oidc_provider_arn, args.oidc_issuer))
    texts = [text for text in args.policy_documents.values() if isinstance(text, str)]
    found.take(check_role(args, args.managed_policies, texts))
    return found


class IrsaRole(RoleComponent):
    """The role of one service account; its ARN goes into the annotation ``eks.amazonaws.com/role-arn``.

    :raises WinkubeError: ``WK-ADD-020`` to ``WK-ADD-022``, ``WK-IAM``, ``WK-TAG``.
    """

    def __init__(self, name: str, args: IrsaRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_irsa_role(args))
        account = f"Service account {args.namespace}/{args.service_account}"
        role = self.create_role(f"{name}-role", args, _trust(args), account)
        own = [managed_policy_arn(policy, args.partition) for policy in args.managed_policies]
        self.attach(name, role, [*own, *args.external_policies])
        self.write(role, {f"{name}-{use}": text for use, text in args.policy_documents.items()})
        additional = enumerate(args.additional_policies)
        self.write(role, {f"{name}-additional-{i}": policy_document(it) for i, it in additional})
        self.register_outputs({"roleArn": self.role_arn, "roleName": self.role_name})


def _trust(args: IrsaRoleArgs) -> pulumi.Input[str]:
    if args.identity == "pod_identity":
        return rendered(pod_identity_trust())
    subject = (args.namespace, args.service_account, args.audience)
    if known(args.oidc_provider_arn) and known(args.oidc_issuer):
        return rendered(irsa_trust(str(args.oidc_provider_arn), str(args.oidc_issuer), *subject))
    both = pulumi.Output.all(args.oidc_provider_arn, args.oidc_issuer)
    return both.apply(lambda values: rendered(irsa_trust(str(values[0]), str(values[1]), *subject)))
