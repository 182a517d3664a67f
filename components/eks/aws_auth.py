"""Rows of the ConfigMap ``aws-auth``, for clusters whose nodes are known by it. Pure.

EKS clusters in the mode ``CONFIG_MAP``, and self-managed ones with aws-iam-authenticator, know nodes by rows of this
ConfigMap. winkube does not write it: ``mapRoles`` is one text, so whoever writes it writes everybody's rows, and a
wrong one locks everybody out. These functions make the row for Windows nodes and the text with it, for a program that
owns the ConfigMap. Source: EKS user guide, "Deploy Windows nodes on EKS clusters".
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from ..core.mistakes import Mistakes, Path, Rule

AWS_AUTH_ROLE = Rule("WK-K8S-036", "A row of aws-auth names an IAM role by its ARN, without its path.",
                     "https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html")  # fmt: skip

NODE_GROUPS = ("system:bootstrappers", "system:nodes")
WINDOWS_GROUP = "eks:kube-proxy-windows"
"""Without it kube-proxy on the node may read nothing, and names do not resolve in its pods."""

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@-]+")


def node_row(role_arn: str, *, windows: bool) -> dict[str, Any]:
    """The row of the nodes with one role.

    >>> node_row("arn:aws:iam::111122223333:role/win", windows=True)["groups"][-1]
    'eks:kube-proxy-windows'
    """
    return {
        "rolearn": role_arn,
        "username": "system:node:{{EC2PrivateDNSName}}",
        "groups": [*NODE_GROUPS, *([WINDOWS_GROUP] if windows else [])],
    }


def map_roles(present: str, rows: Sequence[dict[str, Any]]) -> str:
    """The text of ``mapRoles`` with these rows in it: the groups of a role that is there are joined, others stay."""
    kept: list[dict[str, Any]] = yaml.safe_load(present) or []
    result = {str(row["rolearn"]): dict(row) for row in kept}
    for row in rows:
        before = result.get(str(row["rolearn"]))
        groups = dict.fromkeys([*(before or {}).get("groups", []), *row["groups"]])
        result[str(row["rolearn"])] = {**row, **(before or {}), "groups": list(groups)}
    return yaml.safe_dump(list(result.values()), sort_keys=False)


def check_role_arn(role_arn: str, path: Path = ("role_arn",)) -> Mistakes:
    """Whether aws-auth would find this role (``WK-K8S-036``)."""
    found = Mistakes()
    if not _ROLE.fullmatch(role_arn):
        account, _, name = role_arn.partition(":role/")
        bare = f"{account}:role/{name.rpartition('/')[2]}"
        remedy = f'write "{bare}"' if _ROLE.fullmatch(bare) else 'write "arn:aws:iam::111122223333:role/name"'
        found.add(AWS_AUTH_ROLE, path, "a row names an IAM role by its ARN, and leaves its path out", remedy,
                  role_arn)  # fmt: skip
    return found
