"""The roles of nodes."""

from collections.abc import Iterator

from ...frameworks import cis_eks, fsbp
from ...inventory import inventory, managed_policies
from ...model import TEXTS, Option, Settings, Stack, Undecided, Violation, stack_rule
from ...resource_types import LAUNCHED, NODE_GROUP, ROLE_POLICY_ATTACHMENT


@stack_rule(
    "node-role-least-privilege",
    "Node roles have only the permissions that nodes need",
    types=[NODE_GROUP, *LAUNCHED],
    severity="high",
    references=[cis_eks("5.1.3"), cis_eks("5.2.1")],
    steps="grant the permission to the pods that need it through a role for their service account (IRSA)",
    url="https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
    options={
        "policies": Option(
            ["AdministratorAccess", "PowerUserAccess", "*FullAccess", "AmazonEC2ContainerRegistryPowerUser"],
            "managed policies that node roles must not have; a leading star matches any prefix", TEXTS,
        ),
    },
)  # fmt: skip
def node_role_least_privilege(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Every pod that can reach the node's metadata can use the node's role."""
    for role, attached in _node_roles(stack).items():
        for name in sorted(attached):
            if any(name == one or (one[0] == "*" and name.endswith(one[1:])) for one in settings["policies"]):
                yield Violation(f"the node role has {name} attached", role)
    for attachment in inventory(stack).unknown_attachments:
        raise Undecided(f"{attachment.name}.policyArn")


def _node_roles(stack: Stack) -> dict[str, set[str]]:
    """URN of each role of nodes that the plan makes, with the names of its managed policies."""
    found = inventory(stack)
    uses = [found.role_use(resource) for resource in stack.of(NODE_GROUP, *sorted(LAUNCHED))]
    roles = {use.role for use in uses if use and use.role in stack.by_urn}
    return {role: managed_policies(stack, stack.by_urn[role]) for role in sorted(filter(None, roles))}


@stack_rule(
    "nodes-managed-by-ssm",
    "Systems Manager can reach nodes",
    types=[NODE_GROUP],
    severity="low",
    references=[fsbp("SSM.1")],
    steps="attach AmazonSSMManagedInstanceCore to the node role",
    url="https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager.html",
)
def nodes_managed_by_ssm(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Systems Manager gives access without a key or an open port, and tracks patches."""
    roles = _node_roles(stack)
    for role, attached in roles.items():
        if "AmazonSSMManagedInstanceCore" not in attached:
            if any(attachment["policyArn"].unknown for attachment in stack.of(ROLE_POLICY_ATTACHMENT)):
                raise Undecided(f"{stack.by_urn[role].name}: a policy that is attached")
            yield Violation("Systems Manager cannot reach nodes with this role", role)
