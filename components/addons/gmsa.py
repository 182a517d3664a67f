"""Active Directory identities of Windows pods (gMSA).

- the ``GMSACredentialSpec`` that describes the account, domain-joined or domainless;
- the right to use it, for the service accounts named and for nobody else.

Needs the add-on ``windows-gmsa`` (CRD and webhook). Domain-joined: the nodes are members of the domain. Domainless: the
plug-in of the node image reads a portable identity from Secrets Manager or the Parameter Store with the rights of the
node's role, which therefore needs ``node_policy``. Sources: kubernetes-sigs/windows-gmsa ``charts/gmsa/crds``; AWS
blog, "Domainless Windows Authentication for Amazon EKS Windows pods".
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pulumi

from ..core.component import Component, known
from ..core.mistakes import Mistakes, Rule
from ..kubernetes.resource import kubernetes_object
from ..roles.policy_documents import rendered
from .addon_policies import group_credentials
from .identity import check_subject

GMSA_PAGE = "https://kubernetes.io/docs/tasks/configure-pod-container/configure-gmsa/"
DOMAINLESS_PAGE = (
    "https://aws.amazon.com/blogs/containers/domainless-windows-authentication-for-amazon-eks-windows-pods/"
)
SPEC_NAME = Rule("WK-ADD-050", "The name of a credential spec must be a valid Kubernetes name.", GMSA_PAGE)
DOMAIN_FACTS = Rule(
    "WK-ADD-051", "A credential spec must identify the account and the domain as Active Directory does.", GMSA_PAGE
)
CREDENTIAL = Rule(
    "WK-ADD-052",
    "A portable identity is given as the ARN of a secret or parameter, never as its value.",
    DOMAINLESS_PAGE,
)
USERS = Rule("WK-ADD-053", "A credential spec must list the service accounts that may use it.", GMSA_PAGE)

API_VERSION = "windows.k8s.io/v1"
KIND = "GMSACredentialSpec"
PLUGIN_GUID = "{859E1386-BDB4-49E8-85C7-3070B13920E1}"
"""AWS' plug-in in the EKS node images, since March 2023."""

_FORMATS: Mapping[str, tuple[re.Pattern[str], str, str]] = {
    "account_name": (re.compile(r"[^\s\"/\\\[\]:;|=,+*?<>$]{1,15}"),
                     "the account's name has at most 15 characters, without the closing $", 'write it as "WebApp1"'),
    "netbios_name": (re.compile(r"[^\s.\\/:*?\"<>|]{1,15}"),
                     "a NetBIOS name has at most 15 characters and no dot", 'write it as "CORP"'),
    "domain_name": (re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"),
                    "the domain is its DNS name in full", 'write it as "corp.example.com"'),
    "domain_guid": (re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
                    "the domain's GUID has 32 hexadecimal digits in five groups",
                    "take ObjectGUID of Get-ADDomain, without braces"),
    "domain_sid": (re.compile(r"S-1-5-21(-\d{1,10}){3}"),
                   "the domain's SID has the form S-1-5-21 with three numbers", "take DomainSID of Get-ADDomain"),
}  # fmt: skip
_CREDENTIAL = re.compile(
    r"arn:aws[a-z-]*:(secretsmanager:[a-z0-9-]+:\d{12}:secret:|ssm:[a-z0-9-]+:\d{12}:parameter/)\S+"
)
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, kw_only=True)
class GmsaUser:
    """A service account that may use a credential spec."""

    namespace: str
    """Its namespace."""
    service_account: str
    """Its exact name."""


@dataclass(frozen=True, kw_only=True)
class GmsaCredentialSpecArgs:
    """One group managed service account, as Windows pods use it."""

    spec_name: str
    """Name of the credential spec, as in ``windowsOptions.gmsaCredentialSpecName`` of pods."""
    account_name: str
    """Name of the gMSA in Active Directory, without ``$``; at most 15 characters."""
    domain_name: str
    """DNS name of the domain, such as ``corp.example.com``."""
    netbios_name: str
    """NetBIOS name of the domain, such as ``CORP``."""
    domain_guid: str
    """``ObjectGUID`` of the domain."""
    domain_sid: str
    """SID of the domain, such as ``S-1-5-21-…``."""
    forest_root: str | None = None
    """DNS name of the forest's root domain; the domain itself by default."""
    credential_arn: pulumi.Input[str] | None = None
    """Domainless: ARN of the secret or parameter with the portable identity. None (default): domain-joined nodes."""
    credential_key_arn: pulumi.Input[str] | None = None
    """ARN of the KMS key of that secret, if it is a customer managed key."""
    users: Sequence[GmsaUser]
    """The service accounts that may use it."""


def check_gmsa_credential_spec(args: GmsaCredentialSpecArgs) -> Mistakes:
    """Everything that is wrong with a credential spec (``WK-ADD-050`` to ``WK-ADD-053``, ``WK-ADD-020``)."""
    found = Mistakes()
    if not _NAME.fullmatch(args.spec_name):
        found.add(SPEC_NAME, ("spec_name",), "a name has lower-case letters, digits, hyphens and dots",
                  'write a name such as "web-app"', args.spec_name)  # fmt: skip
    for field, (pattern, message, remedy) in _FORMATS.items():
        value = getattr(args, field)
        if not pattern.fullmatch(value):
            found.add(DOMAIN_FACTS, (field,), message, remedy, value)
    if args.forest_root is not None and not _FORMATS["domain_name"][0].fullmatch(args.forest_root):
        found.add(DOMAIN_FACTS, ("forest_root",), "the forest root must be a full DNS name",
                  'write it as "example.com"', args.forest_root)  # fmt: skip
    if isinstance(args.credential_arn, str) and not _CREDENTIAL.fullmatch(args.credential_arn):
        # The value is not shown: what stands here instead of an ARN may well be a password.
        found.add(
            CREDENTIAL,
            ("credential_arn",),
            "the portable identity must stay in Secrets Manager or Parameter Store",
            'write the ARN of a secret ("arn:aws:secretsmanager:…:secret:…") or of a parameter '
            '("arn:aws:ssm:…:parameter/…")',
        )
    if not args.users:
        found.add(USERS, ("users",), "no service account may use the credential spec, so no pod can start with it",
                  "add at least one")  # fmt: skip
    seen: set[tuple[str, str]] = set()
    for index, user in enumerate(args.users):
        found.take(check_subject(user.namespace, user.service_account), "users", index)
        if (user.namespace, user.service_account) in seen:
            found.add(USERS, ("users", index), "this service account is listed twice", "remove one of them",
                      f"{user.namespace}/{user.service_account}")  # fmt: skip
        seen.add((user.namespace, user.service_account))
    return found


def credential_spec(args: GmsaCredentialSpecArgs, credential_arn: str | None = None) -> dict[str, Any]:
    """The content of a credential spec; with the ARN of a portable identity the domainless one."""
    directory: dict[str, Any] = {
        "GroupManagedServiceAccounts": [
            {"Name": args.account_name, "Scope": scope} for scope in (args.domain_name, args.netbios_name)
        ]
    }
    if credential_arn is not None:
        directory["HostAccountConfig"] = {
            "PortableCcgVersion": "1",
            "PluginGUID": PLUGIN_GUID,
            "PluginInput": json.dumps({"credentialArn": credential_arn}, separators=(",", ":")),
        }
    return {
        "ActiveDirectoryConfig": directory,
        "CmsPlugins": ["ActiveDirectory"],
        "DomainJoinConfig": {
            "DnsName": args.domain_name,
            "DnsTreeName": args.forest_root or args.domain_name,
            "Guid": args.domain_guid,
            "MachineAccountName": args.account_name,
            "NetBiosName": args.netbios_name,
            "Sid": args.domain_sid,
        },
    }


def user_role(spec_name: str) -> dict[str, Any]:
    """The manifest of the right to use one credential spec."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"gmsa-{spec_name}-user"},
        "rules": [
            {
                "apiGroups": ["windows.k8s.io"],
                "resources": ["gmsacredentialspecs"],
                "verbs": ["use"],
                "resourceNames": [spec_name],
            }
        ],
    }


def user_bindings(spec_name: str, users: Sequence[GmsaUser]) -> list[dict[str, Any]]:
    """The manifests that give this right, one for each namespace."""
    namespaces = sorted({user.namespace for user in users})
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": f"gmsa-{spec_name}-users", "namespace": namespace},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": f"gmsa-{spec_name}-user",
            },
            "subjects": [
                {"kind": "ServiceAccount", "name": user.service_account, "namespace": namespace}
                for user in sorted(users, key=lambda user: user.service_account)
                if user.namespace == namespace
            ],
        }
        for namespace in namespaces
    ]


def pod_security_context(spec_name: str) -> dict[str, Any]:
    """The ``securityContext`` of a pod that runs as the account.

    >>> pod_security_context("web-app")
    {'windowsOptions': {'gmsaCredentialSpecName': 'web-app'}}
    """
    return {"windowsOptions": {"gmsaCredentialSpecName": spec_name}}


class GmsaCredentialSpec(Component):
    """A group managed service account for Windows pods, and who may use it.

    :raises WinkubeError: ``WK-ADD-050`` to ``WK-ADD-053``, ``WK-ADD-020``.
    """

    spec_name: str
    """Name of the credential spec, for ``windowsOptions.gmsaCredentialSpecName``."""
    node_policy: pulumi.Output[str] | None
    """Domainless: the inline policy that the role of the Windows nodes needs, as JSON; None otherwise."""

    def __init__(self, name: str, args: GmsaCredentialSpecArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_gmsa_credential_spec(args))
        self.spec_name = args.spec_name
        content = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": args.spec_name}}
        kubernetes_object(f"{name}-spec", {**content, "credspec": _content(args)}, self.child())
        kubernetes_object(f"{name}-user", user_role(args.spec_name), self.child())
        for binding in user_bindings(args.spec_name, args.users):
            kubernetes_object(f"{name}-users-{binding['metadata']['namespace']}", binding, self.child())
        self.node_policy = _node_policy(args)
        self.register_outputs({"specName": self.spec_name, "nodePolicy": self.node_policy})


def _content(args: GmsaCredentialSpecArgs) -> Any:
    if known(args.credential_arn):
        return credential_spec(args, cast(str | None, args.credential_arn))
    return pulumi.Output.from_input(args.credential_arn).apply(lambda arn: credential_spec(args, arn))


def _node_policy(args: GmsaCredentialSpecArgs) -> pulumi.Output[str] | None:
    if args.credential_arn is None:
        return None
    both = pulumi.Output.all(args.credential_arn, args.credential_key_arn)
    return both.apply(lambda arns: rendered(group_credentials(str(arns[0]), arns[1])))
