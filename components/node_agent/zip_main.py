"""The entry of the zipapp: unpacks it once per version, and runs the agent from there.

Modules in a ZIP archive are compiled at every start, and botocore reads its models as files; unpacked, the second start
is twice as fast. Runs on the node, on Python 3.9 and later.
"""

import atexit
import hashlib
import os
import runpy
import shutil
import ssl
import sys
import tempfile
import zipfile
from pathlib import Path

FOLDER = "WINKUBE_AGENT_LIB"
DEFAULT = "/opt/winkube/lib"
AUTHORITIES = ("/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt")
"""The system's certificate authorities, of Amazon Linux and of Ubuntu. botocore's own are not in the archive: a
company's authority is added to the system's."""


def unpacked(archive: Path, folder: Path) -> Path:
    """The archive as a folder below ``folder``; it is made under another name first, so that it is never half there."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    target = folder / digest[:32]
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        new = Path(tempfile.mkdtemp(prefix=".new-", dir=str(folder)))
        with zipfile.ZipFile(archive) as content:
            content.extractall(new)
        new.chmod(0o755)
        try:
            new.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(new, ignore_errors=True)
        for other in folder.iterdir():
            if other != target:
                shutil.rmtree(other, ignore_errors=True)
    return target


def main(archive: Path, folder: "str | None" = None) -> None:
    """Run the agent, also where the folder cannot be written."""
    try:
        target = unpacked(archive, Path(folder or DEFAULT))
    except PermissionError:
        temporary = tempfile.mkdtemp(prefix="winkube-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        target = unpacked(archive, Path(temporary))
    for one in (ssl.get_default_verify_paths().cafile, *AUTHORITIES):
        if one and Path(one).exists():
            os.environ.setdefault("AWS_CA_BUNDLE", one)
    sys.path[:] = [str(target), *(one for one in sys.path if Path(one) != archive)]
    runpy.run_module("winkube_agent", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(Path(sys.argv[0]).resolve(), os.environ.get(FOLDER))
