"""What this machine lacks for the boot; an empty list when it can run."""

import os
import shutil
import subprocess

from tests.binaries.build import GoMissingError, built, find_go
from tests.binaries.recipes import DEFAULT_MINOR, RECIPES

PROGRAMS = {
    "systemd-nspawn": "systemd-container",
    "debootstrap": "debootstrap",
    "haproxy": "haproxy",
    "ip": "iproute2",
    "unshare": "util-linux",
    "gcc": "gcc",
    "pkg-config": "pkg-config",
    "openssl": "openssl",
}
"""Programs and Debian's packages with them."""


def missing() -> list[str]:
    """Sentences, each with what to do."""
    found = [
        f"{program} is missing: apt-get install {package}"
        for program, package in PROGRAMS.items()
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None
    ]
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "libseccomp"], check=False).returncode:
        found.append("the headers of libseccomp are missing, for runc: apt-get install libseccomp-dev")
    try:
        find_go()
    except GoMissingError as error:
        found.append(str(error))
    if os.geteuid() != 0:
        found.append("namespaces, mounts and machines need root: run it as root")
    elif not found:
        tried = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "ip", "link", "add", "wk", "type",
             "bridge"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if tried.returncode:
            found.append(f"namespaces or bridges cannot be made here: {tried.stderr.strip()}")
    return found


def unbuilt(minor: str = DEFAULT_MINOR) -> list[str]:
    """What is built first when machines boot; ``make test`` does not wait for it."""
    sets = [one for one in RECIPES if one.needs.startswith("real machines") and one.minor in (None, minor)]
    lacking = [one.title for one in sets if not built(one)]
    return [f"programs of machines are not built ({', '.join(lacking)}): `make machines` does it"] if lacking else []
