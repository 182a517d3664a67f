"""What is wrong with the settings of a role: policies by ARN, permissions boundary, path, and their limits. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..core.tags import check_tags
from ..tables.regions import PARTITIONS
from .policy_documents import managed_policy_arn
from .validation import QUOTAS, PolicySource, check_policy_documents

MANAGED_POLICY_ARN = Rule(
    "WK-IAM-015",
    "A managed policy is given by its ARN.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
)
MANAGED_POLICY_PARTITION = Rule("WK-IAM-016", "A managed policy must be in the role's partition.")
MANAGED_POLICY_TWICE = Rule("WK-IAM-017", "A managed policy can be attached to a role only once.")
MANAGED_POLICY_COUNT = Rule(
    "WK-IAM-018", "A role can have at most 20 managed policies; the default quota is 10.", QUOTAS
)
BOUNDARY_ARN = Rule(
    "WK-IAM-019",
    "A permissions boundary is the ARN of a managed policy in the role's partition.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html",
)
ROLE_PATH = Rule(
    "WK-IAM-020",
    "The path of a role begins and ends with a slash.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
)
PARTITION_KNOWN = Rule("WK-IAM-021", "The partition must be one that AWS has.")

MANAGED_POLICIES_DEFAULT = 10
MANAGED_POLICIES_MAXIMUM = 20
_POLICY_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>aws|\d{12}):policy/(?P<name>[\x21-\x7e]*?[\w+=,.@-]{1,128})"
)
_PATH = re.compile(r"/|/[\x21-\x7e]{1,510}/")


class RoleLike(Protocol):
    """What a role is judged by, in the arguments of the components and in the settings of a group."""

    @property
    def additional_policies(self) -> Sequence[PolicySource]: ...  # noqa: D102
    @property
    def external_policies(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def permissions_boundary(self) -> str | None: ...  # noqa: D102
    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def partition(self) -> str: ...  # noqa: D102
    @property
    def tags(self) -> Mapping[str, str]: ...  # noqa: D102


def check_role(
    role: RoleLike, own_policies: Sequence[str] = (), own_documents: Sequence[PolicySource] = ()
) -> Mistakes:
    """Everything that is wrong with the settings of a role (``WK-IAM-001`` to ``WK-IAM-021``, ``WK-TAG``).

    :param own_policies: names of the AWS managed policies that the role gets anyway.
    :param own_documents: inline policies that the role gets anyway: they take their share of the room.
    """
    found = Mistakes()
    if role.partition not in PARTITIONS:
        near = nearest(role.partition, PARTITIONS)
        remedy = f'write "{near}"' if near else f"write {one_of(PARTITIONS)}"
        found.add(PARTITION_KNOWN, ("partition",), "is not an AWS partition", remedy, role.partition)
    partition = role.partition if role.partition in PARTITIONS else None
    found.take(check_policy_documents(role.additional_policies, partition=partition, beside=own_documents))
    found.take(check_external_policies(role.external_policies, partition=partition, own_policies=own_policies))
    found.take(check_boundary(role.permissions_boundary, partition=partition))
    found.take(check_path(role.path))
    found.take(check_tags(role.tags))
    return found


def check_external_policies(
    arns: Sequence[str],
    path: Path = ("external_policies",),
    *,
    partition: str | None = None,
    own_policies: Sequence[str] = (),
) -> Mistakes:
    """Whether these are ARNs of managed policies that can be attached (``WK-IAM-015`` to ``WK-IAM-018``).

    :param partition: of the role; None when it is not known.
    :param own_policies: names of the AWS managed policies that the role gets anyway.
    """
    found = Mistakes()
    own = {managed_policy_arn(name, partition or "aws") for name in own_policies}
    for index, arn in enumerate(arns):
        place: Path = (*path, index)
        parts = _POLICY_ARN.fullmatch(arn)
        if parts is None:
            found.add(MANAGED_POLICY_ARN, place, "is not the ARN of a managed policy", _arn_remedy(arn, partition), arn)
        elif partition and parts["partition"] != partition:
            found.add(MANAGED_POLICY_PARTITION, place, f"is not in the role's partition, {partition}",
                      f'write "{arn.replace(parts["partition"], partition, 1)}"', arn)  # fmt: skip
        elif arn in arns[:index]:
            found.add(MANAGED_POLICY_TWICE, place, "is named twice", "remove one of them", arn)
        elif arn in own:
            found.add(MANAGED_POLICY_TWICE, place, "winkube attaches this policy already", "remove it", arn)
    total = len(own) + len(arns)
    if total > MANAGED_POLICIES_MAXIMUM:
        most = MANAGED_POLICIES_MAXIMUM - len(own)
        found.add(
            MANAGED_POLICY_COUNT,
            path,
            f"a role can have at most {MANAGED_POLICIES_MAXIMUM} managed policies ({MANAGED_POLICIES_DEFAULT} until "
            f"the account's quota is raised), {len(own)} of them its own",
            f"name {most} at most, and write the others as additional_policies",
            len(arns),
        )
    return found


def check_boundary(
    arn: str | None, path: Path = ("permissions_boundary",), *, partition: str | None = None
) -> Mistakes:
    """Whether this is the ARN of a managed policy of the role's partition (``WK-IAM-019``)."""
    found = Mistakes()
    if arn is None:
        return found
    parts = _POLICY_ARN.fullmatch(arn)
    if parts is None:
        found.add(BOUNDARY_ARN, path, "is not the ARN of a managed policy", _arn_remedy(arn, partition), arn)
    elif partition and parts["partition"] != partition:
        found.add(BOUNDARY_ARN, path, f"is not in the role's partition, {partition}",
                  f'write "{arn.replace(parts["partition"], partition, 1)}"', arn)  # fmt: skip
    return found


def check_path(role_path: str, path: Path = ("path",)) -> Mistakes:
    """Whether IAM takes this as a path (``WK-IAM-020``)."""
    found = Mistakes()
    if not _PATH.fullmatch(role_path):
        bare = role_path.strip("/")
        remedy = f'write "/{bare}/"' if bare and _PATH.fullmatch(f"/{bare}/") else 'write it as "/team/"'
        found.add(
            ROLE_PATH,
            path,
            "a path begins and ends with a slash and has at most 512 characters, without spaces",
            remedy,
            role_path,
        )
    return found


def _arn_remedy(wrong: str, partition: str | None) -> str:
    name = wrong.strip().rpartition("/")[2]
    if re.fullmatch(r"Amazon\w+|AWS\w+|CloudWatch\w+", name):
        # Service roles' policies live under a path, which the bare name does not tell.
        return f'write "{managed_policy_arn(name, partition or "aws")}", if that is meant'
    return f'write it as "arn:{partition or "aws"}:iam::<account>:policy/<name>"'
