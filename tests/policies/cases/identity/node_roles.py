"""Cases of the rules in ``rules/identity/node_roles.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ROLE

from ..base import Case, attachment, group, planned

NODES = [planned(ROLE, {"name": "nodes"}, "l"), group("l")]
SSM = attachment("l", "AmazonSSMManagedInstanceCore")

CASES = {
    "node-role-least-privilege": Case(
        [[*NODES, attachment("l", "AmazonEKSWorkerNodePolicy")], [*NODES, attachment("other", "AmazonS3FullAccess")]],
        [
            [*NODES, attachment("l", "AmazonS3FullAccess")],
            [planned(ROLE, {"managedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}, "l"), NODES[1]],
        ],
        [[*NODES, attachment("l", UNKNOWN)]],
        "the node role has",
    ),
    "nodes-managed-by-ssm": Case(
        [[*NODES, SSM], [group("l")]],
        [[*NODES, attachment("l", "AmazonEKSWorkerNodePolicy")]],
        [[*NODES, attachment("l", UNKNOWN)]],
        "Systems Manager cannot reach",
    ),
}
