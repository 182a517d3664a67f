"""What this machine lacks for the boot; an empty list when it can run."""

import os
import shutil
import subprocess

from tests.binaries.build import GoMissingError, built, find_go
from tests.binaries.recipes import DEFAULT_MINOR, RECIPES

from .images import pause
from .template import template_folder

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


def missing(*, building: bool = True) -> list[str]:
    """Sentences, each with what to do; ``building`` asks for what compiles as well."""
    found = [
        f"{program} is missing: apt-get install {package}"
        for program, package in PROGRAMS.items()
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None
    ]
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "libseccomp"], check=False).returncode:
        found.append("the headers of libseccomp are missing, for runc: apt-get install libseccomp-dev")
    if building:
        found += _compiler()
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


def _compiler() -> list[str]:
    try:
        find_go()
    except GoMissingError as error:
        return [str(error)]
    return []


def unbuilt(minor: str = DEFAULT_MINOR) -> list[str]:
    """What is built when machines boot; no test waits for it."""
    sets = [one for one in RECIPES if one.needs.startswith("real machines") and one.minor in (None, minor)]
    lacking = [one.title for one in sets if not built(one)]
    lacking += [name for name, place in (("root", template_folder()), ("pause", pause())) if not place.exists()]
    return [f"programs of machines are not built ({', '.join(lacking)}): `make machines` does it"] if lacking else []
