"""The commands: kubeadm, kubectl, etcdctl, etcdutl. Found on PATH, or named by ``WINKUBE_AGENT_<COMMAND>``."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .errors import COMMAND_FAILED, COMMAND_MISSING, AgentError, CommandError
from .log import log, mask

SEARCH = ("/opt/winkube/bin", "/usr/local/bin", "/usr/bin", "/usr/sbin", "/bin", "/sbin")
Tick = Callable[[], None]


@dataclass(frozen=True)
class Member:
    """A member of etcd."""

    id: int
    name: str
    """The node's name; empty for a member that was added but never started."""
    addresses: tuple[str, ...]
    """The addresses of its peer URLs."""
    learner: bool
    healthy: Optional[bool] = None

    @property
    def hex(self) -> str:
        """The id as etcdctl takes it."""
        return f"{self.id:x}"


def members_of(text: str) -> tuple[Member, ...]:
    """The members in the answer of ``etcdctl member list -w json``."""
    return tuple(
        Member(
            id=int(one["ID"]),
            name=str(one.get("name", "")),
            addresses=tuple(url.split("//")[-1].rsplit(":", 1)[0].strip("[]") for url in one.get("peerURLs", [])),
            learner=bool(one.get("isLearner", False)),
        )
        for one in json.loads(text).get("members", [])
    )


class Commands:
    """Runs commands, with a deadline, and a callback while they run."""

    def __init__(self, keep: Sequence[int] = ()) -> None:
        self.keep = tuple(keep)
        """File descriptors that children inherit: as long as one of them lives, no second agent starts."""

    def find(self, name: str) -> str:
        """Where a command lies."""
        wanted = os.environ.get(f"WINKUBE_AGENT_{name.upper()}", name)
        path = shutil.which(wanted, path=os.pathsep.join([os.environ.get("PATH", ""), *SEARCH]))
        if path is None:
            remedy = f'name an artefact that installs "{name}" in the document, or put it on PATH'
            raise AgentError(COMMAND_MISSING, name, "the command is not installed", remedy, wanted)
        return path

    def run(self, name: str, *arguments: str, seconds: float, tick: Optional[Tick] = None) -> str:
        """Run a command to its end.

        :param tick: called about every tenth of a second; when it raises, the command is ended.
        :returns: what it wrote to its standard output. This may hold secrets: it goes to no log.
        :raises CommandError: with the end of its standard error, masked (``WK-AGT-006``).
        """
        call = [self.find(name), *arguments]
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(  # noqa: S603
                call, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=self.keep, start_new_session=True
            )
            try:
                code = _wait(process, began + seconds, tick)
            except BaseException:
                _end(process)
                raise
            out.seek(0)
            err.seek(0)
            output, errors = (file.read().decode(errors="replace") for file in (out, err))
        log("command", command=[name, *arguments][:3], code=code, seconds=round(time.monotonic() - began, 3))
        if code == 0:
            return output
        lines = [line for line in (errors.strip() or output.strip()).splitlines() if line.strip()]
        said = mask(" | ".join(_saying(lines)))
        ended = f"did not end within {seconds:.0f} s" if code is None else f"failed with exit code {code}"
        text = mask(f"{' '.join([name, *arguments[:2]])} {ended}")
        raise CommandError(COMMAND_FAILED, name, text, "read the log of the agent and of the kubelet", said)


def _saying(lines: "list[str]") -> "list[str]":
    """The lines that say what is wrong.

    etcdctl writes the log of its client before that sentence; kubeadm names each failed check, and ends with general
    advice.
    """
    checks = [line.strip() for line in lines if line.lstrip().startswith("[ERROR ")]
    return checks or [line for line in lines if not line.startswith('{"level"')][-3:]


def _wait(process: "subprocess.Popen[bytes]", until: float, tick: Optional[Tick]) -> Optional[int]:
    pause = 0.005
    while True:
        try:
            return process.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            pause = min(pause * 2, 0.1)
        if time.monotonic() > until:
            _end(process)
            return None
        if tick:
            tick()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and everything that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


class Etcd:
    """etcdctl against the members of a cluster."""

    def __init__(self, commands: Commands, pki: Path, seconds: float, scheme: str = "https") -> None:
        self.commands = commands
        self.pki = pki
        self.seconds = seconds
        self.scheme = scheme

    def ask(self, addresses: Sequence[str], *arguments: str, seconds: Optional[float] = None) -> str:
        """Ask the members at these addresses."""
        urls = ",".join(f"{self.scheme}://{one if ':' in one else f'{one}:2379'}" for one in addresses)
        certificates = (
            [f"--cacert={self.pki}/ca.crt", f"--cert={self.pki}/healthcheck-client.crt",
             f"--key={self.pki}/healthcheck-client.key"] if self.scheme == "https" else []
        )  # fmt: skip
        return self.commands.run(
            "etcdctl", *arguments, f"--endpoints={urls}", *certificates, "--dial-timeout=2s",
            f"--command-timeout={max(1, int(self.seconds))}s", seconds=seconds or self.seconds + 5,
        )  # fmt: skip

    def members(self, address: str) -> tuple[Member, ...]:
        """The members, as the member at this address knows them; this needs a quorum."""
        return members_of(self.ask([address], "member", "list", "--write-out=json"))

    def healthy(self, address: str) -> bool:
        """Whether a member serves: it is started, it votes or learns, and its cluster has a quorum."""
        try:
            self.ask([address], "endpoint", "health")
        except CommandError:
            return False
        return True

    def status(self, address: str) -> dict[str, Any]:
        """The status of one member."""
        answer = json.loads(self.ask([address], "endpoint", "status", "--write-out=json"))
        return dict(answer[0]["Status"])

    def remove(self, addresses: Sequence[str], member: Member) -> None:
        """Remove a member."""
        self.ask(addresses, "member", "remove", member.hex)

    def move_leader(self, address: str, to: Member) -> None:
        """Let another member lead; ``address`` is of the leader."""
        self.ask([address], "move-leader", to.hex)
