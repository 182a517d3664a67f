"""A worker's way into the cluster: read the token, join, and after a failure clean up and read the token anew."""

from .decide import DONE, FINISH_JOIN, JOIN, RESET, WAIT, WorkerView, next_worker_action
from .errors import LOCAL_DOWN, CommandError, RefusalError
from .join_token import missing, read_token
from .node import Node
from .state import State
from .status import Status
from .steps import step
from .store import Store


class Worker:
    """One worker."""

    def __init__(self, node: Node, store: Store, state: State, status: Status) -> None:
        self.node = node
        self.store = store
        self.state = state
        self.status = status

    def advance(self) -> str:
        """Do the next step; what it was.

        :raises AgentError: when it failed; the loop comes back later.
        """
        local = self.node.worker_local()
        token = read_token(self.store, self.node.document) if local == "none" else None
        action = next_worker_action(WorkerView(self.state.made, local, token is not None))
        if action != DONE:
            self.status.enter("wait" if action == WAIT else "join", action)
        if action == RESET:
            with step("reset"):
                self.node.reset()
        elif action == FINISH_JOIN:
            self.node.finish_join()
            with step("join.joined"):
                self.state.set(made="joined")
        elif action == WAIT:
            raise missing(self.node.document.token_parameter)
        elif action == JOIN and token:
            self._join(token)
        elif action != DONE:
            remedy = "terminate the instance: its group makes a new one"
            raise RefusalError(LOCAL_DOWN, "kubelet", "the identity of the kubelet is gone", remedy, local)
        return action

    def _join(self, token: str) -> None:
        with step("join.begin"):
            self.state.set(made="joining")
        try:
            with step("join.kubeadm"):
                self.node.join(token)
        except CommandError:
            with step("join.clean"):
                self.node.reset()
            raise
