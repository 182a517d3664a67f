"""What can go wrong on a node: one error type, a fixed code per rule, and the order that puts it right."""

from typing import Any, NamedTuple


class Rule(NamedTuple):
    """A rule of the agent, with a code that never changes its meaning."""

    code: str
    title: str


DOCUMENT = Rule("WK-AGT-001", "The node document has every field that the agent needs, in the right form.")
METADATA = Rule("WK-AGT-002", "The instance metadata service answers with the facts of the node.")
REFUSED = Rule("WK-AGT-003", "The role of the node may make the calls that the agent needs.")
UNAVAILABLE = Rule("WK-AGT-004", "AWS answers within the deadline.")
COMMAND_MISSING = Rule("WK-AGT-005", "The commands that the agent runs are installed.")
COMMAND_FAILED = Rule("WK-AGT-006", "A command that the agent runs succeeds.")
BACKUP_WITHOUT_MARK = Rule("WK-AGT-007", "No cluster is made where a backup of one exists.")
NO_QUORUM = Rule("WK-AGT-008", "A cluster that was made once is never made again: it comes back, or is restored.")
FOREIGN_API = Rule("WK-AGT-009", "No cluster is made while an API server answers at its endpoint.")
RESTORE_ALIVE = Rule("WK-AGT-010", "A backup is restored only when the cluster is down, as there would be two.")
SNAPSHOT = Rule("WK-AGT-011", "A snapshot is what its digest says, and etcd can read it.")
LEASE_LOST = Rule("WK-AGT-012", "Only the holder of a lease acts.")
TOKEN = Rule("WK-AGT-013", "The parameter holds a join token.")
STUCK_LEARNER = Rule("WK-AGT-014", "A learner of a running instance is removed by that instance alone.")
LOCAL_DOWN = Rule("WK-AGT-015", "The control plane of this node comes up after a start.")
BACKUP = Rule("WK-AGT-016", "A backup is verified before it counts.")
LAST_MEMBER = Rule("WK-AGT-017", "The last member of etcd is never removed.")
HOLDER_SILENT = Rule("WK-AGT-018", "Whoever holds the lock of the initialization finishes it.")
BACKUP_OLD = Rule("WK-AGT-019", "The newest good backup is not older than three intervals.")

ANSWER = Rule("WK-AGT-020", "AWS takes the calls that the agent makes.")
AUTHORITIES_LOST = Rule("WK-AGT-021", "The certificate authorities of a cluster are in its bucket as long as it lives.")
FOREIGN_KEYS = Rule("WK-AGT-022", "A backup is restored under the certificate authorities that it was made under.")


class AgentError(Exception):
    """One thing that went wrong: where, what, the value found, and what to do about it."""

    def __init__(self, rule: Rule, path: str, message: str, remedy: str, got: Any = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.path = path
        self.message = message
        self.remedy = remedy
        self.got = got

    def __str__(self) -> str:
        """One line: path, message, value, remedy, code."""
        got = "" if self.got is None else f", got {shown(self.got)}"
        return f"{self.path}: {self.message}{got}; {self.remedy} [{self.rule.code}]"


class LeaseLostError(AgentError):
    """Somebody else holds the lease now: stop, and look again."""


class UnavailableError(AgentError):
    """AWS did not answer in time: nothing is wrong here, try again later."""


class AnswerError(AgentError):
    """AWS answered with an error that does not pass; ``code`` is its name."""

    def __init__(self, call: str, code: str, text: str) -> None:
        super().__init__(ANSWER, call, "AWS refuses the call", "read what it answered", text)
        self.code = code


class CommandError(AgentError):
    """A command ended with a mistake, or did not end in time."""


class RefusalError(AgentError):
    """The agent refuses: a person has to decide."""


def shown(value: Any) -> str:
    """A value in a message, cut at 200 characters."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 200 else f"{text[:197]}…"
