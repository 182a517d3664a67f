"""Leaving: an instance that its Auto Scaling group terminates takes its member and its Node with it."""

from .cluster import Member
from .errors import LAST_MEMBER, AgentError, AnswerError, CommandError, RefusalError
from .log import log
from .node import Node
from .state import State
from .steps import step
from .store import Store

TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING"


def leave(node: Node, store: Store, state: State) -> None:
    """Leave the cluster as well as it goes, and let the termination go on in any case.

    What could not be done is done by the slot's next instance.
    """
    try:
        if node.document.control_plane and node.local(finished=True) == "complete":
            leave_etcd(node, store.me)
            with step("leave.node"):
                node.forget_node(store.me)
            state.set(made="left")
    except AgentError as error:
        log("leaving without cleaning up", problem=str(error))
    try:
        complete(store)
    except AnswerError as error:  # completed already, or its time is over
        log("termination not completed", problem=str(error))


def leave_etcd(node: Node, me: str) -> None:
    """Hand the lead over, and remove the member of this node.

    :raises RefusalError: for the last member that votes (``WK-AGT-017``): its data are the cluster.
    """
    members = node.etcd.members(node.address)
    own = next((one for one in members if one.name == me), None)
    if own is None:
        return
    others = [one for one in members if one is not own and not one.learner and _serves(node, one)]
    voters = [one for one in members if not one.learner]
    if not others or len(others) < (len(voters) - 1) // 2 + 1:
        remedy = "nothing: the next instance of the slot removes the member, or the cluster is restored"
        raise RefusalError(LAST_MEMBER, "etcd", "the others would have no quorum", remedy, len(others))
    if int(node.etcd.status(node.address).get("leader", 0)) == own.id:
        with step("leave.move-leader"):
            try:
                node.etcd.move_leader(node.address, others[0])
            except CommandError as error:  # an election will do it
                log("leadership not moved", problem=str(error))
    with step("leave.remove-member"):
        node.etcd.remove([address for one in others for address in one.addresses], own)


def complete(store: Store) -> None:
    """Tell the group that the instance may go; the name of the hook is looked up, as only the group knows it."""
    found = store.aws.ask("autoscaling", "describe_auto_scaling_instances", InstanceIds=[store.me])
    for instance in found["AutoScalingInstances"]:
        group = str(instance["AutoScalingGroupName"])
        hooks = store.aws.ask("autoscaling", "describe_lifecycle_hooks", AutoScalingGroupName=group)
        for hook in hooks["LifecycleHooks"]:
            if hook["LifecycleTransition"] == TERMINATING:
                with step("leave.complete"):
                    store.aws.ask(
                        "autoscaling", "complete_lifecycle_action", AutoScalingGroupName=group, InstanceId=store.me,
                        LifecycleHookName=str(hook["LifecycleHookName"]), LifecycleActionResult="CONTINUE",
                    )  # fmt: skip


def _serves(node: Node, member: Member) -> bool:
    return any(node.etcd.healthy(address) for address in member.addresses)
