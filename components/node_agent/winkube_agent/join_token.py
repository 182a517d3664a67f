"""The join token: short-lived, made by one leader, in one encrypted parameter that every node reads."""

import re
import time
from typing import Optional

from .document import Document
from .errors import TOKEN, AgentError, AnswerError
from .log import log, now_text, register
from .node import Node
from .steps import step
from .store import Record, Store

FORM = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
LEADER = "token-leader"


def read_token(store: Store, document: Document) -> Optional[str]:
    """The token that is valid now; nothing when none was written yet."""
    try:
        answer = store.aws.ask("ssm", "get_parameter", Name=document.token_parameter, WithDecryption=True)
    except AnswerError as error:
        if error.code == "ParameterNotFound":
            return None
        raise
    value = str(answer["Parameter"]["Value"]).strip()
    if not FORM.fullmatch(value):
        log("no token yet", parameter=document.token_parameter)
        return None
    return register(value)


class TokenKeeper:
    """Keeps the parameter fresh while this node leads; takes over when the leader is gone or silent."""

    def __init__(self, store: Store, node: Node) -> None:
        self.store = store
        self.node = node
        self.document = node.document
        self.refreshed: Optional[float] = None
        self.checked: Optional[float] = None

    def keep(self) -> bool:
        """Do what is due; whether this node leads."""
        now = time.monotonic()
        refresh = self.document.token_refresh_seconds
        if self.refreshed is not None and now - self.refreshed < refresh:
            return True
        every = min(self.document.deadlines.leader_check_seconds, refresh / 2)
        if self.refreshed is None and self.checked is not None and now - self.checked < every:
            return False
        self.checked = now
        there = self.store.read(LEADER)
        if not self._may_lead(there):
            self.refreshed = None
            return False
        return self.refresh(there)

    def refresh(self, there: Optional[Record]) -> bool:
        """Lead, make a token, write it.

        The leader's object is renewed behind the token, so that a leader that cannot write it loses the lead.
        """
        self.refreshed = None
        etag = there.etag if there else None
        if there is None or there.holder != self.store.me:
            with step("token.lead"):
                etag = self.store.write(LEADER, self.store.mine(), etag)
            if etag is None:
                return False
        with step("token.create"):
            token = self.node.new_token(self.document.token_ttl_seconds)
        with step("token.write"):
            key = {"KeyId": self.document.token_key} if self.document.token_key else {}
            self.store.aws.ask(
                "ssm", "put_parameter", Name=self.document.token_parameter, Value=token, Type="SecureString",
                Overwrite=True, **key,
            )  # fmt: skip
        with step("token.renew"):
            renewed = self.store.write(LEADER, self.store.mine(refreshed=now_text()), etag)
        self.refreshed = time.monotonic() if renewed else None
        return renewed is not None

    def _may_lead(self, there: Optional[Record]) -> bool:
        if there is None or not there.holder or there.holder == self.store.me:
            return True
        if self.store.silent_seconds(LEADER) > self.document.token_refresh_seconds * 1.5:
            return True
        states = self.store.aws.instance_states(self.store.me, [there.holder])
        return states[there.holder] in ("terminated", "absent")


def missing(parameter: str) -> AgentError:
    """There is no token to join with."""
    remedy = "wait for the control plane, which writes it after it is made; look at its status if it never comes"
    return AgentError(TOKEN, f"parameter {parameter}", "holds no join token", remedy)
