"""Processes that end with the one that started them, however that ends."""

import ctypes
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)
_LIBC = ctypes.CDLL(None)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Process:
    """A program with its log in a file; with ``restart`` it is started again whenever it ends by itself."""

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        *,
        restart: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command = [str(part) for part in command]
        self.log = log
        self._environment = {**os.environ, **(environment or {})}
        self._ended = threading.Event()
        self._running = self._start()
        if restart:
            threading.Thread(target=self._supervise, name=f"supervise {log.stem}", daemon=True).start()

    @property
    def pid(self) -> int:
        """Of the program as it runs now."""
        return self._running.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._running.poll() is None

    def cpu_seconds(self) -> float:
        """User and system time that the program has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> float:
        """Resident memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        """End it: politely, after five seconds by force."""
        self._ended.set()
        running = self._running
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(5)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()

    def last_words(self, lines: int = 15) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _start(self) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def end_with_parent() -> None:
            _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != parent:  # it ended in between
                os._exit(1)

        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                preexec_fn=end_with_parent,
            )

    def _supervise(self) -> None:
        while not self._ended.is_set():
            self._running.wait()
            if not self._ended.wait(0.5):
                self._running = self._start()
