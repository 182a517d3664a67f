"""Who may do what in an EKS cluster: access entries of people and pipelines.

Entries of nodes are made beside their node groups. Source: EKS user guide, "Create access entries" and "Review access
policy permissions".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of

ENTRIES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html"

ENTRY_NAME = Rule(
    "WK-EKS-040", "Each access entry needs a unique name, which becomes part of resource names.", ENTRIES_PAGE
)
ENTRY_PRINCIPAL = Rule(
    "WK-EKS-041",
    "The principal of an access entry is the ARN of an IAM role or user, and can be used only once.",
    ENTRIES_PAGE,
)
ENTRY_POLICY = Rule(
    "WK-EKS-042",
    "An access policy must be one that EKS offers.",
    "https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
)
ENTRY_MODE = Rule("WK-EKS-043", "Access entries need an authentication mode that includes the API.", ENTRIES_PAGE)
ENTRY_NOTHING = Rule("WK-EKS-044", "An access entry must grant an access policy or a Kubernetes group.", ENTRIES_PAGE)
ENTRY_GROUP = Rule(
    "WK-EKS-045", "Kubernetes groups of an access entry must not begin with system: or eks:.", ENTRIES_PAGE
)

ACCESS_POLICIES: Mapping[str, str] = {
    "cluster_admin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "admin_view": "AmazonEKSAdminViewPolicy",
    "edit": "AmazonEKSEditPolicy",
    "view": "AmazonEKSViewPolicy",
}
"""Words for the access policies that people get, with EKS' own names."""

_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?")
API_MODES = ("API", "API_AND_CONFIG_MAP")


class AccessPolicyLike(Protocol):
    """What a check needs of a policy."""

    @property
    def policy(self) -> str: ...  # noqa: D102
    @property
    def namespaces(self) -> Sequence[str]: ...  # noqa: D102


class AccessEntryLike(Protocol):
    """What a check needs of an entry."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def principal_arn(self) -> Any: ...  # noqa: D102
    @property
    def policies(self) -> Sequence[AccessPolicyLike]: ...  # noqa: D102
    @property
    def kubernetes_groups(self) -> Sequence[str]: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class AccessPolicy:
    """An access policy for the whole cluster or for some namespaces."""

    policy: str
    """``cluster_admin``, ``admin``, ``admin_view``, ``edit`` or ``view``."""
    namespaces: Sequence[str] = ()
    """The namespaces of the policy; the whole cluster by default."""


def check_access_entries(
    entries: Sequence[AccessEntryLike], authentication_mode: str, path: Path = ("access_entries",)
) -> Mistakes:
    """Every mistake in the entries of one cluster. A principal that is not known yet is not judged."""
    found = Mistakes()
    if entries and authentication_mode == "CONFIG_MAP":
        found.add(ENTRY_MODE, path, f"access entries need the authentication mode {one_of(API_MODES)}",
                  'set authentication_mode to "API"', authentication_mode)  # fmt: skip
    names: dict[str, int] = {}
    principals: dict[str, int] = {}
    for index, entry in enumerate(entries):
        here = (*path, index)
        found.take(_check_entry(entry), *here)
        if names.setdefault(entry.name, index) != index:
            found.add(ENTRY_NAME, (*here, "name"), f"the entry at [{names[entry.name]}] has the same name",
                      "give each entry a unique name", entry.name)  # fmt: skip
        principal = entry.principal_arn
        if isinstance(principal, str) and principals.setdefault(principal, index) != index:
            found.add(
                ENTRY_PRINCIPAL,
                (*here, "principal_arn"),
                f"the entry at [{principals[principal]}] has the same principal; EKS allows one entry each",
                "merge the two entries",
                principal,
            )
    return found


def _check_entry(entry: AccessEntryLike) -> Mistakes:
    found = Mistakes()
    if not _NAME.fullmatch(entry.name):
        found.add(ENTRY_NAME, ("name",), "an entry name has lower-case letters, digits and hyphens",
                  'write a name such as "platform-team"', entry.name)  # fmt: skip
    principal = entry.principal_arn
    if isinstance(principal, str) and not _PRINCIPAL.fullmatch(principal):
        found.add(ENTRY_PRINCIPAL, ("principal_arn",), "the principal must be the ARN of an IAM role or user",
                  'write an ARN such as "arn:aws:iam::111122223333:role/platform"', principal)  # fmt: skip
    if not entry.policies and not entry.kubernetes_groups:
        found.add(ENTRY_NOTHING, ("policies",), "the entry grants neither a policy nor a group, so it allows nothing",
                  'add a policy such as {policy: "view"}')  # fmt: skip
    for index, given in enumerate(entry.policies):
        if given.policy not in ACCESS_POLICIES:
            guess = nearest(given.policy, tuple(ACCESS_POLICIES))
            found.add(ENTRY_POLICY, ("policies", index, "policy"), f"the access policy is {one_of(ACCESS_POLICIES)}",
                      f'write "{guess}"' if guess else "write one of these", given.policy)  # fmt: skip
        for number, namespace in enumerate(given.namespaces):
            if not _NAMESPACE.fullmatch(namespace):
                found.add(ENTRY_POLICY, ("policies", index, "namespaces", number),
                          "a namespace has lower-case letters, digits and hyphens, and * for any",
                          "write the namespace's name", namespace)  # fmt: skip
    for index, group in enumerate(entry.kubernetes_groups):
        if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
            found.add(ENTRY_GROUP, ("kubernetes_groups", index), "EKS rejects groups that belong to Kubernetes or AWS",
                      "bind the role to a group of your own", group)  # fmt: skip
    return found


def access_policy_arn(policy: str, partition: str = "aws") -> str:
    """The ARN of an access policy.

    >>> access_policy_arn("view")
    'arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy'
    """
    return f"arn:{partition}:eks::aws:cluster-access-policy/{ACCESS_POLICIES[policy]}"


def access_scope(namespaces: Sequence[str]) -> Any:
    """Where a policy holds, as EKS takes it."""
    return {"type": "namespace", "namespaces": sorted(namespaces)} if namespaces else {"type": "cluster"}
