"""Roles and access entries of Windows nodes and of their clusters."""

from collections.abc import Iterator, Sequence

from ...eks_resources import release_of_group
from ...frameworks import WINDOWS_SUPPORT_PAGE, eks_guide
from ...inventory import inventory, managed_policies, short_name
from ...model import Planned, Settings, Stack, Undecided, Violation, stack_rule
from ...resource_types import ACCESS_ENTRY, CLUSTER, LAUNCHED, NODE_GROUP, ROLE
from ...user_data import joins_eks

LAUNCH_WINDOWS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/launch-windows-workers.html"


@stack_rule(
    "windows-node-role-not-shared",
    "Windows nodes and Linux nodes never share a role",
    types=[NODE_GROUP, ACCESS_ENTRY, *LAUNCHED],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create self-managed Windows nodes")],
    steps="give the Windows nodes their own role: a role has one access entry, of type EC2_WINDOWS for Windows nodes "
    "and EC2_LINUX for Linux nodes",
    url=LAUNCH_WINDOWS_PAGE,
)
def windows_node_role_not_shared(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """A node role is for Windows nodes or for Linux nodes: its access entry has one type."""
    users: dict[str, dict[str, list[Planned]]] = {}
    unclear: list[str] = []
    for resource in stack.resources:
        use = inventory(stack).role_use(resource)
        if use is None:
            continue
        if use.role is None:
            unclear.append(use.path)
        else:
            users.setdefault(use.role, {}).setdefault(use.system or "", []).append(resource)
    windows = {role: found for role, found in users.items() if "windows" in found}
    for role, found in sorted(windows.items()):
        if "linux" in found:
            names = " and ".join(f"{_list(found[system])} ({system.capitalize()})" for system in ("windows", "linux"))
            yield Violation(f'the node role "{short_name(role)}" is shared by {names}', found["windows"][0].urn)
        elif "" in found:
            unclear.append(f"the operating system of {_list(found[''])}")
    if windows and unclear:
        raise Undecided(unclear[0])


def _list(resources: Sequence[Planned]) -> str:
    return ", ".join(f'"{name}"' for name in sorted({resource.name for resource in resources}))


@stack_rule(
    "windows-cluster-role",
    "The role of a cluster with Windows nodes can manage their addresses",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="attach AmazonEKSVPCResourceController to the cluster's role",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_cluster_role(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Otherwise no Windows pod gets an address. A role from outside the program is not judged."""
    found = inventory(stack)
    for urn in sorted(found.windows_clusters):
        cluster = stack.by_urn.get(urn)
        role = stack.by_urn.get(found.one(cluster, "roleArn", ROLE) or "") if cluster else None
        if cluster and role and "AmazonEKSVPCResourceController" not in managed_policies(stack, role):
            if found.unknown_attachments:
                raise Undecided(f"a policy that is attached to {role.name}")
            message = (
                f'the cluster\'s role "{role.name}" lacks AmazonEKSVPCResourceController: Windows pods get no address'
            )
            yield Violation(message, cluster.urn)


@stack_rule(
    "windows-access-entry",
    "Windows nodes that bootstrap themselves have an access entry of type EC2_WINDOWS",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create access entries")],
    steps="create an aws.eks.AccessEntry of type EC2_WINDOWS for the node role, before the nodes",
    url="https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
)
def windows_access_entry(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS creates this entry for its own images only. A custom image gets one for Linux, and DNS fails in pods."""
    found = inventory(stack)
    clusters = [cluster for cluster in stack.of(CLUSTER)
                if cluster["accessConfig"]["authenticationMode"].settled == "API"]  # fmt: skip
    if len(clusters) != 1 or len(stack.of(CLUSTER)) != 1:
        return
    entries = {found.one(entry, "principalArn", ROLE) for entry in stack.of(ACCESS_ENTRY)
               if entry["type"].settled == "EC2_WINDOWS"}  # fmt: skip
    custom = [group for group in stack.of(NODE_GROUP)
              if found.system(group) == "windows" and release_of_group(group) is None]  # fmt: skip
    managed = {template.urn for group in stack.of(NODE_GROUP) for template in found.templates(group)}
    own = [template for template in stack.of(*sorted(LAUNCHED))
           if template.urn not in managed and found.system(template) == "windows" and joins_eks(template)]  # fmt: skip
    for nodes in [*custom, *own]:
        use = found.role_use(nodes)
        if use is None:
            continue
        if use.role is None:
            raise Undecided(use.path)
        if use.role not in entries:
            if any(entry["type"].unknown for entry in stack.of(ACCESS_ENTRY)):
                raise Undecided("the type of an access entry")
            message = f'the Windows nodes\' role "{short_name(use.role)}" has no access entry of type EC2_WINDOWS'
            yield Violation(message, nodes.urn)
