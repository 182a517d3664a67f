"""Windows programs under Wine: a prefix of its own that plays a Windows Server release.

Debian's ``wine64`` 8.0 runs Go's programs, given one function of ``bcryptprimitives.dll`` that it lacks; the kubelet
also reads performance counters and the registry. Both libraries are made from ``windows/`` with the assembler and the
linker of ``binutils-mingw-w64-x86-64``.
"""

import contextlib
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "windows"
_WINE = ("/usr/lib/wine/wine64", "wine64", "wine")
_SERVER = ("/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver", "wineserver")
_LINKER = "x86_64-w64-mingw32-ld"
_ASSEMBLER = "x86_64-w64-mingw32-as"
NEEDS = "the Windows programs run under Wine: install the Debian packages wine64 and binutils-mingw-w64-x86-64"

RELEASES: Mapping[str, tuple[int, int]] = {"2019": (17763, 6532), "2022": (20348, 4052), "2025": (26100, 4652)}
"""Build and revision that a release reports."""
_REGISTRY = r"""REGEDIT4

[HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion]
"CurrentMajorVersionNumber"=dword:0000000a
"CurrentMinorVersionNumber"=dword:00000000
"CurrentBuildNumber"="{build}"
"CurrentBuild"="{build}"
"UBR"=dword:{revision:08x}
"ProductName"="Windows Server {release} Datacenter"

[HKEY_LOCAL_MACHINE\SYSTEM\HardwareConfig]
"LastConfig"="{{00000000-0000-0000-0000-000000000001}}"

[HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters]
"BootId"=dword:00000001
"""


class Wine:
    """One prefix: its own drive ``C:``, registry and server process.

    :param within: what runs commands elsewhere, such as ``nsenter --net=…``: sockets belong to the server process.
    """

    def __init__(self, prefix: Path, program: str, server: str, within: Sequence[str] = ()) -> None:
        self.prefix = prefix
        self.within = within
        self._program = program
        self._server = server
        self.environment = {
            # Programs of the prefix see nothing of the variables of the one who runs the tests.
            "PATH": os.defpath,
            "HOME": str(prefix),
            "LANG": "C.UTF-8",
            "WINEPREFIX": str(prefix),
            "WINEDEBUG": "-all",
            # No offer to install .NET and a browser engine; the performance counters are ours.
            "WINEDLLOVERRIDES": "mscoree,mshtml=;pdh=n",
        }

    def path(self, windows: str) -> Path:
        r"""Where a path of drive ``C:`` lies: ``C:\k\cni`` is ``<prefix>/drive_c/k/cni``."""
        drive, _, rest = windows.partition(":")
        if drive.lower() != "c":
            raise ValueError(f'only drive C: is there, got "{windows}"')
        return self.prefix / "drive_c" / rest.replace("\\", "/").lstrip("/")

    def write(self, windows: str, text: str | bytes) -> Path:
        """Write a file of drive ``C:``, with its folders."""
        path = self.path(windows)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def command(self, program: Path | str, *arguments: str) -> list[str]:
        """The command line that runs a program, for callers that start it themselves with :attr:`environment`."""
        return [*self.within, self._program, str(program), *arguments]

    def run(
        self,
        program: Path | str,
        *arguments: str,
        text: str = "",
        seconds: float = 60,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; ``text`` is its standard input."""
        return subprocess.run(
            self.command(program, *arguments),
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={**self.environment, **(environment or {})},
            cwd=folder or self.prefix,
            check=False,
        )

    def start(
        self, program: Path | str, *arguments: str, log: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program that stays; what it says goes into the log. :meth:`stop` ends it too."""
        with log.open("ab") as output:
            return subprocess.Popen(
                self.command(program, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**self.environment, **(environment or {})},
                cwd=self.prefix,
            )

    def play(self, release: str) -> None:
        """Give the registry the values of a Windows Server release."""
        build, revision = RELEASES[release]
        file = self.write("C:\\winkube.reg", _REGISTRY.format(release=release, build=build, revision=revision))
        done = self.run("regedit", "/S", "C:\\winkube.reg")
        file.unlink()
        if done.returncode:
            raise RuntimeError(f"Wine's regedit ended with {done.returncode}: {done.stderr}")

    def stop(self) -> None:
        """End every program of this prefix, and no other."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([self._server, "-k"], env=self.environment, capture_output=True, timeout=10, check=False)
            subprocess.run([self._server, "-w"], env=self.environment, capture_output=True, timeout=10, check=False)


@contextlib.contextmanager
def wine(release: str = "2022", within: Sequence[str] = ()) -> Iterator[Wine]:
    """A new prefix that plays a release; ended and removed with the block. Skips the test without Wine."""
    program, server = _first(_WINE), _first(_SERVER)
    if not (program and server and shutil.which(_LINKER) and shutil.which(_ASSEMBLER)):
        pytest.skip(NEEDS)
    with tempfile.TemporaryDirectory(prefix="winkube-wine-", ignore_cleanup_errors=True) as folder:
        made = Wine(Path(folder), program, server, within)
        try:
            with _awake(made):
                for library in ("bcryptprimitives", "pdh"):
                    _library(library, made.path("C:\\windows\\system32"))
                made.play(release)
                yield made
        finally:
            made.stop()


@contextlib.contextmanager
def _awake(made: Wine) -> Iterator[None]:
    """Make the prefix and keep a program running in it.

    Wine's own services end with the last program, and the next one would wait for them to start. Nothing else may
    start before the first program runs: two that boot a prefix at once can wait for each other without end.
    """
    with subprocess.Popen(
        made.command("cmd", "/k", "echo", "awake"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=made.environment,
        cwd=made.prefix,
    ) as program:
        assert program.stdout
        ready, _, _ = select.select([program.stdout], [], [], 180)
        try:
            if not ready or b"awake" not in program.stdout.readline():
                raise RuntimeError("Wine made no prefix in three minutes")
            yield
        finally:
            made.stop()
            program.kill()


def _library(name: str, folder: Path) -> None:
    source = SOURCES / f"{name}.s"
    compiled = folder / f"{name}.o"
    subprocess.run([_ASSEMBLER, source if source.is_file() else os.devnull, "-o", compiled], check=True)
    target = folder / f"{name}.dll"
    target.unlink(missing_ok=True)  # Wine links its own libraries into the prefix
    link = [_LINKER, "-shared", "--entry=0", "--no-insert-timestamp", compiled, SOURCES / f"{name}.def", "-o", target]
    subprocess.run(link, check=True)
    compiled.unlink()


def _first(names: Sequence[str]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)
