"""The agent as one file: its modules, botocore trimmed to its calls, and an entry. Pure.

It is the same bytes on every machine. Nodes fetch it from the state bucket by its digest, so that a
change of the agent is a change of the launch template.
"""

import hashlib
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

from .vendoring import VENDOR, pack, read

AGENT = "winkube_agent"
MAXIMUM_BYTES = 4 * 1024 * 1024
"""A size that a node reads within a second."""
_FOLDER = Path(__file__).parent


class VendorMissingError(RuntimeError):
    """winkube was neither built nor installed: the part of the agent that is made then is not there."""


@cache
def zipapp() -> bytes:
    """The zipapp: ``python3 <file>`` runs the agent, on Python 3.9 and later.

    :raises VendorMissingError: in a checkout that was not installed.
    """
    archive = read()
    if archive is None:
        raise VendorMissingError(f'{VENDOR.name} is not there: install winkube, for example with "pip install -e ."')
    with zipfile.ZipFile(BytesIO(archive)) as vendor:
        files = {name: vendor.read(name) for name in vendor.namelist()}
    for path in sorted((_FOLDER / AGENT).rglob("*.py")):
        files[path.relative_to(_FOLDER).as_posix()] = path.read_bytes()
    files["__main__.py"] = (_FOLDER / "zip_main.py").read_bytes()
    return pack(files)


@cache
def zipapp_sha256() -> str:
    """The digest under which the zipapp lies in the state bucket."""
    return hashlib.sha256(zipapp()).hexdigest()
