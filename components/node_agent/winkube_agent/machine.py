"""The machine: what a node needs before it can be a part of a cluster. Every step can be repeated at any time.

kernel (modules, sysctls, no swap) → artefacts → files → secrets → services → images. The document says what; nothing
here knows a version or a path. The host name stays as it is: nodes are named by their instance id.
"""

import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Optional, Union

from .document import fill
from .downloads import ATTEMPTS, Downloads, Fetch, mode_of, place, put
from .errors import AgentError, Rule
from .log import log, mask
from .state import write_atomically
from .steps import step

COMMAND = Rule("WK-ART-023", "The system carries out what the document asks for.")
SECRET = Rule("WK-ART-024", "The secrets that the document names lie in the bucket, and the role may read them.")
IMAGE = Rule("WK-ART-025", "An archive of images that the document names can be imported.")

BUDGETS: Mapping[str, float] = {"kernel": 3, "artefacts": 60, "files": 2, "secrets": 5, "services": 10, "images": 60}
"""Seconds that a phase should take at most, so that the API is usable within six minutes. Only logged."""
STATE = "/var/lib/winkube/machine"
MODULES = "/etc/modules-load.d/90-winkube.conf"
SYSCTLS = "/etc/sysctl.d/90-winkube.conf"
UNITS = "/etc/systemd/system/"
OWN_SERVICE = "winkube-agent"
COMMAND_SECONDS = 120
PULL_SECONDS = 300
AT_ONCE = 4
"""Downloads, or pulls, at the same time."""


class Machine:
    """Makes a machine what the node document says.

    :param document: the node document, as it was read.
    :param facts: the values of the placeholders that may stand in files.
    :param fetch: reads an object of S3: bucket and key to bytes, or to a stream.
    :param root: what stands for ``/``; only tests give another one.
    :param run: runs commands, as :func:`subprocess.run` does.
    :param made: where nodes make the secrets: path to content, or nothing while there are none.
    """

    def __init__(
        self, document: Mapping[str, Any], facts: Mapping[str, str], fetch: Fetch, root: Union[str, Path] = "/",
        run: Callable[..., "subprocess.CompletedProcess[str]"] = subprocess.run,
        made: "Optional[Callable[[], Optional[Mapping[str, str]]]]" = None,
    ) -> None:  # fmt: skip
        self.document = document
        self.facts = dict(facts)
        self.fetch = fetch
        self.root = Path(root)
        self._run = run
        self._made = made
        self.lacks_secrets = False
        """Whether the secrets were not made yet when they were looked for."""
        self._lock = threading.Lock()
        self.state = place(self.root, STATE)
        self.durations: dict[str, float] = {}
        """Seconds per phase of the last :meth:`prepare`."""
        deadlines: Mapping[str, Any] = document.get("deadlines") or {}
        self.downloads = Downloads(
            fetch, self.root, self.state / "artefacts", int(deadlines.get("download_attempts", ATTEMPTS)),
            float(deadlines.get("download_wait_seconds", 0.5)),
        )  # fmt: skip

    def prepare(self) -> None:
        """All phases in order.

        :raises AgentError: for the first thing that does not work; everything before it stays done.
        """
        for phase in (self.kernel, self.artefacts, self.files, self.secrets, self.services, self.images):
            with self._phase(phase.__name__):
                phase()

    def kernel(self) -> None:
        """Modules and sysctls, now and after a restart; swap off."""
        modules: Sequence[str] = self.document.get("modules") or ()
        sysctls: Mapping[str, Any] = self.document.get("sysctls") or {}
        self._put(MODULES, "".join(f"{name}\n" for name in modules), 0o644)
        for name in modules:
            # A module that is built in, or loaded, is there already; loading it may be forbidden.
            if not place(self.root, f"/sys/module/{name.replace('-', '_')}").exists():
                self._command("modprobe", name)
        self._put(SYSCTLS, "".join(f"{key} = {value}\n" for key, value in sysctls.items()), 0o644)
        for key, value in sysctls.items():
            if self._sysctl(key) != str(value):
                self._command("sysctl", "-w", f"{key}={value}")
        self._swap_off()

    def artefacts(self) -> None:
        """All artefacts at the same time; with one mistake the others are still finished."""
        artefacts: Sequence[dict[str, Any]] = self.document.get("artefacts") or ()

        def bring(artefact: "dict[str, Any]") -> None:
            self.downloads.bring(artefact, lambda: self._note(*(str(one["path"]) for one in artefact["install"])))

        self._all(bring, artefacts)

    def files(self) -> None:
        """Files without secrets, with the facts of this node filled in."""
        for one in self.document.get("files") or ():
            self._put(str(one["path"]), fill(str(one["content"]), self.facts), mode_of(one, "0644"))

    def secrets(self) -> None:
        """Files that only this role can read from the bucket."""
        if self._made is not None:
            self._put_made(self._made())
            return
        bucket = str(self.document["bucket"]["name"])

        def bring(one: "dict[str, Any]") -> None:
            try:
                body = self.fetch(bucket, str(one["key"]))
                data = body if isinstance(body, bytes) else bytes(body.read())
            except AgentError:
                raise
            except Exception as error:
                raise AgentError(SECRET, str(one["path"]), "cannot be read from the bucket",
                                 "deploy the stack again, which writes the object and the role's policy",
                                 f"{one['key']} ({type(error).__name__})") from error  # fmt: skip
            self._put_bytes(str(one["path"]), data, mode_of(one, "0600"))

        self._all(bring, self.document.get("secrets") or ())

    def _put_made(self, made: "Optional[Mapping[str, str]]") -> None:
        self.lacks_secrets = made is None
        if made is None:
            return
        for one in self.document.get("secrets") or ():
            self._put(str(one["path"]), made[str(one["path"])], mode_of(one, "0600"))

    def services(self) -> None:
        """Enabled, and running with what lies on the disk now."""
        names: Sequence[str] = [one for one in self.document.get("services") or () if not one.startswith(OWN_SERVICE)]
        noted = self._noted()
        if any(one.startswith(UNITS) for one in noted):
            self._command("systemctl", "daemon-reload")
        for name in names:
            stem = name.partition(".")[0]
            self._command("systemctl", "enable", name)
            changed = any(re.search(rf"(^|[/.-]){re.escape(stem)}([/.-]|$)", one) for one in noted)
            self._command("systemctl", "restart" if changed else "start", name)
        (self.state / "changed.json").unlink(missing_ok=True)
        self._runtime([name for name in names if name.partition(".")[0] == self.document.get("runtime")])

    def _runtime(self, services: Sequence[str]) -> None:
        """The container runtime serves the kubelet; one that came up without that part is started again."""
        for name in services:
            problem: Optional[str] = ""
            for attempt in range(3):
                if attempt:
                    log("started again", service=name, problem=problem)
                    self._command("systemctl", "restart", name)
                    time.sleep(attempt)
                problem = self._try("crictl", "info", "--quiet")
                if problem is None:
                    return
            raise AgentError(COMMAND, name, "runs, but does not serve the kubelet", f"read journalctl -u {name}",
                             problem)  # fmt: skip

    def images(self) -> None:
        """Pulled before they are needed. One that cannot be pulled now is pulled by the kubelet later."""
        images: Sequence[str] = self.document.get("images") or ()
        archives = [one for one in images if one.startswith("/")]
        for archive in archives:
            self._import(archive)
        self._all(self._pull, [one for one in images if not one.startswith("/")])

    def _import(self, archive: str) -> None:
        if self.document.get("runtime") != "containerd":
            raise AgentError(IMAGE, archive, "archives can be imported by containerd alone",
                             "name images instead, and registry mirrors", self.document.get("runtime"))  # fmt: skip
        path = place(self.root, archive)
        mark = self.state / "imported" / f"{path.name}.json"
        stamp = json.dumps([path.stat().st_size, path.stat().st_mtime_ns]) if path.exists() else ""
        if mark.exists() and mark.read_text(encoding="utf-8") == stamp:
            return
        self._command("ctr", "--namespace", "k8s.io", "images", "import", str(path), seconds=PULL_SECONDS, rule=IMAGE)
        write_atomically(mark, stamp, 0o644)

    def _pull(self, image: str) -> None:
        if self._try("crictl", "inspecti", "--quiet", image) is None:
            return
        problem = None
        for attempt in range(3):
            time.sleep(attempt)
            problem = self._try("crictl", "pull", image, seconds=PULL_SECONDS)
            if problem is None:
                return
        log("image not pulled", image=image, problem=problem)

    def _swap_off(self) -> None:
        table = place(self.root, "/etc/fstab")
        if table.exists():
            text = table.read_text(encoding="utf-8")
            without = re.sub(r"(?m)^(?!#)(\s*\S+\s+\S+\s+swap\s.*)$", r"# winkube: \1", text)
            if without != text:
                self._put("/etc/fstab", without, 0o644)
        swaps = place(self.root, "/proc/swaps")
        if swaps.exists() and len(swaps.read_text(encoding="utf-8").splitlines()) > 1:
            self._command("swapoff", "-a")

    def _sysctl(self, key: str) -> str:
        path = place(self.root, f"/proc/sys/{key.replace('.', '/')}")
        try:
            return " ".join(path.read_text(encoding="utf-8").split())
        except OSError:
            return ""

    def _put(self, path: str, text: str, mode: int) -> None:
        self._put_bytes(path, text.encode(), mode)

    def _put_bytes(self, path: str, data: bytes, mode: int) -> None:
        target = place(self.root, path)
        if target.is_file() and target.read_bytes() == data:
            if target.stat().st_mode & 0o7777 != mode:
                target.chmod(mode)
            return
        self._note(path)
        put(target, BytesIO(data), mode)

    def _note(self, *what: str) -> None:
        """Remember, before something changes, that services have to be started again: a kill must not lose it."""
        with self._lock:
            noted = self._noted()
            more = [one for one in what if one not in noted]
            if more:
                write_atomically(self.state / "changed.json", json.dumps([*noted, *more]), 0o644)

    def _noted(self) -> "list[str]":
        try:
            return list(json.loads((self.state / "changed.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return []

    def _command(self, *call: str, seconds: float = COMMAND_SECONDS, rule: Rule = COMMAND) -> None:
        problem = self._try(*call, seconds=seconds)
        if problem is not None:
            raise AgentError(rule, " ".join(call[:4]), "failed", "read the log of the system (journalctl -b)", problem)

    def _try(self, *call: str, seconds: float = COMMAND_SECONDS) -> "str | None":
        """Run a command; what it said if it failed."""
        try:
            done = self._run(list(call), capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"did not end within {seconds:.0f} s"
        except OSError as error:
            return str(error)
        if done.returncode == 0:
            return None
        lines = [line for line in (done.stderr or done.stdout or "").splitlines() if line.strip()]
        return mask(" | ".join(lines[-3:]) or f"exit code {done.returncode}")

    def _all(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        if not items:
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            waiting = [pool.submit(work, item) for item in items]
        errors = [error for error in (one.exception() for one in waiting) if error is not None]
        for error in errors[1:]:
            log("also", problem=str(error))
        if errors:
            raise errors[0]

    @contextmanager
    def _phase(self, name: str) -> "Generator[None, None, None]":
        began = time.monotonic()
        deadlines: Mapping[str, Any] = self.document.get("deadlines") or {}
        budget = float(deadlines.get(f"{name}_budget_seconds", BUDGETS[name]))
        with step(f"machine {name}"):
            yield
        seconds = round(time.monotonic() - began, 3)
        self.durations[name] = seconds
        log("phase", phase=name, seconds=seconds, budget_seconds=budget, within_budget=seconds <= budget)
